"""The limit of endless streams: its quadrature, and limits beside δ below the doubles."""

import json
import random
from math import pi, sqrt

import domains
import enclose
import oracle
import pytest
from answers import answer, printed
from fuzz import answered
from limits import quadrature_error

from dpcalc.bounds import all_bounds

BOUNDS = all_bounds()
RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
LAPLACE = "online-noise --noise laplace --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .1"
STREAM = "--lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100"


def test_the_limit_is_above_its_enclosure_by_no_more_than_its_margin():
    bound, rng = BOUNDS["online-limit"], random.Random(2)
    for _ in range(3):
        p = domains.DRAW["online-limit"](rng)
        want = enclose.numbers(bound, p, 128)[None].log()
        excess = (oracle.value(bound, p) - want) / abs(want)
        assert excess > 0 and excess < 3.3e-10


def test_the_numbers_in_the_proof_of_its_margin():
    assert max(quadrature_error(a, False) for a in (1.001, 1.1, 1.5, 2, 3, 6, 10, 30, 100)) < 1e-15
    assert max(quadrature_error(a, True) for a in (1.001, 1.1, 1.5, 2, 2.5, 3)) < 7e-13
    assert 2e-11 < quadrature_error(10, True) < 3e-11
    # K at W = 1400, the largest W of a double squared, and L·K at z = 0.01
    root = sqrt(700)
    assert sqrt(pi) / 2 * (root + sqrt(root**2 + 2)) * sqrt(1 + pi / 2800) < 50


@pytest.mark.parametrize("line", [
    "online-noise --noise laplace --lipschitz 10 --diameter 1.99e12 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 "
    "--c1 100 --c2 100 --index 100 --n 1e4 --epsilon 1",
    "shuffle-pnsgd --noise laplace --c1 1e12 --c2 2 --lipschitz 10 --diameter 1e12 --learning-rate 0.1 "
    "--smoothness 0.5 --n 100 --epsilon 100",
])
def test_the_limit_of_a_delta_of_0_is_0(line):
    done = answered([*line.split(), "--json"])
    result = json.loads(done.out)["result"]
    assert result["delta"] == 0
    assert result["delta_limit"] == 0 or result["limit_factor"] == 0


def test_the_limit_below_the_doubles_does_not_depend_on_n():
    line = f"online-noise {RUN} --c1 1 --c2 1 --decay 2 --index 5 --epsilon 3"
    logs = [answer(f"{line} --n {n}")["result"]["log_delta_limit"] for n in ("1e4", "inf")]
    assert logs[0] == logs[1] < -3000


def test_limits_and_worst_positions_below_the_doubles_are_shown_by_their_logarithms():
    line = f"online-noise {STREAM} --n 1e6 --index 100 --epsilon 300"
    found = answer(line)["result"]
    assert found["log_delta_limit"] < -1e30 and found["limit_factor"] == "inf"
    assert found["worst_log_delta"] == pytest.approx(-10239.347, rel=1e-6)
    _, text = printed(f"{line} --all")
    assert "times it" in text and "e^1.5" in text and "4.94" not in text and "e-4447" in text
    same = answer(f"online-noise {RUN} --sigmas 1,100,100 --index 3 --epsilon 1")["result"]
    assert same["worst_index"] == 3 and same["worst_log_delta"] == same["log_delta"]
    assert answer(f"{LAPLACE} --scales 1,1,1 --index 3 --epsilon 2")["result"]["worst_delta"] == 0


def test_a_limit_of_0_is_called_0_times_delta():
    notes = answer("shuffle-pnsgd --noise laplace --c1 1e5 --c2 1 --lipschitz 1 --diameter 1 --smoothness .5 "
                   "--learning-rate .1 --n 10 --epsilon 1")["notes"]
    assert any("gives 0 times it" in note for note in notes) and not any("inf" in note for note in notes)
