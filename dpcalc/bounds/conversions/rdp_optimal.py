"""From Rényi DP at one order to (ε, δ): the exact conversion for one order.

Among all pairs with E_{e^ε} >= δ the least Rényi divergence is attained on two outcomes, (p, 1−p) against
(q, 1−q) with q = (p−δ)e^{−ε}. With x = p − δ,

    H(x) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}

is convex (each term is a perspective of a convex power along a line), so its minimum over x is one root of H′.
(ε, δ) holds iff e^{(α−1)ε(α)} <= min H. A minimum found too high would be unsound: the root is enclosed, and the
value used is where the two tangents at the ends of the enclosure meet, which lies below the minimum.
"""

from collections.abc import Callable
from functools import cache
from math import exp, expm1, inf, log, log1p
from typing import Any

from dpcalc.bounds.conversions import rdp_improved
from dpcalc.bounds.conversions.bregman import bregman
from dpcalc.core.bound import Conversion, Theorem
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import Unreachable, boundary

_LEAST_LOG_DELTA = -700.0  # e^−700 is a double; for smaller δ the improved conversion is as good to (αδ)^{1/α}
_LARGEST_EXPONENT = 700.0  # e^700 is a double
_ULPS = 4e-15  # rounding error of log H, absolute where H is large and relative where H is near 1
_NEAR_ONE = 0.1  # a log H below it is computed as log1p(H − 1): as log H it would have lost a digit


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """Least ε >= 0 for which (α, ε(α))-RDP implies (ε, δ)-DP: never less, and tight (see rtol)."""
    rdp = _rounded_up(alpha, rdp)
    top = rdp_improved.value(alpha, rdp, log_delta)
    if top == 0 or log_delta <= _LEAST_LOG_DELTA:
        return top
    delta = exp(log_delta) * (1 - 3e-16 * (1 + abs(log_delta)))  # rounded down: a smaller δ needs a larger ε
    if alpha * delta >= 1:
        return min(top, max(0.0, rdp + log1p(-delta) + 4e-16 * rdp))

    u = log(alpha - 1) + log_delta

    def residual(epsilon: float) -> float:
        nonlocal u  # the minimizer at the last ε is near that at the next one
        u = log_minimizer(alpha, epsilon, delta, u)
        return (alpha - 1) * rdp * (1 + 4e-16) - log_minimum(alpha, epsilon, delta, u)

    try:
        return boundary(residual, top, 0.0, 2e-13)
    except Unreachable:  # rounding errors next to the improved conversion, which is proven
        return top


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """Least log δ for which (ε, δ)-DP follows, at most 0."""
    rdp = _rounded_up(alpha, rdp)
    top = rdp_improved.log_delta(alpha, rdp, epsilon)
    if top <= _LEAST_LOG_DELTA:
        return top

    @cache
    def residual(x: float) -> float:
        delta = exp(x)
        if alpha * delta >= 1:
            return rdp - (epsilon - log1p(-delta)) if delta < 1 else -inf
        u = log_minimizer(alpha, epsilon, delta, log(alpha - 1) + x)
        return (alpha - 1) * rdp * (1 + 4e-16) - log_minimum(alpha, epsilon, delta, u)

    feasible, step = top, 0.5  # the improved conversion is seldom far above
    while (low := max(feasible - step, _LEAST_LOG_DELTA)) > _LEAST_LOG_DELTA and residual(low) <= 0:
        feasible, step = low, 4 * step
    try:
        x = boundary(residual, feasible, low, 2e-14)
        return min(top, x + 4e-14 * abs(x) + 1e-15)  # δ itself is rounded where it is near 1
    except Unreachable:
        return top


def _rounded_up(alpha: float, rdp: float) -> float:
    """The divergence; at orders next to 1, where (α−1)ε(α) is known to some 1e-9 of itself only, 5e-9 more of it."""
    return rdp * (1 + 5e-9) if alpha - 1 < 1e-12 else rdp


def log_minimum(alpha: float, epsilon: float, delta: float, u: float) -> float:
    """A lower bound of log min_x H(x) where αδ < 1, from an enclosure of the minimizer that starts at x = e^u; tight to
    1e-14 where u is near it."""
    low, high = log(alpha - 1) + log(delta), log1p(-delta)
    step = 1e-8
    left, right = max(low, u - step), min(high, u + step)
    while left > low and _log_h(alpha, epsilon, delta, left)[1] > 0:
        step *= 16
        left = max(low, left - step)
    while right < high and _log_h(alpha, epsilon, delta, right)[1] < 0:
        step *= 16
        right = min(high, right + step)
    height_left, slope_left = _log_h(alpha, epsilon, delta, left)
    if right == high:  # at x = 1 − δ the second term is gone; the tangent at the left end alone is a bound
        drop = slope_left * (exp(right) - exp(left)) / exp(left)
        return height_left + log1p(drop) - _ULPS if drop > -1 else -inf
    height_right, slope_right = _log_h(alpha, epsilon, delta, right)
    # H >= H(l) + H′(l)(x − l) and H >= H(r) + H′(r)(x − r), which meet inside; H′ = d log H/du · H/x.
    scale, x, width = min(height_left, height_right), exp(left), exp(right) - exp(left)
    near_one = scale < _NEAR_ONE
    scale = 0.0 if near_one else scale
    h_left, h_right = (expm1(h) if near_one else exp(h - scale) for h in (height_left, height_right))  # H − 1, or H
    fall = min(slope_left, 0.0) * exp(height_left - scale) / x
    rise = max(slope_right, 0.0) * exp(height_right - scale) / (x + width)
    meet = (h_left - h_right + rise * width) / (rise - fall) if rise > fall else 0.0
    least = min(h_left, h_right, h_left + fall * min(max(meet, 0.0), width))
    if least <= (-1.0 if near_one else 0.0):
        return -inf  # the tangents meet below H = 0: they are of no use
    height = log1p(least) if near_one else scale + log(least)
    return height - _rounding(alpha, epsilon, delta, u, height)


def _rounding(alpha: float, epsilon: float, delta: float, u: float, log_h: float) -> float:
    """A bound on the rounding error of log H.

    In general it is that of its terms, which are multiples of α; near H = 1, where the terms of H − 1 are small and
    positive, it is relative. """
    if abs(log_h) < _NEAR_ONE:
        y = epsilon + log1p(delta / exp(u))
        return _ULPS * abs(log_h) * (2 + (alpha * y if alpha * y < _LARGEST_EXPONENT else (alpha - 1) * y))
    return _ULPS + 5e-16 * (abs(log_h) + alpha * (2 + abs(u)) + (alpha - 1) * epsilon)


def _log_h(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float]:
    """log H at x = e^u, and its derivative in u."""
    a1, x = alpha - 1, exp(u)
    p, q, rest = x + delta, exp(u - epsilon), 1 - x - delta
    first = alpha * log(p) - a1 * (u - epsilon)
    if rest <= 0:
        return first, 1.0
    second = alpha * log(rest) - a1 * log1p(-q)
    top = max(first, second)
    w1, w2 = exp(first - top), exp(second - top)
    log_h = top + log(w1 + w2)
    if log_h < _NEAR_ONE:
        near = alpha * (epsilon + log1p(delta / x)) < _LARGEST_EXPONENT
        excess, slope = (_excess if near else _excess_of_large_ratios)(alpha, epsilon, delta, u)
        return log1p(excess), slope / (1 + excess)
    slope = w1 * (alpha * x / p - a1) + w2 * (a1 * q / (1 - q) - alpha * x / rest)
    return log_h, slope / (w1 + w2)


def _excess(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float]:
    """H − 1 and its derivative in u, without cancellation where H is near 1.

    H − 1 = q·b(p/q) + (1−q)·b((1−p)/(1−q)) with b(r) = r^α − 1 − α(r−1) >= 0, b′(r) = α(r^{α−1} − 1).
    """
    x, q = exp(u), exp(u - epsilon)
    y, fall = epsilon + log1p(delta / x), (x * expm1(-epsilon) - delta) / (1 - q)
    z = log1p(fall) if fall > -0.5 else log(1 - x - delta) - log1p(-q)
    first, second = bregman(alpha, expm1(y), y), bregman(alpha, fall, z)
    rise, drop = alpha * expm1((alpha - 1) * y), alpha * expm1((alpha - 1) * z)
    slope = q * (first - second) - rise * delta - drop * x * (delta * exp(-epsilon) - expm1(-epsilon)) / (1 - q)
    return q * first + (1 - q) * second, slope


def _excess_of_large_ratios(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float]:
    """The same where (p/q)^α is no double, as p·((p/q)^{α−1} − 1) + (1−p)·(((1−p)/(1−q))^{α−1} − 1): the second term is
    small beside the first."""
    a1, x, q = alpha - 1, exp(u), exp(u - epsilon)
    p = x + delta
    first, second = a1 * (epsilon + log1p(delta / x)), a1 * (log1p(-p) - log1p(-q))
    slope = exp(first) * (x - a1 * delta) + exp(second) * (1 - p) * (a1 * q / (1 - q) - alpha * x / (1 - p))
    return p * expm1(first) + (1 - p) * expm1(second), slope


def log_minimizer(alpha: float, epsilon: float, delta: float, start: float) -> float:
    """u = log x near the minimizer of H, by a safeguarded secant on dH/du: any u is sound, a near one gives a tight
    bound."""
    left, right = log(alpha - 1) + log(delta), log1p(-delta)
    u = min(max(start, left), right)
    slope = _log_h(alpha, epsilon, delta, u)[1]
    v = min(u + 1e-4, right) if slope < 0 else max(u - 1e-4, left)
    left, right = (u, right) if slope < 0 else (left, u)
    for k in range(120):
        if v == u or right - left < 1e-9:
            break
        slope_v = _log_h(alpha, epsilon, delta, v)[1]
        left, right = (max(left, v), right) if slope_v < 0 else (left, min(right, v))
        middle = (left + right) / 2
        secant = v - slope_v * (v - u) / (slope_v - slope) if slope_v != slope else middle
        u, slope = v, slope_v
        v = secant if left <= secant <= right and k % 3 < 2 else middle  # every third step halves the bracket
        if abs(v - u) < 1e-9:
            return v
    return u


def condition(mp: Any, alpha: float, rdp: Any, delta: Any, epsilon: Any) -> Any:
    """(α−1)(ε − ε(α)) + log min_p […] of the printed condition: (ε, δ) follows where it is >= 0. The minimum is taken
    at the root of H′."""
    a, d, e = mp.mpf(alpha), mp.mpf(delta), mp.mpf(epsilon)
    if d >= 1:
        return mp.inf
    if a * d >= 1:
        return (a - 1) * (e - mp.log1p(-d) - mp.mpf(rdp))
    beyond = mp.expm1(e) + d

    def parts(odds: Any) -> tuple[Any, Any]:
        """p and 1 − p, both to all digits."""
        grown = mp.exp(-odds)
        return 1 / (1 + grown), grown / (1 + grown)

    def slope(odds: Any) -> Any:
        """H′ at p."""
        p, q = parts(odds)
        share = q / (beyond + q)
        return (p / (p - d)) ** a * (1 - d * a / p) - share ** (a - 1) * (a - (a - 1) * share)

    p, q = parts(_root_of_slope(mp, slope, mp.log(a * d / (1 - a * d))))
    return mp.log(p**a * (p - d) ** (1 - a) + q**a * (beyond + q) ** (1 - a)) + (a - 1) * (e - mp.mpf(rdp))


def _root_of_slope(mp: Any, slope: Callable[[Any], Any], low: Any) -> Any:
    """log(p/(1 − p)) above `low`, where the slope is 0, to half the digits: the error of H is about its square. For
    orders next to 1 it may be millions."""
    high, step = low + 1, mp.one
    while slope(high) < 0 and step < 1e30:
        low, high, step = high, high + 2 * step, 2 * step
    for _ in range(50):  # until the slope is nearly straight, so that a secant converges
        mid = (low + high) / 2
        low, high = (mid, high) if slope(mid) < 0 else (low, mid)
    return root(mp, slope, low, high, mp.dps // 2 + 10)


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    """The ε at which the printed condition just holds."""

    def residual(epsilon: Any) -> Any:
        return condition(mp, alpha, rdp, delta, epsilon)

    if residual(mp.mpf(0)) >= 0:
        return mp.mpf(0)
    return root(mp, residual, mp.mpf(0), rdp_improved.exact(mp, alpha, rdp, delta) * mp.mpf("1.001"))


BOUND = Conversion(
    Theorem(
        name="rdp-optimal",
        example="convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5",
        statement="(ε, δ) follows from (α, ε(α))-RDP iff ε(α) ≤ ε + log min over p in (δ, 1) of [p^α(p−δ)^(1−α) + "
                  "(1−p)^α(e^ε−p+δ)^(1−α)] / (α−1)",
        source="Asoodeh, Liao, Calmon, Kosut & Sankar 2021, Theorem 3, arXiv:2008.06529v2",
        assumptions=(),
    ),
    params=(),
    value=value,
    exact=exact,
    # at orders within 1e-2 of 1 and δ above .9, where the minimum of H is at the end of its range; 5e-10 elsewhere
    rtol=2e-8,
    log_delta=log_delta,
    rough=rdp_improved.BOUND,
    condition=condition,
)
