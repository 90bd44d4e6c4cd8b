"""By how much composed epochs lie above the composition of the exact profile, as their statement says.

One record is exactly E Gaussian steps; of several, θ at every position is composed anew, by a grid of its own."""

import random
from math import exp, inf, log

import mpmath
import numpy as np
import pytest
from answers import answer
from conftest import slow, spread

from dpcalc.bounds import all_bounds
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.positions import COARSE, FINE
from dpcalc.numerics.hockey_stick_array import log_theta as log_theta_many

BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


def result(line):
    return answer(f"shuffle-pnsgd {line}")["result"]


@pytest.mark.parametrize("seed", [0, 1, *map(slow, range(2, 12))])
@spread("shallowest, deepest, of_epsilon, of_log_delta, relatively", [
    (2, 5, 1e-3, 0.02, inf), (5, 20, 1e-3, 0.08, inf), (20, 60, 4e-3, 6.0, 0.02), (60, 100, 9e-3, 5.0, 0.02),
    (100, 120, 9e-3, 5.0, 0.25), (120, 299, 0.025, inf, 0.25)])
def test_one_record(seed, shallowest, deepest, of_epsilon, of_log_delta, relatively):
    """By how much composed epochs lie above the closed form, as the statement says."""
    rng = random.Random(f"{seed} {shallowest}")
    while True:
        epochs, log_delta = int(log_uniform(rng, 2, 3000)), -rng.uniform(shallowest, deepest) * log(10)
        sigma = 2 * epochs**0.5 / log_uniform(rng, 0.05, 8)
        if 0 < (exact := gaussian.inverse(log_delta, sigma, 2.0, epochs)) < 1000:
            break
    line = (f"--lipschitz 1 --diameter 2 --smoothness 0 --learning-rate .1 --n 1 --sigma {sigma!r} --epochs {epochs} "
            "--bound shuffled-iteration")
    assert exact * (1 - 1e-9) <= result(f"{line} --delta {exp(log_delta)!r}")["epsilon"] <= exact * (1 + of_epsilon)
    found = result(f"{line} --epsilon {exact!r}")["log_delta"]
    assert log_delta - 1e-6 <= found <= log_delta + min(of_log_delta, relatively * -log_delta)


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


@pytest.mark.parametrize("n, epochs, sigma, rate, epsilon", [
    slow(60, 50, 3.0, 0.1, 3.0), slow(64, 100, 4.0, 0.1, 2.5), (30, 30, 2.0, 0.3, 5.0), slow(400, 20, 1.0, 0.1, 1.0),
    slow(400, 20, 1.0, 0.1, 4.0), slow(1000, 100, 3.0, 0.1, 2.5)])
def test_several_records(n, epochs, sigma, rate, epsilon):
    ratios = 2 / sigma / np.sqrt(np.arange(1, n + 1))

    def profile(epsilons):
        return np.exp(log_theta_many(epsilons[:, None], ratios[None, :])).mean(axis=1)

    line = (f"--lipschitz 1 --diameter 2 --smoothness .5 --learning-rate {rate} --sigma {sigma} --n {n} --epochs "
            f"{epochs} --bound shuffled-iteration")
    exact, found = composed_delta(profile, epochs, epsilon), result(f"{line} --epsilon {epsilon}")["delta"]
    assert exact * (1 - 2e-3) < found < exact * 1.01  # 1.03 to 1.06 by blocks of a tenth of the positions before them
    assert epsilon * (1 - 1e-3) < result(f"{line} --delta {exact!r}")["epsilon"] < epsilon * 1.004


@pytest.mark.parametrize("bound, n, epsilon, sigma, lipschitz, rate, smoothness, steps, most", [
    slow("shuffled-iteration", 1, 724.44, 2.3615, 1, .005, 1, 1344, 1.3),
    ("smooth-nonconvex-shuffled-exact", 2, 754.4, 0.420336959949, 0.965779, 0.0122468, 0.0806743, 60, 1.15),
    ("smooth-nonconvex-shuffled-exact", 2, 190.05, 1.17344156, 1.172, 0.00176374, 0.0, 49, 1.12)])
def test_one_or_two_records_at_a_large_epsilon(bound, n, epsilon, sigma, lipschitz, rate, smoothness, steps, most):
    """The average over both positions composes to a binomial average of Gaussian guarantees."""
    found = result(f"--lipschitz {lipschitz} --learning-rate {rate} --smoothness {smoothness} --n {n} --sigma {sigma} "
                   f"--epochs {steps} --bound {bound} --epsilon {epsilon}")["delta"]
    with mpmath.workdps(80):
        first, c = 2 * mpmath.mpf(lipschitz) / mpmath.mpf(sigma), 1 + mpmath.mpf(rate) * mpmath.mpf(smoothness)
        second = 1 if n == 1 else (1 - c**-2) / (1 - c**-4) if c > 1 else mpmath.mpf(1) / 2  # of μ²
        mus = (first * mpmath.sqrt(k + (steps - k) * second) for k in range(steps + 1))
        true = mpmath.fsum(mpmath.binomial(steps, k) * theta(mpmath.mp, mpmath.mpf(epsilon), mu)
                           for k, mu in enumerate(mus)) / 2**steps
        assert true <= found * (1 + 1e-12) and float(true) <= found <= most * true


def two_laplace(epsilon, r):
    """δ of two uses: the loss is r with probability 1/2, and has the density e^((t − r)/2)/4 below it."""
    def density(t):
        return mp.exp((t - r) / 2) / 4

    def left(t):
        return 1 - mp.exp(epsilon - t)

    one = mp.quad(lambda t: density(t) * left(r + t), [epsilon - r, r])
    two = mp.quad(lambda t: density(t) * mp.quad(lambda s: density(s) * left(s + t), [epsilon - t, r]),
                  [epsilon - r, r])
    return left(2 * r) / 4 + one + two


@pytest.mark.parametrize("scale, delta", [slow(100.0, 5e-4), slow(6.45, 1.9e-3), slow(7.1, 5e-3)])
def test_two_uses_of_laplace_noise_next_to_their_largest_loss(scale, delta):
    """Its probability is 1/4, by which δ falls there: ε against a double integral."""
    with mp.workdps(15):
        exact = mp.findroot(lambda e: two_laplace(e, 1 / mp.mpf(scale)) / delta - 1, (1.7 / scale, 1.95 / scale),
                            solver="illinois", tol=1e-9)
    for line in (f"rdp --mechanism laplace --scale {scale} --steps 2 --bound laplace-profile",
                 "shuffle-pnsgd --noise laplace --lipschitz 1 --diameter 1 --learning-rate 1e-6 --smoothness 0 --n 1 "
                 f"--scale {2 * scale} --epochs 2"):
        assert exact <= answer(f"{line} --delta {delta}")["result"]["epsilon"] <= exact * (1 + 1e-4)


@pytest.mark.parametrize("name", ["shuffled-iteration", "smooth-nonconvex-shuffled-exact"])
def test_the_samples_of_an_epoch_are_never_below_its_profile(name):
    p = {"level": 0.7, "lipschitz": 1.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.1, "n": 30_000}
    bound = BOUNDS[name]
    p = {k: p[k] for k in bound.params}
    epsilons = np.array([0.0, 1e-3, 0.1, 1.0, 3.0, 10.0, 40.0])
    true = np.array([bound.value(float(e), **p) for e in epsilons])
    close, rough = bound.blocks.profile(epsilons, FINE, **p), bound.blocks.profile(epsilons, COARSE, **p)
    size = np.maximum(1, -true)
    assert (close - 1e-3 * size <= rough).all() and (rough <= close + 0.3).all()
    assert (true <= close).all() and (close <= true + 1e-8 * size).all()
