"""The answers of a sweep as a document: rows for one swept option, a grid for two, and long rows for programs."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dpcalc.core.counts import NOT_ABOUT_PRIVACY
from dpcalc.core.numbers import human, human_probability, in_one_notation
from dpcalc.core.quantities import symbol
from dpcalc.core.results import RESULT, Answer, Row
from dpcalc.output.answer import full_table, record, rounded_roc, table_of_numbers
from dpcalc.output.formats import Document
from dpcalc.output.sweep_columns import columns, fit, fold
from dpcalc.output.sweep_words import Point, Points, as_given, label, lines_below, title, unanswered
from dpcalc.output.tables import TextTable, TitledTable, aligned, is_aligned, paragraph
from dpcalc.output.theorem import of_answers
from dpcalc.output.values import in_full, row_label, shown_value


class _Companion(NamedTuple):
    """A number beside the headline: the header of its column, the title of its grid, and what holds its logarithm."""

    header: str
    title: str
    log_name: str = ""


_COMPANIONS = {"worst_index": _Companion("worst index", "worst index"),
               "worst_delta": _Companion("its δ", "δ at the worst index", "worst_log_delta"),
               "claimed_epsilon": _Companion("claimed ε", "claimed ε"), "refuted": _Companion("refuted", "refuted"),
               "epsilon": _Companion("ε", "ε"), "delta": _Companion("δ", "δ"),
               "worst_epsilon": _Companion("its ε", "ε at the worst index"),
               "worst_rdp": _Companion("its ε(α)", "ε(α) at the worst index"),
               "noise_within": _Companion("half-width", "half-width of the noise"),
               "noise_within_all": _Companion("of all", "half-width of all answers"),
               "keep_probability": _Companion("keep probability", "keep probability"),
               "delta_limit": _Companion("δ*", "δ*", "log_delta_limit"),
               "limit_factor": _Companion("times δ*", "δ as a multiple of δ*")}
_NO_ANSWER = "–"


def document(points: Points) -> Document:
    """The sweep as a document but for JSON, which is written point by point. At least one point has an answer."""
    shown = _in_one_notation(points)
    return Document(lambda: _page(shown), full=lambda: long_table(points),
                    # where the answers are tables themselves, their rows
                    rounded=lambda: _rates(shown) or _schedules(shown) or _titled(shown),
                    bibtex=lambda: of_answers(_answers(points)))


def _in_one_notation(points: Points) -> Points:
    """The points with their swept values as texts, those of one option in one notation."""
    columns = [in_one_notation([as_given(point.at[name]) for point in points]) for name in points[0].at]
    return [point._replace(at=dict(zip(point.at, texts, strict=True)))
            for point, texts in zip(points, zip(*columns, strict=True), strict=True)]


def with_one_adjacency(points: Points) -> Points:
    """The points without the rows of a comparison that are for another adjacency than the headline."""
    return [p._replace(answer=_with_one_adjacency(p.answer)) if p.answer else p for p in points]


def _with_one_adjacency(answer: Answer) -> Answer:
    return answer._replace(rows=tuple(row for row in answer.rows if _adjacency(row, answer) == answer.adjacency))


def _adjacency(row: Row, answer: Answer) -> str:
    return row.context.get("adjacency", answer.adjacency)


def record_of(point: Point) -> dict[str, Any]:
    """The object of a point in JSON."""
    if point.answer:
        return record(point.answer._replace(more=None))  # the further keys are for a single run
    assert point.error is not None
    return {**point.error.record(), "parameters": point.at}


# --- tables for people -----------------------------------------------------------------------------------------------


def _page(points: Points) -> str:
    """The page for people: the table or the grids, and the words below."""
    errors = [f"{line}." for line in unanswered(points)]
    if schedules := _schedules(points):
        return "\n\n".join((aligned(schedules), paragraph([*lines_below(points), *errors])))
    shown = _titled(points, is_fitted=True)
    constant = _constants(points)  # a grid for each companion number that is not the same at every point
    grids = [TitledTable(_COMPANIONS[name].title, _grid(points, partial(_companion, name)), across=shown.across).text
             for name in _companions(_answers(points)) if shown.across and name not in constant]
    rates = _rates(points)
    return "\n".join([shown.text, *grids, *([f"{aligned(rates)}\n"] if rates else []),
                      paragraph([*shown.below, *errors])])


def _titled(points: Points, is_fitted: bool = False) -> TitledTable:
    """The rows of a sweep of one option, or the grid of two, with its words. Where it `is_fitted`, columns that the
    terminal has no room for are left out."""
    shown = with_one_adjacency(points)
    first, swept = _answers(points)[0], points[0].at
    others = dict.fromkeys(_adjacency(row, answer) for answer in _answers(points) for row in answer.rows)
    below = lines_below(shown, [name for name in others if name != first.adjacency])
    if len(swept) == 2:
        constant = [f"{_COMPANIONS[name].title} = {text} at every point." for name, text in _constants(points).items()]
        return TitledTable(title(first, swept), _grid(shown, _headline), (*below, *constant), symbol(tuple(swept)[1]))
    table, said = _one_option(shown, is_fitted)
    return TitledTable(title(first, swept), table, (*below[:1], *said, *below[1:]))


def _grid(points: Points, cell: Callable[[Answer], str]) -> TextTable:
    """A row for each value of the first option, and a column for each value of the second one."""
    cells = {tuple(map(as_given, p.at.values())): cell(p.answer) if p.answer else _NO_ANSWER for p in points}
    down, across = (list(dict.fromkeys(at[k] for at in cells)) for k in (0, 1))
    rows = [(value, *(cells[value, column] for column in across)) for value in down]
    return TextTable((symbol(next(iter(points[0].at))), *across), rows)


def _headline(answer: Answer) -> str:
    """The headline as a cell, with its status where that is not proven."""
    label_of = label(answer.headline)
    status = label_of[label_of.index(" ["):] if label_of.endswith("]") else ""
    status += " (refuted)" if answer.refuted else ""
    return shown_value(answer, answer.quantity, answer.headline) + status


def _constants(points: Points) -> dict[str, str]:
    """The companion numbers that are the same at every point, each with its value."""
    answers = _answers(points)
    values = {name: {_companion(name, answer) for answer in answers} for name in _companions(answers)}
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1}


def _companions(answers: Sequence[Answer]) -> list[str]:
    """The companion numbers to show: not the limit δ* where that has the column of a bound."""
    every_limit = all(any(row.status == "limit" for row in answer.rows) for answer in answers)
    alone = all(answer.extra.get("noise_within_all") == answer.extra.get("noise_within") for answer in answers)
    of_error = ("noise_within",) if answers[0].parameters.get("error") else ()
    hidden = {*of_error, *(("delta_limit",) if every_limit else ()), *(("noise_within_all",) if alone else ()),
              *(answer.question.asks for answer in answers), *answers[0].parameters.keys() & _COMPANIONS.keys()}
    judged = {"refuted"} if any(answer.refuted is not None for answer in answers) else set()
    found = [name for name in _COMPANIONS if name not in hidden
             and (name in judged or any(name in answer.extra for answer in answers))]
    return [*_asked_beside_error(answers), *found]


def _asked_beside_error(answers: Sequence[Answer]) -> list[str]:
    """The privacy loss of the noise that stays within --error."""
    asks = answers[0].question.asks
    return [asks] if answers[0].parameters.get("error") and asks not in NOT_ABOUT_PRIVACY else []


def _one_option(points: Points, is_fitted: bool) -> tuple[TextTable, list[str]]:
    """The table of a sweep of one option, and sentences about bounds without a column: those that are nearly equal to
    another one, and where it `is_fitted`, what the width has no room for. --all shows all that differ."""
    answers = _answers(points)
    names = [name for name in dict.fromkeys(label(row) for row in rows_for_people(answers))
             if any(_cell(name, answer) != shown_value(answer, answer.quantity, answer.headline) for answer in answers)]
    said = list[str]()
    if not any(answer.every_row for answer in answers):
        reported, others = columns(answers, names, _asked(answers[0]))
        shown, said = fold(reported, others)
        if is_fitted:
            shown, left_out = fit(reported, shown, lambda some: is_aligned(_rows(points, [c.name for c in some])))
            said += left_out
        names = [column.name for column in shown]
    return _rows(points, names), said


def _rows(points: Points, names: Sequence[str]) -> TextTable:
    """A row for each point: the headline, the bounds with these names, and the companion numbers."""
    companions = _companions(_answers(points))
    header = (*map(symbol, points[0].at), _asked(_answers(points)[0]), *names,
              *(_COMPANIONS[name].header for name in companions))
    doubtful = frozenset(k for k, point in enumerate(points) if point.answer
                         and point.answer.headline.status != "proven")
    return TextTable(header, [_row(point, names, companions) for point in points], doubtful=doubtful)


def _answers(points: Points) -> list[Answer]:
    return [point.answer for point in points if point.answer]


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


def _schedules(points: Points) -> TextTable | None:
    return _tables(points, lambda answer: table_of_numbers(answer.table) if answer.table else None)


def _rates(points: Points) -> TextTable | None:
    return _tables(points, lambda answer: rounded_roc(answer, answer.roc) if answer.roc else None)


def _tables(points: Points, table_of: Callable[[Answer], TextTable | None]) -> TextTable | None:
    """The rows of every point's table, each after the swept values of the point; None where no point has one."""
    found = [(p, table) for p in points if p.answer and (table := table_of(p.answer))]
    if not found:
        return None
    header = (*map(symbol, points[0].at), *found[0][1].header)
    return TextTable(header, [(*map(as_given, p.at.values()), *row) for p, table in found for row in table.rows])


def _asked(answer: Answer) -> str:
    """The header of the numbers that answer the question."""
    return f"{'resulting ' if answer.has_given_namesake else ''}{symbol(answer.quantity)}"


def _row(point: Point, names: Sequence[str], companions: Sequence[str]) -> tuple[str, ...]:
    at, answer = map(as_given, point.at.values()), point.answer
    if answer is None:
        return (*at, _NO_ANSWER, *("" for _ in (*names, *companions)))
    return (*at, shown_value(answer, answer.quantity, answer.headline),
            *(_cell(name, answer) for name in names), *(_companion(name, answer) for name in companions))


def _cell(name: str, answer: Answer) -> str:
    """The number of the first row with this label."""
    return next((shown_value(answer, answer.quantity, row) for row in answer.rows if label(row) == name), _NO_ANSWER)


def _companion(name: str, answer: Answer) -> str:
    """A companion number, rounded up. It is printed from its logarithm where the double is subnormal or 0."""
    if name == answer.question.asks:
        return shown_value(answer, name, answer.headline)
    extra = answer.extra
    if name == "refuted":
        return "yes" if answer.refuted else "no"
    if name not in extra:
        return _NO_ANSWER
    log_name = _COMPANIONS[name].log_name
    return human_probability(extra[name], extra[log_name]) if log_name in extra else human(extra[name])


# --- the table for programs ------------------------------------------------------------------------------------------


def long_table(points: Iterable[Point]) -> TextTable:
    """The table for programs: a row for each bound at each point, with numbers in full precision. The points are
    read once, and only their cells are stored."""
    tables = []
    for point in points:
        if point.answer:
            table = full_table(_with_one_adjacency(point.answer))
            # a number of the answer that a swept option has the name of gets another one
            renamed = point.at if point.answer.has_given_namesake else ()
            header = [f"{RESULT}{name}" if name in renamed else name for name in table.header]
            tables.append((point.at, header, table.rows))
    swept = tables[0][0]
    names = [name for name in dict.fromkeys(name for _, header, _ in tables for name in header) if name not in swept]
    rows = []
    for at, header, cells_of_rows in tables:
        for cells in cells_of_rows:
            by_name = dict(zip(header, cells, strict=True))
            rows.append((*in_full(at.values()), *(by_name.get(name, "") for name in names)))
    return TextTable((*swept, *names), rows)
