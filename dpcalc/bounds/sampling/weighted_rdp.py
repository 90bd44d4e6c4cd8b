"""Rényi DP of sampling with non-uniform, data-independent weights."""

from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.bound import RdpBound, Theorem


def value(alpha: float, max_weight: float, base: Curve) -> float:
    """ε′(α) of `wor-rdp` at the sampling rate c, the largest weight."""
    return wor_rdp.value(alpha, max_weight, base)


def coarse(alpha: float, max_weight: float, base: Curve) -> float:
    """`value` to about 1e-3, for the search over orders."""
    return wor_rdp.coarse(alpha, max_weight, base)


def exact(mp: Any, alpha: float, max_weight: float, base: Curve) -> Any:
    return wor_rdp.exact(mp, alpha, max_weight, base)


BOUND = RdpBound(
    Theorem(
        name="weighted-rdp",
        example="subsample --scheme weighted --max-weight 0.01 --sigma 2 --steps 1000 --delta 1e-5",
        statement="the bound of wor-rdp with q replaced by the largest weight c",
        source="Berthier 2019, Theorem 4.2",
        assumptions=("each record is in the batch with a probability w_i ≤ c that does not depend on the data",
                     "neighbours differ by replacing one record", "whole orders α ≥ 2"),
        errata=("Berthier 2019, Theorem 4.2, prints the sum from j = 1; it must start at j = 3, as in Berthier & "
                "Karimireddy, Theorem 3.1.",),
    ),
    params=("max_weight", "base"),
    value=value,
    exact=exact,
    rtol=3e-11,
    integer_orders=True,
    coarse=coarse,
)
