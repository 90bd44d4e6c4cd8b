"""Searches of --solve, over epochs and in closed form: where they end, and that they do not look in vain."""

from functools import cache
from math import inf, log

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc.bounds.conversions import rdp_optimal
from dpcalc.bounds.online.levels import Schedule
from dpcalc.bounds.online.shift import record_ratio
from dpcalc.bounds.pnsgd import schedules
from dpcalc.numerics.invert import bracket, integer_boundary, log_share
from dpcalc.profiles import pairs, tilt
from dpcalc.profiles.asked import Asked
from dpcalc.profiles.compose import epsilon_at, log_delta_at
from dpcalc.profiles.pair import Pair

CLIFF = ("shuffle-pnsgd --lipschitz 1 --smoothness .1 --diameter 2 --learning-rate .3 --index 1 --epochs 1e11 --n 1e12 --epsilon 3.66 "
         "--delta 1.69e-24")


def test_a_budget_that_is_met_as_closely_as_it_is_told():
    """δ at the budget's ε is told as closely as ε at its δ: a value that meets the one meets the other."""
    found = answer(f"{CLIFF} --solve sigma")[0]["result"]
    assert found["sigma"] == pytest.approx(1.98415e-5, rel=1e-2) and 3 < found["epsilon"] <= 3.66


def test_a_tilt_is_not_looked_for_to_and_fro(monkeypatch):
    """Few large losses beyond many small ones: √ratio leads from one side of ε to the other, and back."""
    asked, at = [], tilt.cumulants
    monkeypatch.setattr(tilt, "cumulants", lambda parts, x: asked.append(x) or at(parts, x))
    small, large = 3.3e-4, 0.49
    step = Pair((), ((-large, -26 - large), (-small, log(0.497)), (0.0, log(6e-3)), (small, log(0.497)), (large, -26.0)), -inf, None)
    found = tilt.for_epsilon(((step, 10**6),), 3.0)
    assert found.mean == pytest.approx(3.0, rel=0.05) and len(asked) < 12  # 44


def test_levels_of_long_streams(monkeypatch):
    """Those far back, by a contraction, are not asked for."""
    looked, at = [0], Schedule.at

    def counted(self, j):
        looked[0] += 1
        return at(self, j)

    monkeypatch.setattr(Schedule, "at", counted)
    levels = Schedule("gaussian", 100.0, 50.0, 300.0, 1.05, (2.0, 0.01, 0.5, 0.01))
    near = record_ratio(levels, 0.1, 0.01, 0.5, 0.01, 10**6, 10**5)
    assert looked[0] < 4000
    assert near == pytest.approx(record_ratio(levels, 0.1, 0.01, 0.5, 0.01, 10**6, 10**6 - 400_000) * np.exp(-1e-4 * 300_000), rel=1e-3)
    looked[0] = 0
    record_ratio(levels, 0.1, 0.01, 0.5, 0.01, 10**12, 10**11)
    assert looked[0] < 4000  # 10,800 before


def test_rare_losses_and_skewed_ones():
    """Where one large loss decides, no sum of steps is nearly normal; of equal Gaussian steps it is exactly."""
    rare = ((pairs.sampled((0.0, 1.0, 3.0), (-12.0, -13.0, -40.0)), 100),)
    assert tilt.is_rare(rare, tilt.for_epsilon(rare, 0.9))
    tailed = ((pairs.sampled((0.0, 1.0, 2.0, 3.0), (-5.0, -6.0, -7.0, -9.0)), 300),)
    skewed, straight = tilt.for_epsilon(tailed, 5.0), tilt.for_epsilon(tailed, 60.0)
    assert not tilt.is_rare(tailed, skewed) and tilt.skewness(tailed, skewed) > 0.5
    assert tilt.skewness(((pairs.gaussian(0.1), 50),), straight) == pytest.approx(0.0, abs=1e-12)
    assert log_delta_at(tailed, 60.0).upper == pytest.approx(np.log(300) - 9, abs=0.02)  # what is infinite


def test_a_gap_in_logarithms():
    """Its sign is that of the budget, exactly; nearly straight in the logarithm of the noise."""
    assert log_share(-10.0, -10.0) == 0.0 and log_share(np.nextafter(-10.0, -11), -10.0) <= 0 < log_share(np.nextafter(-10.0, 0), -10.0)
    assert log_share(0.0, -10.0) == np.inf and log_share(-np.inf, -10.0) == log_share(-1.7e308, -10.0) == -np.inf
    assert log_share(0.0, 0.0) == 0.0 and log_share(-1e-9, -10.0) > 20
    assert log_share(-20.0, -10.0) == pytest.approx(-np.log(2))


def test_a_bracket_where_nothing_changes():
    """To the end of the range, not step by step through it."""
    asked = []

    def gap(x):
        asked.append(x)
        return 1.0 if x < 1e250 else -1.0

    meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    assert meets >= 1e250 > fails and len(asked) <= 8


@pytest.mark.parametrize("met, calls", [(0.0, 400), (1e-6, 12)])
def test_a_count_is_as_exact_as_asked(met, calls):
    asked = []

    def gap(k):
        asked.append(k)
        return np.log(3.3e12 / k)

    found = integer_boundary(gap, 1, 10**15, False, 3_000_000_000_000, met)
    assert gap(found) <= 0 and len(asked) <= calls
    assert found == 3_300_000_000_000 if met == 0 else found <= 3_300_000_000_000 * (1 + 2e-6)


@pytest.mark.parametrize("met, nearer, calls", [(0.0, 485, 3), (1e-6, 485, 3), (1e-3, 3_300_000, 2)])
def test_a_count_next_to_where_a_secant_leads(met, nearer, calls):
    """Two values, and the next whole number; one that is as good as none off is taken at once. It went beyond the secant first: 5."""
    asked, root = [], nearer + 0.34
    start = nearer - nearer // 20

    def gap(k):
        asked.append(k)
        return np.log(k / root)

    assert integer_boundary(cache(gap), 1, 10**15, True, start, met, nearer) == nearer
    assert len(asked) <= calls


def test_one_tilt_is_enough_where_one_loss_decides(monkeypatch):
    """The tilt from δ is not tried where the ε of one rare loss alone is within 5 %; nor the same tilt twice."""
    from dpcalc.profiles import compose

    tried, attempt = [], compose._attempt

    def counted(*args):
        tried.append(args)
        return attempt(*args)

    monkeypatch.setattr(compose, "_attempt", counted)
    at = np.linspace(0, 6, 60)
    parts = ((pairs.sampled(tuple(at.tolist()), tuple((-14 - at**2).tolist())), 100),)
    assert Asked(None, -12.0, 1e-3).single(parts) is not None
    found = epsilon_at(parts, -12.0, bracket=False)
    assert len(tried) == 1
    assert log_delta_at(parts, found.upper, bracket=False).upper == pytest.approx(-12.0, abs=2e-3)


def test_a_budget_of_no_epsilon_is_looked_for_by_its_delta(monkeypatch):
    """ε itself is 0 or not, and does not say how far the solution is: 52,000 minima were looked for, in three seconds."""
    looked, once = [], rdp_optimal._stationary
    monkeypatch.setattr(rdp_optimal, "_stationary", lambda *a: looked.append(a) or once(*a))
    found, err = answer("rdp --epsilon 0 --delta 1e-5 --solve sigma")
    assert not err and len(looked) < 20_000
    sigmas = {row.get("conversion", row["name"]): row["sigma"] for row in found["bounds"]}
    assert sigmas["gaussian-exact"] == pytest.approx(39894.228039, rel=1e-9) and all(row["epsilon"] == 0 for row in found["bounds"])
    assert sigmas["rdp-optimal"] == pytest.approx(50000, rel=1e-5) and sigmas["rdp-improved"] == pytest.approx(60653.1, rel=1e-5)


@pytest.mark.parametrize("line, most", [
    ("--index 50738 --strong-convexity 1.1e-6 --c1 1e5 --c2 0 --decay 2 --epsilon .0131 --delta 3.78e-10 --solve n", 15_000),  # 191,000
    ("--index 5e4 --strong-convexity 1.1e-6 --n 1e6 --c1 1e5 --c2 9 --decay 2 --epsilon .5 --delta 3.78e-10 --solve learning-rate", 12_000),
])
def test_the_noise_of_a_stream_is_computed_once(line, most, monkeypatch):
    """For every n and learning rate that a search looks at; at rough values of C1 in larger blocks."""
    asked, once = [], schedules.SHARES["gaussian"]
    monkeypatch.setitem(schedules.SHARES, "gaussian", lambda *a: asked.append(a) or once(*a))
    rate = "" if "learning-rate" in line else "--learning-rate .00999"
    found, _ = answer(f"online-noise --lipschitz 5.15 --smoothness .1 --diameter .0109 {rate} {line}")
    assert len(asked) < most
    assert len(found["bounds"]) >= 2 and all(row["epsilon"] <= found["parameters"]["epsilon"] for row in found["bounds"])
