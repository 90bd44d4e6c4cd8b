"""The profile of a group of records in a Poisson-sampled batch: from its definition, at high precision, and beside
other bounds."""

import random
from math import comb, exp, inf, log, log1p, pi, sqrt

import mpmath
import numpy as np
import pytest
from conftest import slow, spread

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.conversions import group_privacy
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling import poisson_group_profile as group
from dpcalc.bounds.sampling import poisson_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon

mp = mpmath.mp.clone()
mp.dps = 60


@pytest.mark.parametrize("size, sigma, delta", [(2, 1.0, 7.899770498501807e-06), (8, 2.0, 6.539901460245856e-07)])
def test_one_step_agrees_with_another_accountant(size, sigma, delta):
    """δ(0.5) at q = 0.01."""
    assert exp(group.value(0.5, 0.01, sigma, size)) == pytest.approx(delta, rel=2e-12)


@spread("rate, sigma, size, epsilon", [(0.2, 1.0, 3, 0.1), (0.01, 0.5, 2, 1.0), (0.7, 2.0, 9, 0.3),
                                       slow(0.05, 8.0, 100, 0.2), (1e-4, 1.0, 5, 0.0)])
def test_either_direction_by_definition(rate, sigma, size, epsilon):
    """∫(mix − e^ε N)₊ and ∫(N − e^ε mix)₊, by the sum over many outcomes."""
    z, step = np.linspace(-12, size / sigma + 12, 4_000_001, retstep=True)
    mixture = sum(comb(size, j) * rate**j * (1 - rate) ** (size - j) * np.exp(-(z - j / sigma) ** 2 / 2)
                  for j in range(size + 1) if comb(size, j) * rate**j > 1e-30)
    plain, scale = np.exp(-z * z / 2), step / sqrt(2 * pi)
    for side, excess in ((+1, mixture - exp(epsilon) * plain), (-1, plain - exp(epsilon) * mixture)):
        found = exp(group.sided(epsilon, side, rate, sigma, size))
        assert found == pytest.approx(float(np.maximum(excess, 0).sum() * scale), rel=1e-8, abs=1e-14)


def draw(rng):
    """q from 1e-12 to next to 1, σ from .05 to 1000, and ε up to where one direction ends, or far above."""
    size, sigma = rng.choice((1, 2, 3, 7, 20)), 10 ** rng.uniform(-1.3, 3)
    rate = rng.choice((1 - 10 ** -rng.uniform(0.1, 15.9), 10 ** -rng.uniform(0, 12), 0.001 + 0.99 * rng.random()))
    end = -size * log1p(-rate)
    epsilon = rng.choice((0.0, 10 ** rng.uniform(-12, 2), rng.uniform(0, 5) / sigma, end * rng.random(),
                          end * (1 - 10 ** -rng.uniform(0, 15))))
    return epsilon, rate, sigma, size


@pytest.mark.parametrize("draws", [30, slow(120)])
@pytest.mark.parametrize("side", [+1, -1], ids=["removed", "added"])
def test_each_direction_keeps_its_claim(side, draws):
    """Never below the formula, and above it by no more than the claim, at an ε that may be off by as much."""
    rng, claim = random.Random(side), group.BOUND.rtol
    for _ in range(draws):
        epsilon, *run = draw(rng)
        found = group.sided(epsilon, side, *run)
        exact, earlier = (group.sided_exact(mp, e, side, *run)
                          for e in (epsilon, mp.mpf(epsilon) * (1 - mp.mpf(claim))))
        if found == -inf:
            assert exact == 0, (epsilon, *run)
            continue
        exact, earlier = (mp.log(min(x, 1)) for x in (exact, max(exact, earlier)))
        assert exact <= found <= earlier + claim * max(1, abs(earlier)), (epsilon, *run)


def test_where_one_direction_ends():
    """Adding the group gives no ratio below (1 − q)^K: at ε = −K log(1 − q), and a few roundings around it."""
    for rate, size in ((0.3, 3), (1e-9, 7), (0.999, 2)):
        end = -size * log1p(-rate)
        for epsilon in (end * (1 + k * 2.0**-52) for k in range(-12, 13)):
            found, exact = (f(*a, epsilon, -1, rate, 1.0, size) for f, a in ((group.sided, ()), (group.sided_exact, (mp,))))
            assert exact == 0 if found == -inf else found >= mp.log(exact) if exact > 0 else found < -20
        assert group.sided(end * 1.01, -1, rate, 1.0, size) == -inf


def test_one_record_is_the_profile_of_one_record():
    rng = random.Random(7)
    for _ in range(60):
        epsilon, rate, sigma, _ = draw(rng)
        one = poisson_profile.value(epsilon, rate, MECHANISMS["gaussian"].profile({"sigma": sigma, "sensitivity": 1.0}))
        assert group.value(epsilon, rate, sigma, 1) == pytest.approx(one, rel=1e-8, abs=1e-9)


def test_a_group_that_is_always_in_the_batch():
    for size in (1, 3, 1000):
        assert group.value(0.5, 1.0, 4.0, size) == gaussian.value(0.5, 4.0, float(size), 1)


def test_hardly_any_noise():
    """δ is the probability that a record of the group is in the batch, or where the group is added 1 − e^ε(1 − q)^K."""
    for epsilon in (0.0, 0.01):
        removed, added = (exp(group.sided(epsilon, side, 0.01, 1e-9, 3)) for side in (+1, -1))
        assert removed == pytest.approx(1 - 0.99**3, rel=1e-12) and added == pytest.approx(1 - exp(epsilon) * 0.99**3)
    assert group.sided(0.1, -1, 0.01, 1e-9, 3) == -inf
    pair = group.pair(0.01, 1e-9, 3)
    assert log_delta_at_epsilon(((pair, 1),), 1.0).upper == pytest.approx(log(1 - 0.99**3), abs=1e-6)


@pytest.mark.slow
def test_the_generic_bound_is_never_below():
    """By the ε of one record at many δ; at K = 4 it asks for 13.8, where the group loses 10.02."""
    steps, target = 1000, 1e-6
    for size, sigma in ((2, 1.0), (4, 1.0), (8, 2.0)):
        own = epsilon_at_delta(((group.pair(0.01, sigma, size), steps),), log(target)).upper
        one = [(epsilon_at_delta(((group.pair(0.01, sigma, 1), steps),), log(d)).upper, d)
               for d in (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)]
        assert own < group_privacy.inverse(log(target), tuple(one), size)


def test_groups_beyond_the_largest():
    with pytest.raises(OutOfScope, match="above 1000"):
        group.value(1.0, 0.1, 1.0, 1001)


@pytest.mark.parametrize("points, size, at, log_delta", [
    (((0.5, 1e-7),), 3, 1.5, log(1e-7 * (1 + exp(0.5) + exp(1.0)))), (((0.5, 1e-7),), 3, 1.49, 0.0),
    (((0.0, 1e-3),), 4, 0.0, log(4e-3)), (((0.5, 0.0),), 3, 1.5, -inf), (((0.5, 0.2), (1.0, 1e-9)), 2, 2.0,
                                                                         log(1e-9 * (1 + exp(1.0))))])
def test_the_generic_bound_by_its_sum(points, size, at, log_delta):
    assert group_privacy.value(at, points, size) == pytest.approx(log_delta, abs=1e-12)
