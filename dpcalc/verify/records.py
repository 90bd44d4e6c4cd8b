"""Reading what is to be verified: one result, an array of them, or JSON Lines."""

from __future__ import annotations

import json
import sys
from typing import Any

from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import BadJson, loads

_MEGABYTES = 50
_OBJECTS = ("parameters", "result", "options")
_LISTS = ("bounds", "notes", "inputs")

Record = dict[str, Any]


def read(source: str) -> tuple[Record, ...]:
    """The records of a file or of standard input (-). Raises DpcalcError for what is no dpcalc result."""
    text, where = reading.text(source, _MEGABYTES), reading.where(source)
    if not text.strip():
        raise _bad(where, "is empty; a dpcalc result (--json) is expected")
    found = _parsed(text, where)
    if not found:
        raise _bad(where, "holds no result")
    for k, record in enumerate(found, 1):
        _check(record, where if len(found) == 1 else f"{where}, result {k}")
    return tuple(found)


def _parsed(text: str, where: str) -> list[Any]:
    """One JSON value (an array is many), or one a line."""
    try:
        whole = loads(text)
    except BadJson as reason:
        lines = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip(" \t\r")]
        if len(lines) < 2 or not lines[0][1].rstrip().endswith("}"):
            raise _bad(where, _reason(reason)) from None
        found = []
        for k, line in lines:
            try:
                found.append(loads(line))
            except BadJson as e:
                raise _bad(f"{where}, line {k}", f"is not JSON: {e}") from None
        return found
    return whole if isinstance(whole, list) else [whole]


def _reason(e: BadJson) -> str:
    return f"is not JSON: {e}{e.place}"


def _check(record: Any, where: str) -> None:
    """The shape of a result; its numbers are checked by the models of its command."""
    if not isinstance(record, dict):
        raise _bad(where, "is no dpcalc result (an object with a schema)")
    if is_error(record):
        return
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
        if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not isinstance(row.get("witness"),
                                                                                               dict):
            raise _bad(where, f"bounds[{k}] is no bound with a name and a witness")


def is_error(record: Record) -> bool:
    """Whether it is what dpcalc prints in place of an answer."""
    error = record.get("error")
    return "schema" not in record and isinstance(error, dict) and isinstance(error.get("message"), str)


def is_number(x: Any) -> bool:
    """Whether it is a number of JSON that a double can hold, or an infinity as dpcalc writes it."""
    return (isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= sys.float_info.max) or x in ("inf",
                                                                                                              "-inf")


def _short(x: Any) -> str:
    text = json.dumps(x, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


def _bad(where: str, what: str) -> DpcalcError:
    return DpcalcError("bad-json", f"{where} {what}")
