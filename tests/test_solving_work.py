"""How much work an answer over epochs takes, in numbers followed by arrays, walks one by one, and points of transforms: time, but for the
machine. What it was before stands beside."""

import re
from functools import cache
from math import inf, log

import numpy as np
import pytest
from last_iterate_lines import answer, asked

from dpcalc.bounds.conversions import rdp_optimal
from dpcalc.bounds.online.levels import Schedule
from dpcalc.bounds.online.shift import record_ratio
from dpcalc.bounds.pnsgd import chain_many, epochs, schedules
from dpcalc.bounds.pnsgd.epochs import _like_gaussian, _parts, basic_value, composed
from dpcalc.bounds.pnsgd.samples import followed
from dpcalc.bounds.pnsgd.shuffled_hybrid import BOUND
from dpcalc.numerics import work
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.invert import bracket, integer_boundary, log_share
from dpcalc.profiles import pairs, tilt
from dpcalc.profiles.asked import Asked
from dpcalc.profiles.compose import epsilon_at, log_delta_at
from dpcalc.profiles.like_gaussian import log_delta_near
from dpcalc.profiles.pair import Pair

WIDE = "shuffle-pnsgd --lipschitz 5 --smoothness .5 --learning-rate 1 --diameter 2 --epochs 1000 --n 1e12 --epsilon .135 --delta .000352"
MANY = "shuffle-pnsgd --lipschitz .1 --smoothness .1 --learning-rate .01 --diameter 10 --sigma 34.9 --n 1000 --epsilon 2.9 --delta 1.8e-10"
FLAT = ("shuffle-pnsgd --lipschitz 1 --smoothness .1 --learning-rate 1 --diameter 1 --strong-convexity .1 --epochs 100 --n 5e9 --epsilon 2.03 "
        "--delta 5.7e-6")
RATE = "shuffle-pnsgd --lipschitz 5 --smoothness .1 --diameter .5 --epochs 1000 --sigma .565 --n 5e9 --epsilon .249 --delta .000137"
DEEP = "shuffle-pnsgd --lipschitz .1 --smoothness 1 --learning-rate .001 --diameter .5 --epochs 1000 --sigma 21.8 --n 2.06e10 --epsilon .84"
ROWS = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1e12 --sigma .0046 --epochs 20 --delta 1e-6"
PLATEAU = "shuffle-pnsgd --lipschitz 5 --smoothness .5 --diameter 2 --epochs 2 --sigma .436 --n 5e9 --epsilon 4.99 --delta 1.75e-8"
FINE = ("shuffle-pnsgd --lipschitz .1 --smoothness .5 --diameter 1 --learning-rate .01 --epochs 100000 --sigma .184 --epsilon 18.9 "
        "--delta 4.9e-15")
ALL = "shuffle-pnsgd --lipschitz .1 --smoothness .1 --diameter .5 --learning-rate .01 --epochs 100000 --sigma .711 --n 3.07e10 --delta 6.15e-24"
SIZES = ("shuffle-pnsgd --lipschitz 1 --smoothness .1 --diameter 10 --learning-rate .001 --epochs 1e11 --sigma 1.34 --epsilon 37.3 "
         "--delta 1.85e-5")
ONE = ("shuffle-pnsgd --lipschitz .1 --smoothness .5 --diameter 2 --learning-rate .3 --index 1 --epochs 1e10 --n 5e9 --epsilon 2.17 "
       "--delta 5.85e-28")
SKEWED = "shuffle-pnsgd --lipschitz 5 --smoothness .1 --diameter 2 --learning-rate .001 --epochs 1e11 --sigma .191 --epsilon 47.3 --delta .298"
CLOSE = ("shuffle-pnsgd --lipschitz .1 --smoothness 1 --diameter 10 --learning-rate .001 --epochs 1e10 --sigma .05 --epsilon 48.9 "
         "--delta .0015")
CLIFF = ("shuffle-pnsgd --lipschitz 1 --smoothness .1 --diameter 2 --learning-rate .3 --index 1 --epochs 1e11 --n 1e12 --epsilon 3.66 "
         "--delta 1.69e-24")
SENSELESS = ("shuffle-pnsgd --lipschitz 2760 --smoothness 976 --diameter .116 --learning-rate 4.135e-6 --epochs 41000 --sigma 28.7 --n 1e12 "
             "--delta 7.66e-23")
PLATEAUS = ("shuffle-pnsgd --lipschitz 242 --smoothness .169 --diameter .0636 --learning-rate .0005698 --epochs 11 --n 1e6 --epsilon 6240 "
            "--delta 3.45e-10")
TO_AND_FRO = ("shuffle-pnsgd --lipschitz .1 --smoothness .1 --diameter 1 --learning-rate .001 --epochs 1e6 --n 1e6 --epsilon 1.57 "
              "--delta 1.3e-19")
NONE = ("shuffle-pnsgd --lipschitz 5 --smoothness .5 --diameter .5 --learning-rate .01 --epochs 1e11 --sigma .0204 --bound shuffled-iteration "
        "--epsilon 11.3 --delta 2.36e-13")
AIMED = ("shuffle-pnsgd --lipschitz 1160 --smoothness 826 --diameter 10200 --learning-rate .002421307 --epochs 26500 --sigma .0146 --n 1e12 "
         "--bound shuffled-hybrid --delta .00511")
NO_SENSE = ("shuffle-pnsgd --lipschitz 32.2 --smoothness 0 --diameter 1 --learning-rate 37.56 --epochs 615 --n 1e12 --epsilon 2200 "
            "--delta 2.42e-5")
STUCK = ("shuffle-pnsgd --lipschitz 7.16 --smoothness 2.72e-5 --diameter .118 --strong-convexity 2.72e-5 --learning-rate 4.518 --epochs 2 "
         "--n 1e12 --epsilon 1.28e-4 --delta 6.64e-181")
LINES = [  # numbers, walks and points at most
    (f"{WIDE} --solve sigma", 120_000, 8, 250_000),  # 219,147 and 6 and 700,448
    (f"{MANY} --solve epochs", 150_000, 12, 1_000_000),  # 94,759 by sums in fewer blocks and 8 and 3,974,160
    (f"{FLAT} --solve sigma", 750_000, 50, 20_000),  # 3,137,863 and 546 and 16,334
    (f"{PLATEAU} --solve learning-rate", 170_000, 8, 30_000),  # 103,194 and 5 and 31,232; 1,218,472 where next to no slope is believed
    (DEEP, 200_000, 5, 600_000),  # 196,293 and 4 and 2,251,776; 67,301 without the samples of ε at that δ, too
    (ROWS, 65_000, 7, 200_000),  # 62,051 and 6 and 2,826,112
    (f"{FINE} --solve n", 300_000, 5, 1_700_000),  # 155,030 by sums in fewer blocks, and 1 and 6,030,336: one grid for all losses
    (ALL, 70_000, 7, 220_000),  # 63,515 and 6 and 3,635,712
    (f"{ONE} --solve sigma", 100_000, 13, 300_000),  # 158,273 and 21 and 505,856: no slopes from afar
    (f"{SKEWED} --solve n", 700_000, 5, 900_000),  # 834,042 and 1 and 551,200: by a normal law that does not hold
    (SENSELESS, 160_000, 6, 950_000),  # 152,269 and 5 and 6,263,744: an epsilon of 43,547, told to 1e-4 of its delta
    (f"{PLATEAUS} --solve sigma", 820_000, 6, 360_000),  # 1,004,502 and 4 and 599,752
    (f"{TO_AND_FRO} --solve sigma", 250_000, 6, 290_000),  # 605,187 and 5 and 1,283,120: a tilt far from that of ε
    (f"{CLOSE} --solve n", 410_000, 5, 3_500_000),  # 385,690 and 1 and 6,123,712: δ told closer than ε
    (f"{CLIFF} --solve sigma", 120_000, 10, 310_000),  # 134,392 and 9 and 437,248: the same
    (AIMED, 130_000, 11, 250_000),  # 116,279 and 9 and 6,441,216: losses cut off that are below the epsilon
    (f"{NO_SENSE} --solve sigma", 420_000, 6, 170_000),  # 1,308,509 and 4 and 808,064: closer than epsilon = 2200 has a sense
    (f"{STUCK} --solve sigma", 1_900_000, 28, 90_000),  # 2,298,298 and 30 and 93,724: brackets that hardly shrink
    (f"{SIZES} --solve n", 400_000, 5, 1_750_000),  # 384,699 and 1 and 4,866,112, in one transform of 737,280
]


@pytest.mark.parametrize("line, numbers, walks, points", LINES)
def test_the_work_of_an_answer(line, numbers, walks, points, monkeypatch):
    done, follow, walk, transform = [0, 0, 0], chain_many.follow_many, chain_many.one_by_one, np.fft.rfft

    def follow_many(epsilon, along, *args):
        done[0] += len(epsilon) * len(along.nodes)
        return follow(epsilon, along, *args)

    def one_by_one(*args):
        done[1] += 1
        return walk(*args)

    def rfft(x, *args):
        done[2] += len(x)
        return transform(x, *args)

    monkeypatch.setattr(chain_many, "follow_many", follow_many)
    monkeypatch.setattr(chain_many, "one_by_one", one_by_one)
    monkeypatch.setattr(np.fft, "rfft", rfft)
    answer(line)
    assert done[0] <= numbers and done[1] <= walks and done[2] <= points, done


def test_what_these_give():
    """Within the precision of what they were, or sharper."""
    wide, many, rows = (answer(line)[0]["result"] for line in (f"{WIDE} --solve sigma", f"{MANY} --solve epochs", ROWS))
    assert wide["sigma"] == pytest.approx(0.0025586, rel=1e-3) and 0.134 < wide["epsilon"] <= 0.135
    assert many["epochs"] == pytest.approx(970_260, rel=1e-3) and 2.897 < many["epsilon"] <= 2.9
    assert rows["epsilon"] == pytest.approx(1.896019, rel=1e-4)
    assert -565 < answer(DEEP)[0]["result"]["log_delta"] < -563  # it was -560.02


def test_a_budget_that_is_met_as_closely_as_it_is_told():
    """δ at the budget's ε is told as closely as ε at its δ: a value that meets the one meets the other."""
    found = answer(f"{CLIFF} --solve sigma")[0]["result"]
    assert found["sigma"] == pytest.approx(1.98415e-5, rel=1e-4) and 3.655 < found["epsilon"] <= 3.66  # it was 3.616 at 1.98505e-5


def test_budgets_without_a_sense():
    """Between the cliffs of few rare losses log δ is flat: a slope of 3e-9 there is rounding, and leads to the end of the range."""
    found = answer(f"{PLATEAUS} --solve sigma")[0]["result"]
    assert found["sigma"] == pytest.approx(4.5, rel=0.04) and 6240 * 0.93 < found["epsilon"] <= 6240
    found = answer(f"{NO_SENSE} --solve sigma")[0]["result"]
    assert found["sigma"] == pytest.approx(2.11e-6, rel=0.04) and 2000 < found["epsilon"] <= 2200  # jumps to 2211


def test_a_tilt_is_not_looked_for_to_and_fro(monkeypatch):
    """Few large losses beyond many small ones: √ratio leads from one side of ε to the other, and back."""
    asked, at = [], tilt.cumulants
    monkeypatch.setattr(tilt, "cumulants", lambda parts, x: asked.append(x) or at(parts, x))
    small, large = 3.3e-4, 0.49
    step = Pair((), ((-large, -26 - large), (-small, log(0.497)), (0.0, log(6e-3)), (small, log(0.497)), (large, -26.0)), -inf, None)
    found = tilt.for_epsilon(((step, 10**6),), 3.0)
    assert found.mean == pytest.approx(3.0, rel=0.05) and len(asked) < 12  # 44


def test_nothing_is_composed_far_above_a_budget(monkeypatch):
    """Where next to all of δ is left, as half of the losses' moment says: only what is told as the best reachable is composed."""
    looks, at = [], epochs._delta
    monkeypatch.setattr(epochs, "_delta", lambda *args: looks.append(args) or at(*args))
    code, _, err = asked(f"{NONE} --solve n".split())
    assert code == 3 and float(re.search(r"epsilon = (\d+)", err)[1]) == pytest.approx(245_225, rel=1e-3)
    assert not looks  # three before


@pytest.mark.parametrize("ratio, epsilon, log_delta, far", [(5.0, 1.0, -20.0, True), (5.0, 1.0, -0.1, False), (10.0, 30.0, -0.5, False)])
def test_far_above_a_budget(ratio, epsilon, log_delta, far):
    """Against the δ of Gaussian steps, of which .0201, .0201 and .0294 is left."""
    ends = [0.0, *np.geomspace(1e-3 * ratio, 0.5 * ratio, 120).tolist()]
    samples = tuple(ends), tuple(log_theta(e, ratio / 10) for e in ends)
    assert epochs._is_far_above(samples, epsilon, log_delta, 100) == far
    left = -np.expm1(log_theta(epsilon, ratio))
    assert not far or left < -np.expm1(log_delta) / 10


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


def test_many_steps_are_nearly_normal():
    """By the tilted normal law and by a composition: what a search may go by."""
    pair = pairs.gaussian(1e-3)
    for steps, epsilon in ((10**6, 1.0), (10**6, 8.0), (10**5, 0.5)):
        parts = ((pair, steps),)
        assert log_delta_near(parts, epsilon) == pytest.approx(log_delta_at(parts, epsilon).upper, abs=2e-3)
    rare = ((pairs.sampled((0.0, 1.0, 3.0), (-12.0, -13.0, -40.0)), 100),)
    assert tilt.is_rare(rare, tilt.for_epsilon(rare, 0.9)) and log_delta_near(rare, 0.9) is None
    tailed = ((pairs.sampled((0.0, 1.0, 2.0, 3.0), (-5.0, -6.0, -7.0, -9.0)), 300),)
    skewed, straight = tilt.for_epsilon(tailed, 5.0), tilt.for_epsilon(tailed, 60.0)
    assert not tilt.is_rare(tailed, skewed) and log_delta_near(tailed, 5.0) is None
    assert tilt.skewness(tailed, skewed) > 0.5 and tilt.skewness(((pairs.gaussian(0.1), 50),), straight) == pytest.approx(0.0, abs=1e-12)
    ended = log_delta_at(tailed, 60.0).upper  # by what is infinite, which is not counted: samples that go deeper have less of it
    assert log_delta_near(tailed, 60.0) < -50 < ended == pytest.approx(np.log(300) - 9, abs=0.02)
    assert _like_gaussian((tuple(np.linspace(0, 0.01, 40)), tuple(np.linspace(-6, -30, 40))), 10**5, 0.5) < 0


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


@pytest.mark.parametrize("line, most", [
    ("--lipschitz 1 --smoothness 2.75e-5 --diameter 100 --learning-rate .00189 --n 86125629412 --sigma 1.18 --epsilon .00828 "
     "--delta .000247 --solve epochs", 3),
    ("--lipschitz 5.87 --smoothness .5 --diameter .0262 --learning-rate 9.62245e-5 --n 6983266 --epochs 3 --epsilon 9.47 --delta 7.46e-165 "
     "--solve sigma", 2),
    # ε at few epochs, which is below the budget, is as near to it as a margin says: 6.
    ("--lipschitz 2.75 --smoothness .0401 --diameter 502 --learning-rate 6.2e-5 --n 680086263786 --sigma .0424 --epsilon .0598 "
     "--delta .000201 --solve epochs", 4),
])
def test_few_values_of_basic_composition(monkeypatch, line, most):
    fine, at = [], epochs.at
    monkeypatch.setattr(epochs, "at", lambda bound, *rest: (bound.blocks and fine.append(rest), at(bound, *rest))[1])
    answer(f"shuffle-pnsgd --bound shuffled-hybrid-basic {line}")
    assert len(fine) <= most


def test_a_budget_that_a_whole_range_meets_by_little():
    """δ hardly depends on the rate: the last one is found by δ, not by its ε, each of which is a search (1,563,000 units)."""
    before = work.done()
    found = answer("shuffle-pnsgd --lipschitz 1.66 --smoothness .158 --diameter .0819 --n 258962 --epochs 13422 --sigma 4.92 --epsilon .03 "
                   "--delta .0137 --solve learning-rate --bound shuffled-hybrid-basic")[0]["result"]
    assert found["learning_rate"] == pytest.approx(12.1635, rel=2e-5) and 0.999 * 0.03 < found["epsilon"] <= 0.03
    assert work.done() - before < 80_000


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


def test_basic_composition_by_the_blocks_of_a_value_counts_in_a_search():
    """It may be sharper than a composition, whose sums are in larger blocks, where one epoch's δ is the same from ε/E to ε."""
    p = {"level": 9.4e-14, "lipschitz": 1.0, "diameter": 1.0, "learning_rate": 1.0, "smoothness": 0.1, "strong_convexity": 0.1, "n": 5 * 10**9}
    log_delta = float(np.log(5.7e-6))
    assert composed(BOUND).at_budget(2.03, log_delta - 0.01, steps=100, **p) <= basic_value(BOUND, 2.03, 100, p) < log_delta
    assert log_delta_at(_parts(followed(BOUND, log_delta, 100, p), 100), 2.03).upper > log_delta


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
