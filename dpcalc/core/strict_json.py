"""JSON as its standard has it: no NaN, no key twice, no number that a double would turn into 0 or infinity in
silence."""

from __future__ import annotations

import json
from math import inf
from typing import Any

from dpcalc.core.text import printable


class BadJson(ValueError):
    """Not one JSON value; the message says why. `at_fault` is a token that is no JSON; `place` is where it is in the
    text, or empty."""

    def __init__(self, reason: str, at_fault: bool = False, place: str = "") -> None:
        super().__init__(reason)
        self.at_fault, self.place = at_fault, place


class OutOfRange(str):
    """A JSON number that a double would turn into 0 or infinity, as the text it was."""


def loads(text: str) -> Any:
    """The value of one JSON text. A number that over- or underflows is OutOfRange, for validation to refuse by name."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as e:
        raise BadJson(e.msg, place=f" (line {e.lineno}, column {e.colno})") from None
    except BadJson:
        raise
    except RecursionError:
        raise BadJson("nested too deep") from None
    except ValueError:
        raise BadJson("a number is too long") from None


def finite(text: str) -> float | str:
    """The double that a decimal rounds to; as OutOfRange where that is 0 or infinity and the decimal is not."""
    x = float(text)
    if -inf < x < inf and (x or not text.lower().partition("e")[0].strip("-0.")):
        return x
    return OutOfRange(text)


def _constant(name: str) -> float:
    raise BadJson(f"{name} is no JSON number", at_fault=True)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [k for k, _ in pairs]
        raise BadJson(f"the key {next(k for k in keys if keys.count(k) > 1)[:40]!r} is there twice", at_fault=True)
    return found


_DECODER = json.JSONDecoder(parse_float=finite, parse_constant=_constant, object_pairs_hook=_object)
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def dumps(value: Any) -> str:
    """One line of JSON, which stays one on a terminal and for any reader of lines: what is not printable is escaped."""
    return printable(_encode(value))
