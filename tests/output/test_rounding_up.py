"""Numbers for people are never below the double that they show, but for rounding errors of closed forms."""

import random

import pytest
from calling import call

from dpcalc.core.numbers import human


def test_no_printed_number_hides_a_loss():
    """1e-14 above a short decimal is more than what is typed loses by rounding."""
    rng = random.Random(70)
    for _ in range(2000):
        short = float(f"{10 ** rng.uniform(-6, 6):.{rng.randint(1, 6)}g}")
        assert float(human(short)) == short
        for excess in (1e-14, 3e-15, 1e-12):
            assert float(human(short * (1 + excess))) > short, short


@pytest.mark.parametrize("line", [
    "rdp --mechanism laplace --scale 9.99999999999999 --delta 0", "rdp --mechanism laplace --scale 9.99999999999999 --delta 0 --json | ledger - --delta 0 --epsilon 1"])
def test_a_scale_just_below_10_has_an_epsilon_above_a_tenth(line):
    first, *rest = line.split(" | ")
    done = call(first.split())
    for further in rest:
        done = call(further.split(), done.stdout)
    assert "0.100001" in done.stdout and " 0.1 " not in done.stdout.replace("\n", " ")
