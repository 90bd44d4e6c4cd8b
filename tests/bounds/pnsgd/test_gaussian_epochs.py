"""Bounds whose epoch is exactly a Gaussian guarantee: E epochs are one with √E times its μ."""

from math import sqrt

import mpmath
import pytest
from answers import answer

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd import iteration, output_perturbation, smooth_nonconvex
from dpcalc.bounds.pnsgd._engine import epochs
from dpcalc.verify.report import verify

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


@pytest.mark.parametrize(("bound", "ratio"), [
    ("fixed-order-iteration", 2 / 2.3615), ("smooth-nonconvex-exact", 2 / 2.3615),
    ("output-perturbation-exact", 2 * 0.005 / 2.3615)])
def test_epochs_have_the_closed_form(bound, ratio):
    line = ("shuffle-pnsgd --lipschitz 1 --learning-rate .005 --smoothness 1 --strong-convexity .5 --n 1 --index 1 "
            f"--sigma 2.3615 --bound {bound}")
    line = line.replace("--strong-convexity .5 ", "") if bound.startswith("smooth") else line
    record = answer(f"{line} --epochs 1344 --epsilon 724.44")
    with mpmath.workdps(60):
        true = theta(mpmath.mp, mpmath.mpf(724.44), mpmath.mpf(ratio) * mpmath.sqrt(1344))
    assert record["bound"] == bound and 0 <= record["result"]["log_delta"] / float(mpmath.log(true)) - 1 + 1e-10 < 2e-10
    assert {**record["guarantee"], "promises": []} == {
        "kind": "gdp", "mu": pytest.approx(ratio * sqrt(1344), rel=1e-14), "index": [1], "adjacency": "replace-one",
        "promises": []}
    assert record["guarantee"]["mu"] >= ratio * sqrt(1344) * (1 - 1e-15) and verify(record).holds
    if float(true) > 0:
        back = answer(f"{line} --epochs 1344 --delta {float(true)!r}")["result"]["epsilon"]
        assert back == pytest.approx(724.44, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "passes"), [(0.3, 2), (1.0, 7), (3.0, 40)])
@pytest.mark.parametrize("bound", [iteration.FIXED, smooth_nonconvex.FIXED, output_perturbation.FIXED])
def test_the_closed_form_is_what_the_profile_composes_to(bound, epsilon, passes):
    """The profile of one epoch, composed numerically from above, knows nothing of μ."""
    every = {"level": 8.0, "lipschitz": 2.0, "learning_rate": 0.3, "smoothness": 1.0, "strong_convexity": 0.2, "n": 9,
             "index": 8}
    p = {name: x for name, x in every.items() if name in bound.params}
    closed, by_profile = (over(bound).value(epsilon, steps=passes, **p)
                          for over in (epochs.composed_gaussian, epochs.composed))
    assert closed <= by_profile <= closed + 0.02


def test_epochs_are_solved_for_and_have_digits():
    line = f"shuffle-pnsgd {RUN} --n 1000 --sigma 4 --index 1000 --bound fixed-order-iteration"
    passes = answer(f"{line} --epsilon 3.71 --delta 1e-5 --solve epochs")["result"]["epochs"]
    assert passes == 3
    assert answer(f"{line} --epochs 3 --delta 1e-5")["result"]["epsilon"] == pytest.approx(3.708634930512, rel=1e-10)
    assert answer(f"{line} --epochs 4 --delta 1e-5")["result"]["epsilon"] > 3.71
    digits = answer(f"{line} --epochs 3 --delta 1e-5 --digits 30")["bounds"][0]["digits"]["epsilon"]
    assert digits.startswith("3.70863493") and abs(float(digits) - 3.708634930512) < 1e-10


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("bound", ["fixed-order-iteration", "smooth-nonconvex-exact", "output-perturbation-exact"])
def test_basic_composition_is_not_sharper(bound, passes):
    line = (f"shuffle-pnsgd {RUN} {'' if 'smooth' in bound else '--strong-convexity .1 '}--sigma 4 --n 1000 "
            "--index 999 --delta 1e-5")
    closed, basic = (answer(f"{line} --epochs {passes} --bound {name}") for name in (bound, f"{bound}-basic"))
    assert basic["guarantee"]["kind"] == "dp"
    assert closed["result"]["epsilon"] <= basic["result"]["epsilon"] * (1 + 1e-12)


def test_n_is_solved_for_by_the_closed_form_beside_a_composed_bound():
    line = ("shuffle-pnsgd --lipschitz 1 --smoothness 0 --learning-rate .2702 --diameter 29.94 --index 1 --sigma .3284 "
            "--epochs 22")
    assert answer(f"{line} --epsilon 544.9984658865244 --delta 6.869e-7 --solve n")["result"]["n"] == 1


def test_a_budget_of_exactly_one_epoch_is_met_by_one():
    line = ("shuffle-pnsgd --smoothness .5 --lipschitz .1213 --learning-rate .02199 --n 222009 --sigma .5583 "
            "--index 20254 --delta 3.373e-7")
    assert answer(f"{line} --epsilon .002927662098144525 --solve epochs")["result"]["epochs"] == 1
