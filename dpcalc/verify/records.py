"""Reading the records to be verified: one result, an array of results, or JSON Lines."""

import json
import sys
from typing import Any

from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import BadJson, loads

_MAX_MEGABYTES = 50  # of the largest file that is read; parsed JSON takes several times as much memory

Record = dict[str, Any]

# Relative differences up to which a recorded number counts as equal to the recomputed one:
SAME_NUMBERS = 1e-6  # numbers of bounds: Fourier transforms are rounded differently on another machine
SAME_DOUBLES = 1e-9  # numbers that follow from the options by a few operations in doubles
COPIED = 4e-15  # numbers that a record contains twice: 18 units in the last place


def read(source: str) -> tuple[Record, ...]:
    """Return the records in a file, or on standard input (-). Raises DpcalcError where these are no results of
    dpcalc."""
    text, where = reading.text(source, _MAX_MEGABYTES), reading.where(source)
    if not text.strip():
        raise _error(where, "is empty; a dpcalc result (--json) is expected")
    records = _parse(text, where)
    if not records:
        raise _error(where, "holds no result")
    for k, record in enumerate(records, 1):
        check_shape(record, where if len(records) == 1 else f"{where}, result {k}")
    return tuple(records)


def _parse(text: str, where: str) -> list[Any]:
    """Parse one JSON value, where an array is a list of records; or else JSON Lines, one record a line."""
    try:
        value = loads(text)
        return value if isinstance(value, list) else [value]
    except BadJson as reason:
        lines = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip(" \t\r")]
        if len(lines) < 2 or not lines[0][1].rstrip().endswith("}"):
            raise _error(where, f"is not JSON: {reason}{reason.place}") from None
    values = []
    for k, line in lines:
        try:
            values.append(loads(line))
        except BadJson as reason:
            raise _error(f"{where}, line {k}", f"is not JSON: {reason}") from None
    return values


def check_shape(record: Any, where: str) -> None:
    """Raise DpcalcError where a record does not have the structure of a result. Its parameters are validated later, by
    the models of its command."""
    if not isinstance(record, dict):
        raise _error(where, "is no dpcalc result (an object with a schema)")
    if is_error(record):
        return
    if "error" in record and "schema" not in record:
        raise _error(where, "is an error, not a result")
    if record.get("schema") != "dpcalc/v1":
        raise _error(where, f"has schema {_shorten(record.get('schema'))}, not \"dpcalc/v1\"")
    for name in ("parameters", "result", "options"):
        if not isinstance(record.get(name), dict):
            raise _error(where, f'has no object "{name}"')
    for name in ("bounds", "notes", "inputs"):
        if not isinstance(record.get(name), list):
            raise _error(where, f'has no list "{name}"')
    if not isinstance(record.get("command"), str):
        raise _error(where, 'has no "command"')
    for name, x in record["result"].items():
        if not is_number(x):
            raise _error(where, f"result.{name} is {_shorten(x)}, no number")
    for k, row in enumerate(record["bounds"]):
        is_bound = isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("witness"), dict)
        if not is_bound:
            raise _error(where, f"bounds[{k}] is no bound with a name and a witness")


def is_error(record: Record) -> bool:
    """Whether the record is the error that dpcalc prints in place of an answer."""
    error = record.get("error")
    return "schema" not in record and isinstance(error, dict) and isinstance(error.get("message"), str)


def is_number(x: Any) -> bool:
    """Whether x is a JSON number in the range of doubles, or an infinity as dpcalc writes it."""
    if isinstance(x, int | float) and not isinstance(x, bool):
        return abs(x) <= sys.float_info.max
    return x in ("inf", "-inf")


def to_float(x: Any) -> float:
    """Convert a number of a record: an infinity is written as a text."""
    return float(x) if isinstance(x, str) else x


def _shorten(x: Any) -> str:
    text = json.dumps(x, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"


def _error(where: str, what: str) -> DpcalcError:
    return DpcalcError("bad-json", f"{where} {what}")
