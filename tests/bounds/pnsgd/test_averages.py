"""Averages of θ over positions: blocks by chords, from above, close to the sum over every position."""

import random
from itertools import pairwise
from math import exp, log

import mpmath
import numpy as np
import pytest
from conftest import slow

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd import iteration, smooth_nonconvex
from dpcalc.bounds.pnsgd._engine import averages, positions
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.positions import FINE
from dpcalc.bounds.pnsgd._engine.shares import Powers, Shares
from dpcalc.numerics.mp.context import context


def cases(count, seed, longest=2e4):
    rng = random.Random(seed)
    for _ in range(count):
        n = int(exp(rng.uniform(log(65), log(longest))))
        log_c = rng.choice((0.0, rng.choice((-1, 1)) * exp(rng.uniform(-3, 8)) / n))
        ratio = (Powers if log_c < 0 and rng.random() < 0.5 else Shares)(exp(rng.uniform(-4, 7)), log_c)
        yield rng.choice((0.0, exp(rng.uniform(-6, 3)), exp(rng.uniform(-6, 8)))), ratio, n


@pytest.mark.parametrize("count", [10, slow(40)])
def test_bows_are_those_of_theta(count):
    """Second differences of θ at 60 digits, over the whole block and where it begins and ends."""
    seen, mp = {-1: 0, 0: 0, 1: 0}, context()
    mp.dps = 60
    for epsilon, ratio, n in cases(count, 1):
        exactly = Exactly(mp, ratio)
        at = positions.average_nodes(n, 16)
        for j, bow in enumerate(positions.curvatures(epsilon, ratio, at)):
            seen[bow] += at[j + 1] > at[j] + 1
            a, b = at[j] if bow > 0 else at[j - 1], at[j + 1]
            if not bow or j % 5 or log_gaussian(epsilon, ratio(b)) < -1e4:
                continue
            for low, high in ((a, b), (a, a + 2), (b - 2, b)):
                ends = theta(mp, epsilon, exactly(low)), theta(mp, epsilon, exactly(high))
                middle = theta(mp, epsilon, exactly(mp.mpf(low + high) / 2))
                assert bow * (sum(ends) / 2 - middle) >= -mp.mpf(10) ** -50 * ends[0], (epsilon, ratio, n, j)
    assert (seen[1] > 25 * count and count < 40) or (seen[-1] > 100 and seen[0] < 300 and seen[1] > 1000)


class Exactly:
    """The printed ratio, at any real m."""

    def __init__(self, mp, ratio):
        self.mp, self.first, self.power = mp, mp.mpf(ratio.first), isinstance(ratio, Powers)
        self.log_c = mp.mpf(ratio.log_c)

    def __call__(self, m):
        mp, log_c = self.mp, self.log_c
        if self.power:
            return self.first * mp.exp(m * log_c)
        if log_c == 0:
            return self.first / mp.sqrt(m + 1)
        return self.first * mp.sqrt(mp.exp(2 * m * log_c) * mp.expm1(2 * log_c) / mp.expm1(2 * (m + 1) * log_c))


def true(epsilon, ratio, n):
    """log of the average over every position."""
    logs = np.array([log_gaussian(epsilon, ratio(m)) for m in range(n)])
    return logs[0] + log(np.exp(np.maximum(logs - logs[0], -740)).sum() / n)


HARD = [(1955.88, Shares(668.458, 0.0), 4425), (15.0, Shares(157.1, 0.0), 3225), (12.69, Shares(273.96, -0.011), 9000),
        (14.9, Shares(118.87, -0.25 / 1525), 1525), (61.167, Powers(58.72, -4.6e-4), 4600),
        (0.0, Shares(30.0, 1e-3), 5000),
        (1e5, Shares(9000.0, 0.0), 3000), (0.0, Shares(9000.0, 0.0), 3000), (3e4, Shares(9000.0, 0.0), 3000)]


@pytest.mark.parametrize("seed, count", [(1, 15), slow(0, 60), slow(1, 60), slow(2, 60)])
def test_averages_are_close_from_above(seed, count):
    gentle = 0
    for epsilon, ratio, n in [*(HARD if not seed else ()), *cases(count, seed, 3000)]:
        if (exact := true(epsilon, ratio, n)) < -600:
            continue
        found = positions.average_theta(epsilon, ratio, n)
        gently = positions.block_fineness(epsilon, ratio, n) < FINE
        gentle += gently
        assert -1e-12 <= found - exact < (0.005 if gently else 0.016), (epsilon, ratio, n)
        for fine in (FINE, 16, 4):
            found = positions.average_theta(epsilon, ratio, n, fine)
            many = averages.average_in_blocks(np.array([0.0, epsilon]), ratio, n, fine)
            assert -1e-12 <= found - exact < 1 / fine and -1e-11 <= many[1] - found < 1e-8
    assert gentle > count // 6


def test_numbers_of_arrays_are_as_near_as_is_allowed_for():
    """Where θ is concave, r > 2: there the number before a block counts against it. They are up to 7e-9 above θ at r of
    thousands."""
    rng = random.Random(1)
    for _ in range(4000):
        r = 2 * exp(rng.uniform(0, rng.choice((1, 9))))
        epsilon = rng.choice((0.0, rng.random() * r * (r * r / 4 - 1) ** 0.5))
        above = averages.log_theta(np.array([epsilon]), np.array([[r]]))[0, 0] - log_gaussian(epsilon, r)
        assert -1e-12 < above < 1e-11 + averages.LOG_THETA_ERROR * (1 + (epsilon / r) ** 2 + r * r / 4)


@pytest.mark.parametrize("first, c", [(160.0, 0.0), (30.0, 1e-3), (3.0, 0.0)])
def test_the_formula_in_the_same_blocks(first, c):
    """Where θ is concave, too."""
    mp, p = mpmath.mp.clone(), {"level": 2 / first, "lipschitz": 1.0, "learning_rate": 1.0, "smoothness": c}
    mp.dps = 40
    bound, p = (smooth_nonconvex.SHUFFLED, p) if c else (iteration.SHUFFLED, {**p, "strong_convexity": 0.0})
    for epsilon in (0.01, 2.1):
        exact = mp.log(bound.exact(mp, epsilon, **p, n=6000))
        assert 0 <= bound.value(epsilon, **p, n=6000) - exact < 2e-11


def test_blocks_hold_all_positions_once():
    for n in (1, 2, 64, 65, 66, 1000, 10**12):
        for fine in (4, 16, 64):
            at = positions.average_nodes(n, fine)
            assert at[0] == 0 and at[-1] == n - 1 and all(0 < b - a <= 1 + a // fine for a, b in pairwise(at))
            assert at[: min(n, 4 * fine, 64)] == list(range(min(n, 4 * fine, 64)))


def test_parts_of_a_sum_next_to_the_least_doubles():
    """They are rounded up, to e^-700 of the largest one: the mean is from above, and nothing shows of it."""
    lengths = [1, 2, 40, 10**6, 10**9, 10**15]
    blocks = averages.blocks_of((0, *np.cumsum(lengths[:-1]).tolist()), sum(lengths))
    rising = np.array([[-3.0, -1e-9], [-650.0, -2.0], [-720.0, -705.0], [-744.0, -800.0], [-1e4, -1e5],
                       [-1e300, -1e300]])
    found = averages.mean(rising, blocks, averages.Curvatures(np.zeros((len(blocks.longer), 2), bool), None))
    with mpmath.workdps(60):
        exact = [mpmath.log(mpmath.fsum(k * mpmath.exp(mpmath.mpf(x)) for k, x in zip(lengths, column, strict=True))
                            / sum(lengths))
                 for column in rising.T.tolist()]
    for x, y in zip(found.tolist(), exact, strict=True):
        assert y <= x <= y + 1e-12
