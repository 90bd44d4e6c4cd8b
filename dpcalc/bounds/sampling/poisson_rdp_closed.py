"""Rényi DP of one step of Poisson-sampled Gaussian noise: the closed form, for small orders and much noise.

α* is the largest α with α <= Mz²/2 − log z² and α <= (M²z²/2 − log 5z²)/(M + log(qα) + 1/(2z²)), where
M = log(1 + 1/(q(α−1))). Altschuler & Talwar 2022 state it for D_α(N‖mix), and their source for both directions. The
truth is at most 0.265 times this for all orders that are covered. """

from math import log, log1p
from typing import Any

from dpcalc.bounds.sampling._engine.assumptions import ADDED_OR_REMOVED, GAUSSIAN_NOISE, POISSON
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human
from dpcalc.numerics.rounding import ratio_up

LARGEST_RATE, LEAST_NOISE = 0.2, 4.0


def value(alpha: float, noise_multiplier: float, sampling_rate: float) -> float:
    """2αq²/z². Raises OutOfScope for q >= 1/5, for z < 4 and for α > α*."""
    _refuse(alpha, noise_multiplier, sampling_rate)
    return ratio_up((2.0, alpha, sampling_rate, sampling_rate), (noise_multiplier, noise_multiplier))


def _refuse(alpha: float, z: float, q: float) -> None:
    if q >= LARGEST_RATE:
        raise OutOfScope("out-of-range", f"q = {q:g} is not < 1/5, as Lemma 2.12 (Altschuler & Talwar 2022) needs",
                         "--sampling-rate")
    if z < LEAST_NOISE:
        raise OutOfScope("out-of-range", f"{z:g} is not ≥ 4, as Lemma 2.12 (Altschuler & Talwar 2022) needs",
                         "--noise-multiplier")
    if not is_covered(alpha, z, q):
        raise OutOfScope("out-of-range", f"{alpha:g} is above α* = {human(largest_order(z, q), upward=False)}, the "
                         "largest order of Lemma 2.12 (Altschuler & Talwar 2022) here", "--alpha")


def is_covered(alpha: float, z: float, q: float) -> bool:
    """Whether α <= α*; an order so near to α* that rounding errors could decide is not covered."""
    m, square = log1p(1 / (q * (alpha - 1))), z * z
    first = m * square / 2 - log(square)
    second = (m * m * square / 2 - log(5 * square)) / (m + log(q * alpha) + 1 / (2 * square))
    return alpha <= min(first, second) * (1 - 1e-12)


def largest_order(z: float, q: float) -> float:
    """α*, by bisection between orders that are covered and those that are not; 2 is covered for q < 1/5 and z >= 4."""
    low, high = 2.0, 2.0
    while is_covered(high, z, q):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_covered(middle, z, q) else (low, middle)
    return low


def exact(mp: Any, alpha: float, noise_multiplier: float, sampling_rate: float) -> Any:
    _refuse(alpha, noise_multiplier, sampling_rate)
    return 2 * mp.mpf(alpha) * mp.mpf(sampling_rate) ** 2 / mp.mpf(noise_multiplier) ** 2


BOUND = RdpBound(
    Theorem(
        name="poisson-rdp-closed",
        example="subsample --sampling-rate 0.01 --noise-multiplier 4 --steps 1000 --alpha 8 --bound poisson-rdp-closed",
        statement="2αq²/z² for q < 1/5, z ≥ 4 and α ≤ α*, the largest α with α ≤ Mz²/2 − log z² and α ≤ (M²z²/2 − "
                  "log 5z²)/(M + log(qα) + 1/(2z²)), M = log(1 + 1/(q(α−1)))",
        in_words="A closed form of the Rényi divergence of one step with Gaussian noise on Poisson batches, for low "
                 "rates, much noise and low orders. A record is added or removed. It is loose: the true divergence, "
                 "that of poisson-rdp, is at most 0.265 times as large. It serves to compare with papers, and to see "
                 "how the loss grows with the rate and falls with the noise.",
        source="Mironov, Talwar & Zhang 2019, Theorem 11, arXiv:1908.10530v1; Altschuler & Talwar 2022, Lemma 2.12, "
               "arXiv:2205.13710",
        assumptions=(POISSON, ADDED_OR_REMOVED, GAUSSIAN_NOISE),
    ),
    params=("noise_multiplier", "sampling_rate"), value=value, exact=exact, rtol=1e-14)
