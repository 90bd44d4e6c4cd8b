"""Selections by noisy scores against their definitions: permute-and-flip over all orders and all sets of candidates, and
the first two of few noisy scores."""

import random
from fractions import Fraction
from itertools import product
from math import exp, log, nextafter

import mpmath
import pytest
from selections_by_score import permute_and_flip

from dpcalc.bounds.mechanisms import one_shot_top_k, report_noisy_max


def tail_of_laplace(t):
    return exp(-t) / 2 if t > 0 else 1 - exp(t) / 2


def inverse_of_tail(p):
    return -log(2 * p) if p < 0.5 else log(2 * (1 - p))


@pytest.mark.parametrize("monotone", [False, True])
def test_every_set_of_candidates_is_on_the_safe_side_of_laplace_noise(monotone):
    """Q(R) >= G(G⁻¹(P(R)) + ε₀) for every set R, which bounds δ at every ε; with two candidates it is an equality."""
    rng, nearest = random.Random(1), 0.0
    for _ in range(400):
        size, scale, sign = rng.choice((2, 3, 4, 5)), exp(rng.uniform(-1, 2)), rng.choice((-1, 1))
        scores = [rng.uniform(-2, 2) for _ in range(size)]
        others = [u + (sign * rng.choice((0, 1)) if monotone else rng.choice((-1, 1))) for u in scores]
        p, q = permute_and_flip(scores, scale), permute_and_flip(others, scale)
        ratio = 1 / scale if monotone else 2 / scale
        for chosen in list(product((0, 1), repeat=size))[1:-1]:
            here, there = (sum(x for x, taken in zip(law, chosen, strict=True) if taken) for law in (p, q))
            if 1e-9 < here < 1 - 1e-9:
                least = tail_of_laplace(inverse_of_tail(here) + ratio)
                assert there >= least * (1 - 1e-7)
                nearest = max(nearest, least / there)
    assert nearest == pytest.approx(1, rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_two_candidates_reach_the_profile(epsilon):
    """Scores Δ/2 − t and −Δ/2 + t that each move by Δ, at the best of all t."""
    scale, worst = 2.0, 0.0  # ε₀ = 2Δ/b = 1
    for t in (k / 100 for k in range(-300, 301)):
        p, q = permute_and_flip([t + 2, 0], scale), permute_and_flip([t + 1, 1], scale)
        worst = max(worst, p[0] - exp(epsilon) * q[0])
    assert worst <= exp(report_noisy_max.value(epsilon, 1.0)) == pytest.approx(worst, rel=1e-2)


def test_permute_and_flip_is_exponential_noise():
    """Of three scores, the largest with exponential noise, by quadrature."""
    scores, scale = (0.3, -0.4, 1.1), 0.8
    below = lambda x: -mpmath.expm1(-x / scale) if x > 0 else mpmath.mpf(0)  # noqa: E731
    law = [mpmath.quad(lambda z, u=u: mpmath.exp(-(z - u) / scale) / scale * mpmath.fprod(
        below(z - v) for v in scores if v != u), [max(scores), 3, 10, 40]) for u in scores]
    assert [float(x) for x in law] == pytest.approx(permute_and_flip(scores, scale), rel=1e-9)


@pytest.mark.parametrize("queries, epsilon", [("any", 4.0), ("monotone", 2.0)])
def test_two_far_losers_reach_the_pure_epsilon(queries, epsilon):
    """The probability that both come out first, in their order, with exponential noise on all four scores."""
    def in_order(losers, winners):
        return mpmath.quad(lambda z: mpmath.exp(losers - z) * mpmath.exp(losers - z) * mpmath.expm1(winners - z) ** 2,
                           [winners, winners + 3, winners + 10, winners + 60])

    rise = 1 if queries == "any" else 0
    loss = mpmath.log(in_order(-20, 0) / in_order(-21, rise))
    assert one_shot_top_k.pure(1.0, 1.0, 2, queries, 1) == epsilon == pytest.approx(float(loss), rel=1e-12)


def test_the_pure_epsilon_is_the_next_double_above():
    rng = random.Random(1)
    for _ in range(200):
        b, s, k, steps = rng.uniform(0.1, 9), rng.uniform(0.1, 9), rng.randint(1, 50), rng.randint(1, 50)
        found, exactly = one_shot_top_k.pure(b, s, k, "any", steps), 2 * k * steps * Fraction(s) / Fraction(b)
        assert Fraction(nextafter(found, 0)) < exactly <= Fraction(found)
