"""By how much composed epochs lie above the composition of the exact profile, as the README says.

One record is exactly E Gaussian steps; of several, θ at every position is composed anew, by a grid of its own."""

import random
from math import exp, log

import mpmath
import numpy as np
import pytest
from answers import answer

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.hockey_stick import epsilon_for
from dpcalc.numerics.hockey_stick_array import log_theta as log_theta_many
from dpcalc.verify.report import verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness 0"


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


@pytest.mark.parametrize("shallowest, deepest, of_epsilon, of_log_delta",
                         [(2, 5, 1e-3, 0.02), (5, 20, 1e-3, 0.08), (20, 60, 4e-3, 6.0), (60, 120, 9e-3, 5.0)])
def test_one_record(shallowest, deepest, of_epsilon, of_log_delta):
    rng = random.Random(21)
    for _ in range(12):
        epochs, delta = int(log_uniform(rng, 2, 3000)), 10 ** -rng.uniform(shallowest, deepest)
        sigma = 2 * epochs**0.5 / log_uniform(rng, 0.05, 8)
        line = (f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness 0 --learning-rate .1 --n 1 --sigma {sigma!r} "
                f"--epochs {epochs} "
                "--bound shuffled-iteration")
        exact = epsilon_for(log(delta), 2 / sigma * epochs**0.5)
        if exact == 0:
            continue
        found = answer(f"{line} --delta {delta!r}")["result"]["epsilon"]
        assert exact * (1 - 1e-9) <= found <= exact * (1 + of_epsilon)
        log_delta = answer(f"{line} --epsilon {exact!r}")["result"]["log_delta"]
        assert log(delta) - 1e-6 <= log_delta <= log(delta) + of_log_delta


def composed_delta(profile, epochs, epsilon, step=1e-3, reach=30.0):
    """δ of the composition of a symmetric profile, by connected dots on a fine grid (from above) and a plain
    convolution power."""
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


@pytest.mark.parametrize("n, epochs, sigma, rate, epsilon", [(60, 50, 3.0, 0.1, 3.0), (64, 100, 4.0, 0.1, 2.5),
                                                             (30, 30, 2.0, 0.3, 5.0), (400, 20, 1.0, 0.1, 1.0),
                                                          (400, 20, 1.0, 0.1, 4.0), (1000, 100, 3.0, 0.1, 2.5)])
def test_several_records(n, epochs, sigma, rate, epsilon):
    ratios = 2 / sigma / np.sqrt(np.arange(1, n + 1))

    def profile(epsilons):
        return np.exp(log_theta_many(epsilons[:, None], ratios[None, :])).mean(axis=1)

    line = (f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate {rate} --sigma {sigma} --n {n} "
            f"--epochs {epochs} "
            f"--epsilon {epsilon} --bound shuffled-iteration")
    exact, found = composed_delta(profile, epochs, epsilon), answer(line)["result"]["delta"]
    assert exact * (1 - 2e-3) < found < exact * 1.01  # 1.03 to 1.06 by blocks of a tenth of the positions before them
    back = answer(line.replace(f"--epsilon {epsilon}", f"--delta {exact!r}"))["result"]["epsilon"]
    assert epsilon * (1 - 1e-3) < back < epsilon * 1.004


def result(line):
    return answer(line)["result"]


@pytest.mark.parametrize("rest, log_exact, most", [
    ("--sigma 100 --epochs 500 --epsilon 2", log(9.4480e-07), 0.02), ("--sigma 10 --epochs 2 --epsilon 1",
                                                                      log(2.34529e-05), 0.004),
    ("--sigma 80 --epochs 6 --epsilon 1.326", log(1.539e-106), 0.7),
])
def test_delta_of_one_record_beside_its_closed_form(rest, log_exact, most):
    """E Gaussian steps exactly."""
    found = answer(f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness 0 --learning-rate .1 "
                   f"--n 1 {rest}")["result"]["log_delta"]
    assert log_exact - 1e-4 < found < log_exact + most


def test_one_record_at_a_large_epsilon():
    """It is one position, whose average is composed at samples."""
    line = ("shuffle-pnsgd --lipschitz 1 --learning-rate .005 --smoothness 1 --n 1 --sigma 2.3615 --epochs 1344 "
            "--epsilon 724.44")
    found = answer(f"{line} --bound shuffled-iteration")["result"]["delta"]
    with mpmath.workdps(60):
        true = float(theta(mpmath.mp, mpmath.mpf(724.44), 2 / mpmath.mpf(2.3615) * mpmath.sqrt(1344)))
    assert true <= found <= 1.3 * true


@pytest.mark.parametrize(("epsilon", "sigma", "lipschitz", "rate", "smoothness", "steps", "most"), [
    (754.4, 0.420336959949, 0.965779, 0.0122468, 0.0806743, 60, 1.15), (190.05, 1.17344156, 1.172, 0.00176374, 0.0, 49,
        1.12)])
def test_two_records_at_a_large_epsilon(epsilon, sigma, lipschitz, rate, smoothness, steps, most):
    """The average over both positions composes to a binomial average of Gaussian guarantees."""
    line = (f"shuffle-pnsgd --lipschitz {lipschitz} --learning-rate {rate} --smoothness {smoothness} --n 2 "
            f"--sigma {sigma} --epochs {steps}")
    found = answer(f"{line} --bound smooth-nonconvex-shuffled-exact --epsilon {epsilon}")["result"]["delta"]
    with mpmath.workdps(80):
        first, c = 2 * mpmath.mpf(lipschitz) / mpmath.mpf(sigma), 1 + mpmath.mpf(rate) * mpmath.mpf(smoothness)
        second = (1 - c**-2) / (1 - c**-4) if c > 1 else mpmath.mpf(1) / 2  # of μ²
        mus = (first * mpmath.sqrt(k + (steps - k) * second) for k in range(steps + 1))
        true = mpmath.fsum(mpmath.binomial(steps, k) * theta(mpmath.mp, mpmath.mpf(epsilon), mu) for k,
                           mu in enumerate(mus)) / 2**steps
        assert true <= found <= most * true


@pytest.mark.parametrize("line, log_delta", [
    ("--learning-rate .0298628 --diameter 5.9303 --n 7368 --epochs 5342 --sigma 73.9821 --epsilon 5.31981", -509.286),
    ("--learning-rate .99492 --diameter 45.89 --n 1933 --epochs 7614 --sigma 93.087 --epsilon 4.8408", -386.381),
])
def test_tiny_deltas_of_many_shuffled_records(line, log_delta):
    """log δ within 3 %."""
    assert result(f"{RUN} {line} --bound shuffled-iteration")["log_delta"] == pytest.approx(log_delta, rel=0.03)


def test_a_tiny_epsilon_is_far_below_that_of_basic_composition():
    """Basic composition has 3.4e-5."""
    record = answer("shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 1 --epochs 20 --sigma 3.21 --n 1e12 "
                    "--learning-rate 1e-15 --delta 2.28e-6 --bound shuffled-iteration")
    assert record["result"]["epsilon"] == pytest.approx(1.59e-6, rel=2e-2)
    assert verify(record).holds
