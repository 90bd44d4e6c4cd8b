"""Round numbers along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple


class Extent(NamedTuple):
    """Coordinates (decimal logarithms, on a logarithmic axis) from `low` to `high`, over so many dots."""

    low: float
    high: float
    dots: int = 1

    def dot(self, x: float) -> int:
        return round((x - self.low) / (self.high - self.low) * (self.dots - 1))


def coordinate(x: float, kind: str) -> float:
    return log10(x) if kind == "log" else x


def extent(coordinates: Sequence[float], dots: int = 1) -> Extent:
    """From the least to the largest, with room around a single one."""
    low, high = min(coordinates), max(coordinates)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = abs(low) / 2 or 1.0
        low, high = low - room, high + room
    return Extent(low, high, dots)


def ticks(extent: Extent, kind: str, most: int) -> list[tuple[float, str]]:
    """(coordinate, text) of about `most` round numbers."""
    if kind == "linear":
        return _decimals(_round(extent.low, extent.high, most))
    if kind == "powers":
        return [(at, f"1e{at:.10g}") for at in _round(extent.low, extent.high, most)]
    low, high = ceil(extent.low - 1e-9), floor(extent.high + 1e-9)
    if high - low >= 2:
        step = max(1, ceil((high - low) / most))
        start = low + (-low) % step
        return [(float(e), _power(e)) for e in range(start, high + 1, step)]
    inner = [(log10(m) + e, _short(m * 10.0**e)) for e in range(floor(extent.low), ceil(extent.high) + 1)
             for m in (1, 2, 5)]
    found = [(at, text) for at, text in inner if extent.low - 1e-9 <= at <= extent.high + 1e-9]
    if len(found) >= 2:
        return found
    return [(log10(at), text) for at,
            text in _decimals([x for x in _round(10**extent.low, 10**extent.high, most) if x > 0])]


def _round(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten: at most `most`, but three where more do not fit."""
    raw = (high - low) / max(1, most)
    size = 10.0 ** floor(log10(raw))
    steps = [m * size for m in (10, 5, 2, 1, 0.5, 0.2)]
    fitting = min(step for step in steps if step >= raw * (1 - 1e-9))
    finer = [_multiples(step, low, high) for step in steps if step <= fitting]
    return next((found for found in finer if len(found) >= 3), finer[-1])


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _power(exponent: int) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"


def _decimals(values: Sequence[float]) -> list[tuple[float, str]]:
    """With as many digits as say each value, to a thousandth of their distance."""
    apart = min((b - a for a, b in pairwise(values)), default=0.0)
    digits = 6
    while digits < 17 and any(abs(float(_short(x, digits)) - x) > apart / 1000 for x in values):
        digits += 1
    return [(x, _short(x, digits)) for x in values]


def _short(x: float, digits: int = 6) -> str:
    """1e6 and not 1e+06."""
    text = f"{x:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text
