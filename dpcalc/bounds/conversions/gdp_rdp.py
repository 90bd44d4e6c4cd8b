"""Rényi DP of Gaussian differential privacy."""

from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up


def value(alpha: float, mu: float) -> float:
    """ε(α) = αμ²/2, rounded up exactly."""
    return ratio_up((alpha, mu, mu), (2.0,))


def exact(mp: Any, alpha: float, mu: float) -> Any:
    return mp.mpf(alpha) * mp.mpf(mu) ** 2 / 2


BOUND = RdpBound(
    Theorem(
        name="gdp-rdp",
        example="convert --from gdp --mu 1 --alpha 4",
        statement="μ-GDP is (α, αμ²/2)-RDP for every α",
        source="Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3",
        assumptions=(),
    ),
    params=("mu",),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
