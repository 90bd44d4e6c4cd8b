"""Rényi DP of one position in projected noisy SGD in a fixed order, by amplification by iteration."""

from typing import Any

from dpcalc.bounds.pnsgd import fixed_order_iteration as iteration
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_RATIO
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, **p: Any) -> float:
    """αμ_m²/2, rounded up; at least LEAST_RATIO except for an exact 0, as a square may underflow."""
    mu = iteration.mu(**p)
    return max(up(alpha / 2 * mu * mu, 1e-15), LEAST_RATIO) if mu else 0.0


def exact(mp: Any, alpha: float, **p: Any) -> Any:
    return mp.mpf(alpha) * iteration.mu_exact(mp, **p) ** 2 / 2


BOUND = RdpBound(
    Theorem(
        name=f"{iteration.BOUND.name}-rdp",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --alpha 8",
        statement="ε(α) = αμ²/2 for the record at position i, μ as in fixed-order-iteration",
        source=iteration.BOUND.source,
        assumptions=iteration.BOUND.theorem.assumptions,
    ),
    params=iteration.BOUND.params,
    value=value,
    exact=exact,
    rtol=2e-11,
)
