"""Roots at high precision, by few evaluations: one may take long."""

from collections.abc import Callable
from typing import Any

_STEPS = 400  # at most
_MOST_SECANTS = 40
_HUGE = 1e300  # no secant is drawn to as much, which may be infinite
_FIRST = 12  # digits: how near to the start the second point of a secant is
_GUARD = 3  # digits beyond those asked for
_FAR = 2  # times the start: a secant that leads farther is none


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low (f <= 0) and high (f >= 0), to the working precision or to `digits`: regula falsi, the value at an end
    that stays made smaller as Anderson and Björck do."""
    f_low, f_high = f(low), f(high)
    small = mp.mpf(10) ** (3 - (digits or mp.dps))
    last = 0
    for _ in range(_STEPS):
        if abs(high - low) <= small * abs(high) or f_high == f_low:
            return high
        x = (low * f_high - high * f_low) / (f_high - f_low) if f_high < _HUGE else (low + high) / 2
        fx = f(x)
        if fx == 0:
            return x
        if fx > 0:
            f_low *= _kept(fx, f_high) if last > 0 else 1
            moved, high, f_high, last = abs(high - x), x, fx, 1
        else:
            f_high *= _kept(fx, f_low) if last < 0 else 1
            moved, low, f_low, last = abs(x - low), x, fx, -1
        if moved <= small * abs(x):
            return x
    return high


def _kept(new: Any, old: Any) -> Any:
    """What an end's value is multiplied by where the other end moves a second time."""
    share = 1 - new / old if old else 0
    return share if share > 0 else 0.5


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int) -> Any | None:
    """x with f(x) = 0 near a start other than 0, to so many digits, by secants; None where they do not lead there.

    A secant's error is about a constant times those of its two points: of three steps a, b, c, the next is about c·b·(c/(b·a)).
    """
    x, y = start, start * (1 - mp.mpf(10) ** -_FIRST)
    f_x, f_y = f(x), f(y)
    enough = mp.mpf(10) ** -(digits + _GUARD)
    for _ in range(_MOST_SECANTS):
        if f_y == 0:
            return y
        if f_y == f_x:
            return None
        z = y - f_y * (y - x) / (f_y - f_x)
        if not 1 < _FAR * z / start < _FAR**2:
            return None
        if abs(z - y) ** 2 <= enough * abs(y - x) * abs(z):
            return z
        x, f_x, y = y, f_y, z
        f_y = f(y)
    return None
