"""The largest of the batch sums of a shuffled epoch: its slices against mpmath, two batches by quadrature, and the
values of the literature's method."""

import json
import random
from math import exp, inf, log, pi, sqrt
from pathlib import Path

import mpmath
import numpy as np
import pytest

from dpcalc.pld import allocation, largest_sum, sampled
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.unused import with_probability

CASES = [case for case in json.loads((Path(__file__).parents[1] / "golden" / "sampling.json").read_text())["cases"]
         if case["kind"] == "shuffle"]


def above(mp, c, z, batches, mean):
    """Pr[M > c] by the definition, with 400 digits for what cancels."""
    def phi(x):
        return mp.erfc(-x / mp.sqrt(2)) / 2

    own = phi((mp.mpf(c) - mean) / mp.mpf(z)) if mean is not None else 1
    return 1 - own * phi(mp.mpf(c) / mp.mpf(z)) ** (batches - (mean is not None))


@pytest.mark.parametrize("seed", range(6))
def test_masses_enclose_those_of_the_definition(seed):
    rng, mp = random.Random(seed), mpmath.mp.clone()
    mp.dps = 700
    z, batches = exp(rng.uniform(-5, 5)), int(exp(rng.uniform(0, 14)))
    dropped = rng.choice((0.0, 1e-9, rng.random() / (batches + 1)))
    cuts = largest_sum.cuts(z, batches)
    for own in largest_sum.OWN_SUM:
        low, high = largest_sum.log_masses(cuts, z, batches, own, dropped)
        for k in {0, len(cuts), *(rng.randrange(len(cuts)) for _ in range(8))}:
            true = sum(share * ((above(mp, cuts[k - 1], z, batches, mean) if k else 1)
                                - (above(mp, cuts[k], z, batches, mean) if k < len(cuts) else 0))
                       for share, mean in ((1 - mp.mpf(dropped), own), (mp.mpf(dropped), None)))
            assert low[k] <= mp.log(true) <= high[k]
            assert high[k] - low[k] < 1e-9 or true < mp.mpf(10) ** -280


@pytest.mark.parametrize("z, batches, dropped", [(0.7, 1, 0.0), (2.0, 40, 0.01)])
def test_slices_show_no_more_than_the_definition_in_both_directions(z, batches, dropped):
    """The first mass is not above the true one, and the second one, which the loss implies, not below it."""
    mp = mpmath.mp.clone()
    mp.dps = 400
    cuts, pair = largest_sum.cuts(z, batches), largest_sum.slices(z, batches, dropped)

    def true(k, own):
        ends = [[above(mp, cuts[j], z, batches, mean) for mean in (own, None)] for j in (k - 1, k)]
        in_batch, in_none = (a - b for a, b in zip(*ends, strict=True))
        return (1 - mp.mpf(dropped)) * in_batch + mp.mpf(dropped) * in_none

    for one, own, other in ((pair, *largest_sum.OWN_SUM), (pair.reverse, *largest_sum.OWN_SUM[::-1])):
        shown = np.flatnonzero(largest_sum.log_masses(cuts, z, batches, own, dropped)[0] > -inf)
        assert len(one.losses) == len(shown) > 1000
        for k in shown[1:-1:250]:
            j = int(np.searchsorted(shown, k))
            first, second = (mp.log(true(k, mean)) for mean in (own, other))
            assert mp.mpf(one.log_p[j]) <= first and (one.log_p[j] > first - 1e-9 or first < -640)
            assert mp.mpf(one.log_p[j]) - mp.mpf(one.losses[j]) >= second


def two_batches(epsilon, z, side):
    """δ of one epoch of two batches, both sums seen, by quadrature on the plane."""
    x = np.linspace(-9 * z, 2 + 9 * z, 3000)
    density = {m: np.exp(-((x - m) ** 2) / (2 * z * z)) / (z * sqrt(2 * pi)) for m in (0, 1, 2)}
    p, q = ((np.outer(density[m], density[0]) + np.outer(density[0], density[m])) / 2 for m in (2, 1))
    p, q = (p, q) if side > 0 else (q, p)
    return float(np.maximum(p - exp(epsilon) * q, 0).sum()) * (x[1] - x[0]) ** 2


@pytest.mark.parametrize("z", [0.6, 1.0, 3.0])
def test_two_batches_lose_what_their_larger_sum_shows_and_little_more(z):
    for epsilon in (0.0, 0.5 / z, 2 / z):
        truth = max(two_batches(epsilon, z, side) for side in (1, -1))
        shown = exp(log_delta_at_epsilon(((largest_sum.slices(z, 2, 0.0), 1),), epsilon).lower)
        assert 0.7 * truth < shown <= truth * (1 + 1e-6)


def test_one_batch_is_a_gaussian_mechanism():
    for z in (0.3, 1.0, 20.0):
        found = epsilon_at_delta(((largest_sum.slices(z, 1, 0.0), 3),), log(1e-6))
        exact = epsilon_at_delta(((Gaussian(1 / z), 3),), log(1e-6)).upper
        assert exact * (1 - 1e-3) < found.lower <= exact


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['sigma']}-{case['T']}-{case['epochs']}")
def test_golden(case):
    found = epsilon_at_delta(((largest_sum.slices(case["sigma"], case["T"], 0.0), case["epochs"]),), log(case["delta"]))
    upper = case["zero_out_upper"]
    assert found.lower <= upper
    if case["sigma"] < 4:  # with more noise, the others at 0 show more
        assert found.lower >= case["zero_out_lower"] * (1 - 2e-3)


@pytest.mark.parametrize("z, epsilon", [(1.1, 6.00173), (0.8, 18.13)])
def test_a_record_in_no_batch_loses_nothing(z, epsilon):
    """n = 60000 and b = 256: 96 records of every epoch are in none of its 234 batches."""
    pair = largest_sum.slices(z, 234, 96 / 60000)
    assert epsilon_at_delta(((pair, 15),), log(1e-5)).lower == pytest.approx(epsilon, rel=1e-3)
    fewer = largest_sum.slices(z, 234, 0.3)
    assert epsilon_at_delta(((fewer, 15),), log(1e-5)).lower < 0.99 * epsilon


def test_monte_carlo():
    """The share of runs in which the largest sum is above a threshold, under both data sets."""
    z, batches, runs, rng = 1.0, 50, 100_000, np.random.default_rng(1)
    own, rest = rng.normal(0, z, runs), rng.normal(0, z, (runs, batches - 1)).max(axis=1)
    threshold, pair = 3.5, largest_sum.slices(z, batches, 0.0)
    cuts = largest_sum.cuts(z, batches)
    k = int(np.searchsorted(cuts, threshold))
    for one, mean in ((pair, 2.0), (pair.reverse, 1.0)):
        share = float((np.maximum(own + mean, rest) > cuts[k]).mean())
        mass = float(np.exp(one.log_p[k + 1 :]).sum())
        assert abs(share - mass) < 5 * sqrt(mass * (1 - mass) / runs)


def test_extreme_noise_shows_something_or_nothing_but_never_an_error():
    for z in (1e-8, 1e-3, 1e6, 1e15):
        for batches in (1, 10**9):
            lower = epsilon_at_delta(((largest_sum.slices(z, batches, 0.0), 2),), log(1e-5)).lower
            assert lower < inf and lower == lower


@pytest.mark.parametrize("batches", [1, 2, 30])
def test_a_record_that_is_used_by_chance_is_one_that_is_sampled(batches):
    """(1−ρ)P + ρQ against Q: for one batch a Poisson-sampled Gaussian; no use at all loses less, and ρ = 0 nothing."""
    pair = allocation.dominated_pair(0.8, batches, 1e-20)
    for unused in (1e-9, 0.05, 0.45):
        mixed = with_probability(unused, pair)
        for epsilon in (0.0, 0.3, 2.0):
            found = log_delta_at_epsilon(((mixed, 2),), epsilon)
            bare = log_delta_at_epsilon(((pair, 2),), epsilon)
            assert found.lower < (bare.lower if unused > 1e-3 else bare.upper)
            if batches == 1:
                exact = log_delta_at_epsilon(((sampled.poisson(Gaussian(1 / 0.8), 1 - unused), 2),), epsilon)
                assert exact.lower - 1e-2 < found.lower <= exact.upper
    assert with_probability(0.0, pair) is pair


@pytest.mark.parametrize("sigma", [1.3, 0.07])
def test_the_masses_of_a_mixture_are_rounded_to_the_safe_side(sigma):
    pair = allocation.dominated_pair(sigma, 5, 1e-20)
    mixed, mp = with_probability(0.2, pair), mpmath.mp.clone()
    mp.dps = 40
    for k in range(0, len(pair.losses), 37):
        p, q = (mp.exp(mp.mpf(one.log_p[k])) for one in (pair, pair.reverse))  # each rounded down
        low = mp.mpf(0.8) * p + mp.mpf(0.2) * q
        assert mp.exp(mp.mpf(mixed.log_p[k])) <= low and mixed.log_p[k] == pytest.approx(float(mp.log(low)), rel=1e-13)
        q_high = mp.exp(mp.mpf(pair.log_p[k]) - mp.mpf(pair.losses[k]))
        assert mp.mpf(mixed.losses[k]) <= mp.log(low / q_high) + mp.mpf(10) ** -15
