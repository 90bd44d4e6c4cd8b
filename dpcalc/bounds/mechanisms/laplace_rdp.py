"""Rényi differential privacy of the Laplace mechanism."""

from math import exp, expm1, log1p
from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.elementary import expm1mx
from dpcalc.numerics.rounding import up


def value(alpha: float, scale: float, sensitivity: float) -> float:
    """ε(α) = log{ α/(2α−1)·e^{(α−1)t} + (α−1)/(2α−1)·e^{−αt} }/(α−1), t = s/v."""
    t = sensitivity / scale
    a1, w = alpha - 1, 2 * alpha - 1
    if alpha * t < 1:
        # The terms linear in t cancel exactly; what is left is a sum of positive terms.
        raw = log1p((alpha * expm1mx(a1 * t) + a1 * expm1mx(-alpha * t)) / w) / a1
    elif a1 * t < 1:
        # α near 1, t large: the linear term is carried by expm1.
        raw = log1p((alpha * expm1(a1 * t) + a1 * expm1(-alpha * t)) / w) / a1
    else:
        # e^{(α−1)t} taken out of the log, so that it cannot overflow.
        raw = t + log1p(a1 * (exp(-w * t) - 1) / w) / a1
    # t² may underflow, but the divergence is positive
    return max(min(up(raw, 4e-15), up(t, 2e-16)), 5e-324 if sensitivity > 0 else 0.0)


def exact(mp: Any, alpha: float, scale: float, sensitivity: float) -> Any:
    a, t = mp.mpf(alpha), mp.mpf(sensitivity) / mp.mpf(scale)
    w = 2 * a - 1
    return mp.log(a / w * mp.exp((a - 1) * t) + (a - 1) / w * mp.exp(-a * t)) / (a - 1)


BOUND = RdpBound(
    Theorem(
        name="laplace-rdp",
        example="rdp --mechanism laplace --scale 2 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = log( α/(2α−1)·e^((α−1)t) + (α−1)/(2α−1)·e^(−αt) ) / (α−1), t = s/v",
        source="Mironov 2017, Proposition 6, arXiv:1702.07476v3",
        assumptions=("the query changes by at most s in ℓ1 between neighbouring data sets",
                     "noise Laplace(0, v) per coordinate"),
    ),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=1e-14,
)
