"""Roots at high precision."""

from collections.abc import Callable
from typing import Any

_ROUNDING = 3  # digits of the working precision that a root may lack


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low, where f <= 0, and high, where f >= 0, to `digits` or to the working precision.

    The regula falsi with the weights of Anderson and Björck (1973): where the same end moves twice, the value at the
    other end is made smaller. (A root of `findroot` in a bracket may be NaN, and takes ten times as many evaluations of
    f.)
    """
    f_low, f_high = f(low), f(high)
    within = mp.mpf(10) ** (_ROUNDING - (digits or mp.dps))
    last, weighted = 0, False  # the end that moved, and whether the other value was made smaller
    for _ in range(400):
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
    # A smaller weight, where f has hardly changed, would put the next x almost at the end that stays.
    return max(share, 0.1) if share > 0 else 0.5


def root_near(mp: Any, f: Callable[[Any], Any], start: Any, digits: int) -> Any | None:
    """x with f(x) = 0 near a start other than 0, to so many digits, by the secant method; None where that leads to less
    than half or more than twice the start, or where f is flat or infinite."""
    within = mp.mpf(10) ** -(digits + _ROUNDING)
    x, y, step = start, f(start), start * mp.mpf(10) ** -10
    for _ in range(30):  # it has more digits right with every step or fails at once
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
