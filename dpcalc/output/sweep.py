"""The answers of a sweep, one for each point, as a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, human_probability, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import NOT_SHUFFLED, Answer, Row, Table
from dpcalc.output.answer import full_table, record, table_of_numbers
from dpcalc.output.bibtex import of_answers
from dpcalc.output.formats import Document
from dpcalc.output.tables import TextTable, aligned, paragraph
from dpcalc.output.values import row_label, shown_value

# Companion numbers in the table for people: name → (header of the column, name of the companion that is its logarithm).
_COMPANIONS = {"worst_index": ("worst index", ""), "worst_delta": ("its δ", "worst_log_delta"),
               "worst_epsilon": ("its ε", ""), "worst_rdp": ("its ε(α)", ""),
               "delta_limit": ("δ*", "log_delta_limit"), "limit_factor": ("times δ*", "")}
_NO_ANSWER = "–"
# These formats cannot print the reason why a point has no answer.
FORMATS_WITHOUT_ERRORS = ("csv", "tsv", "markdown", "latex", "bibtex")


class Point(NamedTuple):
    """A point of a sweep: the swept values, and the answer or the error at them."""

    at: dict[str, Any]
    answer: Answer | None = None
    error: DpcalcError | None = None


Points = Sequence[Point]


def document(points: Points) -> Document:
    """The sweep as a document. At least one of its points has an answer."""
    return Document(lambda: _page(points), lambda: [_record(p) for p in points], lambda: _full_table(points),
                    lambda: _tables(points, _roc) if _has_roc(points) else _rounded_table(points),
                    bibtex=lambda: of_answers(_answers(points)))


def _record(point: Point) -> dict[str, Any]:
    if point.answer:
        return record(point.answer._replace(more=None))  # the further keys are for a single run
    assert point.error is not None
    return {**point.error.record(), "parameters": point.at}


def _answers(points: Points) -> list[Answer]:
    return [point.answer for point in points if point.answer]


def _rounded_table(points: Points) -> TextTable:
    """The table for people: a row for each point, and a column for each bound. Where the answers are tables themselves,
    their rows."""
    answers = _answers(points)
    if any(answer.table for answer in answers):
        return _tables(points, lambda answer: answer.table)
    labels = list(dict.fromkeys(_label(row) for row in rows_for_people(answers)))
    every_limit = all(any(row.route.bound.status == "limit" for row in answer.rows) for answer in answers)
    companions = [name for name in _COMPANIONS if any(name in answer.extra for answer in answers)
                  and not (name == "delta_limit" and every_limit)]  # then it has the column of a bound
    header = (*map(symbol, points[0].at), symbol(answers[0].quantity), *labels,
              *(_COMPANIONS[name][0] for name in companions))
    return TextTable(header, [_row(point, labels, companions) for point in points])


def rows_for_people(answers: Sequence[Answer]) -> list[Row]:
    """The rows of a sweep for people, point after point.

    A theorem that gives ε by several conversions has one column: that of the conversion which is the best one at most
    points; of two equally frequent ones, the first.
    """
    rows = [row for answer in answers for row in answer.with_best_rows.rows]
    if any(answer.every_row for answer in answers):
        return rows
    counts = Counter((row.theorem, row_label(row)) for row in rows)
    most_frequent = {theorem: label for (theorem, label), _ in reversed(counts.most_common())}
    return [row for row in rows if most_frequent[row.theorem] == row_label(row)]


def _tables(points: Points, table_of: Callable[[Answer], Table | None]) -> TextTable:
    """The rows of every point's table, each after the swept values of the point."""
    found = [(p, table_of_numbers(table)) for p in points if p.answer and (table := table_of(p.answer))]
    header = (*map(symbol, points[0].at), *found[0][1].header)
    return TextTable(header, [(*map(_as_given, p.at.values()), *row) for p, table in found for row in table.rows])


def _roc(answer: Answer) -> Table | None:
    return answer.roc


def _has_roc(points: Points) -> bool:
    return any(answer.roc for answer in _answers(points))


def _row(point: Point, labels: Sequence[str], companions: Sequence[str]) -> tuple[str, ...]:
    at, answer = map(_as_given, point.at.values()), point.answer
    if answer is None:
        return (*at, _NO_ANSWER, *("" for _ in (*labels, *companions)))
    by_label = {_label(row): shown_value(answer, answer.quantity, row) for row in reversed(answer.rows)}
    return (*at, shown_value(answer, answer.quantity, answer.headline),
            *(by_label.get(label, _NO_ANSWER) for label in labels),
            *(_companion(name, answer.extra) for name in companions))


def _companion(name: str, extra: Mapping[str, float]) -> str:
    """A companion number, rounded up. It is printed from its logarithm where the double is subnormal or 0."""
    if name not in extra:
        return _NO_ANSWER
    log_name = _COMPANIONS[name][1]
    return human_probability(extra[name], extra[log_name]) if log_name in extra else human(extra[name])


def _label(row: Row) -> str:
    """The header of the column of a row: the name of the bound, with its status where that is not proven."""
    status = row.route.bound.status
    return row_label(row) if status == "proven" else f"{row_label(row)} [{status}]"


def _as_given(x: Any) -> str:
    return x if isinstance(x, str) else plain(float(x))


def _full_table(points: Points) -> TextTable:
    """The table for programs: a row for each bound at each point, with numbers in full precision."""
    swept = points[0].at
    tables = [(point, full_table(point.answer)) for point in points if point.answer]
    names = [name for name in dict.fromkeys(name for _, table in tables for name in table.header) if name not in swept]
    rows = []
    for point, table in tables:
        at = tuple(x if isinstance(x, str) else repr(x) for x in point.at.values())
        for row in table.rows:
            cells = dict(zip(table.header, row, strict=True))
            rows.append((*at, *(cells.get(name, "") for name in names)))
    return TextTable((*swept, *names), rows)


def _page(points: Points) -> str:
    first = _answers(points)[0]
    below = [f"Neighbours: {first.adjacency}. Released: {first.released}{f', {first.scope}' if first.scope else ''}.",
             *(f"Note: {note}." for note in first.notes if note == NOT_SHUFFLED),
             *(f"{line}." for line in (*_notes_of_unproven_rows(points), *unanswered(points)))]
    rates = f"\n{aligned(_tables(points, _roc))}\n" if _has_roc(points) else ""
    return aligned(_rounded_table(points)) + "\n" + rates + paragraph(below)


def _notes_of_unproven_rows(points: Points) -> list[str]:
    """The notes on rows that are no guarantee, with their points: for example that a conjecture is refuted there."""
    return [f"At {_place(point)}: {note}" for point in points if point.answer
            for row in point.answer.rows if row.route.bound.status != "proven" for note in row.notes]


def unanswered(points: Points) -> list[str]:
    """A line 'No answer at σ = 0: …' for each point without an answer."""
    return [f"No answer at {_place(point)}: {point.error.message}" for point in points if point.error]


def _place(point: Point) -> str:
    """The point in words, for example 'σ = 2, δ = 1e-05'."""
    return ", ".join(f"{symbol(name)} = {_as_given(value)}" for name, value in point.at.items())
