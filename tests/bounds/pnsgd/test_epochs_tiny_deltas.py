"""Epochs of one record are Gaussian noise E times: how far above it tiny δ are told."""

import random
from math import exp, log

import pytest

from dpcalc import answer
from dpcalc.bounds.mechanisms import gaussian

RANGES = [(1e-20, 1e-100, 0.02, 0.01), (1e-100, 1e-299, 0.25, 0.025)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("high, low, of_log, of_epsilon", RANGES)
def test_tiny_deltas(high, low, of_log, of_epsilon):
    rng, seen = random.Random(4), 0
    while seen < 15:
        epochs, sigma = int(exp(rng.uniform(log(2), log(1e4)))), exp(rng.uniform(log(0.3), log(100)))
        log_delta = rng.uniform(log(high), log(low))
        run = {"sigma": sigma, "lipschitz": 1, "diameter": 1, "learning_rate": 0.1, "smoothness": 0.5, "n": 1,
               "epochs": epochs}
        epsilon = gaussian.inverse(log_delta, sigma, 2.0, epochs)
        if epsilon > 1000:
            continue
        seen += 1
        told = answer("shuffle-pnsgd", bound="shuffled-iteration", delta=exp(log_delta), **run)
        assert epsilon * (1 - 1e-12) <= told.value <= epsilon * (1 + of_epsilon), run
        told = answer("shuffle-pnsgd", bound="shuffled-iteration", epsilon=epsilon, **run)
        assert log_delta * (1 + 1e-12) <= told.result["log_delta"] <= log_delta * (1 - of_log), run
