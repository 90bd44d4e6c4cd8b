"""Rényi DP adds up over adaptive compositions."""

from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up

Parts = tuple[tuple[Curve, int], ...]


def value(alpha: float, parts: Parts) -> float:
    """Σ_i count_i · ε_i(α)."""
    return up(sum(count * curve.rdp(alpha) for curve, count in parts), 2e-16 * (1 + len(parts)))


def coarse(alpha: float, parts: Parts) -> float:
    """`value` by the faster forms of the curves, for the search over orders."""
    return sum(count * curve.approximate_rdp(alpha) for curve, count in parts)


def exact(mp: Any, alpha: float, parts: Parts) -> Any:
    return mp.fsum(count * curve.exact(mp, alpha) for curve, count in parts)


BOUND = RdpBound(
    Theorem(
        name="rdp-composition",
        example="rdp --mechanism laplace --scale 9 --steps 9 --json | dpcalc convert - --alpha 4",
        statement="the RDP at α of adaptively composed mechanisms is at most the sum of their RDP at α",
        source="Mironov 2017, Proposition 1, arXiv:1702.07476v3",
        assumptions=("all parts use the same notion of neighbouring data sets",),
    ),
    params=("parts",),
    value=value,
    exact=exact,
    coarse=coarse,
    rtol=1e-10,
)
