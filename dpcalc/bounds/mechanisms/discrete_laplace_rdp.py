"""Rényi differential privacy of the discrete Laplace mechanism.

Proof of the formula. With a = 1/v, u = as, b = α − 1, w = 2α − 1, the losses are a(s − 2j) with the P-masses
1/(1 + e^(−a)) at j = 0, tanh(a/2)e^(−aj) for 0 < j < s, and e^(−as)/(1 + e^(−a)) at j = s. So E_P[e^(bℓ)] is the
geometric sum A e^(bu) + B e^(−αu), with A = 1/(1+e^(−a)) + tanh(a/2)/(e^(aw) − 1) = (1 + c)/2 and B = (1 − c)/2 for
c = tanh(a/2)/tanh(aw/2). As a goes to 0 with u fixed, A and B go to α/w and b/w, the formula of Laplace noise.

Differences smaller than s are covered, as their privacy profiles are (see discrete_laplace_exact.py).
"""

from math import cosh, exp, expm1, log1p, sinh
from typing import Any

from dpcalc.bounds.mechanisms.discrete_laplace_exact import ASSUMPTIONS, NAME
from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.elementary import expm1mx
from dpcalc.numerics.rounding import ratio_up, up


def value(alpha: float, scale: float, sensitivity: float) -> float:
    """ε(α), rounded up, and at most s/v."""
    u, a, b = whole(sensitivity, NAME) / scale, 1 / scale, alpha - 1
    w = alpha + b
    low = exp(-a) * expm1(-2 * a * b) / (expm1(-a * w) * (1 + exp(-a)))  # B
    if alpha * u < 1:
        # The terms linear in u add up to u/2·(w·tanh(a/2)/tanh(aw/2) − 1) > 0; so all three terms are positive.
        linear = u / 2 * _linear(alpha, a) / (cosh(a / 2) * sinh(a * w / 2))
        raw = log1p((1 - low) * expm1mx(b * u) + low * expm1mx(-alpha * u) + linear) / b
    elif b * u < 1:
        raw = log1p((1 - low) * expm1(b * u) + low * expm1(-alpha * u)) / b
    else:
        raw = u + log1p(low * expm1(-w * u)) / b
    return max(min(up(raw, 1e-14), ratio_up((sensitivity,), (scale,))), 5e-324)


def _linear(alpha: float, a: float) -> float:
    """b·sinh(αa) − α·sinh(ba), b = α − 1, for αa < 1: its power series, Σ αb(α^(2k) − b^(2k))a^(2k+1)/(2k+1)!."""
    b = alpha - 1
    total, power, difference, factor = 0.0, 1.0, 0.0, alpha * b * a
    for k in range(1, 12):  # the omitted terms are below 1e-20 of the first
        difference = alpha * alpha * difference + (alpha + b) * power  # α^(2k) − b^(2k)
        power *= b * b
        factor *= a * a / (2 * k * (2 * k + 1))
        total += factor * difference
    return total


def exact(mp: Any, alpha: float, scale: float, sensitivity: float) -> Any:
    al, a = mp.mpf(alpha), 1 / mp.mpf(scale)
    u, c = a * whole(sensitivity, NAME), mp.tanh(a / 2) / mp.tanh(a * (2 * al - 1) / 2)
    return mp.log(((1 + c) * mp.exp((al - 1) * u) + (1 - c) * mp.exp(-al * u)) / 2) / (al - 1)


BOUND = RdpBound(
    Theorem(
        name="discrete-laplace-rdp",
        example="rdp --mechanism discrete-laplace --scale 2 --alpha 8",
        statement="D_α(M(x) ‖ M(x′)) = log( (1+c)/2·e^((α−1)u) + (1−c)/2·e^(−αu) ) / (α−1), u = s/v, c = "
                  "tanh(1/(2v))/tanh((2α−1)/(2v))",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Ghosh, "
               "Roughgarden & Sundararajan 2012",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=3e-14,
)
