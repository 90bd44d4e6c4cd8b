"""Balls hold what they must; the laws of one use are those of the definition; convolutions are exact."""

import random
import sys
from fractions import Fraction
from math import erfc, exp, inf, nextafter, sqrt

import domains
import mpmath
import numpy as np
import pytest
from conftest import slow, spread

from dpcalc.bounds import all_bounds
from dpcalc.bounds.conversions import rdp_improved, rdp_optimal
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.atoms import approximate_dp
from dpcalc.pld.pair import Gaussian, Laplace
from dpcalc.pld.sampled import poisson, without_replacement
from dpcalc.verify import (
    composition,
    composition_atoms,
    composition_plans,
    loss_distributions,
    nested_grids,
    self_composition,
)
from dpcalc.verify.arb.ball import Ball, Undecided
from dpcalc.verify.arb.context import Context, enclosure
from dpcalc.verify.claim import optimal_slack as slack

BOUNDS = {name: b for name, b in all_bounds().items() if b.kind in ("rdp", "profile", "point")}
# a sum without end, a numerical law, a root by Newton's method, and integrals at orders where they take seconds
ELSEWHERE = {"audit-counts", "audit-gdp", "audit-one-run", "online-limit", "lower-bound", "pure-gdp", "gdp-composition", "adaptive-gdp-filter", "tv-rdp", "noise-accuracy", "poisson-rdp", "poisson-replace-one-rdp", "composition", "burn-in-rdp",
             "burn-in-rdp-nonconvex", "burn-in-as-published"}
BITS = (128, 512, 2048)


LONG = {"with-replacement-profile", "burn-in-contraction"}  # .1 s a point


@pytest.mark.parametrize("name, count", [
    *((name, 2 if name in LONG else 3) for name in sorted(BOUNDS.keys() - ELSEWHERE)),
    *(slow(name, 8) for name in sorted(BOUNDS.keys() - ELSEWHERE))])
def test_balls_hold_the_published_formula(name, count):
    """Against the same formula at 60 digits."""
    bound, rng, seen = BOUNDS[name], random.Random(name), 0
    mp = mpmath.mp.clone()
    mp.dps = 60
    for _ in range(count):
        p = domains.DRAW[name](rng)
        first = {"rdp": ("alpha",), "profile": ("epsilon",)}.get(bound.kind, ())
        order, own = [p[k] for k in first], {k: x for k, x in p.items() if k not in first}
        try:
            want = bound.exact(mp, *order, **own)
        except OutOfScope:
            continue
        for key in want if bound.kind == "point" else (None,):
            exact = want[key] if key else want

            def formula(c, key=key, order=order, own=own):
                found = bound.exact(c, *order, **own)
                return found[key] if key else found

            ball = _tight(formula, float(abs(exact)))
            low, high = ball.endpoints()
            assert low * (1 - 1e-30) <= exact <= high * (1 + 1e-30) + (1e-300 if high == 0 else 0), (p, low, high,
                                                                                                     exact)
            seen += 1
    assert seen >= 2


def _tight(formula, size):
    for bits in BITS:
        try:
            ball = enclosure(c := Context(bits), lambda: formula(c))
        except Undecided:
            continue
        if float(ball.x.rad()) <= 1e-20 * size or size < 1e-250:
            return ball
    raise AssertionError("no ball")


@pytest.mark.parametrize("alpha, z, q", [(1.5, 1.0, 0.01), (8.3, 2.0, 0.1), (30.7, 4.0, 1e-4)])
def test_integrals_with_their_tails(alpha, z, q):
    from dpcalc.bounds.noisy_sgd._engine import sampled_step
    from dpcalc.bounds.sampling import poisson_rdp

    for exact, value in ((lambda c: poisson_rdp.exact(c, alpha, z, q), poisson_rdp.value(alpha, z, q)),
                         (lambda c: sampled_step.exact(c, alpha, q, z), sampled_step.value(alpha, q, z))):
        low, high = enclosure(c := Context(128), lambda: exact(c)).endpoints()  # noqa: B023
        assert low <= high <= value <= low * (1 + 1e-9)
    whole = enclosure(c := Context(128), lambda: poisson_rdp.integral(
        c, lambda u: (1 + u) ** 3 - 1 - 3 * u, c.mpf(3), c.mpf(q), c.mpf(z), lambda low, high: c.mpf(0)))
    sums = 3 * q**2 * (exp(1 / z**2) - 1) + q**3 * (exp(3 / z**2) - 3 * exp(1 / z**2) + 2)  # moments of u = q(e^w − 1)
    assert float(whole) == pytest.approx(sums, rel=1e-12)


def test_open_comparisons_go_both_ways():
    c = Context(64)
    third = c.mpf(1) / 3

    def formula():
        return c.mpf(1) if third * 3 >= 1 else c.mpf(2)

    low, high = enclosure(c, formula).endpoints()
    assert low <= 1 and high >= 2 and high - low < 1 + 1e-8
    with pytest.raises(Undecided):
        formula()
    with pytest.raises(Undecided, match="too many"):
        enclosure(c, lambda: c.fsum(c.mpf(1) if third * 3 > 1 else c.mpf(0) for _ in range(9)))
    assert isinstance(c.mpf(2) ** 0.5, Ball) and enclosure(c, lambda: max(third, third)).endpoints()[0] <= 1 / 3
    low, high = enclosure(c, lambda: c.mpf(1) / 3).endpoints()
    assert Fraction(low) < Fraction(1, 3) < Fraction(high) and high == nextafter(low, 1)


@pytest.mark.slow
def test_the_optimal_conversion():
    """The slack changes its sign at the ε of the condition as published."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    rng, c = random.Random(3), Context(128)
    for _ in range(20):
        alpha, rdp, delta = 1 + 10 ** rng.uniform(-1, 2), 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-12, -2)
        if rdp_improved.value(alpha, rdp, float(mp.log(delta))) == 0 or alpha * delta > 0.9:
            continue
        epsilon = float(rdp_optimal.exact(mp, alpha, rdp, delta))
        if epsilon < 1e-3:
            continue
        above, below = (slack(c, alpha, c.mpf(rdp), c.mpf(delta), epsilon * (1 + x)).x for x in (1e-9, -1e-9))
        assert above > 0 > below


# --- the law of one use ----------------------------------------------------------------------------------------------

GAUSSIAN, LAPLACE = loss_distributions.gaussian(lambda mp: mp.mpf(1)
                                                / 2), loss_distributions.laplace(lambda mp: mp.mpf(1) / 2, 0.5)
BINARY = composition_atoms.approximate_dp_pair(lambda mp: mp.mpf(1), 0.25)
PAIRS = {"gaussian": (GAUSSIAN, Gaussian(0.5)), "laplace": (LAPLACE, Laplace(0.5)),
         "binary": (BINARY, approximate_dp(1.0, -1.3862943611198906))}
SAMPLED = {None: lambda p, q: p, "poisson": poisson, "without-replacement": without_replacement, "added": lambda p,
           q: poisson(p, q).reverse}


@pytest.mark.parametrize("base", PAIRS)
@pytest.mark.parametrize("scheme", SAMPLED)
def test_laws_are_those_that_are_composed(base, scheme):
    """Two independent descriptions of a pair: distribution functions in balls, and the masses that are composed."""
    mine, fast = PAIRS[base]
    use = loss_distributions.Use(mine, "poisson" if scheme == "added" else scheme, 0.3 if scheme else 1.0,
                                 scheme == "added")
    pair, c = SAMPLED[scheme](fast, 0.3), Context(128)
    assert float(loss_distributions.infinite_mass(use, c)) == pytest.approx(exp(pair.log_infinite) if pair.log_infinite
                                                                            > -inf else 0, abs=1e-12)
    edges = [-inf, -0.9, -0.4, -0.17, -0.031, 0.0213, 0.11, 0.3, 0.77, 1.2, inf]
    log_p, loss = pair.masses(np.array(edges))
    above_p = above_q = 0.0
    for x, p, at in reversed(list(zip(edges[1:-1], log_p[1:].tolist(), loss[1:].tolist(), strict=True))):
        above_p, above_q = above_p + exp(p), above_q + (exp(p - at) if p > -inf else 0.0)
        mine_p, mine_q = (float(m) for m in loss_distributions.masses_above(use, c, c.mpf(x)))
        assert (above_p, above_q) == pytest.approx((mine_p, mine_q), rel=1e-12, abs=1e-15)
        below = float(loss_distributions.p_mass_up_to(use, c, c.mpf(x)))
        assert below + mine_p + float(loss_distributions.infinite_mass(use, c)) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("epsilon", [slow(0.0), slow(0.05), 0.4, slow(1.0)])
@spread("scheme, rate", [(None, 1.0), ("without-replacement", 0.2), ("poisson", 0.2)])
def test_one_step_is_its_profile(scheme, rate, epsilon):
    """δ of the split law is above the exact profile, that of merged cells below, and both are near it."""
    c, mu = Context(128), 0.5
    grid = (composition_plans.Level(2.0**-10, -1000, 1000), composition_plans.Level(2.0**-7, -400, 400))
    plan = composition_plans.Plan(3.0, (grid,), ((-1e300, 1e300),) * 2, (2.0**-7, 2.0**-10))
    parts = ((loss_distributions.Use(GAUSSIAN, scheme, rate), 1),)
    inner = float(mpmath.log(1 + mpmath.expm1(epsilon) / rate))
    want = rate * (erfc((inner / mu - mu / 2) / sqrt(2)) - exp(inner) * erfc((inner / mu + mu / 2) / sqrt(2))) / 2
    above, below = (float(f(c, parts, plan, epsilon))
                    for f in (composition.delta_from_above, composition.delta_from_below))
    assert want * (1 - 2e-4) - 1e-9 <= below <= want * (1 + 1e-13)
    assert want * (1 - 1e-13) <= above <= want * (1 + 2e-4) + 1e-9


# --- convolution -----------------------------------------------------------------------------------------------------


def _exactly(weights, steps):
    found = [1]
    for _ in range(steps):
        longer = [0] * (len(found) + len(weights) - 1)
        for i, x in enumerate(found):
            for j, y in enumerate(weights):
                longer[i + j] += x * y
        found = longer
    return found


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("steps", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("flint", [True, False])
def test_sums_are_on_their_side(steps, words, flint, monkeypatch):
    """Of a law on one grid, in fractions: from above nothing is lost, from below nothing is gained, and more words keep
    the relative accuracy of small weights."""
    if not flint:
        monkeypatch.setitem(sys.modules, "flint", None)
    c, rng = Context(128) if flint else mpmath.mp, random.Random(steps)
    weights = np.array([rng.random() * 2.0 ** -rng.randrange(60) for _ in range(9)])
    exact = _exactly([Fraction(w) for w in weights.tolist()], steps)
    plan = composition_plans.Plan(1.0, (), ((-1e300, 1e300),) * 40, (1.0,) * 40)
    for up, kind in ((True, nested_grids.Splitting), (False, nested_grids.Merging)):
        composer = kind(c, plan, nested_grids.Rounding(words, (up,)))
        (found,) = self_composition.self_compose((nested_grids.WeightedLevel(1.0, -4, (weights,)),), steps, composer)
        allowed = steps * 2.0**-48, sum(exact) * steps * Fraction(2.0 ** (10 - 63 * words))
        for k, w in enumerate(map(Fraction, found.rows[0].tolist())):
            want = exact[k + found.first + 4 * steps]
            low, high = (w - want, allowed[0] * want + allowed[1]) if up else (want - w, allowed[0] * want + allowed[1])
            assert 0 <= low <= high
        assert len(found.rows[0]) == len(exact)


@pytest.mark.parametrize("at_once", [2, 4])
def test_sums_on_one_grid_lose_negligible_ends_only(at_once):
    """Several digits at once: two levels become one, whose masses from above, with what is missing, are at least the
    exact ones, and from below at most; both are close."""
    c, rng, steps = Context(128), random.Random(at_once), 26
    fine, coarse = (np.array([rng.random() * 2.0 ** -rng.randrange(90) for _ in range(n)]) for n in (9, 5))
    weights = np.zeros(9)
    weights[::2] = coarse
    weights += fine
    exact = [float(x) for x in _exactly([Fraction(w) for w in weights.tolist()], steps)]
    plan = composition_plans.Plan(1.0, (), ((-1e300, 1e300),) * 40, (2.0, *(1.0,) * 40), (at_once,) * 4)
    for up, kind in ((True, nested_grids.Splitting), (False, nested_grids.Merging)):
        composer = kind(c, plan, nested_grids.Rounding(3, (up,)))
        levels = nested_grids.WeightedLevel(1.0, -4, (fine,)), nested_grids.WeightedLevel(2.0, -2, (coarse,))
        (found,) = self_composition.self_compose(levels, steps, composer)
        begin, w, room = found.first + 4 * steps, found.rows[0], 1e-14 * sum(exact)
        want = np.array(exact[begin : begin + len(w)])
        assert (w + found.missing >= want).all() if up else (w <= want).all()
        assert w == pytest.approx(want, rel=1e-12, abs=room) and found.missing <= room
        lost = sum(exact[:begin]) + sum(exact[begin + len(w) :])
        assert lost <= (found.missing if up else room)
