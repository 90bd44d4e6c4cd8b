"""Roots at high precision with few evaluations, as each may take long."""

from collections.abc import Callable
from math import prod
from typing import Any

_HUGE = 1e300  # larger values of f, which may be infinite, are not interpolated


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low (f <= 0) and high (f >= 0), to the working precision or to `digits`: regula falsi,
    with the value at an end that does not move reduced by the rule of Anderson and Björck."""
    f_low, f_high = f(low), f(high)
    small = mp.mpf(10) ** (3 - (digits or mp.dps))
    last, reduced = 0, False  # the side that moved last; whether x was interpolated from a reduced value
    for _ in range(400):
        if abs(high - low) <= small * abs(high) or f_high == f_low:
            return high
        x = (low * f_high - high * f_low) / (f_high - f_low) if f_high < _HUGE else (low + high) / 2
        fx = f(x)
        if fx == 0:
            return x
        again = (last > 0) == (fx > 0) and last != 0
        if fx > 0:
            f_low *= _reduction(fx, f_high) if again else 1
            moved, high, f_high, last = abs(high - x), x, fx, 1
        else:
            f_high *= _reduction(fx, f_low) if again else 1
            moved, low, f_low, last = abs(x - low), x, fx, -1
        if moved <= small * abs(x) and not reduced:
            return x
        reduced = again
    return high


def _reduction(new: Any, old: Any) -> Any:
    """The factor for the value at one end when the other end moves a second time, from old to new."""
    share = 1 - new / old if old else 0
    return max(share, 0.1) if share > 0 else 0.5  # at least 0.1, for an f that hardly changes


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int, below: bool = False,
              slope: float = 0.0) -> Any | None:
    """x with f(x) = 0 near a nonzero start, to so many digits, by inverse interpolation; None if f is flat or infinite,
    or the iteration leaves [start/2, 2·start].

    With `below`, f is nearly linear, and 1 from just above the root on: from a start below the root, all x stay below
    it. `slope` is the approximate slope of f, if known; it gives the second point.

    With x interpolated as a polynomial of f through n points, the error is about K^(n−1) times the product of their
    errors. K is estimated from the change by the oldest point; for a nearly linear f it is small. """
    points: list[tuple[Any, Any]] = []
    x, tolerance, largest = start, mp.mpf(10) ** -(digits + 3), 1 if below else _HUGE
    for _ in range(20):
        y = f(x)
        if not -_HUGE < y < largest:
            return None
        if y == 0 and points and points[-1][1]:
            return x
        points = [*points, (x, y)][-5:]  # of degree 4
        if len(points) == 1:
            x = _second_point(mp, start, y, slope)
            continue
        x, without_oldest = _at_zero(points)
        if x is None or not 0.5 < x / start < 2:
            return None
        error = _error(points, x, without_oldest)
        if error <= tolerance * abs(x) and (without_oldest is not None or below):
            return x
        x -= error if below else 0
    return None


def _second_point(mp: Any, start: Any, y: Any, slope: float) -> Any:
    """Where the slope leads, if that is neither too close to the start nor too far from it."""
    small = start * mp.mpf(10) ** -12
    step = y / slope if slope else small
    return start - (step if small**2 < abs(step * start) < start**2 / 2 else small)


def _at_zero(points: list[tuple[Any, Any]]) -> tuple[Any | None, Any | None]:
    """The inverse polynomial at 0 by Neville's scheme, and that without the oldest point; None if two values of f are
    equal."""
    x, without_oldest = [x for x, _ in points], None
    for m in range(1, len(points)):
        without_oldest = x[1] if m > 1 else None
        for i in range(len(points) - m):
            y, z = points[i][1], points[i + m][1]
            if y == z:
                return None, None
            x[i] = (x[i] * z - x[i + 1] * y) / (z - y)
    return x[0], without_oldest


def _error(points: list[tuple[Any, Any]], x: Any, without_oldest: Any) -> Any:
    """Four times the estimated distance of x from the root."""
    k, last = 1 / abs(x), prod(abs(x - at) for at, _ in points[1:])
    if without_oldest is not None and last:
        k = max(k, (abs(x - without_oldest) / last) ** (1 / (len(points) - 2)))
        last = abs(x - without_oldest)
    return 4 * k * abs(x - points[0][0]) * last
