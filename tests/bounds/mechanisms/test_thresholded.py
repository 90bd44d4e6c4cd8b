"""Noisy values of keys above a threshold, measured on small tables by what is published of them."""

import json
import random
from itertools import pairwise
from math import exp, inf, log

import keyed_tables
import mpmath
import numpy as np
import pytest
from paths import GOLDEN

from dpcalc.bounds.mechanisms import thresholded, thresholded_composed
from dpcalc.pld.atoms import outcomes
from dpcalc.pld.bracket import log_delta_at_epsilon

NOISES = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
WHO = ("add-remove", "signed", "replace-one")
GOLDEN_CASES = [c for c in json.loads((GOLDEN / "counts.json").read_text())["cases"]
                if c["capability"].startswith("threshold-")]
QUESTIONS = [  # noise, level, c, people, threshold, ε
    ("gaussian", 30.0, 1.0, 1, 150.0, 0.3), ("gaussian", 30.0, 1.0, 2, 150.0, 0.3), ("laplace", 20.0, 1.0, 1, 300.0, 0.3),
    ("laplace", 9.0, 2.0, 2, 60.0, 0.5), ("discrete-laplace", 15.0, 3.0, 1, 200.0, 0.4),
    ("discrete-gaussian", 9.0, 1.0, 2, 40.5, 0.2)]


def composed(parts, epsilon):
    return exp(log_delta_at_epsilon(parts, epsilon).upper)


def largest(laws, epsilon):
    return max(max(keyed_tables.deltas(p, q, epsilon)) for p, q in laws)


def at_most(true, reported):
    return true <= reported * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("noise", NOISES)
def test_no_table_loses_more_and_the_worst_ones_lose_as_much(noise, who):
    """Zero-out is add-remove: a person without contributions is like nobody."""
    rng, nearest = random.Random(f"{noise} {who}"), 0.0
    for turn in range(4):
        release = keyed_tables.random_release(rng, noise, 2 if who == "replace-one" else 1)
        tables = keyed_tables.random_tables(rng, release, 25, who == "signed")
        laws = [keyed_tables.laws(noise, release["noise_level"], release["threshold"], table) for table in tables]
        pair = thresholded_composed.pair(**release) if turn % 2 else None
        for epsilon in keyed_tables.random_epsilons(rng, release):
            true, profile = largest(laws, epsilon), exp(thresholded.value(epsilon, **release))
            of_pair = composed(((pair, 1),), epsilon) if pair else inf
            assert at_most(true, profile), (release, epsilon)
            assert at_most(true, of_pair), (release, epsilon)
            assert profile <= exp(thresholded.simple(epsilon, **release)) * (1 + 1e-9), (release, epsilon)
            if pair and true > 1e-9:
                assert true > 0.8 * min(profile, of_pair), (release, epsilon)
                nearest = max(nearest, true / min(profile, of_pair))
    assert nearest > 0.999


@pytest.mark.parametrize("noise, who", [("gaussian", "replace-one"), ("laplace", "add-remove"),
                                        ("discrete-laplace", "replace-one"), ("discrete-gaussian", "signed")])
def test_two_releases_lose_at_most_the_composition(noise, who):
    """Each release may be about other values of the same people, and may be composed with another mechanism, whose
    losses are larger for one order of the two data sets than for the other."""
    rng, nearest = random.Random(f"two {noise} {who}"), 0.0
    for _ in range(3):
        release = keyed_tables.random_release(rng, noise, 2 if who == "replace-one" else 1)
        tables = keyed_tables.random_tables(rng, release, 3, who == "signed")
        laws = [keyed_tables.laws(noise, release["noise_level"], release["threshold"], table) for table in tables]
        pair, beside = thresholded_composed.pair(**release), (np.array([0.6, 0.4]), np.array([0.9, 0.1]))
        for epsilon in keyed_tables.random_epsilons(rng, release, 2):
            true = [keyed_tables.together(one, other) for one in laws[:4] for other in (one, laws[-1])]
            reported = composed(thresholded_composed.value(**release) * 2, epsilon)
            assert at_most(largest(true, epsilon), reported)
            assert reported == pytest.approx(composed(((pair, 2),), epsilon), rel=1e-3)
            nearest = max(nearest, largest(true, epsilon) / reported)
            for first, second in (beside, beside[::-1]):
                parts = ((pair, 1), (outcomes(first, second), 1))
                assert at_most(largest([keyed_tables.together(one, (first, second)) for one in laws], epsilon),
                               composed(parts, epsilon))
    assert nearest > 0.95


@pytest.mark.parametrize("case", GOLDEN_CASES, ids=lambda c: f"{c['capability']} {c['question']}")
def test_golden_values(case):
    q, value = case["question"], case["value"]
    noise = "laplace" if "laplace" in case["capability"] else "gaussian"
    level = q["sigma"] if noise == "gaussian" else value["scale"]
    threshold = q["threshold"] if "threshold" in q else value["threshold"]
    own = {"noise": noise, "noise_level": level, "per_key": float(q["per_group"]), "max_keys": q["groups"],
           "contributors": 2 if q.get("adjacency") == "replace-one" else 1, "threshold": threshold}
    delta, simple = (exp(f(q["epsilon"], **own)) for f in (thresholded.value, thresholded.simple))
    if "delta" in value:
        assert delta == pytest.approx(value["delta"], rel=case["rel_tol"])
        assert simple == pytest.approx(value.get("simple", simple), rel=case["rel_tol"])
    else:
        assert delta == pytest.approx(q["delta"], rel=1e-6)


@pytest.mark.parametrize("noise, level, c, people, threshold, epsilon", QUESTIONS)
def test_how_a_guarantee_depends_on_the_release(noise, level, c, people, threshold, epsilon):
    def log_delta(**changes):
        release = {"noise": noise, "noise_level": level, "per_key": c, "max_keys": 5, "contributors": people,
                   "threshold": threshold, **changes}
        return thresholded.value(epsilon, **release), thresholded.simple(epsilon, **release)

    for name, values in (("threshold", [-0.5 * c, c, c + level, threshold, 2 * threshold]),
                         ("max_keys", [90, 64, 20, 7, 5, 1]), ("per_key", [5 * c, 2 * c, c])):
        for before, after in pairwise(log_delta(**{name: x}) for x in values):
            assert all(x >= y - 1e-11 * abs(y) for x, y in zip(before, after, strict=True) if y > -inf), name
    for before, after in pairwise(log_delta(noise_level=level * x, threshold=c + (threshold - c) * x)
                                  for x in (1.0, 1.2, 2.0, 4.0)):  # with the same probability that a key is published
        assert before[0] >= after[0] - 1e-11 * abs(after[0]) or noise.startswith("discrete")
    assert log_delta(contributors=2)[0] >= log_delta(contributors=1)[0]
    assert all(exact <= simple for exact, simple in (log_delta(max_keys=k) for k in (1, 5, 64, 65, 500)))


@pytest.mark.parametrize("keys", [65, 300])
@pytest.mark.parametrize("noise, level, c, people, threshold, epsilon", QUESTIONS[:5])
def test_ranges_of_numbers_of_keys(noise, level, c, people, threshold, epsilon, keys):
    """They are above every case, and nearly as large as the largest."""
    release = thresholded.Release(noise, level * keys**0.5, c, keys, people, threshold * keys**0.5)
    log_none = thresholded.log_keep(noise, release.noise_level, release.threshold - c)[1]

    def log_delta(j, i):
        some, none = (log(-np.expm1(j * log_none)) if j else -inf), j * log_none
        return np.logaddexp(some, none + thresholded.log_profile(release, people * keys - j - i,
                                                                epsilon + (i - j) * log_none))

    numbers = range(0, keys + 1, max(keys // 60, 1))
    largest_case = max(log_delta(j, i) for j in {*numbers, keys} for i in ({*numbers, keys} if people == 2 else {0}))
    if people == 1:
        largest_case = max(largest_case, *(log_delta(0, i) for i in numbers))
    found = thresholded.value(epsilon, *release)
    assert largest_case <= found + 1e-11 * abs(found)
    assert found <= largest_case + 0.02


@mpmath.workdps(40)
def test_rounding_near_the_largest_loss():
    """Where δ of Laplace noise is about 1e-16: the product kc is rounded up, too."""
    rng = random.Random(2026)
    for _ in range(300):
        c, keys, scale = rng.uniform(0.05, 3), rng.randint(3, 60), rng.uniform(0.5, 2)
        epsilon = c * keys / scale * (1 - rng.choice((0.0, 1e-16, 2e-16, 4e-16)))
        log_delta = thresholded.value(epsilon, "laplace", scale, c, keys, 1, c + 600 * scale)
        assert mpmath.exp(log_delta) >= -mpmath.expm1((epsilon - mpmath.mpf(c) * keys / scale) / 2)
