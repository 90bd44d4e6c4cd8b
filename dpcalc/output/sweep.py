"""The answers of a sweep as JSON, a table, CSV, …: pure functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, human_probability, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import NOT_SHUFFLED, Answer, Row, Table
from dpcalc.output.answer import cells, numbers, record
from dpcalc.output.tables import Cells, delimited, latex, markdown, paragraph, text
from dpcalc.output.values import row_label, shown

_BESIDE = {"worst_index": "worst index", "worst_delta": "its δ", "worst_epsilon": "its ε", "worst_rdp": "its ε(α)",
           "delta_limit": "δ*",
           "limit_factor": "times δ*"}  # companions for people
_LOGS = {"worst_delta": "worst_log_delta", "delta_limit": "log_delta_limit"}


class Point(NamedTuple):
    """The swept values, and the answer there or why there is none."""

    at: dict[str, Any]
    answer: Answer | None = None
    error: DpcalcError | None = None


Points = Sequence[Point]


def as_json(points: Points) -> str:
    return json.dumps([_record(p) for p in points], indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(points: Points) -> str:
    return "\n".join(json.dumps(_record(p), ensure_ascii=False, allow_nan=False) for p in points)


def _record(point: Point) -> dict[str, Any]:
    if point.answer:
        return record(point.answer._replace(more=None))  # what is computed on printing is for one run
    assert point.error is not None
    return {**point.error.record(), "parameters": point.at}


def _wide(points: Points) -> Cells:
    """A line a point, a column a bound: for people. Where every answer is a table, its lines, after the point."""
    if any(p.answer.table for p in points if p.answer):
        return _tables(points, lambda answer: answer.table)
    answers = [p.answer for p in points if p.answer]
    labels = list(dict.fromkeys(_label(row) for row in rows_for_people(answers)))
    limits = all(any(row.route.bound.status == "limit" for row in answer.rows) for answer in answers)
    told = {"delta_limit"} if limits else set[str]()
    beside = [name for name in _BESIDE if name not in told and any(name in answer.extra for answer in answers)]
    header = (*(symbol(name) for name in points[0].at), symbol(answers[0].asked), *labels,
              *(_BESIDE[name] for name in beside))
    return header, [_line(p, labels, beside) for p in points]


def rows_for_people(answers: Sequence[Answer]) -> list[Row]:
    """The rows of a sweep that people are shown, point after point. A bound that several conversions end has one
    column, so only the conversion that is the best at the largest number of points is shown; where two are best equally
    often, the first one."""
    rows = [row for answer in answers for row in answer.for_people.rows]
    if any(answer.every_row for answer in answers):
        return rows
    found = Counter((row.theorem, row_label(row)) for row in rows)
    most = {theorem: label for (theorem, label), _ in reversed(found.most_common())}
    return [row for row in rows if most[row.theorem] == row_label(row)]


def _tables(points: Points, table_of: Callable[[Answer], Table | None]) -> Cells:
    """The lines of every point's table, after the point."""
    found = [(p, numbers(table)) for p in points if p.answer and (table := table_of(p.answer))]
    header = (*(symbol(name) for name in points[0].at), *found[0][1][0])
    return header, [(*map(_value, p.at.values()), *line) for p, (_, lines) in found for line in lines]


def _alone(points: Points) -> Cells:
    """The one table of a format that holds no more."""
    return _tables(points, _roc) if _has_roc(points) else _wide(points)


def _roc(answer: Answer) -> Table | None:
    return answer.roc


def _has_roc(points: Points) -> bool:
    return any(p.answer.roc for p in points if p.answer)


def _line(point: Point, labels: Sequence[str], beside: Sequence[str]) -> tuple[str, ...]:
    at = tuple(_value(x) for x in point.at.values())
    if point.answer is None:
        return (*at, "–", *("" for _ in (*labels, *beside)))
    answer = point.answer
    by_label = {_label(row): shown(answer, answer.asked, row) for row in reversed(answer.rows)}
    companions = (_companion(name, answer.extra) for name in beside)
    return (*at, shown(answer, answer.asked, answer.headline), *(by_label.get(label, "–") for label in labels),
            *companions)


def _companion(name: str, extra: Mapping[str, float]) -> str:
    """A number beside the bounds; by its logarithm where it is none of the doubles."""
    if name not in extra:
        return "–"
    return human_probability(extra[name],
                             extra[_LOGS[name]]) if name in _LOGS and _LOGS[name] in extra else human(extra[name])


def _label(row: Row) -> str:
    """The name of a column: with its status where that is not proven."""
    status = row.route.bound.status
    return row_label(row) if status == "proven" else f"{row_label(row)} [{status}]"


def _value(x: Any) -> str:
    return x if isinstance(x, str) else plain(float(x))


def _long(points: Points) -> Cells:
    """A line a bound and point, full doubles: for programs."""
    tables = [(p, cells(p.answer)) for p in points if p.answer]
    names = [name for name in dict.fromkeys(name for _, (header, _) in tables for name in header)
             if name not in points[0].at]
    body = []
    for point, (header, rows) in tables:
        at = tuple(x if isinstance(x, str) else repr(x) for x in point.at.values())
        body += [(*at, *(dict(zip(header, row, strict=True)).get(name, "") for name in names)) for row in rows]
    return (*points[0].at, *names), body


def as_table(points: Points) -> str:
    first = next(p.answer for p in points if p.answer)
    below = [f"Neighbours: {first.adjacency}. Released: {first.released}{f', {first.scope}' if first.scope else ''}.",
             *(f"Note: {note}." for note in first.notes if note == NOT_SHUFFLED),
             *(f"{line}." for line in (*_of_no_guarantee(points), *unanswered(points)))]
    rates = f"\n{text(_tables(points, _roc), frozenset(), frozenset())}\n" if _has_roc(points) else ""
    return text(_wide(points), frozenset(), frozenset()) + "\n" + rates + paragraph(below)


def _of_no_guarantee(points: Points) -> list[str]:
    """What is to be said of numbers that are no guarantees, as where one is refuted, for each point."""
    return [f"At {_place(point)}: {note}" for point in points if point.answer
            for row in point.answer.rows if row.route.bound.status != "proven" for note in row.notes]


def unanswered(points: Points) -> list[str]:
    """'No answer at σ = 0: …', for each point that failed."""
    return [f"No answer at {_place(point)}: {point.error.message}" for point in points if point.error]


def _place(point: Point) -> str:
    return ", ".join(f"{symbol(name)} = {_value(value)}" for name, value in point.at.items())


UNTOLD = ("csv", "tsv", "markdown", "latex")  # no place there for why a point has no answer
FORMATS: dict[str, Callable[[Points], str]] = {
    "table": as_table,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": lambda points: delimited(_long(points), ","),
    "tsv": lambda points: delimited(_long(points), "\t"),
    "markdown": lambda points: markdown(_alone(points)),
    "latex": lambda points: latex(_alone(points)),
}
