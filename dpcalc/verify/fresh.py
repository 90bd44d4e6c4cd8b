"""The question of a record, answered again: what a record of it says here, for all that verify does not prove."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Answer, Row
from dpcalc.output.answer import record as rendered
from dpcalc.verify.budget import Budget
from dpcalc.verify.records import Record, is_number
from dpcalc.verify.replay import command_of, given_inputs, number
from dpcalc.verify.unchecked import BROKEN, NotComputed, OtherQuestion, Unchecked

_KEYS = ("name", "curve", "conversion", "command")
_OPTIONAL = frozenset({"id", "certified"})
Key = tuple[Any, ...]


class Expected(NamedTuple):
    """`record` is what the record should say: with the recorded numbers of its bounds, from which the others follow,
    and NotComputed in place of what is not known. `bounds` are those that are found here, by `key`."""

    record: dict[str, Any]
    bounds: Mapping[Key, Mapping[str, Any]] | NotComputed


def key(bound: Mapping[str, Any]) -> Key:
    """Which of the bounds of a record it is."""
    return tuple(str(bound.get(name, "")) for name in _KEYS)


def expected(record: Record, again: Answer, budget: Budget) -> Expected:
    """`again` is the answer with the recorded rows."""
    found = _printed(again, any("statements" in bound for bound in record["bounds"]))
    more = again.more
    # a comparison of one run; a sweep has no room for it
    if more and (beside := record.keys() - found.keys() - _OPTIONAL):
        found |= budget.within(lambda: _plain(more()), lambda why: dict.fromkeys(beside, NotComputed(why)))
    asked = budget.within(lambda: _asked(record), NotComputed)
    notes: tuple[str, ...] | NotComputed = asked if isinstance(asked, NotComputed) else asked.answer.notes
    if "certified" in record:
        ends = budget.within(lambda: _certified(again), NotComputed)
        found["certified"] = ends if isinstance(ends, NotComputed) else _plain(ends.certified)
        notes = ends if isinstance(ends, NotComputed) else notes if isinstance(notes, NotComputed) else (*notes,
                                                                                                         ends.notes[-1])
    if digits := _digits(record):
        shown = asked if isinstance(asked, NotComputed) else budget.within(lambda: _with_digits(asked, record, digits),
                                                                           NotComputed)
        for bound in found["bounds"]:
            if isinstance(shown, NotComputed):
                bound["digits"] = shown
            elif here := shown.digits.get(key(bound)):
                bound["digits"] = here
        notes = shown if isinstance(shown, NotComputed) else notes if isinstance(notes, NotComputed) else (*notes,
                                                                                                           *shown.notes)
    if isinstance(asked, NotComputed):
        return Expected({**found, "notes": asked}, asked)
    found["notes"] = notes if isinstance(notes, NotComputed) else list(asked.answer._replace(notes=notes).all_notes)
    return Expected(found, asked.bounds)


class _Asked(NamedTuple):
    answer: Answer
    bounds: Mapping[Key, Mapping[str, Any]]  # in the order of its rows


def _asked(record: Record) -> _Asked | NotComputed:
    from dpcalc.commands.ask import answer as answer_of

    try:
        answer = answer_of(command_of(record), {**record["options"], "format": "json"}, given_inputs(record))
        return _Asked(answer, {key(bound): bound for bound in _printed(answer)["bounds"]})
    except DpcalcError as reason:
        return NotComputed(f"its question has no answer here ({reason})", matters=True)


def _printed(answer: Answer, explained: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = _plain(rendered(answer._replace(more=None), explained))
    return found


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


# --- what was asked for beside the answer ----------------------------------------------------------------------------


def _certified(again: Answer) -> Answer | NotComputed:
    """What --certify says of the recorded headline, and in which words."""
    from dpcalc.verify.certify import certified

    try:
        return certified(again)
    except (DpcalcError, Unchecked, OtherQuestion, *BROKEN) as reason:
        return NotComputed(f"the headline is not certified here ({reason})")


def _digits(record: Record) -> int | None:
    """How many --digits asked for: as many as the longest text has; None where there are none."""
    texts = [x for bound in record["bounds"] if isinstance(bound.get("digits"), dict) for x in bound["digits"].values()]
    return max((len(x.lower().partition("e")[0].replace(".", "").lstrip("-0")) for x in texts if isinstance(x, str)),
               default=None)


class _Digits(NamedTuple):
    digits: Mapping[Key, Mapping[str, str]]
    notes: tuple[str, ...]


def _with_digits(asked: _Asked, record: Record, digits: int) -> _Digits | NotComputed:
    """At the recorded numbers: on another machine another order may be the best."""
    from dpcalc.accounting.digits import with_digits
    from dpcalc.core.quantities import DIGITS

    if not (DIGITS.ge or 0) <= digits <= (DIGITS.le or 0):
        return NotComputed(f"--digits are {DIGITS.range()}, not {digits}")
    places = {key(bound): bound for bound in record["bounds"]}
    rows = tuple(_at(row, places[k]) if k in places else row for row,
                 k in zip(asked.answer.rows, asked.bounds, strict=True))
    try:
        found = with_digits(asked.answer._replace(rows=rows, notes=()), digits)
    except (DpcalcError, *BROKEN) as reason:
        return NotComputed(f"its digits cannot be computed here ({reason})")
    return _Digits(dict(zip(asked.bounds, (dict(row.digits) for row in found.rows), strict=True)), found.notes)


def _at(row: Row, bound: Mapping[str, Any]) -> Row:
    def recorded(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
        return {name: number(theirs[name]) if is_number(theirs.get(name)) else x for name, x in ours.items()}

    return row._replace(result=recorded(row.result, bound), witness=recorded(row.witness, bound["witness"]))
