"""Roots at high precision, by few evaluations: one may take long."""

from collections.abc import Callable
from typing import Any

_STEPS = 400  # at most
_MOST_SECANTS = 40
_HUGE = 1e300  # no secant is drawn to as much, which may be infinite
_LEAST_KEPT = 0.1  # where f hardly changes
_FIRST = 12  # digits: how near to the start the second point of a secant is
_GUARD = 3  # digits beyond those asked for
_SHY = 4  # times the product of two relative steps
_FAR = 2  # times the start: a secant that leads farther is none


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low (f <= 0) and high (f >= 0), to the working precision or to `digits`: regula falsi, the value at an end
    that stays made smaller as Anderson and Björck do."""
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


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int) -> Any | None:
    """x with f(x) = 0 near a start other than 0, to so many digits, by secants; None where they do not lead there, f is flat or infinite.

    A secant's error is about a constant times those of its two points: of three steps a, b, c, the next is about c·b·(c/(b·a)).
    """
    x, y = start, start * (1 - mp.mpf(10) ** -_FIRST)
    f_x, f_y = f(x), f(y)
    if not max(abs(f_x), abs(f_y)) < _HUGE:
        return None
    enough = mp.mpf(10) ** -(digits + _GUARD)
    for _ in range(_MOST_SECANTS):
        if f_y == f_x:
            return None
        if f_y == 0:
            return y
        z = y - f_y * (y - x) / (f_y - f_x)
        if not 1 < _FAR * z / start < _FAR**2:
            return None
        if abs(z - y) ** 2 <= enough * abs(y - x) * abs(z):
            return z
        x, f_x, y = y, f_y, z
        f_y = f(y)
        if not abs(f_y) < _HUGE:
            return None
    return None


def root_below(mp: Any, f: Callable[[Any], Any], start: Any, digits: int) -> Any | None:
    """x > start with f(x) = 0 of an f < 1 that rises to there nearly as a line, and is 1 from next to there on: by secants that stay below,
    by as much as the product of two steps. None where one does not."""
    x, y = start * (1 - mp.mpf(10) ** -_FIRST), start
    f_x, f_y = f(x), f(y)
    enough = mp.mpf(10) ** -(digits + _GUARD)
    for _ in range(_MOST_SECANTS):
        if not f_x < f_y < 1:
            return None
        z = y - f_y * (y - x) / (f_y - f_x)
        shy = _SHY * (z - y) * (z - x) / z
        if shy <= enough * z:
            return z
        x, f_x, y = y, f_y, z - shy
        f_y = f(y)
    return None
