"""How far above the composition of the exact profile epochs are told, as the README says: one record is exactly E Gaussian steps; of several,
θ at every position is composed anew, by a grid of its own."""

import random
from math import exp, log

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc.numerics.hockey_stick import epsilon_for
from dpcalc.numerics.hockey_stick_array import log_theta as log_theta_many


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


@pytest.mark.parametrize("shallowest, deepest, of_epsilon, of_log_delta", [(2, 5, 1e-3, 0.02), (5, 20, 1e-3, 0.08), (20, 60, 4e-3, 6.0), (60, 120, 9e-3, 5.0)])
def test_one_record(shallowest, deepest, of_epsilon, of_log_delta):
    rng = random.Random(21)
    for _ in range(12):
        epochs, delta = int(log_uniform(rng, 2, 3000)), 10 ** -rng.uniform(shallowest, deepest)
        sigma = 2 * epochs**0.5 / log_uniform(rng, 0.05, 8)
        line = (f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness 0 --learning-rate .1 --n 1 --sigma {sigma!r} --epochs {epochs} "
                "--bound shuffled-iteration")
        exact = epsilon_for(log(delta), 2 / sigma * epochs**0.5)
        if exact == 0:
            continue
        found = answer(f"{line} --delta {delta!r}")[0]["result"]["epsilon"]
        assert exact * (1 - 1e-9) <= found <= exact * (1 + of_epsilon)
        log_delta = answer(f"{line} --epsilon {exact!r}")[0]["result"]["log_delta"]
        assert log(delta) - 1e-6 <= log_delta <= log(delta) + of_log_delta


def composed_delta(profile, epochs, epsilon, step=1e-3, reach=30.0):
    """δ of the composition of a symmetric profile, by connected dots on a fine grid (from above) and a plain convolution power."""
    points = np.arange(0, reach, step)
    delta = np.concatenate([profile(some) for some in np.array_split(points, 30)])
    delta = np.concatenate([1 - np.exp(-points[:0:-1]) * (1 - delta[:0:-1]), delta])  # δ(−ε) = 1 − e^{−ε}(1 − δ(ε))
    losses = np.concatenate([-points[:0:-1], points])
    x = np.exp(losses)
    slopes = np.concatenate([[(delta[0] - 1) / x[0]], np.diff(delta) / np.diff(x), [0.0]])
    mass = np.maximum(x * np.diff(slopes), 0.0)
    size = 1 << 18
    spectrum = np.fft.rfft(np.bincount(np.rint(losses / step).astype(int) % size, mass, size))
    law = np.fft.irfft(spectrum**epochs, size)
    sums = (np.arange(size) + size // 2) % size - size // 2
    above = sums * step > epsilon
    return float((law[above] * -np.expm1(epsilon - sums[above] * step)).sum())


@pytest.mark.parametrize("n, epochs, sigma, rate, epsilon", [(60, 50, 3.0, 0.1, 3.0), (64, 100, 4.0, 0.1, 2.5), (30, 30, 2.0, 0.3, 5.0), (400, 20, 1.0, 0.1, 1.0),
                                                          (400, 20, 1.0, 0.1, 4.0), (1000, 100, 3.0, 0.1, 2.5)])
def test_several_records(n, epochs, sigma, rate, epsilon):
    ratios = 2 / sigma / np.sqrt(np.arange(1, n + 1))

    def profile(epsilons):
        return np.exp(log_theta_many(epsilons[:, None], ratios[None, :])).mean(axis=1)

    line = (f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate {rate} --sigma {sigma} --n {n} --epochs {epochs} "
            f"--epsilon {epsilon} --bound shuffled-iteration")
    exact, found = composed_delta(profile, epochs, epsilon), answer(line)[0]["result"]["delta"]
    assert exact * (1 - 2e-3) < found < exact * 1.01  # 1.03 to 1.06 by blocks of a tenth of the positions before them
    back = answer(line.replace(f"--epsilon {epsilon}", f"--delta {exact!r}"))[0]["result"]["epsilon"]
    assert epsilon * (1 - 1e-3) < back < epsilon * 1.004
