"""The record that is expected for the question of a record: the reference for everything that verify does not prove."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.quantities import DIGITS
from dpcalc.core.results import Answer, Row
from dpcalc.output.answer import json_values
from dpcalc.output.answer import record as rendered
from dpcalc.verify.budget import Budget
from dpcalc.verify.certify import certified as certified_answer
from dpcalc.verify.records import Record, is_number, to_float
from dpcalc.verify.replay import command_of, inputs_of
from dpcalc.verify.unchecked import INVALID_WITNESS_ERRORS, NotComputed, OtherQuestion, Unchecked

Key = tuple[str, ...]


class Expected(NamedTuple):
    """What a record should contain.

    `record` is the expected record: it has the recorded numbers of the bounds, everything that follows from them, and
    NotComputed in place of values that could not be computed. `bounds` are the bounds computed anew, by `key_of`.
    """

    record: dict[str, Any]
    bounds: Mapping[Key, Mapping[str, Any]] | NotComputed


class _Recomputed(NamedTuple):
    """The new answer to the question of a record, and its bounds as in JSON."""

    answer: Answer
    bounds: Mapping[Key, Mapping[str, Any]]  # in the order of the answer's rows


def key_of(bound: Mapping[str, Any]) -> Key:
    """Return what identifies a bound within a record."""
    return tuple(str(bound.get(name, "")) for name in ("name", "curve", "conversion", "adjacency"))


def expected_record(record: Record, replayed: Answer, budget: Budget) -> Expected:
    """Return the expected record. `replayed` is the answer with the recorded rows."""
    found = _render(replayed, any("statements" in bound for bound in record["bounds"]))
    comparison = replayed.more
    # The record of a comparison has more keys, unless it is one of a sweep.
    if comparison and (more_keys := record.keys() - found.keys() - {"id", "certified"}):
        found |= budget.run(lambda: _to_json(comparison()),
                            lambda why: dict.fromkeys(more_keys, NotComputed(why)))
    recomputed = budget.run(lambda: _recompute(record), NotComputed)
    notes: tuple[str, ...] | NotComputed = ()
    if "certified" in record:
        certified = budget.run(lambda: _certify(replayed), NotComputed)
        found["certified"] = (certified if isinstance(certified, NotComputed) else
                              _to_json(json_values(certified.certified or {})))
        notes = certified if isinstance(certified, NotComputed) else certified.notes[-1:]
    if digits := _number_of_digits(record):
        with_digits = recomputed if isinstance(recomputed, NotComputed) else budget.run(
            lambda: _compute_digits(recomputed, record, digits), NotComputed)
        for bound in found["bounds"]:
            if isinstance(with_digits, NotComputed):
                bound["digits"] = with_digits
            elif of_bound := with_digits.digits.get(key_of(bound)):
                bound["digits"] = of_bound
        notes = _join(notes, with_digits if isinstance(with_digits, NotComputed) else with_digits.notes)
    if isinstance(recomputed, NotComputed):
        return Expected({**found, "notes": recomputed}, recomputed)
    notes = _join(recomputed.answer.notes, notes)
    if not isinstance(notes, NotComputed):
        found["notes"] = list(recomputed.answer._replace(notes=notes).all_notes)
    else:
        found["notes"] = notes
    return Expected(found, recomputed.bounds)


def _join(first: tuple[str, ...] | NotComputed, second: tuple[str, ...] | NotComputed) -> tuple[str, ...] | NotComputed:
    if isinstance(first, NotComputed):
        return first
    return second if isinstance(second, NotComputed) else (*first, *second)


def _recompute(record: Record) -> _Recomputed | NotComputed:
    """Answer the question of the record anew."""
    from dpcalc.commands.ask import answer as answer_of

    try:
        answer = answer_of(command_of(record), {**record["options"], "format": "json"}, inputs_of(record))
        return _Recomputed(answer, {key_of(bound): bound for bound in _render(answer)["bounds"]})
    except DpcalcError as reason:
        return NotComputed(f"its question has no answer here ({reason})", matters=True)


def _render(answer: Answer, explained: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = _to_json(rendered(answer._replace(more=None), explained))
    return found


def _to_json(value: Any) -> Any:
    """Convert a value as printing and reading it as JSON does."""
    return json.loads(json.dumps(value))


# --- --certify and --digits ------------------------------------------------------------------------------------------


def _certify(replayed: Answer) -> Answer | NotComputed:
    """Return the answer with the certificate that --certify gives to the recorded headline."""
    try:
        return certified_answer(replayed)
    except (DpcalcError, Unchecked, OtherQuestion, *INVALID_WITNESS_ERRORS) as reason:
        return NotComputed(f"the number of the first line is not certified here ({reason})")


def _number_of_digits(record: Record) -> int | None:
    """Return the number of digits that --digits asked for: that of the longest text; None where there are no such
    texts."""
    texts = [x for bound in record["bounds"] if isinstance(bound.get("digits"), dict) for x in bound["digits"].values()]
    return max((len(x.lower().partition("e")[0].replace(".", "").lstrip("-0")) for x in texts if isinstance(x, str)),
               default=None)


class _Digits(NamedTuple):
    digits: Mapping[Key, Mapping[str, str]]
    notes: tuple[str, ...]


def _compute_digits(recomputed: _Recomputed, record: Record, digits: int) -> _Digits | NotComputed:
    """Compute the digits at the recorded numbers and witnesses, as the search may end at another order on another
    machine."""
    from dpcalc.accounting.digits import with_digits

    if not (DIGITS.ge or 0) <= digits <= (DIGITS.le or 0):
        return NotComputed(f"--digits are {DIGITS.range()}, not {digits}")
    recorded = {key_of(bound): bound for bound in record["bounds"]}
    rows = tuple(_with_recorded_numbers(row, recorded[key]) if key in recorded else row
                 for row, key in zip(recomputed.answer.rows, recomputed.bounds, strict=True))
    try:
        found = with_digits(recomputed.answer._replace(rows=rows, notes=()), digits)
    except (DpcalcError, *INVALID_WITNESS_ERRORS) as reason:
        return NotComputed(f"its digits cannot be computed here ({reason})")
    return _Digits(dict(zip(recomputed.bounds, (dict(row.digits) for row in found.rows), strict=True)), found.notes)


def _with_recorded_numbers(row: Row, bound: Mapping[str, Any]) -> Row:
    def recorded(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
        return {name: to_float(theirs[name]) if is_number(theirs.get(name)) else x for name, x in ours.items()}

    return row._replace(result=recorded(row.result, bound), witness=recorded(row.witness, bound["witness"]))
