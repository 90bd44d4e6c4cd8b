"""Strict JSON: without NaN and repeated keys, and without numbers that overflow or underflow as doubles."""

import json
from math import inf
from typing import Any

from dpcalc.core.text import printable


class BadJson(ValueError):
    """The text is not one strict JSON value; the message says why.

    `at_fault` is true where the message names the faulty token; `place` is the line and column of a syntax error.
    """

    def __init__(self, reason: str, at_fault: bool = False, place: str = "") -> None:
        super().__init__(reason)
        self.at_fault, self.place = at_fault, place


class OutOfRange(str):
    """The text of a JSON number that overflows or underflows as a double."""


def loads(text: str) -> Any:
    """The value of one JSON text. Raises BadJson.

    A number that overflows or underflows is an OutOfRange, which validation refuses with the name of the field.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as e:
        raise BadJson(e.msg, place=f" (line {e.lineno}, column {e.colno})") from None
    except BadJson:
        raise
    except RecursionError:
        raise BadJson("it is nested too deeply") from None
    except ValueError:
        raise BadJson("it has a number with too many digits") from None


def finite(text: str) -> float | str:
    """The double that a decimal rounds to; OutOfRange where that is infinite, or 0 and the decimal is not."""
    x = float(text)
    if -inf < x < inf and (x or not text.lower().partition("e")[0].strip("-0.")):
        return x
    return OutOfRange(text)


def _refuse_constant(name: str) -> float:
    raise BadJson(f"{name} is not a JSON number", at_fault=True)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [k for k, _ in pairs]
        raise BadJson(f"the key {next(k for k in keys if keys.count(k) > 1)[:40]!r} appears twice", at_fault=True)
    return found


_DECODER = json.JSONDecoder(parse_float=finite, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode
_encode_indented = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, indent=2).encode


def dumps(value: Any) -> str:
    """One line of JSON in which unprintable characters are escaped, so that it stays one line everywhere. Raises
    ValueError for infinities and NaN, which JSON does not have."""
    return printable(_encode(value))


def indented(value: Any) -> str:
    """The same as indented lines."""
    return "\n".join(map(printable, _encode_indented(value).split("\n")))
