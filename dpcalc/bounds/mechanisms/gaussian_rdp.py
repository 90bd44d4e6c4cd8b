"""Rényi differential privacy of the Gaussian mechanism."""

from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up


def value(alpha: float, sigma: float, sensitivity: float) -> float:
    """ε(α) = αs²/(2σ²), rounded up exactly."""
    return ratio_up((alpha, sensitivity, sensitivity), (2.0, sigma, sigma))


def exact(mp: Any, alpha: float, sigma: float, sensitivity: float) -> Any:
    return mp.mpf(alpha) * mp.mpf(sensitivity) ** 2 / (2 * mp.mpf(sigma) ** 2)


BOUND = RdpBound(
    Theorem(
        name="gaussian-rdp",
        example="rdp --sigma 1 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = α s² / (2σ²)",
        source="Mironov 2017, Proposition 7, arXiv:1702.07476v3",
        assumptions=("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)"),
        errata=("Berthier 2019, §3.2.2, prints σ² = αs²/(2ε²); it must be αs²/(2ε).",),
    ),
    params=("sigma", "sensitivity"),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
