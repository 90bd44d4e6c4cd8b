"""Roots at high precision."""

from collections.abc import Callable
from typing import Any

_STEPS = 400  # at most, of a bracketing method
_LEAST_WEIGHT = 0.1  # a smaller weight, where f has hardly changed, would put the next x almost at the end that stays
_SECANTS = 30  # at most, of the secant method, which has more digits right with every step or fails at once
_ROUNDING = 3  # digits of the working precision that a root may lack
_SECOND_POINT = 10  # digits: the second point of the secant method is at (1 + 1e-10) times the start


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low, where f <= 0, and high, where f >= 0, to `digits` or to the working precision.

    The regula falsi with the weights of Anderson and Björck (1973): where the same end moves twice, the value at the
    other end is made smaller. (A root of `findroot` in a bracket may be NaN, and takes ten times as many evaluations of
    f.)
    """
    f_low, f_high = f(low), f(high)
    within = mp.mpf(10) ** (_ROUNDING - (digits or mp.dps))
    last, weighted = 0, False  # the end that moved, and whether the other value was made smaller
    for _ in range(_STEPS):
        if abs(high - low) <= within * abs(high) or f_high == f_low:
            return high
        finite = mp.isfinite(f_high - f_low)
        x = (low * f_high - high * f_low) / (f_high - f_low) if finite else (low + high) / 2
        fx = f(x)
        if fx == 0:
            return x
        again = last == (1 if fx > 0 else -1)
        if fx > 0:
            f_low *= _weight(fx, f_high) if again else 1
            moved, high, f_high, last = abs(high - x), x, fx, 1
        else:
            f_high *= _weight(fx, f_low) if again else 1
            moved, low, f_low, last = abs(x - low), x, fx, -1
        if moved <= within * abs(x) and not weighted:
            return x
        weighted = again
    return high


def _weight(new: Any, old: Any) -> Any:
    """The factor for the value of f at the end that stays, from the new and the old value at the end that moves."""
    share = 1 - new / old if old else 0
    return max(share, _LEAST_WEIGHT) if share > 0 else 0.5


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int) -> Any | None:
    """x with f(x) = 0 near a start other than 0, to so many digits, by the secant method; None where that leads to less
    than half or more than twice the start, or where f is flat or infinite."""
    within = mp.mpf(10) ** -(digits + _ROUNDING)
    x, y, step = start, f(start), start * mp.mpf(10) ** -_SECOND_POINT
    for _ in range(_SECANTS):
        last, x = step, x + step
        y, before = f(x), y
        if y == before or not mp.isfinite(y - before):
            return None
        step = -y * last / (y - before)
        if not 0.5 < (x + step) / start < 2:
            return None
        # The errors of the secant method fall ever faster, so that the next step is at most step²/last.
        if abs(step) ** 2 <= within * abs(last * x):
            return x + step
    return None
