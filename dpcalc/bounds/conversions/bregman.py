"""(1+u)^α − 1 − αu >= 0, the terms of which Rényi divergences near 0 are sums: positive, without cancellation."""

from math import exp

from dpcalc.numerics.elementary import expm1mx, x_minus_log1p


def bregman(alpha: float, u: float, y: float) -> float:
    """(1+u)^α − 1 − αu = r·χ((α−1)y) + (α−1)(r·y − u) with r = 1+u, y = log r given and χ(x) = e^x − 1 − x."""
    a1, r = alpha - 1, 1 + u if u > -0.5 else exp(y)
    if abs(u) < 0.5:
        return r * (expm1mx(a1 * y) + a1 * (u * u / r - x_minus_log1p(u)))
    return r * expm1mx(a1 * y) + a1 * (r * y - u)
