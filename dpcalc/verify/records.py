"""Reading what is to be verified: one result, an array of them, or JSON Lines."""

from __future__ import annotations

import json
import sys
from typing import Any

from dpcalc.errors import DpcalcError

_LARGEST = 50_000_000  # bytes
_OBJECTS = ("parameters", "result", "options")
_LISTS = ("bounds", "notes", "inputs")

Record = dict[str, Any]


def read(source: str) -> tuple[Record, ...]:
    """The records of a file or of standard input (-). Raises DpcalcError for what is no dpcalc result."""
    where = "standard input" if source == "-" else source
    data = _bytes(source, where)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _bad(where, "is not UTF-8 text") from None
    if not text.strip():
        raise _bad(where, "is empty; a dpcalc result (--json) is expected")
    found = _parsed(text, where)
    if not found:
        raise _bad(where, "holds no result")
    for k, record in enumerate(found, 1):
        _check(record, where if len(found) == 1 else f"{where}, result {k}")
    return tuple(found)


def _bytes(source: str, where: str) -> bytes:
    try:
        if source == "-":
            data = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as e:
        raise DpcalcError("unreadable", f"{source!r}: {getattr(e, 'strerror', None) or e}") from None
    if len(data) > _LARGEST:
        raise _bad(where, f"has more than {_LARGEST} bytes")
    return data


def _parsed(text: str, where: str) -> list[Any]:
    """One JSON value (an array is many), or one a line."""
    try:
        whole = _json(text)
    except ValueError as reason:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
            raise _bad(where, f"is not JSON: {_reason(reason)}") from None
        found = []
        for k, line in enumerate(lines, 1):
            try:
                found.append(_json(line))
            except (ValueError, RecursionError) as e:
                raise _bad(where, f"line {k} is not JSON: {_reason(e)}") from None
        return found
    except RecursionError:
        raise _bad(where, "is nested too deep") from None
    return whole if isinstance(whole, list) else [whole]


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _reason(e: Exception) -> str:
    if isinstance(e, json.JSONDecodeError):
        return f"{e.msg} (line {e.lineno}, column {e.colno})"
    return "nested too deep" if isinstance(e, RecursionError) else (str(e) if "JSON number" in str(e) else "a number is too long")


def _check(record: Any, where: str) -> None:
    """The shape of a result; its numbers are checked by the models of its command."""
    if not isinstance(record, dict):
        raise _bad(where, "is no dpcalc result (an object with a schema)")
    if "error" in record and "schema" not in record:
        raise _bad(where, "is an error, not a result")
    if record.get("schema") != "dpcalc/v1":
        raise _bad(where, f"has schema {_short(record.get('schema'))}, not \"dpcalc/v1\"")
    for names, kind in ((_OBJECTS, dict), (_LISTS, list)):
        for name in names:
            if not isinstance(record.get(name), kind):
                raise _bad(where, f"has no {'object' if kind is dict else 'list'} \"{name}\"")
    if not isinstance(record.get("command"), str):
        raise _bad(where, 'has no "command"')
    for name, x in record["result"].items():
        if not is_number(x):
            raise _bad(where, f"result.{name} is {_short(x)}, no number")
    for k, row in enumerate(record["bounds"]):
        if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not isinstance(row.get("witness"), dict):
            raise _bad(where, f"bounds[{k}] is no bound with a name and a witness")


def is_number(x: Any) -> bool:
    return (isinstance(x, int | float) and not isinstance(x, bool)) or x in ("inf", "-inf")


def _short(x: Any) -> str:
    text = json.dumps(x, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


def _bad(where: str, what: str) -> DpcalcError:
    return DpcalcError("bad-json", f"{where} {what}")
