"""One-dimensional minimization over the free parameter of a theorem. Any value of it is valid, so a rough or a local
minimum is good enough."""

from collections.abc import Callable, Sequence
from math import expm1, inf, log, nan, sqrt
from operator import itemgetter

_GOLDEN = 0.3819660112501051  # (3 − √5)/2, the share of a golden section
_MAX_STEPS = 60  # after the walk, so that a search ends whatever f is; it returns the best point so far


def minimise(f: Callable[[float], float], start: float, low: float, high: float,
             step: float = 1.0, tolerance: float = 1e-6) -> float:
    """A point close to a local minimum of f on [low, high], within the tolerance: by walking downhill from `start` in
    growing steps, and by Brent's method."""
    (a, fa), (x, fx), (b, fb) = _walk(f, min(max(start, low), high), low, high, step)
    w, fw, v, fv = (a, fa, b, fb) if fa <= fb else (b, fb, a, fa)
    move = before = b - a
    for _ in range(_MAX_STEPS):
        middle = (a + b) / 2
        if abs(x - middle) + (b - a) / 2 <= 2 * tolerance:
            break
        before, move = move, _brent_step(a, b, x, w, v, fx, fw, fv, before)
        y = x + (move if abs(move) >= tolerance else (tolerance if move > 0 else -tolerance))
        fy = f(y)
        if fy <= fx:
            a, b = (x, b) if y >= x else (a, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, y, fy
        else:
            a, b = (y, b) if y < x else (a, y)
            if fy <= fw or w == x:
                v, fv, w, fw = w, fw, y, fy
            elif fy <= fv or v in (x, w):
                v, fv = y, fy
    return x


def minimise_hyperbolic(f: Callable[[float], float], start: float, low: float, high: float, step: float,
                        tolerance: float = 1e-10) -> float:
    """A point close to a local minimum of f on [low, high], for an f that is nearly a constant plus be^x + ce^{−x}.

    After walking downhill from `start` in growing steps, that form through the three best points gives the next one.
    The search ends where f is 0, or where the form promises a gain below the tolerance, relative where |f| < 1. The
    gain that it promised one step before must be below the root of the tolerance, too: one small promise alone may be
    due to a form that does not fit. Where f rises steeply, or the steps become smaller slowly, a part of the bracket is
    halved instead.
    """
    (a, fa), (x, fx), (b, fb) = _walk(f, min(max(start, low), high), low, high, step)
    (w, fw), (v, fv) = sorted(((a, fa), (b, fb)), key=itemgetter(1))
    move = before = b - a
    gain = inf
    for _ in range(_MAX_STEPS):
        scale = min(abs(fx), 1.0)
        if not scale or not fv - fx > tolerance / 100 * scale:  # f is 0, flat or infinite
            break
        if x in (a, b):  # the end of the range
            y = x + (v - x) / 16
        elif fv - fx > abs(fx):
            y = (x + v) / 2
        else:
            y, promised = _hyperbolic_step(w - x, v - x, fw - fx, fv - fx)
            last_gain, gain = gain, promised / scale
            if gain <= tolerance and last_gain <= sqrt(tolerance):
                break
            y = x + y if a < x + y < b and abs(y) < before / 2 else (x + (a if x - a > b - x else b)) / 2
        before, move = move, abs(y - x)
        fy = f(y)
        if fy <= fx:
            a, b = (x, b) if y > x else (a, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, y, fy
        else:
            a, b = (a, y) if y > x else (y, b)
            if fy <= fw:
                v, fv, w, fw = w, fw, y, fy
            elif fy <= fv:
                v, fv = y, fy
    return x


def _hyperbolic_step(s: float, t: float, rise_s: float, rise_t: float) -> tuple[float, float]:
    """The step to the least value of be^x + ce^{−x}, and the fall to it, where that form rises by these amounts over
    the steps s and t; NaN where it has no minimum."""
    up_s, down_s, up_t, down_t = expm1(s), expm1(-s), expm1(t), expm1(-t)
    scale = up_s * down_t - down_s * up_t
    b, c = rise_s * down_t - down_s * rise_t, up_s * rise_t - up_t * rise_s  # times the scale
    if not (b * scale > 0 and c * scale > 0):
        return nan, nan
    return log(c / b) / 2, (sqrt(b / scale) - sqrt(c / scale)) ** 2


def minimise_over(f: Callable[[int], float], start: int, low: int, high: int) -> int:
    """The best integer that was tried, a minimum if f is unimodal: by walking downhill from `start` in doubling steps,
    and by halving the range."""
    seen: dict[int, float] = {}

    def g(k: int) -> float:
        if k not in seen:
            seen[k] = f(k)
        return seen[k]

    x, step = min(max(start, low), high), 1
    direction = 1 if x < high and g(x + 1) < g(x) else -1
    while low <= x + direction * step <= high and g(x + direction * step) < g(x):
        x, step = x + direction * step, 2 * step
    a, b = max(low, min(x - step, x + step)), min(high, max(x - step, x + step))
    while b - a > 2:
        m = (a + b) // 2
        a, b = (a, m) if g(m) <= g(m + 1) else (m + 1, b)
    best = min(range(a, b + 1), key=g)
    return min((best, *seen), key=g)


def _walk(f: Callable[[float], float], x: float, low: float, high: float, step: float) -> Sequence[tuple[float, float]]:
    """Three points (x, f(x)) in increasing order, the middle one with the least f; two of them coincide at an end of
    the range."""
    fx = f(x)
    left, right = max(low, x - step), min(high, x + step)
    fl, fr = f(left), f(right)
    while fl < fx or fr < fx:
        step *= 1.6  # about the factor of golden sections
        if fl < fr:
            if left <= low:
                return (low, fl), (low, fl), (x, fx)
            x, fx, right, fr = left, fl, x, fx
            left = max(low, x - step)
            fl = f(left)
        else:
            if right >= high:
                return (x, fx), (high, fr), (high, fr)
            x, fx, left, fl = right, fr, x, fx
            right = min(high, x + step)
            fr = f(right)
    return (left, fl), (x, fx), (right, fr)


def _brent_step(a: float, b: float, x: float, w: float, v: float, fx: float, fw: float, fv: float,
                before: float) -> float:
    """The step to the vertex of a parabola through three points if that is small and inside, else a golden section."""
    r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
    p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
    if q > 0:
        p = -p
    q = abs(q)
    if q > 0 and abs(p) < abs(q * before / 2) and q * (a - x) < p < q * (b - x):
        return p / q
    return _GOLDEN * ((b if x < (a + b) / 2 else a) - x)
