"""What is wrong with the JSON of a guarantee, in a sentence; which results are refused; and the δ that one names."""

import json
import sys
from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import brief
from dpcalc.core.strict_json import OutOfRange


def refuse_unproven(status: Any, bound: Any, where: str) -> None:
    """Raises DpcalcError for a result that is not proven."""
    if status not in (None, "proven"):
        by = f" ({brief(bound)})" if isinstance(bound, str) else ""
        raise DpcalcError("refused",
                          f"{where}: the status is {brief(status)}{by}; only proven guarantees can be converted or "
                          "composed", "--input")


def refuse_audit(data: Any, where: str) -> None:
    """Raises DpcalcError for an audit, or for what stands in place of its guarantee."""
    if isinstance(data, dict) and "audit" in (data.get("command"), data.get("kind")):
        raise DpcalcError("refused", f"{where} is an audit: a lower bound on ε, which is no guarantee; give the result "
                          "that was audited", "--input")


def delta_of(record: Mapping[str, Any]) -> float | None:
    """The δ of a result, where it has one."""
    numbers = [part.get("delta") for part in map(record.get, ("result", "parameters")) if isinstance(part, Mapping)]
    return next((float(x) for x in numbers if isinstance(x, float | int) and 0 <= x < 1), None)


def refuse_without_count(guarantee: Any, where: str) -> None:
    """Raises DpcalcError where the guarantee of a result lacks a count, which dpcalc always writes: without it the
    result would seem to lose less privacy. JSON that is written by hand, and has no version of dpcalc, may leave out a
    count of 1."""
    if isinstance(guarantee, dict):
        parts = guarantee["mechanisms"] if isinstance(guarantee.get("mechanisms"), list) else []
        parts = [*parts, *([guarantee] if guarantee.get("kind") == "outcomes" else ())]
        for one in guarantee["candidate"] if isinstance(guarantee.get("candidate"), list) else ():
            refuse_without_count(one, where)
        if any(isinstance(part, dict) and "count" not in part for part in parts):
            raise DpcalcError("bad-json", f"{where}: its guarantee does not say how often a mechanism is used (count); "
                              "compute the result again", "--input")


def complaint(issue: Any) -> str:
    """An issue of pydantic as a sentence: the key, its value, and what is allowed."""
    path = [str(x) for x in issue["loc"][1:]]
    key = ".".join(p for p in path if p not in MECHANISMS) or "kind"
    if isinstance(x := issue["input"], OutOfRange) or (isinstance(x, int) and abs(x) > sys.float_info.max):
        return f"{key}: {str(x)[:40]} is not a finite number, or below the least positive double"
    limits = issue.get("ctx", {})
    bad = limits.get("tag", issue["input"])
    value = brief(bad) if isinstance(bad, dict | list) else json.dumps(bad, default=str, ensure_ascii=False)
    value = value if len(value) <= 60 else value[:57] + "…"
    allowed = " and ".join(f"{_SIGNS[name]} {limit:g}" for name, limit in limits.items() if name in _SIGNS)
    return f"{key}: " + _WORDS.get(issue["type"], "{value} is not valid here").format(
        value=value, allowed=allowed, most=limits.get("max_length"), error=limits.get("error"),
        expected=limits.get("expected") or limits.get("expected_tags"))


_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
_RANGE = "{value} is not {allowed}"
_WORDS = {
    "missing": "missing",
    "extra_forbidden": "there is no such key here",
    "greater_than": _RANGE, "greater_than_equal": _RANGE, "less_than": _RANGE, "less_than_equal": _RANGE,
    "finite_number": "{value} is not a finite number",
    "float_type": "{value} is not a number", "int_type": "{value} is not a whole number",
    "int_from_float": "{value} is not a whole number",
    "tuple_type": "{value} is not a list", "too_short": "the list is empty",
    "too_long": "a list of more than {most} entries; give the orders that matter (some hundreds show any curve)",
    "literal_error": "{value} is not one of {expected}", "union_tag_invalid": "{value} is not one of {expected}",
    "union_tag_not_found": f"{{value}} has no name ({', '.join(MECHANISMS)})",
    "model_type": "{value} is not an object", "model_attributes_type": "{value} is not an object",
    "value_error": "{error}",
}
