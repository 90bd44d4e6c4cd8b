"""The least Rényi divergence of two outcomes that break (ε, δ), which the optimal conversion of RDP is about.

For x in ((α−1)δ, 1 − δ), p = x + δ and q = xe^{−ε}, and H(x) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}, which is convex, this
module computes log H, its derivatives and lower bounds of its minimum. """

from math import exp, expm1, inf, log, log1p
from typing import Literal, NamedTuple

from dpcalc.numerics.elementary import LARGEST_EXPONENT, bregman

_ULPS = 4e-15  # rounding error of log H, absolute where H is large and relative where H is near 1
_NORMAL = 1e-300  # smaller x and q, which may be subnormal doubles, lose digits
_NEAR_ONE = 0.1  # a log H below it is computed as log1p(H − 1): as log H it would have lost a digit


class Stationary(NamedTuple):
    """Where log min H is about (α−1)ε(α): a start for a proof, and no proof."""

    epsilon: float
    log_delta: float
    u: float  # log x of the minimizer
    growth: float  # the derivative of log min H in the unknown, ε or log δ


def stationary(alpha: float, rdp: float, epsilon: float, log_delta: float,
               unknown: Literal["epsilon", "log_delta"]) -> Stationary | None:
    """ε, or log δ, at which log min H is (α−1)ε(α), to about 1e-12; None where Newton's method does not find it soon.

    With η = log(x/δ) the first term of H is e^A, A = log δ + α log(1+e^η) − (α−1)(η − ε), and the second is e^B. The
    iteration is for a root of f = A − log(e^{(α−1)ε(α)} − e^B), which is nearly linear, and of df/dη at once. It starts
    at the given ε and log δ, which are those of the improved conversion (B = −∞).
    """
    a1, eta = alpha - 1, log(alpha - 1)
    moment = a1 * rdp
    for _ in range(20):  # one to three are usual, and more next to order 1
        y, delta = exp(eta), exp(log_delta)
        x = delta * y
        p, q = delta + x, x * exp(-epsilon)
        second = alpha * log1p(-p) - a1 * log1p(-q) if p < 1 and q < 1 else inf
        if second >= moment:
            return None
        missing = -expm1(second - moment)  # the share of the first term in H
        weight = (1 - missing) / missing  # of the second term, relative to the first
        f = log_delta + alpha * log1p(y) - a1 * (eta - epsilon) - moment - log(missing)
        odds_p, odds_q = p / (1 - p), q / (1 - q)
        slope = a1 * odds_q - alpha * x / (1 - p)
        f_eta = alpha * y / (1 + y) - a1 + weight * slope
        bend = alpha * y / (1 + y) ** 2 + weight * (
            a1 * odds_q / (1 - q) - alpha * x * (1 - delta) / (1 - p) ** 2 + slope * slope / missing)
        growth = a1 * (1 - weight * odds_q) if unknown == "epsilon" else 1 + weight * (a1 * odds_q - alpha * odds_p)
        if not (bend > 0 and growth > 0):
            return None
        turn = min(max(-f_eta / bend, -1.0), 1.0)  # H is no parabola over longer steps of η
        step = -(f + turn * (f_eta + turn * bend / 2)) / growth
        eta += turn
        if unknown == "epsilon":
            epsilon = max(epsilon + step, 0.0)
        else:
            log_delta = min(log_delta + step, 0.0)
        # the errors that are left are the squares of these
        if abs(step) <= 1e-5 * abs(epsilon if unknown == "epsilon" else log_delta) and abs(turn) <= 1e-3:
            return Stationary(epsilon, log_delta, eta + log_delta, growth * missing)
    return None


def log_minimum(alpha: float, epsilon: float, delta: float, u: float) -> float:
    """A lower bound of log min_x H(x) where αδ < 1, from an enclosure of the minimizer that starts at x = e^u; tight to
    1e-14 where u is near it."""
    low, high = log(alpha - 1) + log(delta), log1p(-delta)
    step = 1e-8
    left, right = max(low, u - step), min(high, u + step)
    height_left, slope_left = _log_h(alpha, epsilon, delta, left)
    while left > low and slope_left > 0:
        step *= 16
        left = max(low, left - step)
        height_left, slope_left = _log_h(alpha, epsilon, delta, left)
    height_right, slope_right = _log_h(alpha, epsilon, delta, right)
    while right < high and slope_right < 0:
        step *= 16
        right = min(high, right + step)
        height_right, slope_right = _log_h(alpha, epsilon, delta, right)
    # The tangents at the ends of a wider or steeper enclosure meet too much below the minimum.
    while right - left > 1e-6 or height_right > height_left + 1:
        middle = (left + right) / 2
        if not left < middle < right:
            break
        height, slope = _log_h(alpha, epsilon, delta, middle)
        if slope < 0:
            left, height_left, slope_left = middle, height, slope
        else:
            right, height_right, slope_right = middle, height, slope
    if right == high:  # at x = 1 − δ the second term is gone; the tangent at the left end alone is a bound
        drop = slope_left * (exp(right) - exp(left)) / exp(left)
        if drop <= -1:
            return -inf
        height = height_left + log1p(drop)
        return height - max(_ULPS, rounding(alpha, epsilon, delta, left, height))
    height = _where_tangents_meet(left, right, height_left, height_right, slope_left, slope_right)
    return height - rounding(alpha, epsilon, delta, u, height)


def _where_tangents_meet(left: float, right: float, height_left: float, height_right: float, slope_left: float,
                         slope_right: float) -> float:
    """log of a lower bound of H between two u, from log H and its derivatives at both; −inf where they say nothing."""
    # H >= H(l) + H′(l)(x − l) and H >= H(r) + H′(r)(x − r), which meet inside; H′ = d log H/du · H/x.
    scale, x, width = min(height_left, height_right), exp(left), exp(right) - exp(left)
    near_one = scale < _NEAR_ONE
    scale = 0.0 if near_one else scale
    if max(height_left, height_right) - scale > LARGEST_EXPONENT:
        return -inf  # log H is too steep for doubles
    h_left, h_right = (expm1(h) if near_one else exp(h - scale) for h in (height_left, height_right))  # H − 1, or H
    fall = min(slope_left, 0.0) * exp(height_left - scale) / x
    rise = max(slope_right, 0.0) * exp(height_right - scale) / (x + width)
    meet = (h_left - h_right + rise * width) / (rise - fall) if rise > fall else width
    if max(h_right, rise * width) > 2 * h_left:  # the difference cancels; a meeting point too far to the right is safe
        meet += _ULPS * (h_left + h_right + rise * width) / (rise - fall) if rise > fall else 0.0
    least = min(h_left, h_right, h_left + fall * min(max(meet, 0.0), width))
    if least <= (-1.0 if near_one else 0.0):
        return -inf  # the tangents meet below H = 0: they are of no use
    return log1p(least) if near_one else scale + log(least)


def rounding(alpha: float, epsilon: float, delta: float, u: float, log_h: float) -> float:
    """A bound on the rounding error of log H.

    In general it is that of its terms, which are multiples of α; near H = 1, where the terms of H − 1 are small and
    positive, it is relative. """
    if abs(log_h) < _NEAR_ONE:
        y = epsilon + log1p(delta / exp(u))
        return _ULPS * abs(log_h) * (2 + (alpha * y if alpha * y < LARGEST_EXPONENT else (alpha - 1) * y))
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
        near = alpha * (epsilon + log1p(delta / x)) < LARGEST_EXPONENT
        excess, slope = (_excess if near else _excess_of_large_ratios)(alpha, epsilon, delta, u)
        return log1p(excess), slope / (1 + excess)
    slope = w1 * (alpha * x / p - a1) + w2 * (a1 * q / (1 - q) - alpha * x / rest)
    return log_h, slope / (w1 + w2)


def _excess(alpha: float, epsilon: float, delta: float, u: float) -> tuple[float, float]:
    """H − 1 and its derivative in u, without cancellation where H is near 1.

    H − 1 = q·b(p/q) + (1−q)·b((1−p)/(1−q)) with b(r) = r^α − 1 − α(r−1) >= 0, b′(r) = α(r^{α−1} − 1).
    """
    x = exp(u)
    log_q = (u if x > _NORMAL else log(x)) - epsilon
    q = exp(log_q)
    y, fall = epsilon + log1p(delta / x), (x * expm1(-epsilon) - delta) / (1 - q)
    z = log1p(fall) if fall > -0.5 else log(1 - x - delta) - log1p(-q)  # next to −1 the fall has lost digits
    first, second = bregman(alpha, expm1(y), y), bregman(alpha, fall, z)
    rise, drop = alpha * expm1((alpha - 1) * y), alpha * expm1((alpha - 1) * z)
    of_first = q * first if q > _NORMAL or first <= 0 else exp(log_q + log(first))
    slope = of_first - q * second - rise * delta - drop * x * (delta * exp(-epsilon) - expm1(-epsilon)) / (1 - q)
    return of_first + (1 - q) * second, slope


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
