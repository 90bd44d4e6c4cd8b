"""Sums over endless streams: the panels after the first ones are added up by arrays, as one by one."""

from math import fsum

import numpy as np
import pytest
from conftest import slow, spread
from last_iterate_lines import answer, asked

from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online._engine import sums, sums_array
from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.online._engine.shift import reaches
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, LAWS
from dpcalc.bounds.pnsgd._engine.step import log_b
from dpcalc.numerics import elementary

RUN = {"lipschitz": 0.1, "diameter": 10.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}


def schedule(c1, c2, decay):
    return Schedule("gaussian", RUN["diameter"] / 2 / RUN["learning_rate"], c1, c2, decay, (10.0, 0.1, 0.5, 0.0))


@pytest.mark.parametrize("c1, c2", [(3.0, 1.0), (1e-3, 400.0), (1e6, 0.5)])
@pytest.mark.parametrize("epsilon", (0.0, 0.3, 20.0))
def test_losses(c1, c2, epsilon):
    """Not above those one by one, and near them."""
    levels = schedule(c1, c2, 1.05)
    reach = reaches(levels.shape)
    t = np.geomspace(1e7, 1e290, 300)
    found = sums_array.losses(epsilon, levels, t)
    one_by_one = np.array([-log_b(GAUSSIAN, epsilon, reach(float(x))) for x in t])
    assert (found <= one_by_one * (1 + 1e-12)).all()
    seen = one_by_one > 1e-300
    assert found[seen] == pytest.approx(one_by_one[seen], rel=2e-9)


def test_lambert():
    t = np.linspace(1, 1500, 400)
    assert sums_array.lambert_w_log(t) == pytest.approx([elementary.lambert_w_log(x) for x in t.tolist()], rel=1e-14)
    assert (sums_array.lambert_w_log(np.array([-5.0, 0.0])) >= elementary.lambert_w(1.0)).all()


@pytest.mark.parametrize("decay", (1.001, 1.05, 1.3))
@pytest.mark.parametrize("last", (np.inf, 1e14))
def test_sums(decay, last):
    levels = schedule(3.0, 1.0, decay)
    reach = reaches(levels.shape)

    def loss(t):
        return -log_b(GAUSSIAN, 0.5, reach(t))

    factor = sums.panel_factor(2 * decay + 2)
    slow = sums.lower_sum(loss, 9, last, factor)
    fast = sums.lower_sum(loss, 9, last, factor, tail=online_contraction.tail_of_losses(0.5, levels, 2 * decay + 2))
    assert fast <= slow * (1 + 1e-11) and fast == pytest.approx(slow, rel=1e-9)
    beside_a_large_number = sums.lower_sum(loss, 9, last, factor, offset=1e6 * slow)
    assert slow * (1 - 1e-4) <= beside_a_large_number <= slow


@spread("decay, c1, c2, first, last, rel", [
    (1.5, 3.0, 1.0, 1, 30_000, 3e-12), (2.0, 40.0, 1e-9, 2, 30_000, 1e-9), (50.0, 100.0, 3.0, 7, 30_000, 3e-12),
    slow(1000.0, 1e-3, 0.5, 2, 30_000, 3e-12),
    # 1.3e-11 above before: a noise that bends at step 202
    (20.0, 2.3994807584206514e44, 473.4334779717574, 13, 3921, 1e-9),
    (20.0, 1.0930004249364212e60, 0.088410683273633, 8, 1046, 1e-9),  # 5.9e-12 above
    (100.0, 1.8401820106054918e233, 0.0502453091985252, 19, 12_072, 5e-9),  # 1.3e-7 below
    (20.0, 4.303774581578938e85, 0.0, 717, 50_842, 5e-9),
    (50.0, 3.1200376258896305e130, 30.256163084447696, 7, 421, 1e-15),
    (100.0, 2.26950024395902e265, 25.568929283574562, 2, 463, 1e-15),  # 9.7e-8 below, with a bend at the last step
])
def test_squares_of_levels(decay, c1, c2, first, last, rel):
    """Against the sum term by term: never above it, also where the noise bends and falls within few steps."""
    levels = schedule(c1, c2, decay)
    whole = fsum(levels.at(t) ** 2 for t in range(first, last + 1))
    found = sums.lower_sum(lambda t: levels.at(t) ** 2, first, last, levels.panel_factor,
                           head_terms=levels.head_terms(first, last))
    assert whole * (1 - rel) <= found <= whole


@pytest.mark.parametrize("decay, epsilon, c1, c2",
                         [(1.01, 0.3, 3.0, 1.0), (1.2, 30.0, 1e3, 0.0), (3.0, 5.0, 1e6, 700.0)])
@pytest.mark.parametrize("last", (np.inf, 1e14))
def test_streams_with_laplace_noise_have_a_closed_form(decay, epsilon, c1, c2, last):
    """Far away −log B is next to a power of the step; not above what panels give, which stop where 1e-12 is left, if
    that is there."""
    levels = schedule(c1, c2, decay)._replace(noise="laplace")
    reach = reaches(levels.shape)

    def loss(t):
        return -log_b(LAWS["laplace"], epsilon, reach(t))

    first = int(max(9, (c1 * np.exp(epsilon / 2 + 1)) ** (1 / decay)))
    factor = sums.panel_factor(2 * decay + 2)
    panels = sums.lower_sum(loss, first, last, factor)
    closed = sums.lower_sum(loss, first, last, factor,
                            tail=online_contraction.tail_of_losses(epsilon, levels, 2 * decay + 2))
    assert closed == pytest.approx(panels, rel=2e-11)


@pytest.mark.parametrize("noise", ("gaussian", "laplace"))
@pytest.mark.parametrize("decay, epsilon", [(1.5, 0.3), (20.0, 27.0), (300.0, 2.0)])
def test_losses_of_fast_decays(noise, decay, epsilon):
    """The contraction's sum against the one term by term: never above it."""
    levels = schedule(1e3, 30.0, decay)._replace(noise=noise)
    law = LAWS[noise]
    last = 2000
    reach = reaches(levels.shape)
    whole = law.log_delta(epsilon, 2 * RUN["lipschitz"] / levels.at(3)) + fsum(log_b(law, epsilon, reach(t))
                                                                               for t in range(4, last + 1))
    found = online_contraction.value(epsilon, law, levels, n=last, index=3, **RUN)
    assert found >= min(whole, 0.0) and found == pytest.approx(whole, rel=1e-9)


LINE = "online-noise --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness .5"


@pytest.mark.parametrize("c2", ("0", "1e-20"))
def test_laplace_noise_that_is_none(c2):
    """x + C2 below 1 by more than the rounding of 1: a fault of the logarithm before."""
    code, _, err = asked(f"{LINE} --noise laplace --decay 20 --c1 1e66 --c2 {c2} --index 5 --n 3000 --epsilon 1".split())
    assert code == 2 and "needs x + C2 > 1" in err


@pytest.mark.slow
@pytest.mark.parametrize("given, delta, unknown", [
    ("--decay 300 --c1 2.94e-55 --c2 255 --lipschitz .307 --diameter .0203 --learning-rate .003 --smoothness .687 "
     "--index 33", 1.5e-135, "n"),
    ("--decay 10 --c2 1.33 --lipschitz .3 --diameter .2 --learning-rate .1 --smoothness .5 --n 238584 --index 48",
     3.22e-196, "c1"),
])
def test_a_budget_of_no_loss_at_all(given, delta, unknown):
    """δ at ε = 0 meets it or not."""
    got = answer(f"online-noise {given} --epsilon 0 --delta {delta} --solve {unknown}")[0]["result"]
    assert got["epsilon"] == 0.0
    assert answer(f"online-noise {given} --{unknown} {got[unknown]!r} --delta {delta}")[0]["result"]["epsilon"] == 0.0


@pytest.mark.slow
def test_a_search_for_a_limit():
    run = "online-noise --lipschitz 5 --smoothness .1 --diameter .5 --learning-rate .3 --c2 4.97 --decay 1.05 --n inf --index 613240 --delta 1e-26"
    got = answer(f"{run} --epsilon .1 --solve c1")[0]["result"]
    assert 2.5 < got["c1"] < 3 and got["delta_limit"] == pytest.approx(1e-26, rel=1e-5)
    fed = answer(f"{run} --c1 {got['c1']!r}")[0]["result"]
    assert 0.1 * (1 - 1e-6) < fed["epsilon"] <= 0.1


def test_sums_beyond_what_a_square_can_hold():
    """Panels above 1e154: a warning of overflow on standard error."""
    found = sums_array.integral(lambda t: np.full_like(t, 1e160), sums.Progress(100, 1.0, 1e20, 1.0, 0.0, 0.0), 1.5,
                                1e-12)
    assert found == pytest.approx(1e180, rel=1e-12)
