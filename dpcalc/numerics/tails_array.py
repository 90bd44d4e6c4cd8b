"""Tails of the standard normal distribution for arrays, with a relative error below 2e-14 at the given argument.

Q(x) = φ(x)·R(x). Mills' ratio R is found by cubic Hermite interpolation of R(x)/t in t = 4/(x + 5), which maps x >= −1
to (0, 1]. The interpolation error falls with the fourth power of the number of intervals, and is below 1e-15 here. """

from __future__ import annotations

from functools import lru_cache
from math import pi, sqrt
from typing import TYPE_CHECKING

from dpcalc.numerics import normal

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

_INTERVALS = 8192  # of t; with half as many the interpolation error is 16 times as large and exceeds rounding errors


@lru_cache(maxsize=1)
def _cubic_coefficients() -> tuple[Array, ...]:
    """The four coefficients of R(x)/t on each interval of t, and at t = 1."""
    import numpy as np

    t = np.linspace(0.0, 1.0, _INTERVALS + 1)[1:]
    ratio, slope = _mills_and_slope(4 / t - 5)
    value = np.concatenate([[1 / 4], ratio / t])
    # dx/dt = −4/t². Near t = 0, R(x)/t = (x+5)/(4x)·(1 − 1/x² + …) = 1/4 + 5t/16 + O(t²).
    slope = np.concatenate([[5 / 16], -4 * slope / t**3 - ratio / t**2]) / _INTERVALS
    rise = np.diff(value)
    cubic = value[:-1], slope[:-1], 3 * rise - 2 * slope[:-1] - slope[1:], slope[:-1] + slope[1:] - 2 * rise
    return tuple(np.append(c, end) for c, end in zip(cubic, (value[-1], 0.0, 0.0, 0.0), strict=True))


def _mills_and_slope(x: Array) -> tuple[Array, Array]:
    """R and R′ = xR − 1 at decreasing x: from 3 on by Laplace's continued fraction R = 1/(x + 1/(x + 2/(x + 3/…))),
    of which 60 terms suffice there."""
    import numpy as np

    large = x[x >= 3]
    rest = np.zeros_like(large)
    for k in range(60, 0, -1):
        rest = k / (large + rest)
    at_large = 1 / (large + rest)
    small = x[x < 3]
    at_small = np.array([normal.mills(y) for y in small.tolist()])
    return np.concatenate((at_large, at_small)), np.concatenate((-rest * at_large, small * at_small - 1))


def mills(x: Array) -> Array:
    """R(x) = Q(x)/φ(x) for x >= −1."""
    import numpy as np

    t = 4 / (x + 5)
    u = t * _INTERVALS
    interval = u.astype(np.intp)
    u -= interval
    *lower, highest = _cubic_coefficients()  # separate arrays: one array of all four would not fit in the cache
    ratio: Array = highest.take(interval)
    for c in reversed(lower):
        ratio *= u
        ratio += c.take(interval)
    ratio *= t
    return ratio


def tail(z: Array) -> Array:
    """Q(z) for z >= 0."""
    import numpy as np

    return np.asarray(np.exp(-0.5 * z * z) * mills(z) / sqrt(2 * pi))


def above(z: Array) -> Array:
    """P(N(0,1) > z), for any sign."""
    import numpy as np

    beyond = tail(np.abs(z))
    return np.where(z < 0, 1 - beyond, beyond)


def log_tails(z: Array) -> tuple[Array, Array]:
    """log P(N(0,1) < z) and log P(N(0,1) > z), for any sign, with relative errors of the probabilities below 4e-15 +
    3e-16·z². At ±∞ they are 0 and a number below −1e299."""
    import numpy as np

    size = np.minimum(np.abs(z), 1e150)  # the square of a larger number would overflow
    with np.errstate(divide="ignore"):
        small = np.log(mills(size)) - size * size / 2 - normal.LOG_SQRT_2PI
    large = np.log1p(-np.exp(small))
    is_left = z < 0
    return np.where(is_left, small, large), np.where(is_left, large, small)


def log_tail(z: Array) -> Array:
    """log Q(z), for any sign."""
    return log_tails(z)[1]
