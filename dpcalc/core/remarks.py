"""What the writer of a ledger notes beside a release: its date, a note, and keys of the writer's own, which begin with
an underscore. They are kept and shown, and never used in a computation."""

from collections.abc import Mapping
from datetime import date, datetime, time
from math import isfinite
from typing import Any

from dpcalc.core.errors import DpcalcError
from dpcalc.core.text import printable

DATE, NOTE = "date", "note"
_LONGEST = 1000  # characters of a note, so that a line of a table stays readable


def is_remark(key: Any) -> bool:
    """Whether a key of a release is a remark, and says nothing of its privacy."""
    return key in (DATE, NOTE) or str(key).startswith("_")


def without_remarks(data: Mapping[str, Any]) -> dict[str, Any]:
    """The release without its remarks."""
    return {key: x for key, x in data.items() if not is_remark(key)}


def remarks(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The remarks of a release as values of JSON, the date as its ISO text. Raises DpcalcError for a date that is none,
    and for a note that is no text."""
    found = {str(key): _json_value(x) for key, x in data.items() if is_remark(key)}
    if DATE in found and not _is_date(found[DATE]):
        raise DpcalcError("unknown-value", f"{where}: date = {str(found[DATE])[:40]!r} is no date; write it as "
                          "2026-03-01, with or without quotes", "--file")
    if NOTE in found:
        if not isinstance(found[NOTE], str) or len(found[NOTE]) > _LONGEST:
            raise DpcalcError("unknown-value", f"{where}: note is a text of at most {_LONGEST} characters; write other "
                              "things under a key that begins with _, as _people = 3", "--file")
        found[NOTE] = printable(" ".join(found[NOTE].split()))
    return found


def _json_value(x: Any) -> Any:
    """A value of TOML or JSON as one of JSON: dates, times, infinities and numbers that are none become texts."""
    if isinstance(x, Mapping):
        return {str(key): _json_value(y) for key, y in x.items()}
    if isinstance(x, list | tuple):
        return [_json_value(y) for y in x]
    if isinstance(x, float) and not isfinite(x):
        return str(x)
    return x.isoformat() if isinstance(x, date | time) else x


def _is_date(x: Any) -> bool:
    try:
        datetime.fromisoformat(x)
    except (TypeError, ValueError):
        return False
    return True


def day_of(text: str) -> date:
    """The day of a date, or of a date with a time."""
    return datetime.fromisoformat(text).date()
