"""Random allocation: laws above and below the true one, by definition, by sampling, and by golden values."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from math import exp, log

import mpmath
import numpy as np
import pytest
from answers import answer
from conftest import slow, spread
from pair_masses import delta
from paths import GOLDEN

from dpcalc.bounds.sampling import allocation_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.allocation import dominated_pair, dominating_pair
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.log_normal_sums import Law, Steps
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.sampled import poisson

CASES = json.loads((GOLDEN / "sampling.json").read_text())["cases"]
ONE_EPOCH = [c for c in CASES if c["kind"] == "allocation"]
EPOCHS = [c for c in CASES if c["kind"] == "allocation-epochs"]


def both(pair):
    return {"remove": pair, "add": pair.reverse}


@spread("case", [slow(c) if c["t"] >= 1000 or c["sigma"] == 0.3 else c for c in ONE_EPOCH], ids=lambda c: f"{c['sigma']}-{c['t']}")
def test_one_epoch_has_the_known_epsilon_in_each_direction(case):
    tail = allocation_profile.tail_of(case["delta"], 1)
    upper, lower = (both(make(case["sigma"], case["t"], tail)) for make in (dominating_pair, dominated_pair))
    for side in ("remove", "add"):
        least, most = case[side]
        high, low = (epsilon_at_delta([(pair[side], 1)], log(case["delta"]), one_sided=True)
                     for pair in (upper, lower))
        assert least <= high.upper <= most * 1.002
        assert most >= low.lower >= least * (0.99 if side == "add" else 0.999)


@spread("case", [slow(c) if c["sigma"] in (0.8, 1) or c["t"] == 234 else c for c in EPOCHS],
        ids=lambda c: f"{c['sigma']}-{c['t']}-{c['epochs']}-{c['k']}")
def test_epochs_have_the_known_epsilon(case):
    tail = allocation_profile.tail_of(case["delta"], case["epochs"])

    def epochs(bound):
        return [(pair, count * case["epochs"])
                for pair, count in bound.value(case["sigma"], case["t"], case["k"], tail)]

    least, most = case["epsilon"]
    assert least <= epsilon_at_delta(epochs(allocation_profile.BOUND), log(case["delta"])).upper <= most * 1.002
    if case["k"] == 1:
        assert least * 0.999 <= epsilon_at_delta(epochs(allocation_profile.LOWER), log(case["delta"])).lower <= most


@pytest.mark.parametrize(("sigma", "epsilon", "remove", "add"), [
    # by an integral over one ratio of the closed form for the other one, to 8 digits
    (1, 3, 1.6770277e-4, 1.5902651e-5), (1, 0.5, 0.14917752, 0.14268697), (0.5, 4, 0.044825118, 0.01661186),
    (2, 0.5, 0.018326595, 0.017397486), (1, 0, 0.29776223, 0.29776223)])
def test_two_steps_by_an_integral(sigma, epsilon, remove, add):
    upper, lower = dominating_pair(sigma, 2, 1e-14), dominated_pair(sigma, 2, 1e-14)
    for true, high, low in ((remove, upper, lower), (add, upper.reverse, lower.reverse)):
        assert delta(low, epsilon) <= true * (1 + 1e-7) <= delta(high, epsilon) * (1 + 2e-7)
        assert delta(high, epsilon) <= 1.004 * delta(low, epsilon) * (1.002 if epsilon == 3 else 1)


def law(mu, step, doublings):
    """The law of 2^doublings ratios on a grid with steps of at most `step` times the points."""
    steps = Steps(step, 400.0)
    found = Law.one(mu, 2.0**-10, steps, 1e-13, 2**doublings)
    for _ in range(doublings):
        found = found.plus(found).settled(steps).truncated(1e-13, 2**doublings)
    return found


def cells(found):
    """The points, masses and mean parts of all cells."""
    p, m = np.concatenate([part.rows for part in found.parts], axis=1)
    return np.concatenate([part.points for part in found.parts]), p, m


def means(found, phi, at_infinity):
    """E φ of a law of the mean of ratios, read from below and from above; `at_infinity` is lim φ(x)/x."""
    x, p, m = cells(found)
    x, p, m = x[p > 0], p[p > 0], m[p > 0]
    infinite = at_infinity * found.infinite / found.count
    return (float((p * phi(m / p / found.count)).sum()),
            float((p * phi(x / found.count)).sum()) + found.zero * float(phi(0.0)) + infinite)


@pytest.mark.parametrize("mu", [0.2, 1.0, 2.0])
def test_finer_grids_are_nested(mu):
    """lower(h) <= lower(h/2) <= upper(h/2) <= upper(h) for every convex function."""
    step = 0.1 * min(mu, 1.0)
    for doublings in (0, 1, 3):
        coarse, fine = (law(mu, h, doublings) for h in (step, step / 2))
        for gamma in np.exp(np.linspace(-1.5, 2, 15) * mu):
            for phi, slope in ((lambda x, g=gamma: np.maximum(x - g, 0.0), 1.0),
                               (lambda x, g=gamma: np.maximum(g - x, 0.0), 0.0)):
                (lowest, highest), (low, high) = (means(found, phi, slope) for found in (coarse, fine))
                assert lowest <= low * (1 + 1e-10) + 1e-15
                assert low <= high * (1 + 1e-10) + 1e-15
                assert high <= highest * (1 + 1e-10) + 1e-15


def moved(index, step, to):
    """Where a unit mass at a point goes on a grid with the step `to`: halves of odd points to both neighbours."""
    if step == to:
        return {index: Fraction(1)}
    found = {}
    for point in {index - index % 2, index + index % 2}:
        for k, share in moved(point // 2, 2 * step, to).items():
            found[k] = found.get(k, 0) + share * (Fraction(1, 2) if index % 2 else 1)
    return found


def sums_in_fractions(a, b):
    """The masses and the mean parts of the sums of all cells of two laws, by the step and the index of points."""
    rows = ({}, {})
    for x, y in itertools.product(a.parts, b.parts):
        step = max(x.step, y.step)
        for i, j in itertools.product(range(x.rows.shape[1]), range(y.rows.shape[1])):
            (p, m), (q, n) = (map(Fraction, part.rows[:, k].tolist()) for part, k in ((x, i), (y, j)))
            places = itertools.product(*(moved(part.first + k, part.step, step).items() for part, k in ((x, i), (y, j))))
            for (at_x, share), (at_y, other) in places:
                for row, mass in zip(rows, (p * q, p * n + m * q), strict=True):
                    row[step, at_x + at_y] = row.get((step, at_x + at_y), 0) + mass * share * other
    return rows


@pytest.mark.parametrize("tail", [1e-4, slow(1e-9)])
def test_masses_of_a_sum_are_within_the_stated_error(tail):
    """Every mass of a sum against the same halves in fractions."""
    one = replace(Law.one(1.0, 0.25, Steps(0.3, 3.0), tail, 1), error=0.0)  # the sums alone have errors
    two = replace(one.plus(one).settled(Steps(0.4, 3.0)), error=0.0)
    for a, b in ((one, one), (two, one)):
        total, rows = a.plus(b), sums_in_fractions(a, b)
        assert 0 < total.error < 1e-13
        for found, true in zip((0, 1), rows, strict=True):
            got = {(part.step, part.first + i): mass for part in total.parts
                   for i, mass in enumerate(part.rows[found].tolist()) if mass > 0}
            assert got.keys() == {place for place, mass in true.items() if mass > 0}
            assert all(abs(Fraction(mass) - true[place]) <= Fraction(total.error) * true[place] for place, mass in got.items())


@pytest.mark.parametrize(("mu", "steps"), [(1.0, 13), (0.1, 3), slow(3.0, 100)])
def test_ends_that_are_cut_off_keep_mass_and_mean_from_below_and_bound_both_from_above(mu, steps):
    whole = Law.one(mu, 2.0**-8, Steps(0.02, 400.0), 1e-12, steps)
    whole = whole.plus(whole)
    cut = whole.truncated(1e-4, steps)
    (_, p, m), (_, p_cut, m_cut) = cells(whole), cells(cut)
    assert p_cut.sum() == pytest.approx(p.sum(), rel=1e-14) and m_cut.sum() == pytest.approx(m.sum(), rel=1e-14)
    assert len(p_cut) < len(p) and cut.zero > whole.zero and cut.infinite > whole.infinite
    for gamma in (0.1, 0.5, 1.0, 3.0, 20.0):
        for phi, slope in ((lambda z, g=gamma: np.maximum(z - g, 0.0), 1.0),
                           (lambda z, g=gamma: np.maximum(g - z, 0.0), 0.0)):
            (low, high), (lower, higher) = (means(each, phi, slope) for each in (whole, cut))
            assert lower <= low * (1 + 1e-13) and high <= higher * (1 + 1e-13)


def test_one_step_is_the_gaussian_mechanism():
    found = log_delta_at_epsilon(allocation_profile.value(2.0, 1, 1, 1e-12), 0.5)
    assert exp(found.upper) == pytest.approx(0.05243, rel=1e-3)  # Φ(−3/4) − e^{1/2}Φ(−5/4)
    assert allocation_profile.value(2.0, 3, 3, 1e-12) == ((dominating_pair(2.0, 1, 1e-12), 3),)


def test_the_steps_are_divided_among_the_participations():
    assert allocation_profile.blocks(10, 3) == ((3, 2), (4, 1))
    assert allocation_profile.blocks(10, 5) == ((2, 5),)
    for steps, k in ((10, 3), (7, 7), (1000, 1), (9, 4)):
        blocks = allocation_profile.blocks(steps, k)
        assert sum(length * count for length, count in blocks) == steps and sum(count for _, count in blocks) == k


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "steps", "least"), [(0.5, 100_000, 1e-10), (1, 100_000, 1e-3), (0.7, 4097, 1e-8)])
def test_brackets_are_narrow(sigma, steps, least):
    tail = allocation_profile.tail_of(least, 1)
    high = epsilon_at_delta([(dominating_pair(sigma, steps, tail), 1)], log(least)).upper
    low = epsilon_at_delta([(dominated_pair(sigma, steps, tail), 1)], log(least)).lower
    assert 0 < high - low <= 2e-3 * high


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "epsilon", "tail"), [(3, 4, 1e-60), (20, 0.3, 1e-30), (34.3, 0.268, 1e-50)])
def test_brackets_far_in_the_tail_keep_the_claim(sigma, epsilon, tail):
    """Two steps by an integral, at δ down to 1e-45."""
    mp = mpmath.mp.clone()
    mp.dps = 80
    true, claim = float(allocation_profile.exact(mp, epsilon, sigma, 2, 1, tail)), allocation_profile.BOUND.rtol
    upper, lower = dominating_pair(sigma, 2, tail), dominated_pair(sigma, 2, tail)
    high, low = (max(delta(pair, epsilon), delta(pair.reverse, epsilon)) for pair in (upper, lower))
    assert true * (1 - claim) <= low <= true <= high <= true * (1 + claim)


def test_every_block_has_its_share_of_the_tail():
    """The mass that is infinite only because laws are truncated is negligible against δ, at many participations, too."""
    delta, steps, k = 1e-6, 20_000, 1000
    tail = allocation_profile.tail_of(delta, k)
    pairs = allocation_profile.value(1.0, steps, k, tail)
    assert sum(count * exp(pair.log_infinite) for pair, count in pairs) < 0.005 * delta
    answered = answer(f"subsample --scheme random-allocation --steps-per-epoch {steps} --epochs 1 "
                      f"--participations {k} --noise-multiplier 1 --delta {delta}")
    assert answered["result"]["epsilon"] == pytest.approx(epsilon_at_delta(pairs, log(delta)).upper, rel=1e-6)


def test_more_participations_than_steps_are_refused():
    with pytest.raises(OutOfScope, match="5 is above 3, the number of steps of an epoch"):
        allocation_profile.value(1.0, 3, 5, 1e-20)


@pytest.mark.parametrize("batches", [1, 2, slow(30)])
def test_a_record_that_is_used_by_chance_is_one_that_is_sampled(batches):
    """(1−ρ)P + ρQ against Q: for one batch a Poisson-sampled Gaussian, and less than if it is always used."""
    pair = dominated_pair(0.8, batches, 1e-20)
    for unused in (1e-9, 0.05, 0.45):
        mixed = dominated_pair(0.8, batches, 1e-20, unused)
        for epsilon in (0.0, 0.3, 2.0):
            found = log_delta_at_epsilon(((mixed, 2),), epsilon)
            bare = log_delta_at_epsilon(((pair, 2),), epsilon)
            assert found.lower < (bare.lower if unused > 1e-3 else bare.upper)
            if batches == 1:
                exact = log_delta_at_epsilon(((poisson(Gaussian(1 / 0.8), 1 - unused), 2),), epsilon)
                assert exact.lower - 1e-2 < found.lower <= exact.upper


@pytest.mark.parametrize("sigma", [1.3, slow(0.2)])
def test_the_masses_of_a_mixture_are_rounded_to_the_safe_side(sigma):
    pair, mixed, mp = (*(dominated_pair(sigma, 5, 1e-20, unused) for unused in (0.0, 0.2)), mpmath.mp.clone())
    mp.dps = 40
    for k in range(0, len(pair.losses), 97):
        p, q = (mp.exp(mp.mpf(one.log_p[k])) for one in (pair, pair.reverse))  # each rounded down
        low = mp.mpf(0.8) * p + mp.mpf(0.2) * q
        assert mp.exp(mp.mpf(mixed.log_p[k])) <= low and mixed.log_p[k] == pytest.approx(float(mp.log(low)), rel=1e-13)
        q_high = mp.exp(mp.mpf(pair.log_p[k]) - mp.mpf(pair.losses[k]))
        assert mp.mpf(mixed.losses[k]) <= mp.log(low / q_high) + mp.mpf(10) ** -15


@pytest.mark.parametrize(("mu", "relative", "tail"), [
    (1.2, 0.018, 1e-100), (1e-9, 0.018e-9, 1e-100), (20.0, 0.018, 1e-20), (0.5, 0.0075, 1e-6), (0.01, 1e-5, 1e-30)])
def test_masses_of_one_ratio_are_within_the_stated_error(mu, relative, tail):
    """Cells against closed forms in 400 digits: E (w − a)₊ between the points gives the shares of both."""
    mp = mpmath.mp.clone()
    mp.dps = 400  # which differences of distribution functions near 1 need
    one = Law.one(mu, 2.0**-10 * min(1.0, mu), Steps(relative, -12 * log(tail)), tail, 1000)
    assert 0 < one.error < 5e-12
    points, p, m = cells(one)
    order = np.argsort(points, kind="stable")
    points, p, m = points[order], p[order], m[order]

    def below(x, power):
        """The mean of w^power where w < x."""
        z = mp.log(mp.mpf(x)) / mp.mpf(mu) + mp.mpf(mu) / 2 - power * mp.mpf(mu)
        return mp.ncdf(z) * mp.exp(mp.mpf(mu) ** 2 * power * (power - 1) / 2)

    x = np.unique(points)
    for k in {1, len(x) // 5, len(x) // 2, 3 * len(x) // 4, len(x) - 2}:
        a, b, c = (mp.mpf(y) for y in x[k - 1 : k + 2].tolist())
        for row, power in ((p, 0), (m, 1)):
            at = [[below(y, power + more) for more in (0, 1)] for y in (a, b, c)]
            rises = (at[1][1] - at[0][1] - a * (at[1][0] - at[0][0])) / (b - a)
            falls = (c * (at[2][0] - at[1][0]) - (at[2][1] - at[1][1])) / (c - b)
            found = mp.mpf(float(row[points == x[k]].sum()))
            assert abs(found - rises - falls) <= one.error * (rises + falls)
