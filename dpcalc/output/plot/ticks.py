"""Round numbers along an axis."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from math import ceil, floor, log10
from typing import NamedTuple

_SAME = 1e-9  # relative: numbers that differ by less are the same but for rounding


class Extent(NamedTuple):
    """A range of coordinates, which are decimal logarithms on a logarithmic axis, shown by a number of dots."""

    low: float
    high: float
    dots: int = 1

    def dot(self, x: float) -> int:
        """The index of the dot at a coordinate."""
        return round((x - self.low) / (self.high - self.low) * (self.dots - 1))


def coordinate(x: float, kind: str) -> float:
    return log10(x) if kind == "log" else x


def extent(coordinates: Sequence[float], dots: int = 1) -> Extent:
    """The range from the least to the largest coordinate; around a single one, with some space."""
    low, high = min(coordinates), max(coordinates)
    if high - low <= _SAME * max(abs(low), abs(high)):
        room = abs(low) / 2 or 1.0
        low, high = low - room, high + room
    return Extent(low, high, dots)


def ticks(extent: Extent, kind: str, most: int, values: Sequence[float] = ()) -> list[tuple[float, str]]:
    """The coordinates and texts of about `most` round numbers. On a logarithmic axis over fewer than two decades, they
    are the values that were swept, as 64, 128, 256, where these are few and short: at most five characters."""
    if kind == "linear":
        return _with_texts(_round_numbers(extent.low, extent.high, most))
    if kind in ("whole", "dates"):
        return _whole_numbers(extent, kind, most)
    if kind == "powers":
        return [(at, f"1e{at:.10g}") for at in _round_numbers(extent.low, extent.high, most)]
    low, high = ceil(extent.low - _SAME), floor(extent.high + _SAME)
    if high - low >= 2:
        near_1 = low >= -3 and high <= 3
        return [(e, f"{10.0**e:g}" if near_1 else f"1e{e:.0f}")
                for e in _round_numbers(low, high, min(most, high - low))]
    if len(values) <= most and all(len(_short(x)) <= 5 for x in values):
        shown = [(at, _short(x)) for x in values if extent.low - _SAME <= (at := log10(x)) <= extent.high + _SAME]
        if len(shown) >= 2:
            return shown
    steps = ([m * 10.0**e for e in range(floor(extent.low), ceil(extent.high) + 1) for m in digits
              if extent.low - _SAME <= log10(m) + e <= extent.high + _SAME] for digits in ((1, 2, 5), (1, 3), (1,)))
    numbers = next((found for found in steps if len(found) <= 1.5 * most), [])
    if len(numbers) < 2:
        numbers = [x for x in _round_numbers(10**extent.low, 10**extent.high, most) if x > 0]
    return [(log10(x), text) for x, text in _with_texts(numbers)]


def _whole_numbers(extent: Extent, kind: str, most: int) -> list[tuple[float, str]]:
    """Evenly spaced whole numbers with their texts, or days with their dates, which are longer and so fewer."""
    first, last = ceil(extent.low - _SAME), floor(extent.high + _SAME)
    step = max(1, ceil((last - first) / (max(2, most * 5 // 7) if kind == "dates" else most)))
    return [(float(k), date.fromordinal(k).isoformat() if kind == "dates" else str(k))
            for k in range(first, last + 1, step)]


def _round_numbers(low: float, high: float, most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten: at most `most`, but more where these are fewer than three."""
    smallest = (high - low) / max(1, most)
    power = 10.0 ** floor(log10(smallest))
    steps = [m * power for m in (10, 5, 2, 1, 0.5, 0.2)]
    fitting = min(step for step in steps if step >= smallest * (1 - _SAME))
    candidates = [[k * step for k in range(ceil(low / step - _SAME), floor(high / step + _SAME) + 1)]
                  for step in steps if step <= fitting]
    return next((found for found in candidates if len(found) >= 3), candidates[-1])


def _with_texts(values: Sequence[float]) -> list[tuple[float, str]]:
    """The values with texts of equally many digits, enough to be exact to a thousandth of their distance: all decimals,
    or all with powers of ten."""
    distance = min((b - a for a, b in pairwise(values)), default=0.0)
    digits = 6
    while digits < 17 and any(abs(float(_short(x, digits)) - x) > distance / 1000 for x in values):
        digits += 1
    texts = [_short(x, digits) for x in values]
    if any("e" in text or "0.000" in text for text in texts):
        texts = [_short(x, digits, "e") if x else "0" for x in values]
    return list(zip(values, texts, strict=True))


def _short(x: float, digits: int = 6, kind: str = "g") -> str:
    """A decimal in which a power of ten is written 1e6 and not 1e+06; with the kind "e" it always has one."""
    mantissa, e, exponent = (f"{x:.{digits}g}" if kind == "g" else f"{x:.{digits - 1}e}").partition("e")
    if not e:
        return mantissa
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
