"""JSON as its standard has it: no NaN, no key twice, no number that a double would turn into 0 or infinity in silence."""

from __future__ import annotations

import json
from math import inf
from typing import Any


class BadJson(ValueError):
    """Not one JSON value; the message says why. `at_fault` is a token that is no JSON."""

    def __init__(self, reason: str, at_fault: bool = False) -> None:
        super().__init__(reason)
        self.at_fault = at_fault


class OutOfRange(str):
    """A JSON number that a double would turn into 0 or infinity, as the text it was."""


def loads(text: str) -> Any:
    """The value of one JSON text. A number that over- or underflows is OutOfRange, for validation to refuse by name."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as e:
        raise BadJson(e.msg) from None
    except BadJson:
        raise
    except (ValueError, RecursionError):
        raise BadJson("nested too deep or a number too long") from None


def _float(text: str) -> float | str:
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


_DECODER = json.JSONDecoder(parse_float=_float, parse_constant=_constant, object_pairs_hook=_object)
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def dumps(value: Any) -> str:
    """One line of JSON; escaped throughout where a text holds half a surrogate pair, which is no UTF-8."""
    text = _encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)
    return text
