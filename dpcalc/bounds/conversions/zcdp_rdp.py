"""Rényi DP of zero-concentrated differential privacy (its definition)."""

from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up


def value(alpha: float, rho: float) -> float:
    """ε(α) = ρα, rounded up exactly."""
    return ratio_up((alpha, rho))


def exact(mp: Any, alpha: float, rho: float) -> Any:
    return mp.mpf(alpha) * mp.mpf(rho)


BOUND = RdpBound(
    Theorem(
        name="zcdp-rdp",
        example="convert --from zcdp --rho 0.5 --delta 1e-6",
        statement="ρ-zCDP is (α, ρα)-RDP for every α",
        source="Bun & Steinke 2016, Definition 1.1, arXiv:1605.02065v1",
        assumptions=(),
    ),
    params=("rho",),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
