"""Compositions that one rare, large loss decides: with probability p a step is μ-GDP, and it is seen that it was; else it says nothing.

Of T steps a binomial number is; their profile is a sum of Gaussian ones.
"""

import json
from math import inf, lgamma, log, log1p

import numpy as np
import pytest
from calling import call

from dpcalc.bounds.pnsgd import shuffled_iteration
from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.bounds.pnsgd.samples import followed
from dpcalc.profiles import compose, pairs

STEPS, MOST = 1000, 40


def log_delta_exact(epsilon, p, mu, steps=STEPS):
    logs = []
    for k in range(1, MOST):
        ways = lgamma(steps + 1) - lgamma(k + 1) - lgamma(steps - k + 1)
        logs.append(ways + k * log(p) + (steps - k) * log1p(-p) + log_gaussian(epsilon, mu * k**0.5))
    return float(np.logaddexp.reduce(logs))


def parts(p, mu, steps=STEPS):
    """Sampled closely near 0, where the profile starts, and up to where little is left of it."""
    last = mu * mu / 2 + 12 * mu
    epsilons = [0.0, *np.geomspace(1e-3, last, 1500).tolist()]
    return ((pairs.sampled(epsilons, [log(p) + log_gaussian(e, mu) for e in epsilons]), steps),)


@pytest.mark.parametrize("mu", (2.0, 10.0, 30.0, 200.0))
@pytest.mark.parametrize("epsilon", (0.5, 1.0, 10.0))
def test_delta(mu, epsilon):
    exact = log_delta_exact(epsilon, 1e-9, mu)
    found = compose.log_delta_at(parts(1e-9, mu), epsilon)
    assert found.lower <= exact + 0.02 and exact <= found.upper <= exact + 0.02


@pytest.mark.parametrize("mu", (10.0, 30.0, 200.0))
@pytest.mark.parametrize("share", (0.9, 0.5, 1e-2))
def test_epsilon(mu, share):
    """At a part of the probability that there is a large loss at all."""
    log_delta = log(share * STEPS * 1e-9)
    found = compose.epsilon_at(parts(1e-9, mu), log_delta)
    assert found.upper < inf
    assert log_delta_exact(found.upper, 1e-9, mu) <= log_delta
    assert log_delta_exact(found.upper * 0.99, 1e-9, mu) > log_delta - 0.02


@pytest.mark.parametrize("steps, level, log_deltas", [(1000, 0.0648, (-13, -15, -17)), (20, 0.00732, (-12, -13.8, -15)), (20, 0.1863, (-20, -22))])
def test_an_epoch_of_very_many_records(steps, level, log_deltas):
    """Only whether the record is among the last few matters, and then it is seen: ε was up to 15 times as large, or infinite."""
    run = {"level": level, "lipschitz": 1.0, "learning_rate": 0.01, "smoothness": 0.5, "strong_convexity": 0.0}
    for log_delta in log_deltas:
        samples, _ = followed(shuffled_iteration.BOUND, log_delta, steps, run | {"n": 10**12})
        found = compose.epsilon_at(((pairs.sampled(*samples), steps),), log_delta)
        assert found.upper <= 1.02 * found.lower


@pytest.mark.parametrize(("question", "most"), [
    ("subsample --scheme poisson --sigma 8.589 --sampling-rate 2.227e-06 --steps 1000 --delta 3.68e-172", 2.375e-4),  # was .1966
    ("subsample --scheme without-replacement --sigma 17.82 --sampling-rate 0.002521 --steps 2 --delta 8.167e-193", 0.01113),  # was .1195
    ("shuffle-pnsgd --lipschitz 0.19553 --smoothness 2 --diameter 0.11767 --n 26737800 --epochs 548 --sigma 62.514 --strong-convexity 2 "
     "--learning-rate 1e-3 --delta 1e-150 --bound shuffled-iteration", 0.4216),  # was 87
])
def test_a_tilt_between_too_little_and_the_largest_loss(question, most):
    """The search for a tilt ended where eight times as much is all at the largest loss: far from the one that a δ of e^−400 asks for."""
    done = call([*question.split(), "--json"])
    result = json.loads(done.stdout)["result"]
    assert result.get("epsilon_lower", 0.98 * most) <= result["epsilon"] <= most
