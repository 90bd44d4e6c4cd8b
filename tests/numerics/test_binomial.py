"""Binomial tails against sums at 80 digits, from the middle to 1e-300, for few and for very many trials."""

import random
from math import inf, log

import mpmath
import pytest
from conftest import slow

from dpcalc.numerics.binomial import exact_tails, log_tails
from dpcalc.verify.arb.context import Context

mp = mpmath.mp.clone()
mp.dps = 80


def draw(rng):
    n = round(10 ** rng.uniform(0, 9))
    p = rng.choice((rng.random(), 10 ** rng.uniform(-9, 0), 1 - 10 ** rng.uniform(-12, -1)))
    p = min(p, 1e6 / n) if n > 1e7 else p  # so that the sums of the reference are short
    k = round(n * p + (n * p * (1 - p)) ** 0.5 * rng.uniform(-37, 37)) + rng.randint(-2, 2)
    return max(0, min(k, n + 1)), n, p


def near(found, want):
    if want == 0 or found.log == -inf:
        return found.log == -inf and want < mpmath.mpf(10) ** -70
    exact = mp.log(want)  # of a complement that is 1 to the last of 80 digits, it is 0
    return abs(found.log - exact) <= found.error + abs(exact) * mpmath.mpf(10) ** -15 or -1e-60 < found.log <= 0


@pytest.mark.parametrize("draws", [12, slow(300)])
def test_both_tails_are_as_near_as_they_say(draws):
    rng = random.Random(5)
    for _ in range(draws):
        k, n, p = draw(rng)
        for found, want in zip(log_tails(k, n, p), exact_tails(mp, k, n, p), strict=True):
            assert near(found, want), (k, n, p, found, float(mp.log(want)))
            assert found.error * (1 - p) < 1e-9 * max(1.0, -found.log), (k, n, p, found)


@pytest.mark.parametrize("k, n, p", [(3, 7, 0.3), (1, 5, 0.9), (40, 100, 0.2), (0, 4, 0.5), (5, 4, 0.5), (2, 4, 1.0)])
def test_the_exact_tails_are_sums_of_binomial_probabilities(k, n, p):
    x = mp.mpf(p)
    want = mp.fsum(mp.binomial(n, j) * x**j * (1 - x) ** (n - j) for j in range(k))
    below, above = exact_tails(mp, k, n, p)
    assert abs(below - want) < mp.mpf(10) ** -70 and abs(below + above - 1) < mp.mpf(10) ** -70


@pytest.mark.parametrize("draws", [5, slow(40)])
def test_balls_contain_the_tails(draws):
    rng, balls = random.Random(6), Context(128)
    for _ in range(draws):
        k, n, p = draw(rng)
        for ball, want in zip(exact_tails(balls, k, n, p), exact_tails(mp, k, n, p), strict=True):
            assert abs(balls.mpf(ball).x - balls.arb(mp.nstr(want, 70))).lower() < 1e-60
            assert want < 1e-30 or ball.x.rad() < 1e-25 * float(want)


def test_a_tail_of_a_million_standard_deviations_takes_milliseconds():
    below, above = log_tails(10**8 + 10, 10**9, 0.1)
    assert abs(below.log - log(0.5)) < 1e-2 and abs(above.log - log(0.5)) < 1e-2
