"""Which bounds have a column in a sweep of one option: nearly equal ones share one, and a narrow terminal has fewer."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, log, log1p
from typing import NamedTuple

from dpcalc.core.results import Answer, Row
from dpcalc.core.text import listed
from dpcalc.output.sweep_words import label
from dpcalc.output.values import shown_value

NEARLY_EQUAL = 0.001  # relative: two columns whose numbers differ by at most this tell a reader the same


class Column(NamedTuple):
    """The numbers of a bound at the points of a sweep, as logarithms; the text of what is no number."""

    name: str
    numbers: tuple[float | str, ...]
    is_proven: bool = True
    best: int = 0  # the number of points at which it is reported

    def distances(self, other: "Column") -> list[float]:
        """The distances of the logarithms, infinite where one of them is no number."""
        return [0.0 if x == y else inf if isinstance(x, str) or isinstance(y, str) else abs(x - y)
                for x, y in zip(self.numbers, other.numbers, strict=True)]


def columns(answers: Sequence[Answer], names: Sequence[str], of_reported: str) -> tuple[Column, list[Column]]:
    """The column of the reported numbers, with this name, and those of bounds."""
    reported = Counter(label(answer.headline) for answer in answers)
    by_label = [{label(row): row for row in reversed(answer.rows)} for answer in answers]
    rows = {name: [found.get(name) for found in by_label] for name in names}
    found = [Column(name, tuple(map(_logarithm, answers, rows[name])),
                    all(row is None or row.status == "proven" for row in rows[name]), reported[name]) for name in names]
    return Column(of_reported, tuple(_logarithm(answer, answer.headline) for answer in answers)), found


def fold(first: Column, others: Sequence[Column]) -> tuple[list[Column], list[str]]:
    """One of several columns that are nearly equal at every point: the first, or the proven one that is reported at
    most points; with a sentence about each group."""
    equal: dict[str, list[str]] = {}
    shown = [first]
    for column in sorted(others, key=lambda c: (not c.is_proven, -c.best)):
        same = next((c.name for c in shown if max(column.distances(c)) <= log1p(NEARLY_EQUAL)), None)
        if same is None:
            shown.append(column)
        else:
            equal.setdefault(same, []).append(column.name)
    return ([column for column in others if column in shown],
            [f"{listed(names)} {'is' if len(names) == 1 else 'are'} within {100 * NEARLY_EQUAL:g} % of {same} at every "
             "point." for same, names in equal.items()])


def fit(first: Column, others: Sequence[Column], fits: Callable[[Sequence[Column]], bool]
        ) -> tuple[list[Column], list[str]]:
    """As many columns as fit, and a sentence about those that are left out. Those without a proof go first, then those
    that are reported at no point, the loosest first. Where the smallest table does not fit either, all stay."""
    order = sorted(others, key=lambda c: (c.is_proven, c.best > 0, -sum(c.distances(first))))
    for count in range(len(order) + 1):
        if fits(left := [column for column in others if column not in order[:count]]):
            left_out = ", ".join(column.name for column in order[:count])
            return left, [f"Left out for width: {left_out}; --all or --format csv shows "
                          f"{'it' if count == 1 else 'them'}."] if count else []
    return list(others), []


def _logarithm(answer: Answer, row: Row | None) -> float | str:
    """The logarithm of the number of a row, which is never negative; its text where the row has another quantity, and
    '' without a row."""
    if row is None or answer.quantity not in row.result:
        return shown_value(answer, answer.quantity, row) if row else ""
    x = row.result[answer.quantity]
    return row.result["log_delta"] if answer.quantity == "delta" and "log_delta" in row.result else (
        log(x) if x > 0 else -inf)
