"""Sweeps: a numeric option with several values, a,b,c or start:stop:count[:log]. One such option gives rows, two give a
grid."""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import exp, log
from typing import Any, NamedTuple

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import NotANumber, number
from dpcalc.core.quantities import Quantity

_MAX_POINTS = 100_000  # points of a sweep: with closed forms, this many take minutes
# Texts that are probably one number, written with separators.
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+", re.ASCII)
_DECIMAL_COMMA = re.compile(r"\d+,\d+", re.ASCII)


class Axis(NamedTuple):
    """A swept option and its values, before validation."""

    quantity: Quantity
    values: tuple[Any, ...]


def axes(command: Command, raw: Mapping[str, Any]) -> tuple[Axis, ...]:
    """The swept options of a call. Raises DpcalcError for more than two, or for a malformed range."""
    quantities = {o.name: o.quantity for o in command.all_options()}
    found = tuple(Axis(quantities[name], _values(quantities[name], text)) for name, text in raw.items()
                  if name in quantities and can_be_swept(quantities[name])
                  and isinstance(text, str) and ("," in text or ":" in text))
    if len(found) > 2:
        raise DpcalcError("contradictory", "at most two options can have several values; two of them give a grid",
                          found[2].quantity.option)
    size = 1
    for axis in found:
        size *= len(axis.values)
    if size > _MAX_POINTS:
        raise DpcalcError("out-of-range", f"this sweep has {size} points, and at most {_MAX_POINTS} are allowed",
                          found[0].quantity.option)
    return found


def can_be_swept(quantity: Quantity) -> bool:
    return quantity.kind in ("number", "count", "horizon") and quantity.name != "digits"


def points(found: tuple[Axis, ...]) -> Iterator[dict[str, Any]]:
    """The values of the swept options, point by point; the last option runs fastest."""
    for values in product(*(axis.values for axis in found)):
        yield {axis.quantity.name: value for axis, value in zip(found, values, strict=True)}


def _values(quantity: Quantity, text: str) -> tuple[Any, ...]:
    """The values of a list or range. Raises DpcalcError for a malformed one."""
    if ":" not in text:
        _refuse_separators(quantity, text)
        # a table shows the values as they were given, on one line
        parts = tuple(" ".join(part.split()) for part in text.split(","))
        if "" in parts:
            raise DpcalcError("not-a-number", f"{text!r} has no value beside one of its commas", flag(quantity.name))
        if len(set(parts)) < len(parts):
            decimal = f"; did you mean {text.replace(',', '.')}?" if _DECIMAL_COMMA.fullmatch(text) else ""
            raise DpcalcError("not-a-number", f"{text} has one value twice{decimal}; pairs of options are lines of "
                              "--batch, and phases of one run a ledger", flag(quantity.name))
        return parts
    parts = tuple(text.split(":"))
    try:
        if len(parts) not in (3, 4) or (len(parts) == 4 and parts[3].strip() != "log"):
            raise NotANumber(f"{text!r} is not start:stop:count or start:stop:count:log")
        start, stop, count = (number(part) for part in parts[:3])
    except NotANumber as e:
        raise DpcalcError("not-a-number", str(e), flag(quantity.name)) from None
    if count != int(count) or not 2 <= count <= _MAX_POINTS:
        raise DpcalcError("out-of-range", f"{parts[2]} points: give a whole number from 2 to {_MAX_POINTS}",
                          flag(quantity.name))
    if len(parts) == 4 and not (start > 0 and stop > 0):
        raise DpcalcError("out-of-range", "a logarithmic range needs a positive start and stop", flag(quantity.name))
    values: list[float] = [_between(start, stop, k / (int(count) - 1), len(parts) == 4) for k in range(int(count))]
    if quantity.kind in ("count", "horizon"):
        values = list(dict.fromkeys(round(x) for x in values))
    return tuple(values)


def _refuse_separators(quantity: Quantity, text: str) -> None:
    """Raises DpcalcError for 50,000 and 60,123 and 0,05, each of which is one number and would silently be a sweep."""
    parts = text.split(",")
    grouped, impossible = _THOUSANDS.fullmatch(text), any(re.fullmatch("0[0-9]+", part) for part in parts[1:])
    of_counts = quantity.kind in ("count", "horizon") and len(parts[0]) < 3  # 128,256,512 is hardly ever one number
    # a sweep of counts often has multiples of 5 or powers of 2, as in 10,100 or 64,128
    unusual = grouped and of_counts and any(x % 5 and x & (x - 1) for x in map(int, parts[1:]))
    if not unusual and not (impossible and (grouped or _DECIMAL_COMMA.fullmatch(text))):
        return
    number = ("" if grouped else ".").join(parts)
    sweep = "" if impossible else f" Or write '{', '.join(parts)}' with spaces for a sweep of {len(parts)} values."
    raise DpcalcError("not-a-number", f"{text} is not a number; did you mean {number}?{sweep}", flag(quantity.name))


def _between(start: float, stop: float, share: float, logarithmic: bool) -> float:
    """The point at this fraction of the way from start to stop, linear or logarithmic, rounded to 14 digits."""
    if share in (0.0, 1.0):
        return stop if share else start
    x = exp(log(start) + share * (log(stop) - log(start))) if logarithmic else start + share * (stop - start)
    return float(f"{x:.14g}")  # so that 1:100:3:log is 1, 10, 100
