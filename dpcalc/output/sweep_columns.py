"""Which bounds have a column in a sweep of one option: nearly equal ones share one, and a narrow terminal has fewer."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, log, log1p

from dpcalc.core.results import Answer, Row
from dpcalc.core.text import listed
from dpcalc.output.sweep_words import label
from dpcalc.output.values import shown_value

NEARLY_EQUAL = 0.001  # relative: two columns whose numbers differ by at most this tell a reader the same

Numbers = Sequence[float | str]  # the logarithms of a column; the text of what is no number


class Columns:
    """The bounds of a sweep by the names of their columns, and how far their numbers are from those of the headline."""

    def __init__(self, answers: Sequence[Answer], names: Sequence[str]) -> None:
        self._heads = [_logarithm(answer, answer.headline) for answer in answers]
        by_label = [{label(row): row for row in reversed(answer.rows)} for answer in answers]
        rows = {name: [found.get(name) for found in by_label] for name in names}
        self._numbers = {name: [_logarithm(answer, row) for answer, row in zip(answers, rows[name], strict=True)]
                         for name in names}
        self._unproven = {name for name in names if any(row and row.status != "proven" for row in rows[name])}
        self._best = Counter(label(answer.headline) for answer in answers)  # name → at how many points it is the best
        self.names = list(names)

    def fold(self, of_headline: str) -> list[str]:
        """Leaves one of several columns that are nearly equal at every point: the headline, or the proven one that is
        the best at most points. Returns a sentence about each group."""
        equal = dict[str, list[str]]()
        known: list[tuple[str, Numbers]] = [(of_headline, self._heads)]
        for name in sorted(self.names, key=lambda name: (name in self._unproven, -self._best[name])):
            same = next((first for first, numbers in known if all(
                d <= log1p(NEARLY_EQUAL) for d in _differences(self._numbers[name], numbers))), None)
            if same is None:
                known.append((name, self._numbers[name]))
            else:
                equal.setdefault(same, []).append(name)
        self.names = [name for name in self.names if name in dict(known)]
        return [f"{listed(names)} {'is' if len(names) == 1 else 'are'} within {100 * NEARLY_EQUAL:g} % of {first} at "
                "every point." for first, names in equal.items()]

    def fit(self, fits: Callable[[Sequence[str]], bool]) -> list[str]:
        """Leaves as many columns as fit, and returns a sentence about the others. Those without a proof go first, then
        those that are the best at no point, the loosest first. Where the rest does not fit either, all stay."""
        order = sorted(self.names, key=lambda name: (name not in self._unproven, self._best[name] > 0,
                                                     -sum(_differences(self._numbers[name], self._heads))))
        for count in range(len(order) + 1):
            if fits(left := [name for name in self.names if name not in order[:count]]):
                self.names = left
                return [f"Left out for width: {', '.join(order[:count])}; --all or --format csv shows "
                        f"{'it' if count == 1 else 'them'}."] if count else []
        return []


def _logarithm(answer: Answer, row: Row | None) -> float | str:
    """The logarithm of the number of a row; its text where the row has another quantity, and '' without a row."""
    if row is None or answer.quantity not in row.result:
        return shown_value(answer, answer.quantity, row) if row else ""
    x = row.result[answer.quantity]
    return row.result["log_delta"] if answer.quantity == "delta" and "log_delta" in row.result else (
        log(x) if x > 0 else -inf)


def _differences(numbers: Numbers, others: Numbers) -> list[float]:
    return [0.0 if x == y else inf if isinstance(x, str) or isinstance(y, str) else abs(x - y)
            for x, y in zip(numbers, others, strict=True)]
