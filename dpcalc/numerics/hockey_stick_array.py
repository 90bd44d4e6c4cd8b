"""log θ(ε, r) for many ε and r at once, from above: what hockey_stick.py says about one.

The Mills ratio is a cubic between the knots of a table; an error of 1e-12 of it, 20 times what the tests find, is
added. R(a) − R(b) is also at most −(R′(a) + R′(b))·r/2 with −R′(x) = 1 − xR(x), which is convex: the smaller of the
two, taken where r is small, keeps eight digits. """

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.numerics.normal import LOG_SQRT_2PI, mills

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_KNOTS = 2048
_SHIFT = 4.0  # x >= −1 is mapped to t = 4/(x + 5), in (0, 1]
_ERROR = 1e-12
_FAR, _TERMS = 3.0, 60
_FLOOR = -1e300
_SMALL = 1e-3  # a ratio
_CELLS = 4096  # at a time: what is between stays in a cache


@lru_cache(maxsize=1)
def _table() -> tuple[Array, ...]:
    """The four coefficients of R(x)/t, per interval of t, and at its end."""
    t = np.linspace(0.0, 1.0, _KNOTS + 1)
    x = _SHIFT / np.maximum(t, 1e-300) - _SHIFT - 1
    ratio, falls = _mills_at(x[1:])
    value = np.concatenate([[1 / _SHIFT], ratio / t[1:]])
    # dx/dt = −4/t²; near t = 0, R(x)/t = (x+5)/(4x)·(1 − 1/x² + …) = ¼ + 5t/16 + O(t²).
    slope = np.concatenate([[5 / 16], _SHIFT * falls / t[1:] ** 3 - ratio / t[1:] ** 2]) / _KNOTS
    rise = np.diff(value)
    cubic = value[:-1], slope[:-1], 3 * rise - 2 * slope[:-1] - slope[1:], slope[:-1] + slope[1:] - 2 * rise
    return tuple(np.append(c, end) for c, end in zip(cubic, (value[-1], 0.0, 0.0, 0.0), strict=True))


def _mills_at(x: Array) -> tuple[Array, Array]:
    """R and −R′ at falling x, to 1e-14: by Laplace's continued fraction R = 1/(x + 1/(x + 2/(x + 3/…))) where it
    converges fast."""
    far = x[x >= _FAR]
    rest = np.zeros_like(far)
    for k in range(_TERMS, 0, -1):
        rest = k / (far + rest)
    large = 1 / (far + rest)
    small = np.array([mills(y) for y in x[x < _FAR].tolist()])
    return np.concatenate((large, small)), np.concatenate((rest * large, 1 - x[x < _FAR] * small))


def mills_many(x: Array) -> Array:
    """R(x) for x >= −1, to 1e-13 relative."""
    t = _SHIFT / (x + (_SHIFT + 1))
    u = t * _KNOTS
    at = u.astype(np.intp)
    u -= at
    *cubic, highest = _table()  # one by one: of all at once, four times as large, caches hold less
    found: Array = highest.take(at)
    for c in reversed(cubic):
        found *= u
        found += c.take(at)
    found *= t
    return found


def log_theta(epsilon: Array, ratio: Array) -> Array:
    """log θ(ε, r), never below it, for ε >= 0 and r >= 0 (−inf at r = 0); broadcast."""
    both = np.broadcast(epsilon, ratio)
    shape = both.shape
    if both.size <= _CELLS or len(shape) < 2:
        return _log_theta(epsilon, ratio)
    rows = max(1, _CELLS * shape[0] // both.size)
    epsilon, ratio = (np.broadcast_to(x, (shape[0], x.shape[-1])) for x in map(np.atleast_1d, (epsilon, ratio)))
    return np.concatenate([_log_theta(epsilon[k : k + rows], ratio[k : k + rows]) for k in range(0, shape[0], rows)])


def _log_theta(epsilon: Array, ratio: Array) -> Array:
    least = ratio.min(initial=1.0)
    with np.errstate(all="ignore"):
        s = np.minimum(epsilon / (ratio if least > 0 else np.maximum(ratio, 5e-324)), 1e140)
        half = 0.5 * ratio
        a, both = s - half, np.empty((2, *s.shape))
        both[0] = a
        b = np.add(s, half, out=both[1])
        inside = a < -1 if a.min(initial=0.0) < -1 else None
        if inside is not None:
            np.abs(a, out=both[0], where=inside)
        near, far = mills_many(both)
        log_density = a * a
        log_density *= -0.5
        log_density -= LOG_SQRT_2PI
        rounding = b + 1  # of a, in the exponent, and of the exponent: 5e-16(|a| + 1)(s + r + |a|), and |a|, r/2 <= b
        rounding *= b
        rounding *= 1.5e-15
        found = near * (1 + _ERROR)
        found -= far
        if least < _SMALL:
            slopes = 2 - a * near - b * far + _ERROR * (2 + np.abs(a) * near + b * far)
            found = np.minimum(found, ratio * (0.5 + _ERROR) * slopes)
        np.log(found, out=found)
        found += log_density
        found += rounding
        if inside is not None:
            complement = np.exp(log_density - rounding) * (near + far) * (1 - _ERROR)
            found = np.where(inside, np.log1p(-np.minimum(complement, 1.0)), found)
        np.maximum(found, _FLOOR, out=found)
        np.minimum(found, 0.0, out=found)
        return np.where(ratio == 0, -np.inf, found) if least == 0 else found
