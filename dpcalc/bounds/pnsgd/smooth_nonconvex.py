"""Rényi DP of one position in an epoch of noisy SGD on smooth losses in a fixed order, without convexity."""

from math import expm1
from typing import Any

from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, SOURCE, log_spread
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int,
          index: int) -> float:
    """(2αL²/σ²)(1 − C^{−2})/(1 − C^{−2(n−i+1)}), rounded up."""
    s = 2 * log_spread(learning_rate, smoothness)
    later = n - index + 1
    share = 1 / later if s == 0 else expm1(-s) / expm1(-s * later)
    return up(2 * alpha * (lipschitz / level) ** 2 * share, 4e-15)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int,
          index: int) -> Any:
    q = (1 + mp.mpf(learning_rate) * mp.mpf(smoothness)) ** -2
    share = (1 - q) / (1 - q ** (n - index + 1)) if q != 1 else mp.mpf(1) / (n - index + 1)
    return 2 * mp.mpf(alpha) * (mp.mpf(lipschitz) / mp.mpf(level)) ** 2 * share


BOUND = RdpBound(
    Theorem(
        name="smooth-nonconvex",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --alpha 8",
        statement="ε(α) = (2αL²/σ²)(1 − C^(−2))/(1 − C^(−2(n−i+1))), C = 1 + ηβ, for the record at position i",
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        riskier=("learning_rate",),
    ),
    params=(*SMOOTH, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-14,
)
