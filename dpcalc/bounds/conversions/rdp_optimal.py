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
from dpcalc.core.bound import Bound
from dpcalc.numerics.elementary import expm1mx, x_minus_log1p
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import Unreachable, boundary

_UNDERFLOW = -700.0
_NEAR = 1e-8
_HALVINGS = 50
_SLOP = 4e-15  # rounding of log H, see _slop
_NEXT_TO_1, _ROUNDED = 1e-12, 1e-9  # of α − 1; relative, of the divergence there
_SMALL = 0.1  # below it log H is computed as log1p(H − 1)
_BELOW, _FARTHER = 0.5, 4.0  # of log δ: where it is looked for first; times that, next
_FAR = 700.0  # of α·log(p/q)
_MOST_ODDS = 1e30  # logarithm


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """Least ε >= 0 for which (α, ε(α))-RDP implies (ε, δ)-DP: never less, and tight (see rtol)."""
    rdp = _with_rounding(alpha, rdp)
    top = rdp_improved.value(alpha, rdp, log_delta)
    if top == 0 or log_delta <= _UNDERFLOW:
        return top  # there the conversions agree to (αδ)^{1/α}
    delta = exp(log_delta) * (1 - 3e-16 * (1 + abs(log_delta)))  # rounded down: a smaller δ needs a larger ε
    if alpha * delta >= 1:
        return min(top, max(0.0, rdp + log1p(-delta) + 4e-16 * rdp))
    target = (alpha - 1) * rdp
    # Newton on log min H(ε) = (α−1)ε(α): a rough witness, since the margin below is checked in full.
    epsilon, u = top, log(alpha - 1) + log_delta
    for _ in range(40):
        u = _stationary(alpha, epsilon, delta, u)
        height, _, growth = _sides(alpha, epsilon, delta, u)
        # log H grows like e^ε there
        excess = height * log(height / target) if 0 < height < 1 and target > 0 else height - target
        step = excess / growth if growth > 0 else 0.0
        epsilon = min(max(epsilon - step, epsilon / 4 if epsilon > 1e-9 * top else 0.0), top)
        if abs(step) <= 1e-13 * epsilon or epsilon == 0:
            break

    def gap(epsilon: float) -> float:
        near = _stationary(alpha, epsilon, delta, u)
        return target * (1 + 4e-16) - log_least(alpha, epsilon, delta, near)

    if epsilon == 0 and gap(0.0) <= 0:
        return 0.0
    rounding = 2 * _slop(alpha, epsilon, delta, u, target) / growth if growth > 0 else inf
    for margin in (2e-15 + 2 * rounding / epsilon, 2e-13, 1e-11, 1e-9) if epsilon > 0 else ():
        if epsilon * (1 + margin) < top and gap(epsilon * (1 + margin)) <= 0:
            return epsilon * (1 + margin)
    return boundary(gap, top, 0.0, 2e-13) if gap(top) <= 0 else top


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """Least log δ for which (ε, δ)-DP follows, at most 0."""
    rdp = _with_rounding(alpha, rdp)
    top = rdp_improved.log_delta(alpha, rdp, epsilon)
    if top <= _UNDERFLOW:
        return top

    @cache
    def gap(x: float) -> float:
        delta = exp(x)
        if alpha * delta >= 1:
            return rdp - (epsilon - log1p(-delta)) if delta < 1 else -inf
        u = _stationary(alpha, epsilon, delta, log(alpha - 1) + x)
        return (alpha - 1) * rdp * (1 + 4e-16) - log_least(alpha, epsilon, delta, u)

    good, low = top, top - _BELOW  # the improved conversion is seldom far above
    while low > _UNDERFLOW and gap(low) <= 0:
        good, low = low, top + _FARTHER * (low - top)
    try:
        x = boundary(gap, good, max(low, _UNDERFLOW), 2e-14)
        return min(top, x + 4e-14 * abs(x) + 1e-15)  # δ itself is rounded where it nears 1
    except Unreachable:
        return top


def _with_rounding(alpha: float, rdp: float) -> float:
    """The divergence; next to order 1, where (α−1)ε(α) is known only to some 1e-10 of itself, a little more of it."""
    return rdp * (1 + _ROUNDED) if alpha - 1 < _NEXT_TO_1 else rdp


def log_least(alpha: float, epsilon: float, delta: float, u: float) -> float:
    """A lower bound, tight to 1e-14, of log min_x H(x), from an enclosure of the minimum around x = e^u; αδ < 1."""
    low, high = log(alpha - 1) + log(delta), log1p(-delta)
    left, right, step = max(low, u - _NEAR), min(high, u + _NEAR), _NEAR
    while left > low and _sides(alpha, epsilon, delta, left)[1] > 0:
        step *= 16
        left = max(low, left - step)
    while right < high and _sides(alpha, epsilon, delta, right)[1] < 0:
        step *= 16
        right = min(high, right + step)
    fl, sl, _ = _sides(alpha, epsilon, delta, left)
    if right == high:  # at x = 1 − δ the second term is gone; bound by the tangent at the left end alone
        drop = sl * (exp(right) - exp(left)) / exp(left)
        return fl + log1p(drop) - _SLOP if drop > -1 else -inf
    fr, sr, _ = _sides(alpha, epsilon, delta, right)
    # In x: H >= H(l) + H′(l)(x − l) and H >= H(r) + H′(r)(x − r); they meet inside. H′ = slope·H/x.
    scale, xl, width = min(fl, fr), exp(left), exp(right) - exp(left)
    near_one = scale < _SMALL
    scale = 0.0 if near_one else scale
    hl, hr = (expm1(fl), expm1(fr)) if near_one else (exp(fl - scale), exp(fr - scale))  # H − 1, or H
    gl, gr = min(sl, 0.0) * exp(fl - scale) / xl, max(sr, 0.0) * exp(fr - scale) / (xl + width)
    meet = (hl - hr + gr * width) / (gr - gl) if gr > gl else 0.0
    least = min(hl, hr, hl + gl * min(max(meet, 0.0), width))
    if least <= (-1.0 if near_one else 0.0):
        return -inf  # the tangents meet too far down to say anything
    height = log1p(least) if near_one else scale + log(least)
    return height - _slop(alpha, epsilon, delta, u, height)


def _slop(alpha: float, epsilon: float, delta: float, u: float, height: float) -> float:
    """Rounding of log H: of its terms, which are multiples of α, and near H = 1, where they are small and positive,
    relative."""
    if abs(height) < _SMALL:
        y = epsilon + log1p(delta / exp(u))
        return _SLOP * abs(height) * (2 + (alpha * y if alpha * y < _FAR else (alpha - 1) * y))
    return _SLOP + 5e-16 * (abs(height) + alpha * (2 + abs(u)) + (alpha - 1) * epsilon)


def _near_one(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float, float]:
    """H − 1 and its derivatives in u and ε, without cancellation where H is near 1.

    H − 1 = q·b(p/q) + (1−q)·b((1−p)/(1−q)) with b(r) = r^α − 1 − α(r−1) >= 0, b′(r) = α(r^{α−1} − 1).
    """
    x, q = exp(u), exp(u - epsilon)
    y, fall = epsilon + log1p(delta / x), (x * expm1(-epsilon) - delta) / (1 - q)
    z = log1p(fall) if fall > -0.5 else log(1 - x - delta) - log1p(-q)
    first, second = _bregman(alpha, expm1(y), y), _bregman(alpha, fall, z)
    rise, drop = alpha * expm1((alpha - 1) * y), alpha * expm1((alpha - 1) * z)
    slope = q * (first - second) - rise * delta - drop * x * (delta * exp(-epsilon) - expm1(-epsilon)) / (1 - q)
    growth = q * (second - first + exp(y) * rise - exp(z) * drop)
    return q * first + (1 - q) * second, slope, growth


def _far_from_one(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float, float]:
    """The same where p/q is large, as p·((p/q)^{α−1} − 1) + (1−p)·(((1−p)/(1−q))^{α−1} − 1): the second is small beside
    the first."""
    a1, x, q = alpha - 1, exp(u), exp(u - epsilon)
    p = x + delta
    first, second = a1 * (epsilon + log1p(delta / x)), a1 * (log1p(-p) - log1p(-q))
    grown, rest = exp(first) * p, exp(second) * (1 - p)
    slope = grown * (x - a1 * delta) / p + rest * (a1 * q / (1 - q) - alpha * x / (1 - p))
    return p * expm1(first) + (1 - p) * expm1(second), slope, a1 * (grown - rest * q / (1 - q))


def _bregman(alpha: float, v: float, y: float) -> float:
    """(1+v)^α − 1 − αv with y = log(1+v)."""
    a1, r = alpha - 1, 1 + v if v > -0.5 else exp(y)
    if abs(v) < 0.5:
        return r * (expm1mx(a1 * y) + a1 * (v * v / r - x_minus_log1p(v)))
    return r * expm1mx(a1 * y) + a1 * (r * y - v)


def _sides(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float, float]:
    """log H at x = e^u, and its derivatives in u and in ε."""
    a1, x = alpha - 1, exp(u)
    p, q, rest = x + delta, exp(u - epsilon), 1 - x - delta
    first = alpha * log(p) - a1 * (u - epsilon)
    if rest <= 0:
        return first, 1.0, a1
    second = alpha * log(rest) - a1 * log1p(-q)
    top = max(first, second)
    w1, w2 = exp(first - top), exp(second - top)
    slope = w1 * (alpha * x / p - a1) + w2 * (a1 * q / (1 - q) - alpha * x / rest)
    growth = a1 * (w1 - w2 * q / (1 - q))
    height = top + log(w1 + w2)
    if height < _SMALL:
        small = _near_one if alpha * (epsilon + log1p(delta / x)) < _FAR else _far_from_one
        excess, slope, growth = small(alpha, epsilon, delta, u)
        return log1p(excess), slope / (1 + excess), growth / (1 + excess)
    return height, slope / (w1 + w2), growth / (w1 + w2)


def _stationary(alpha: float, epsilon: float, delta: float, u: float) -> float:
    """u = log x near the root of dH/du: a safeguarded secant from a warm start."""
    left, right = log(alpha - 1) + log(delta), log1p(-delta)
    u = min(max(u, left), right)
    s = _sides(alpha, epsilon, delta, u)[1]
    v = min(u + 1e-4, right) if s < 0 else max(u - 1e-4, left)
    for k in range(120):
        left, right = (max(left, u), right) if s < 0 else (left, min(right, u))
        if v == u or right - left < 1e-9:
            break
        t = _sides(alpha, epsilon, delta, v)[1]
        guess = v - t * (v - u) / (t - s) if t != s else (left + right) / 2
        left, right = (max(left, v), right) if t < 0 else (left, min(right, v))
        u, s = v, t
        v = guess if left <= guess <= right and k % 3 < 2 else (left + right) / 2  # every third step halves
        if abs(v - u) < 1e-9:
            return v
    return u


def condition(mp: Any, alpha: float, rdp: Any, delta: Any, epsilon: Any) -> Any:
    """(α−1)(ε − ε(α)) + log min_p […] of the printed condition, >= 0 where (ε, δ) follows; the minimum at the root of
    H′."""
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
    """log(p/(1 − p)) above `low`, where the slope is 0, to half the digits: the error of H is about its square. Next to
    order 1 it may be millions."""
    high, by = low + 1, mp.one
    while slope(high) < 0 and by < _MOST_ODDS:
        low, high, by = high, high + 2 * by, 2 * by
    for _ in range(_HALVINGS):  # until the slope is nearly straight, then a secant
        mid = (low + high) / 2
        low, high = (mid, high) if slope(mid) < 0 else (low, mid)
    return root(mp, slope, low, high, mp.dps // 2 + 10)


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    """The ε at which the printed condition just holds."""

    def gap(epsilon: Any) -> Any:
        return condition(mp, alpha, rdp, delta, epsilon)

    if gap(mp.mpf(0)) >= 0:
        return mp.mpf(0)
    return root(mp, gap, mp.mpf(0), rdp_improved.exact(mp, alpha, rdp, delta) * mp.mpf("1.001"))


BOUND = Bound(
    name="rdp-optimal",
    example="convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5",
    kind="conversion",
    statement="(ε, δ) follows from (α, ε(α))-RDP iff ε(α) <= ε + "
    "log min over p in (δ, 1) of [p^α(p−δ)^(1−α) + (1−p)^α(e^ε−p+δ)^(1−α)] / (α−1)",
    source="Asoodeh, Liao, Calmon, Kosut & Sankar 2021, Theorem 3, arXiv:2008.06529v2",
    assumptions=(),
    params=(),
    value=value,
    exact=exact,
    # at orders within 1e-2 of 1 and δ above .9, where the minimum of H is at the end of its range; 5e-10 elsewhere
    rtol=2e-8,
    log_delta=log_delta,
    rough=rdp_improved.BOUND,
    condition=condition,
)
