"""From Rényi DP at one order to (ε, δ): the exact conversion for one order.

Among all pairs with E_{e^ε} >= δ the least Rényi divergence is attained on two outcomes, (p, 1−p) against
(q, 1−q) with q = (p−δ)e^{−ε}. With x = p − δ,

    H(x) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}

is convex (each term is a perspective of a convex power along a line), so its minimum over x is one root of H′.
(ε, δ) holds iff e^{(α−1)ε(α)} <= min H. A minimum found too high would be unsound: the root is enclosed, and the
value used is where the two tangents at the ends of the enclosure meet, which lies below the minimum.
"""

from math import exp, inf, log, log1p
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.conversions import rdp_improved
from dpcalc.numerics.invert import Unreachable, boundary

_UNDERFLOW = -700.0
_NEAR = 1e-8
_SLOP = 4e-15  # rounding of log H, relative to 1 + |log H|


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """Least ε >= 0 for which (α, ε(α))-RDP implies (ε, δ)-DP: never less, and tight (see rtol)."""
    top = rdp_improved.value(alpha, rdp, log_delta)
    if top == 0 or log_delta <= _UNDERFLOW:
        return top  # there the conversions agree to (αδ)^{1/α}
    delta = exp(log_delta)
    if alpha * delta >= 1:
        return min(top, max(0.0, rdp + log1p(-delta) + 4e-16 * rdp))
    target = (alpha - 1) * rdp
    # Newton on log min H(ε) = (α−1)ε(α): a rough witness, since the margin below is checked in full.
    epsilon, u = top, log(alpha - 1) + log_delta
    for _ in range(40):
        u = _stationary(alpha, epsilon, delta, u)
        height, _, growth = _sides(alpha, epsilon, delta, u)
        step = (height - target) / growth if growth > 0 else 0.0
        epsilon = min(max(epsilon - step, 0.0), top)
        if abs(step) <= 1e-13 * epsilon or epsilon == 0:
            break

    def gap(epsilon: float) -> float:
        near = _stationary(alpha, epsilon, delta, u)
        return target * (1 + 4e-16) - log_least(alpha, epsilon, delta, near)

    rounding = 2 * _SLOP * (1 + abs(target)) / growth if growth > 0 else inf
    for margin in (4e-16 + rounding / epsilon, 2e-13, 1e-11, 1e-9) if epsilon > 0 else ():
        if epsilon * (1 + margin) < top and gap(epsilon * (1 + margin)) <= 0:
            return epsilon * (1 + margin)
    return boundary(gap, top, 0.0, 2e-13) if gap(top) <= 0 else top


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """Least log δ for which (ε, δ)-DP follows, at most 0."""
    top = rdp_improved.log_delta(alpha, rdp, epsilon)
    if top <= _UNDERFLOW:
        return top

    def gap(x: float) -> float:
        delta = exp(x)
        if alpha * delta >= 1:
            return rdp - (epsilon - log1p(-delta)) if delta < 1 else -inf
        u = _stationary(alpha, epsilon, delta, log(alpha - 1) + x)
        return (alpha - 1) * rdp * (1 + 4e-16) - log_least(alpha, epsilon, delta, u)

    try:
        x = boundary(gap, top, _UNDERFLOW, 2e-14)
        return min(top, x + 4e-14 * abs(x) + 1e-15)  # δ itself is rounded where it nears 1
    except Unreachable:
        return top


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
    hl, hr = exp(fl - scale), exp(fr - scale)
    gl, gr = min(sl, 0.0) * hl / xl, max(sr, 0.0) * hr / (xl + width)
    meet = (hl - hr + gr * width) / (gr - gl) if gr > gl else 0.0
    return scale + log(min(hl, hr, hl + gl * min(max(meet, 0.0), width))) - _SLOP * (1 + abs(scale))


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
    return top + log(w1 + w2), slope / (w1 + w2), growth / (w1 + w2)


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


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    """The root of the printed condition, with the minimum by bisection on H′."""
    a, d, rho = mp.mpf(alpha), mp.mpf(delta), mp.mpf(rdp)

    def log_min(e: Any) -> Any:
        if a * d >= 1:
            return (a - 1) * (e - mp.log1p(-d))

        def h(p: Any) -> Any:
            return p**a * (p - d) ** (1 - a) + (1 - p) ** a * (mp.exp(e) - p + d) ** (1 - a)

        def slope(p: Any) -> Any:
            y = mp.exp(e) - p + d
            return (p / (p - d)) ** a * (1 - d * a / p) - ((1 - p) / y) ** a * (a * (y / (1 - p)) - (a - 1))

        low, high = a * d, mp.mpf(1)
        for _ in range(int(3.5 * mp.dps) + 40):
            mid = mp.sqrt(low * high) if high > 2 * low else (low + high) / 2
            low, high = (mid, high) if slope(mid) < 0 else (low, mid)
        return mp.log(h((low + high) / 2)) + (a - 1) * e

    def gap(e: Any) -> Any:
        return log_min(e) - (a - 1) * rho

    top = rdp_improved.exact(mp, alpha, rdp, delta)
    if gap(mp.mpf(0)) >= 0:
        return mp.mpf(0)
    low, high = mp.mpf(0), top * mp.mpf("1.001")
    f_low, f_high = gap(low), gap(high)
    for _ in range(300):  # regula falsi, the stale end halved (Illinois)
        x = (low * f_high - high * f_low) / (f_high - f_low)
        f = gap(x)
        if min(high - x, x - low) < top * mp.mpf(10) ** (5 - mp.dps) or f == 0:
            return x
        if f > 0:
            high, f_high, f_low = x, f, f_low / 2
        else:
            low, f_low, f_high = x, f, f_high / 2
    return (low + high) / 2


BOUND = Bound(
    name="rdp-optimal",
    kind="conversion",
    statement="(ε, δ) follows from (α, ε(α))-RDP iff ε(α) <= ε + "
    "log min over p in (δ, 1) of [p^α(p−δ)^(1−α) + (1−p)^α(e^ε−p+δ)^(1−α)] / (α−1)",
    source="Asoodeh, Liao, Calmon, Kosut & Sankar 2021, Theorem 3, arXiv:2008.06529v2",
    assumptions=(),
    params=(),
    value=value,
    exact=exact,
    rtol=2e-9,  # for (α−1)ε(α) >= 1e-3; closer to 0 it is an upper bound, less tight
    log_delta=log_delta,
    rough=rdp_improved.BOUND,
)
