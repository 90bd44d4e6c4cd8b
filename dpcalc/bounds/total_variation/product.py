"""The total variation of a composition from the total variations of its parts alone."""

from math import expm1, log1p
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import up


def value(step_tv: float, steps: int) -> dict[str, float]:
    """1 − (1 − TV)^T."""
    if step_tv >= 1:
        return {"tv": 1.0}
    return {"tv": min(1.0, up(-expm1(steps * log1p(-step_tv)), 2e-15))}


def exact(mp: Any, step_tv: float, steps: int) -> Any:
    return {"tv": -mp.expm1(steps * mp.log1p(-mp.mpf(step_tv))) if step_tv < 1 else mp.mpf(1)}


BOUND = PointBound(
    Theorem(
        name="tv-product",
        example="tv --tv 0.01 --steps 50",
        statement="TV of T releases is at most 1 − (1 − TV)^T, which some mechanism reaches; never above the sum T·TV",
        source="the composition of (0, TV)-DP: Kairouz, Oh & Viswanath 2015, Theorem 3.3 at ε = 0, arXiv:1311.0776v4 "
               "(Berthier 2019, Theorem 2.2, has the sum)",
        assumptions=("every release has at most this total variation, whatever the releases before it were",),
    ),
    gives=("tv",),
    params=("step_tv", "steps"),
    value=value,
    exact=exact,
    rtol=6e-15,
)
