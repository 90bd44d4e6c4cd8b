"""Randomised response: outcomes of probabilities (p, 1 − p) against (1 − p, p), the worst case of pure DP."""

from math import exp, expm1, log, log1p, sinh
from typing import Any


def binary_rdp(alpha: float, t: float) -> float:
    """D_α of randomised response with log odds t = log(p/(1−p)) >= 0, to a few ulp.

    p^α(1−p)^{1−α} + (1−p)^α p^{1−α} = cosh((α−½)t)/cosh(t/2).
    """
    a1 = alpha - 1
    if (alpha + 0.5) * t < 20:
        half = exp(t / 2)
        return log1p(2 * sinh(alpha * t / 2) * sinh(a1 * t / 2) / ((half + 1 / half) / 2)) / a1
    return t + log1p(exp(-t) * expm1(-2 * a1 * t) / (1 + exp(-t))) / a1


def binary_rdp_exact(mp: Any, alpha: Any, p: Any) -> Any:
    """log(p^α(1−p)^{1−α} + (1−p)^α p^{1−α})/(α−1), as printed."""
    a, p = mp.mpf(alpha), mp.mpf(p)
    return mp.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)


def log_odds(p: float) -> float:
    """|log(p/(1−p))|, accurate near 0, ½ and 1."""
    if p < 0.25:
        return log1p(-p) - log(p)
    return abs(log1p((2 * p - 1) / (1 - p)) if p < 0.75 else log(p / (1 - p)))
