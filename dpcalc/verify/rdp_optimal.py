"""The optimal conversion of one Rényi order (rdp-optimal), checked at a claimed (ε, δ).

(ε, δ)-DP follows where (α−1)(ε − ε(α)) + log min_p h(p) >= 0, with h(p) = p^α(p−δ)^{1−α} + (1−p)^α(e^ε−p+δ)^{1−α} on
(δ, 1). As h is convex (see bounds/conversions/rdp_optimal.py) and the interval is shorter than 1, every point p proves
min h >= h(p) − |h′(p)|; a point near the minimum proves a tight bound, however it was found. If h decreases at p and
the minimum is at a distance of at most w, min h >= h(p) − |h′(p)|·w. This is needed for α near 1, where the minimum may
be close to 1 and h is steep there.
"""

from __future__ import annotations

from typing import Any

from dpcalc.bounds.conversions import rdp_optimal
from dpcalc.verify.arb.context import is_ball_context


def slack(mp: Any, alpha: float, rdp: Any, delta: Any, epsilon: Any) -> Any:
    """Return a lower bound of (α−1)(ε − ε(α)) + log min h; (ε, δ) follows where it is >= 0."""
    if not is_ball_context(mp):
        return rdp_optimal.condition(mp, alpha, rdp, delta, epsilon)
    a, d, e = mp.mpf(alpha), mp.mpf(delta), mp.mpf(epsilon)
    if a * d >= 1:
        return (a - 1) * (e - mp.log1p(-d) - rdp)
    e_to_epsilon = mp.exp(e)
    x, width = _point_near_minimum(mp, a, d, e_to_epsilon)
    height, slope = _h_and_slope(mp, a, d, e_to_epsilon, x)
    return mp.log(height - abs(slope) * width) + (a - 1) * (e - rdp)


def _h_and_slope(mp: Any, a: Any, d: Any, e_to_epsilon: Any, x: Any) -> tuple[Any, Any]:
    """Return h and h′ at p = δ + x."""
    p, rest, y = d + x, 1 - d - x, e_to_epsilon - x
    first, second = mp.exp(a * mp.log(p) - (a - 1) * mp.log(x)), mp.exp(a * mp.log(rest) - (a - 1) * mp.log(y))
    return first + second, first * (a / p - (a - 1) / x) - second * (a / rest - (a - 1) / y)


def _point_near_minimum(mp: Any, a: Any, d: Any, e_to_epsilon: Any) -> tuple[Any, Any]:
    """Return an x near the root of h′ in ((α−1)δ, 1−δ), by bisection in log x and then in x; and a bound on its
    distance from the minimum."""
    low, high = (a - 1) * d, 1 - d
    falls_at_low = False  # whether h surely decreases at `low`: then the minimum is between `low` and `high`
    for _ in range(2 * mp.prec):
        x = mp.midpoint(mp.sqrt(low * high) if float(high) > 2 * float(low) else (low + high) / 2)
        slope = _h_and_slope(mp, a, d, e_to_epsilon, x)[1]
        if slope.x < 0:
            low, falls_at_low = x, True
        elif slope.x > 0:
            high = x
        else:
            return x, 1
    return (low, high - low) if falls_at_low else (x, 1)
