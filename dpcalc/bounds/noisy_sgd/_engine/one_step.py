"""One step of a pair of clamped walks, in logs: what noise far smaller than the push leaves is below the range of
doubles.

P and Q are (1 − q)N(b + drift, 1) + qN(b + up, 1) and the same with `down` <= `up`, clamped to [−h, h], b = a·start.
Every log is wrong by at most `_WRONG`·(1 + |log|) through log_tail, and is moved by that to the safe side. """

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.numerics import legendre, tails_array
from dpcalc.numerics.normal import LOG_SQRT_2PI, log_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.bounds.noisy_sgd._engine.walk_step import Pair

    Array = NDArray[Any]

_WRONG = 1e-13
_CELLS, _FINEST = 2000, 0.02
_GRID, _GOLDEN, _SECTIONS = 32, (5**0.5 - 1) / 2, 40
# Gauss-Legendre on [−1, 1]; the integrands it meets here, e^{−zv − v²/2} over |v| <= 1/4 with |z|v <= 1, it knows to
# 1e-20.
_NODES = ((0.1488743389816312, 0.2955242247147529), (0.4333953941292472, 0.2692667193099963),
          (0.6794095682990244, 0.219086362515982),
          (0.8650633666889845, 0.1494513491505806), (0.9739065285171717, 0.0666713443086881))


def log_between(low: float, high: float) -> float:
    """log(Φ(high) − Φ(low)), low < high; −∞ where these are one double."""
    if not low < high:
        return -inf
    if low + high < 0:
        low, high = -high, -low
    middle, half = (low + high) / 2, (high - low) / 2
    if half < 0.25 and middle * half < 1:
        total = sum(w * (exp(-middle * half * t) + exp(middle * half * t)) * exp(-((half * t) ** 2) / 2) for t,
                    w in _NODES)
        return log(half * total) - middle * middle / 2 - LOG_SQRT_2PI
    near, far = log_tail(low), log_tail(high)
    return near + log1p(-exp(far - near))


def _sum(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    top, other = max(x, y), min(x, y)
    return top if other == -inf else top + log1p(exp(other - top))


def _share(q: float) -> float:
    return log(q) if q > 0 else -inf


def _lead(pair: Pair, t: float) -> float:
    """log(P(w >= t) − Q(w >= t)), from below."""
    b = pair.pull * pair.start - t
    x = log(pair.rate) + log_between(b + pair.down, b + pair.up)
    return x - _WRONG * (1 + abs(x) + abs(t) + pair.reach)


def _above(pair: Pair, t: float) -> float:
    """log Q(w >= t), from above."""
    b = t - pair.pull * pair.start
    x = _sum(_share(1 - pair.rate) + log_tail(b - pair.drift), log(pair.rate) + log_tail(b - pair.down))
    return x + _WRONG * (1 + abs(x) + abs(t) + pair.reach)


def _best(score: Callable[[float], float], half: float) -> float:
    """The largest score at a threshold, sought on a grid and by golden sections beside its best. Any is a bound: it may
    be rough."""
    step = 2 * half / _GRID
    tried = [(score(-half + k * step), -half + k * step) for k in range(_GRID + 1)]
    best, t = max(tried)
    low, high = max(-half, t - step), min(half, t + step)
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    left, right = score(a), score(b)
    for _ in range(_SECTIONS):
        best = max(best, left, right)
        if left > right:
            high, b, right = b, a, left
            a = high - _GOLDEN * (high - low)
            left = score(a)
        else:
            low, a, left = a, b, right
            b = low + _GOLDEN * (high - low)
            right = score(b)
    return max(best, left, right)


def log_delta(pair: Pair, epsilon: float) -> float:
    """log of the largest P(A) − Q(A) − (e^ε − 1)Q(A), from below."""

    def score(t: float) -> float:
        lead = _lead(pair, t)
        if epsilon == 0:
            return lead
        against = _above(pair, t) - lead + (log(expm1(epsilon)) if epsilon < 700 else epsilon)
        return lead + log1p(-exp(against)) - 4 * _WRONG if against < -1e-12 else -inf

    return _best(score, pair.half)


def epsilon(pair: Pair, log_delta: float) -> float:
    """The largest log(1 + (P(A) − Q(A) − δ)/Q(A)), from below."""

    def score(t: float) -> float:
        lead = _lead(pair, t)
        if log_delta - lead > -1e-12:
            return 0.0
        x = lead + log1p(-exp(log_delta - lead)) - _above(pair, t)
        return (log1p(exp(x)) if x < 40 else x) * (1 - _WRONG)

    return max(0.0, _best(score, pair.half))


def cells(pair: Pair) -> tuple[Array, Array, Array]:
    """Of cells between the walls, which are the first and the last: log Q(cell) from above, log|P(cell) − Q(cell)| from
    below, its sign."""
    import numpy as np

    count = min(_CELLS, max(8, int(2 * pair.half / _FINEST)))
    cuts = np.concatenate([[-inf], np.linspace(-pair.half, pair.half, count + 1), [inf]]) - pair.pull * pair.start
    moved = _WRONG * (1 + pair.half + pair.reach)

    def wrong(logs: Array) -> Array:
        """Of these logs of cells: by rounded arguments (the hazard is below 1 + √(2|log|)), and by log_tail and its
        differences."""
        size = np.abs(logs)
        return np.asarray((_WRONG * (2 + size) + moved * (1 + np.sqrt(2 * size))) * max(1.0, count / (2 * pair.half)))

    by_drift, up, down = (_log_cells(cuts - m) for m in (pair.drift, pair.up, pair.down))
    log_q = log(pair.rate)
    mass = np.logaddexp(_share(1 - pair.rate) + by_drift, log_q + down)
    gap = np.abs(up - down) - wrong(up) - wrong(down)
    with np.errstate(divide="ignore"):
        gain = np.where(gap > 0, log_q + np.maximum(up, down) + np.log(-np.expm1(-np.maximum(gap, 0.0))), -inf)
    gain = np.where(gain > -inf, gain - wrong(np.maximum(up, down)) - _WRONG * (1 - log_q), -inf)
    return mass + 2 * wrong(mass), gain, np.where(up > down, 1.0, -1.0)


def _log_cells(z: Array) -> Array:
    """log(Φ(z_{k+1}) − Φ(z_k)): as `log_between`, for an array that begins with −∞ and ends with ∞."""
    import numpy as np

    low, high = z[:-1], z[1:]
    turn = low + high < 0
    a, b = np.where(turn, -high, low), np.where(turn, -low, high)
    near, far = tails_array.log_tail(a), tails_array.log_tail(b)
    middle, half = np.where(np.isfinite(a + b), (a + b) / 2, 1e9), np.where(np.isfinite(a + b), (b - a) / 2, 1.0)
    flat = (half < 0.25) & (middle * half < 1)
    m, total = np.where(flat, middle * half, 0.0), np.zeros(len(a))
    for t, w in _NODES:
        total += w * 2 * np.cosh(m * t) * np.exp(-((half * t) ** 2) / 2)
    with np.errstate(invalid="ignore"):
        by_tails = near + np.log1p(-np.exp(np.minimum(far - near, -1e-300)))
    return np.where(flat, np.log(half * total) - np.minimum(middle, 1e9) ** 2 / 2 - LOG_SQRT_2PI, by_tails)


def log_g(alpha: float, log_r: Array, signs: Array) -> Array:
    """log((1 + r)^α − 1 − αr) for r = ±e^{log_r} >= −1 (arrays), to 1e-12 of 1 + |log|.

    r²α(α − 1)∫_0^1 (1 − u)(1 + ru)^{α−2} du for small αr, else r((1 + 1/r)·expm1((α − 1)log(1 + r)) − (α − 1)).
    """
    import numpy as np

    small = log_r < log(0.05 / (1 + alpha))
    r = signs * np.exp(np.minimum(log_r, 300.0))
    u, w = legendre.rule(8)
    u = (u + 1) / 2
    tiny = np.where(small, r, 0.0)
    integral = ((w / 2 * (1 - u)) * np.exp((alpha - 2) * np.log1p(tiny[:, None] * u))).sum(axis=1)
    by_series = 2 * log_r + log(alpha * (alpha - 1)) + np.log(integral)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        grown = np.where(log_r > 30, log_r + np.exp(-log_r), np.log1p(np.maximum(r, -1.0)))  # log(1 + r)
        y = (alpha - 1) * grown
        inner = np.where(r > -1, (1 + r) * np.expm1(np.minimum(y, 40.0)),
                         0.0) / np.exp(np.minimum(log_r, 300.0)) - signs * (alpha - 1)
        large = log_r + np.where(y > 40, y + np.log1p(np.exp(-log_r)), np.log(np.maximum(inner, 0.0)))
    return np.asarray(np.where(small, by_series, large))
