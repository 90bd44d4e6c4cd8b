"""log θ(ε, r) for many ε and r at once, from above: what hockey_stick.py says about one.

The Mills ratio is a cubic between the knots of a table; an error of 1e-12 of it, 20 times what the tests find, is added. R(a) − R(b)
is also at most −R′(a)·r = (1 − aR(a))·r, R being convex; so the smaller of the two keeps six digits for any r.
"""

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
    """R and −R′ at falling x, to 1e-14: by Laplace's continued fraction R = 1/(x + 1/(x + 2/(x + 3/…))) where it converges fast."""
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
    c0, c1, c2, c3 = _table()
    found = c3.take(at)
    for c in (c2, c1, c0):
        found *= u
        found += c.take(at)
    found *= t
    return found


def log_theta(epsilon: Array, ratio: Array) -> Array:
    """log θ(ε, r), never below it, for ε >= 0 and r >= 0 (−inf at r = 0); broadcast."""
    with np.errstate(all="ignore"):
        s = np.minimum(epsilon / np.maximum(ratio, 5e-324), 1e140)
        half = ratio / 2
        a, b = s - half, s + half
        size = np.abs(a)
        inside = a < -1
        some = inside.any()
        both = np.empty((2, *a.shape))
        both[0] = np.where(inside, size, a) if some else a
        both[1] = b
        near, far = mills_many(both)
        log_density = -0.5 * a * a - LOG_SQRT_2PI
        rounding = 5e-16 * (size + 1) * (s + ratio + size)  # of a, in the exponent, and of the exponent
        found = np.minimum(near * (1 + _ERROR) - far, ratio * ((1 + _ERROR) - a * near))
        np.log(found, out=found)
        found += log_density
        found += rounding
        if some:
            complement = np.exp(log_density - rounding) * (near + far) * (1 - _ERROR)
            found = np.where(inside, np.log1p(-np.minimum(complement, 1.0)), found)
        found = np.minimum(np.maximum(found, _FLOOR), 0.0)
        none = ratio == 0
        return np.where(none, -np.inf, found) if none.any() else found
