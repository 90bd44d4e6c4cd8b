"""One-dimensional minimization over the free parameter of a theorem. Any value of it is valid, so a rough or a local
minimum is good enough."""

from collections.abc import Callable, Sequence

_GOLDEN = 0.3819660112501051  # (3 − √5)/2, the share of a golden section


def minimise(f: Callable[[float], float], start: float, low: float, high: float,
             step: float = 1.0, tolerance: float = 1e-6) -> float:
    """A point close to a local minimum of f on [low, high], within the tolerance: by walking downhill from `start` in
    growing steps, and by Brent's method."""
    (a, fa), (x, fx), (b, fb) = _walk(f, min(max(start, low), high), low, high, step)
    w, fw, v, fv = (a, fa, b, fb) if fa <= fb else (b, fb, a, fa)
    move = before = b - a
    for _ in range(60):
        middle = (a + b) / 2
        if abs(x - middle) + (b - a) / 2 <= 2 * tolerance:
            break
        before, move = move, _brent_step(a, b, x, w, v, fx, fw, fv, before, tolerance)
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
        step *= 1.6
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
                before: float, tolerance: float) -> float:
    """The step to the vertex of a parabola through three points if that is small and inside, else a golden section."""
    r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
    p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
    if q > 0:
        p = -p
    q = abs(q)
    if q > 0 and abs(p) < abs(q * before / 2) and q * (a - x) < p < q * (b - x):
        return p / q
    return _GOLDEN * ((b if x < (a + b) / 2 else a) - x)
