"""Rényi differential privacy of the sparse vector technique, from its pure ε."""

from typing import Any

from dpcalc.bounds.conversions import pure_rdp
from dpcalc.bounds.mechanisms import above_threshold_exact
from dpcalc.core.bound import RdpBound, Theorem


def value(alpha: float, threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str) -> float:
    """ε(α) of randomised response with log odds s/b₁ + 2cs/b₂."""
    return pure_rdp.value(alpha, above_threshold_exact.pure(threshold_scale, scale, sensitivity, hits, queries, 1))


def exact(mp: Any, alpha: float, threshold_scale: float, scale: float, sensitivity: float, hits: int,
          queries: str) -> Any:
    one = above_threshold_exact.exact_pure(mp, threshold_scale, scale, sensitivity, hits, queries)
    return pure_rdp.exact(mp, alpha, one)


BOUND = RdpBound(
    Theorem(
        name="above-threshold-rdp",
        example="rdp --mechanism above-threshold --threshold-scale 2 --scale 20 --hits 3 --alpha 4",
        statement="ε(α) of randomised response whose pure ε is s/b₁ + 2cs/b₂, or s/b₁ + cs/b₂ for monotone queries",
        source="Lyu, Su & Li 2017, arXiv:1603.01699; proof in dpcalc/bounds/mechanisms/above_threshold_exact.py; "
               "Kairouz, Oh & Viswanath 2015, Theorem 2.1, with Mironov 2017, Proposition 5",
        assumptions=above_threshold_exact.ASSUMPTIONS,
    ),
    params=("threshold_scale", "scale", "sensitivity", "hits", "queries"),
    value=value,
    exact=exact,
    rtol=3e-14,
)
