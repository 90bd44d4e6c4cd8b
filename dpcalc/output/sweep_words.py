"""The words beside the numbers of a sweep: what they are, which bounds give them, and why a point has none."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from dpcalc.core import audits
from dpcalc.core.budgets import limit
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.output.values import about_unsolved, begun, row_label


class Point(NamedTuple):
    """A point of a sweep: the swept values, and the answer or the error at them."""

    at: dict[str, Any]
    answer: Answer | None = None
    error: DpcalcError | None = None

    @property
    def place(self) -> str:
        """The point in words, for example 'σ = 2, δ = 1e-05'."""
        return ", ".join(f"{symbol(name)} = {as_given(value)}" for name, value in self.at.items())


Points = Sequence[Point]


def as_given(x: Any) -> str:
    """A swept value as it was written in a list, or a point of a range."""
    return x if isinstance(x, str) else plain(float(x)).removesuffix(".0")


def standing(row: Row) -> str:
    """The status of a number. What an audit shows is proven from below."""
    return "proven" if row.status == "lower" and audits.ASKS in row.result else row.status


def label(row: Row) -> str:
    """The name of the bound of a row, with its status where that is not proven."""
    return row_label(row) if standing(row) == "proven" else f"{row_label(row)} [{row.status}]"


# --- the title -------------------------------------------------------------------------------------------------------

_FIXED = {"epsilon": ("delta",), "delta": ("epsilon",), "rdp": ("alpha",), "tpr": ("fpr",), audits.ASKS: ("delta",)}


def conditions(answer: Answer, swept: Collection[str]) -> dict[str, str]:
    """What the question fixes, by option: {'delta': 'δ = 1e-05'}, and 'each δ' where that option is swept."""
    question = answer.question
    found = [(name, "=", getattr(question, name)) for name in _FIXED.get(question.asks, ())]
    error = answer.parameters.get("error")
    if question.unknown:
        found.insert(0, ("error", "≤", error) if error else limit(question))
    options = {name: f"target_{name}" if answer.options.get(f"target_{name}") is not None else name
               for name, _, _ in found}
    return {options[name]: f"each {symbol(name)}" if options[name] in swept else f"{symbol(name)} {sign} {plain(x)}"
            for name, sign, x in found if x is not None}


def title(answer: Answer, swept: Collection[str]) -> str:
    """What the numbers are, as 'ε at δ = 1e-05', 'σ for ε ≤ 2 at δ = 1e-05' or 'σ for each ε at δ = 1e-05'."""
    first, *rest = [*conditions(answer, swept).values(), ""]
    between = " for " if answer.question.unknown else " at "
    name = begun(symbol(answer.quantity))
    return name + (between + " at ".join(filter(None, (first, *rest))) if first else "")


# --- the lines below -------------------------------------------------------------------------------------------------


def lines_below(points: Points, left_out: Collection[str] = ()) -> list[str]:
    """The bounds of the headlines, the adjacency and what is released, then what must hold, and the notes.

    `left_out` are the other adjacencies of rows that the sweep does not show.
    """
    answers = [point.answer for point in points if point.answer]
    first = answers[0]
    used = [f"{_bounds_used(points)}."] if first.rows else []
    other = [f"Note: rows for {name} neighbours are left out; --adjacency {name} asks for them." for name in left_out]
    released = ", ".join(filter(None, (first.released, first.scope)))
    neighbours = dict.fromkeys(answer.neighbours for answer in answers)
    is_audit = first.question.asks == audits.ASKS  # whose notes say what its numbers mean
    common = {note for note in first.notes if all(note in answer.notes for answer in answers)} if (
        first.table or is_audit) else ()
    promises = dict.fromkeys(promise for answer in answers for promise in answer.promises)
    of_one = list(dict.fromkeys(answer.only.text.partition(";")[0] for answer in answers
                                if answer.only and not answer.only.is_worst))
    if of_one:
        used.append(f"Each number is {of_one[0]}." if len(of_one) == 1 else "Each number holds for one record only.")
    about = f"{audits.SENTENCE} {audits.OF_SEVERAL}" if is_audit else (
        f"Neighbours: {'; '.join(neighbours)}. Released: {released}.")
    return [*used, about,
            *other, *dict.fromkeys(note for answer in answers for note in about_unsolved(answer)),
            *(f"Note: {promise}." for promise in promises),
            *(f"Note: {note}." for note in first.notes if note in common),
            # on rows that are no guarantee, such as that a conjecture is refuted there
            *(f"At {point.place}: {note}." for point in points if point.answer
              for row in point.answer.rows if row.status != "proven" for note in row.notes)]


def _bounds_used(points: Points) -> str:
    """'Bound: A', or 'Bounds: A, and B at σ = 1 with δ = 1e-5 to 1e-7', where A is the bound at most points."""
    headlines = _headline_labels(points)
    usual, *others = [name for name, _ in Counter(headlines.values()).most_common()]
    if not others:
        return f"Bound: {usual}"
    return "; ".join((f"Bounds: {usual}", *(f"{name} {_places(points, headlines, name)}" for name in others)))


def _headline_labels(points: Points) -> dict[tuple[str, ...], str]:
    """The label of the headline at each place. Of the conversions of one theorem, the most frequent one names all,
    unless every row is shown."""
    rows = {tuple(map(as_given, p.at.values())): p.answer.headline for p in points if p.answer}
    if any(p.answer.every_row for p in points if p.answer):
        return {at: label(row) for at, row in rows.items()}
    counts = Counter((row.theorem, row.status, label(row)) for row in rows.values())
    names = {(theorem, status): name for (theorem, status, name), _ in reversed(counts.most_common())}
    return {at: names[row.theorem, row.status] for at, row in rows.items()}


def _places(points: Points, headlines: dict[tuple[str, ...], str], name: str) -> str:
    """Where the headline has that bound, for example 'at σ = 1, 2 with δ = 1e-5 to 1e-7'."""
    first, *second = map(symbol, points[0].at)
    chosen = [at for at, found in headlines.items() if found == name]
    along = [list(dict.fromkeys(as_given(p.at[option]) for p in points)) for option in points[0].at]
    if not second:
        return f"at {first} = {_runs(along[0], [at[0] for at in chosen])}"
    grouped: dict[str, list[str]] = {}
    for value in along[0]:
        columns = [at[1] for at in chosen if at[0] == value]
        if columns:
            grouped.setdefault(_runs(along[1], columns), []).append(value)
    return "at " + " and ".join(f"{first} = {_runs(along[0], rows)} with {second[0]} = {columns}"
                                for columns, rows in grouped.items())


def _runs(values: Sequence[str], chosen: Collection[str]) -> str:
    """The chosen values, with three or more neighbours in the list written as '1 to 9'."""
    runs: list[list[str]] = [[]]
    for value in values:
        if value in chosen:
            runs[-1].append(value)
        else:
            runs.append([])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs if run)


def unanswered(points: Points) -> list[str]:
    """A line 'No answer at σ = 0: …' for each point without an answer."""
    return [f"No answer at {point.place}: {point.error.message}" for point in points if point.error]
