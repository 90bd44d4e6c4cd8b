"""The points of a sweep as lines to draw: their labels, their scales, and their gaps."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, log, log10
from typing import Any, NamedTuple

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import SMALLEST_NORMAL, NotANumber, number, plain
from dpcalc.core.results import Answer, Row
from dpcalc.output.plot.labels import axis_label, subtitle, symbol
from dpcalc.output.plot.records import Plot, Scale, Series
from dpcalc.output.sweep import rows_for_people, with_one_adjacency
from dpcalc.output.sweep_words import Point, Points, conditions, standing, title
from dpcalc.output.values import row_label

_LOGARITHMIC_FROM = 2.0  # decades: over fewer, a linear axis shows the lines as well and is easier to read


class _Number(NamedTuple):
    """A value and its decimal logarithm, which is exact also where the value underflows."""

    value: float
    log10: float


class _Line(NamedTuple):
    """A line before its scales are chosen: pairs of x and a number, or None for a gap."""

    label: str
    points: list[tuple[float | None, _Number | None]]
    proven: bool = True
    value: float | None = None


# --- what is drawn ---------------------------------------------------------------------------------------------------


def plot_sweep(command: Command, raw: Mapping[str, Any], points: Points) -> Plot:
    """A line for each bound over one swept option.

    In a grid, the option with more values (of two equal ones the first) runs along x, and each value of the other one
    has a line, of the headline bound at each point. In a sweep of ROC curves, each point has a curve.
    """
    points = with_one_adjacency(points)
    first = next(p.answer for p in points if p.answer)
    swept = tuple(points[0].at)
    if any(table and len(table.rows) > 1 for table in (first.roc, first.table)):
        labelled = [(", ".join(_equals(command, name, p.at[name]) for name in swept), p.answer) for p in points
                    if p.answer]
        return plot_tables(command, raw, labelled, swept)
    if not first.rows:
        raise DpcalcError("missing", "nothing to draw: give --delta, --epsilon or --alpha", "--plot")
    across = max(swept, key=lambda name: len({str(p.at[name]) for p in points}))
    other = next((name for name in swept if name != across), None)
    found = _by_value(command, points, across, other) if other else _by_bound(points, across)
    second = None
    if other:
        values = [_plain(line.value) for line in found if line.value is not None]
        second = Scale(axis_label(command, other), _kind(values, _is_logarithmic(str(raw[other]), values)))
    up = axis_label(command, first.quantity)
    fixed = [] if first.question.unknown else conditions(first, swept).values()
    drawn = _scaled(found, (axis_label(command, across), " at ".join((up, *fixed))), str(raw[across]), second,
                    title(first, swept), subtitle(command, raw, first, swept, grid=other is not None))
    return drawn if other else _with_best(drawn, points, across)


def plot_tables(command: Command, raw: Mapping[str, Any], labelled: Sequence[tuple[str, Answer]],
                swept: tuple[str, ...] = ()) -> Plot:
    """ROC curves beside that of a blind guess, or the noise of schedules over the steps."""
    tables = [(label, table) for label, answer in labelled if (table := answer.roc or answer.table)]
    if not tables:
        raise DpcalcError("missing", "there is no sweep, ROC curve or noise schedule to draw", "--plot")
    across, up = tables[0][1].header[:2]
    lines = [_Line(label or _TABLES[up][1], [(row[0], _plain(row[1])) for row in table.rows]) for label,
             table in tables]
    if up == "tpr":
        lines.append(_Line("blind guess", [(row[0], _plain(row[0])) for row in tables[0][1].rows]))
    drawn = _scaled(lines, (axis_label(command, across), axis_label(command, up)), "", None, _TABLES[up][0],
                    subtitle(command, raw, labelled[0][1], (*swept, "fpr", "roc", "schedule"), grid=False))
    return drawn._replace(strong=0 if len(tables) == 1 else None)


_TABLES = {"tpr": ("Largest true-positive rate of any attack", "any attack"), "sigma": ("σ of each step", "schedule"),
           "scale": ("v of each step", "schedule")}


def _equals(command: Command, name: str, at: Any) -> str:
    """'σ = 1/3', with a text as it was given."""
    return f"{symbol(command, name)} = {at.strip() if isinstance(at, str) else plain(at)}"


def _is_logarithmic(text: str, numbers: Sequence[_Number]) -> bool:
    """Whether the axis of these swept values is logarithmic: for start:stop:count:log, and for a list whose values are
    closer to a geometric progression than to an arithmetic one."""
    if ":" in text:
        return text.replace(" ", "").endswith(":log")
    values = sorted({n.value for n in numbers})
    if len(values) < 2 or values[0] <= 0:
        return False
    if len(values) == 2:  # any two values are a progression of both kinds
        return values[1] / values[0] > 10**_LOGARITHMIC_FROM
    tens = list(map(log10, values))
    return _unevenness(tens) < _unevenness(values)


def _unevenness(values: Sequence[float]) -> float:
    """The mean distance of ascending values from evenly spaced ones, as a share of their range."""
    low, last = values[0], len(values) - 1
    return sum(abs((x - low) / (values[-1] - low) - k / last) for k, x in enumerate(values)) / last


def has_table(raw: Mapping[str, Any]) -> bool:
    """Whether a call without a sweep gives a table to draw: several false-positive rates, or a noise schedule."""
    return raw.get("roc") is not None or "," in str(raw.get("fpr")) or ":" in str(raw.get("schedule"))


def _scaled(found: Sequence[_Line], labels: tuple[str, str], swept: str, second: Scale | None, title: str,
            subtitle: str) -> Plot:
    """The lines with the scales of their axes; `swept` is the text of the list or range along x."""
    xs = [_plain(at) for line in found for at, mark in line.points if mark and at is not None and isfinite(at)]
    across = f"given {labels[0]}" if labels[0] == labels[1] else labels[0]  # the ε of one step, and of all
    marks = [mark for line in found for _, mark in line.points if mark]
    x = Scale(across, _kind(xs, _is_logarithmic(swept, xs) if swept else _is_wide(xs)))
    y = Scale(labels[1], _kind(marks, _is_wide(marks)))
    notes = tuple(note for line in found for note in _notes_of_lost_points(line, x, y))
    return Plot(title, subtitle, x, y, tuple(_series(line, x, y, second) for line in found), second, notes)


# --- lines -----------------------------------------------------------------------------------------------------------


def _by_bound(points: Points, across: str) -> list[_Line]:
    """A line for each bound and status: proven ones first, and of these the most frequent headline.

    A bound whose status changes over the sweep has several lines; one that does not give the asked quantity has none.
    """
    answers = [p.answer for p in points if p.answer]
    heads = [_key(a.headline) for a in answers]
    found = dict.fromkeys(_key(row) for row in rows_for_people(answers) if answers[0].quantity in row.result)
    keys = sorted(found, key=lambda key: (key[1] != "proven", -heads.count(key)))
    return [_line(key[0], key[1], [(_at(p.at[across]), _height(p.answer, key)) for p in points]) for key in keys]


def _by_value(command: Command, points: Points, across: str, other: str) -> list[_Line]:
    """A line for each value of the other option and each status of the headline bounds."""
    groups: dict[str, list[Point]] = {}
    for p in points:
        groups.setdefault(_equals(command, other, p.at[other]), []).append(p)
    lines = []
    for label, group in groups.items():
        for status in dict.fromkeys(standing(a.headline) for p in group if (a := p.answer)):
            at = [(_at(p.at[across]), _height(p.answer, ("", status))) for p in group]
            lines.append(_line(label, status, at, _at(group[0].at[other])))
    return lines


def _key(row: Row) -> tuple[str, str]:
    return row_label(row), standing(row)


def _line(label: str, status: str, at: list[tuple[float | None, _Number | None]], value: float | None = None) -> _Line:
    return _Line(label if status == "proven" else f"{label} [{status}]", at, status == "proven", value)


def _height(answer: Answer | None, key: tuple[str, str]) -> _Number | None:
    """The asked quantity by the row with that label and status; an empty label stands for the headline."""
    if answer is None:
        return None
    rows = answer.rows if key[0] else (answer.headline,)
    row = next((row for row in rows if key in (_key(row), ("", standing(row)))), None)
    value = row.result.get(answer.quantity) if row else None
    if row is None or value is None:
        return None
    if answer.quantity == "delta" and "log_delta" in row.result:
        return _Number(value, row.result["log_delta"] / log(10))
    return _plain(value)


def _plain(x: float) -> _Number:
    return _Number(x, log10(x) if x > 0 else -inf)


def _at(x: Any) -> float | None:
    """A swept value as a number; None where its text is not a number, so that the point has no answer."""
    if not isinstance(x, str):
        return float(x)
    try:
        return number(x)
    except NotANumber:
        return inf if x.strip().lower() in ("inf", "infinity", "∞") else None


def _with_best(plot: Plot, points: Points, across: str) -> Plot:
    """The plot in which the line that is the best at all points is strong; where there is none, with a line through the
    proven headline of each point."""
    heads = [(_at(p.at[across]), _height(p.answer, ("", "proven"))) for p in points]
    best = _series(_line("best", "proven", heads), plot.x, plot.y)
    if best.y.count(None) == len(best.y):
        return plot
    strong = [all(b in (None, y) for y, b in zip(s.y, best.y, strict=True)) for s in plot.series]
    return plot._replace(strong=strong.index(True)) if any(strong) else plot._replace(best=best)


# --- scales ----------------------------------------------------------------------------------------------------------


def _is_wide(numbers: Sequence[_Number]) -> bool:
    """Whether the positive numbers span enough decades for a logarithmic axis."""
    tens = [n.log10 for n in numbers if isfinite(n.log10)]
    return bool(tens) and max(tens) - min(tens) > _LOGARITHMIC_FROM


def _kind(numbers: Sequence[_Number], logarithmic: bool) -> str:
    """The kind of the scale: linear where some number is negative, and powers where some would underflow."""
    tens = [n.log10 for n in numbers if isfinite(n.log10)]
    if not tens or any(n.value < 0 for n in numbers):
        return "linear"
    if min(tens) < log10(SMALLEST_NORMAL):
        return "powers"
    return "log" if logarithmic else "linear"


def _series(line: _Line, x: Scale, y: Scale, second: Scale | None = None) -> Series:
    places = [(_place(_plain(at), x), _place(mark, y) if mark else None) for at, mark in line.points if at is not None]
    placed = sorted(((px, py) for px, py in places if px is not None), key=lambda pair: pair[0])
    value = None if second is None or line.value is None else _place(_plain(line.value), second)
    return Series(line.label, tuple(px for px, _ in placed), tuple(py for _, py in placed), line.proven, value)


def _place(n: _Number, scale: Scale) -> float | None:
    """The coordinate on an axis; None at infinity, and at 0 on a logarithmic axis."""
    if not isfinite(n.value) or (scale.kind != "linear" and not isfinite(n.log10)):
        return None
    return n.log10 if scale.kind == "powers" else n.value


def _notes_of_lost_points(line: _Line, x: Scale, y: Scale) -> Iterable[str]:
    """The points that have no place on the axes, in words."""
    lost = [n for at, mark in line.points if at is not None and mark for n,
            scale in ((_plain(at), x), (mark, y)) if _place(n, scale) is None]
    for value, what in ((inf, "at infinity"), (0.0, "at 0 (a logarithmic axis has none)")):
        count = sum(n.value == value for n in lost)
        if count:
            yield f"not drawn: {count} {'point' if count == 1 else 'points'} of {line.label} {what}"
