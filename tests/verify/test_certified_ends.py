"""The ends of what --certify says: around the theorem, no wider than its arithmetic, and no forged end passes, however
little is taken."""

import copy
import json
import random
from fractions import Fraction
from math import inf, nextafter

import pytest

from dpcalc.cli.app import load
from dpcalc.verify.report import verify

pytest.importorskip("flint")


def ask(line):
    name, *args = line.split()
    return json.loads(load(name).run([*args, "--certify", "--json"])[0])


def forged(record, upper):
    changed = copy.deepcopy(record)
    changed["certified"]["upper"] = upper
    return changed


def test_ends_of_a_closed_form_are_next_to_it():
    """αs²/(2σ²), exactly."""
    rng = random.Random(1)
    for _ in range(12):
        sigma, alpha, s = rng.uniform(0.1, 100), 1 + 10 ** rng.uniform(-3, 3), rng.uniform(0.1, 10)
        record = ask(f"rdp --sigma {sigma!r} --alpha {alpha!r} --sensitivity {s!r} --bound gaussian-rdp")
        exact, (low, high) = Fraction(alpha) * Fraction(s) ** 2 / (2 * Fraction(sigma) ** 2), (record["certified"][k]
                                                                                               for k in ("lower",
                                                                                                         "upper"))
        assert Fraction(low) <= exact <= Fraction(high) <= exact * (1 + Fraction(1, 2**50)), (sigma, alpha, s)
        assert Fraction(low) >= exact * (1 - Fraction(1, 2**50))
        assert verify(record).holds and not verify(forged(record, low * (1 - 1e-14))).holds


@pytest.mark.parametrize("line", ["rdp --sigma 1 --delta 1e-5", "rdp --mechanism laplace --scale 2 --epsilon 0.1",
                                  "convert --from gdp --mu 1 --delta 1e-6",
                                  "tv --mechanism gaussian --sigma 50",
                                  "subsample --sampling-rate .01 --steps 1 --sigma 2 --epsilon .1"])
def test_an_end_that_is_a_little_too_small_is_refuted(line):
    record = ask(line)
    assert verify(record).holds
    ends = record["certified"]
    assert 0 < ends["lower"] <= ends["upper"] and ends["lower"] >= ends["upper"] * (1 - 1e-9)
    assert not verify(forged(record, nextafter(ends["lower"], -inf) * (1 - 1e-13))).holds


@pytest.mark.parametrize("line", ["audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5",
                                  "audit --canaries 1000 --guesses 200 --right 180 --delta 1e-5",
                                  "subsample --n 6000 --batch-size 256 --epochs 1 --scheme shuffle --noise-multiplier 1.1 "
                                  "--delta 1e-5 --bound shuffle-lower"])
def test_of_a_bound_from_below_the_lower_end_is_certified(line):
    record = ask(line)
    value = record["bounds"][0].get("epsilon_lower", record["result"].get("epsilon"))
    assert (record["certified"]["lower"], record["certified"]["upper"]) == (value, "inf")
    assert f"is at least {value!r} (ball arithmetic" in record["notes"][-1]
    assert verify(record).holds
    record["certified"]["lower"] *= 1 + 1e-6
    assert not verify(record).holds
