"""Roots at high precision, by few evaluations: one may take long."""

from collections.abc import Callable
from math import prod
from typing import Any

_STEPS = 400  # at most
_MOST_POINTS, _DEGREE = 20, 4
_HUGE = 1e300  # no line is drawn to as much, which may be infinite
_LEAST_KEPT = 0.1  # where f hardly changes
_FIRST = 12  # digits: how near to the start the second point is
_GUARD = 3  # digits beyond those asked for
_SHY = 4  # times what a root is missed by
_FAR = 2  # times the start: a line that leads farther is none


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low (f <= 0) and high (f >= 0), to the working precision or to `digits`: regula falsi,
    the value at an end that stays made smaller as Anderson and Björck do."""
    f_low, f_high = f(low), f(high)
    small = mp.mpf(10) ** (3 - (digits or mp.dps))
    last, scaled = 0, False  # the side that moved; whether x was by another value than that of f
    for _ in range(_STEPS):
        if abs(high - low) <= small * abs(high) or f_high == f_low:
            return high
        x = (low * f_high - high * f_low) / (f_high - f_low) if f_high < _HUGE else (low + high) / 2
        fx = f(x)
        if fx == 0:
            return x
        again = (last > 0) == (fx > 0) and last != 0
        if fx > 0:
            f_low *= _kept(fx, f_high) if again else 1
            moved, high, f_high, last = abs(high - x), x, fx, 1
        else:
            f_high *= _kept(fx, f_low) if again else 1
            moved, low, f_low, last = abs(x - low), x, fx, -1
        if moved <= small * abs(x) and not scaled:
            return x
        scaled = again
    return high


def _kept(new: Any, old: Any) -> Any:
    """What an end's value is multiplied by where the other end moves a second time."""
    share = 1 - new / old if old else 0
    return max(share, _LEAST_KEPT) if share > 0 else 0.5


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int, below: bool = False,
              slope: float = 0.0) -> Any | None:
    """x with f(x) = 0 near a start other than 0, to so many digits, by inverse interpolation; None where that does not
    lead there, f is flat or infinite. With `below`, f is nearly a line, and 1 from next to the root on: from a start
    below it all x stay there. `slope` is about that of f, if known: the second point is where it leads.

    Through n points, x as a polynomial of f misses the root by about K^(n−1) times the product of their errors. K is
    known from how far the polynomial without the oldest point is from it; of a line it is small. """
    points: list[tuple[Any, Any]] = []
    x, enough, most = start, mp.mpf(10) ** -(digits + _GUARD), 1 if below else _HUGE
    for _ in range(_MOST_POINTS):
        y = f(x)
        if not -_HUGE < y < most:
            return None
        if y == 0 and points and points[-1][1]:
            return x
        points = [*points, (x, y)][-_DEGREE - 1 :]
        if len(points) == 1:
            x = _second(mp, start, y, slope)
            continue
        x, less = _at_zero(points)
        if x is None or not 1 < _FAR * x / start < _FAR**2:
            return None
        miss = _miss(points, x, less)
        if miss <= enough * abs(x) and (less is not None or below):
            return x
        x -= miss if below else 0
    return None


def _second(mp: Any, start: Any, y: Any, slope: float) -> Any:
    apart = start * mp.mpf(10) ** -_FIRST
    by = y / slope if slope else apart
    return start - (by if apart**2 < abs(by * start) < start**2 / _FAR else apart)


def _at_zero(points: list[tuple[Any, Any]]) -> tuple[Any | None, Any | None]:
    """The inverse polynomial at 0 (Neville's scheme), and that without the first point; None where two values of f are
    alike."""
    found, less = [x for x, _ in points], None
    for m in range(1, len(points)):
        less = found[1] if m > 1 else None
        for i in range(len(points) - m):
            y, z = points[i][1], points[i + m][1]
            if y == z:
                return None, None
            found[i] = (found[i] * z - found[i + 1] * y) / (z - y)
    return found[0], less


def _miss(points: list[tuple[Any, Any]], x: Any, less: Any) -> Any:
    """About how far x is from the root, above it."""
    k, last = 1 / abs(x), prod(abs(x - at) for at, _ in points[1:])
    if less is not None and last:
        k = max(k, (abs(x - less) / last) ** (1 / (len(points) - 2)))
        last = abs(x - less)
    return _SHY * k * abs(x - points[0][0]) * last
