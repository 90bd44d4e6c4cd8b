"""Roots at high precision, for the oracles."""

from collections.abc import Callable
from typing import Any


def root(mp: Any, f: Callable[[Any], Any], low: Any, high: Any, digits: int | None = None) -> Any:
    """x with f(x) = 0 between low (f <= 0) and high (f >= 0), to the working precision or to `digits`: regula falsi, the
    stale end halved (Illinois)."""
    f_low, f_high = f(low), f(high)
    small = mp.mpf(10) ** (3 - (digits or mp.dps))
    for _ in range(400):
        if abs(high - low) <= small * abs(high) or f_high == f_low:
            return high
        x = (low * f_high - high * f_low) / (f_high - f_low)
        fx = f(x)
        if fx == 0:
            return x
        if fx > 0:
            moved, high, f_high, f_low = abs(high - x), x, fx, f_low / 2
        else:
            moved, low, f_low, f_high = abs(x - low), x, fx, f_high / 2
        if moved <= small * abs(x):
            return x
    return high
