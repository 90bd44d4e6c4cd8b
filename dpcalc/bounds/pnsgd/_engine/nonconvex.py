"""Noisy SGD on smooth losses without convexity: a step multiplies the distance of two iterates by at most C = 1 +
ηβ."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, expm1, log, log1p
from typing import Any

from dpcalc.bounds.pnsgd._engine.positions import Shares, share_exact
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_EXPONENT
from dpcalc.bounds.pnsgd._engine.smooth_sums import total
from dpcalc.bounds.pnsgd._engine.step import move_ratio
from dpcalc.bounds.start import START
from dpcalc.numerics.mp.memo import cached_sequence
from dpcalc.numerics.rounding import up

SMOOTH = ("level", "lipschitz", "learning_rate", "smoothness")
ASSUMPTIONS = (
    "the loss of every record is L-Lipschitz and β-smooth; it need not be convex, nor the iterates projected", START,
    "Gaussian noise on every gradient", "only the last iterate is released",
    "neighbours differ by replacing one record")
SOURCE = "Berthier 2019, Theorem 3.6; Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23, arXiv:1808.06651"


def log_spread(learning_rate: float, smoothness: float) -> float:
    """log C, C = 1 + ηβ, rounded up."""
    return up(log1p(learning_rate * smoothness), 4e-16)


@lru_cache(maxsize=8)
def ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float) -> Shares:
    """The function m → μ_m, μ_m² = (4L²/σ²)(1 − C^{−2})/(1 − C^{−2(m+1)}), rounded up."""
    return Shares(move_ratio(level, lipschitz), log_spread(learning_rate, smoothness))


@cached_sequence
def ratios_exact(mp: Any, level: float, lipschitz: float, learning_rate: float,
                 smoothness: float) -> Callable[[int], Any]:
    """`ratios` at high precision."""
    first, c = 2 * mp.mpf(lipschitz) / mp.mpf(level), 1 + mp.mpf(learning_rate) * mp.mpf(smoothness)
    return lambda m: first * mp.sqrt(share_exact(mp, c, m))


def share_and_slope(log_c: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """The functions j → (1 − q)/(1 − q^j), q = C^{−2}, and the derivative of its logarithm."""
    s = 2 * log_c
    if s == 0:
        return (lambda j: 1 / j), (lambda j: -1 / j)
    top = -expm1(-s)
    return (lambda j: top / -expm1(-s * j)), (lambda j: -s / expm1(s * j) if s * j < 700 else 0.0)


def log_mean_exp(alpha: float, peak: float, share: Callable[[float], float], log_slope: Callable[[float], float],
                 n: int) -> float:
    """(1/(α−1)) log((1/n)Σ_{j=1}^n e^{(α−1)·peak·share(j)}), rounded up.

    share(1) = 1 is the largest; `log_slope` is the derivative of log share.
    """
    x = (alpha - 1) * peak
    if x > 300:  # exponentials may overflow: in units of the largest term
        def term(j: float) -> float:
            return exp(max(x * (share(j) - 1), LEAST_EXPONENT))

        sums = total(term, lambda j: x * share(j) * log_slope(j) * term(j), n)
        return min(peak, up((x + log(sums) - log(n)) / (alpha - 1), 1e-12))
    sums = total(lambda j: expm1(x * share(j)), lambda j: x * share(j) * log_slope(j) * exp(x * share(j)), n)
    return min(peak, up(log1p(sums / n) / (alpha - 1), 1e-12))
