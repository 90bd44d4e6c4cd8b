"""The number of a ledger that is "?": the most permissive value with which the total ε meets the budget."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from dpcalc.accounting.answer import answer_rows
from dpcalc.commands.convert_answer import Composition, composition
from dpcalc.commands.ledger import COMMAND
from dpcalc.commands.ledger_releases import Entry, Unknown, composed_of, total_of
from dpcalc.core.bound import Params
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.core.question import Question
from dpcalc.core.results import Row
from dpcalc.core.run import Run


def solved(entries: Sequence[Entry], unknown: Unknown, given: Given, question: Question) -> tuple[Row, ...]:
    """The rows of the answer, by every bound for the composition, each with its own solution. Raises NoSolution where
    no value meets the budget, and where every value does."""
    options = {name: given[name] for name in ("orders", "precision", "bound", "delta") if given[name] is not None}
    options["solve"] = unknown.quantity.option[2:]
    _require_room(entries, unknown, given, question)

    @cache
    def composed_at(value: float) -> Composition:
        return composition(composed_of(entries, given["adjacency"], unknown, value).guarantees, question, options)

    kind, routes = _at_first_value(composed_at, unknown)

    def params(run: Run) -> Params:
        """The parameters of the bounds. A value that a release does not cover is out of scope, and no error."""
        try:
            found = composed_at(run[unknown.quantity.name])
        except DpcalcError as error:
            raise OutOfScope(error.code, error.message, error.option) from None
        if found.kind != kind:
            raise OutOfScope("no-solution", f"{kind} composes differently from {found.kind}", "--file")
        return found.params

    run = Run(COMMAND, given.replace(options), question, params)
    try:
        return answer_rows(run, routes, run.bounds)
    except NoSolution as error:
        error.option, error.message = "--file", f"{entries[unknown.place].title}: {error.message}"
        raise


def _at_first_value(composed_at: Any, unknown: Unknown) -> tuple[str, tuple[Any, ...]]:
    """The kind of the composition and its bounds, at the first value that the release covers. Any such value is valid,
    since neither depends on it."""
    first: DpcalcError | None = None
    for value in _values(unknown):
        try:
            found = composed_at(value)
            return found.kind, found.routes
        except DpcalcError as error:
            first = first or error
    assert first is not None
    raise first


def _values(unknown: Unknown) -> Iterator[float]:
    """Values of the unknown number from the middle of its range to its ends, by factors of 10."""
    low, high = unknown.quantity.search
    start = 1.0 if low <= 1 <= high else (low * high) ** 0.5
    for exponent in range(16):
        for value in {start * 10.0**exponent, start / 10.0**exponent}:
            if low <= value <= high:
                yield int(value) if unknown.quantity.kind == "count" else value


def _require_room(entries: Sequence[Entry], unknown: Unknown, given: Given, question: Question) -> None:
    """Raises NoSolution where the other releases alone exceed the budget."""
    others = [entry for k, entry in enumerate(entries) if k != unknown.place]
    if not others:
        return
    epsilon = total_of(composed_of(others, given["adjacency"]).guarantees, question.delta).headline.result["epsilon"]
    if epsilon >= (question.target or 0.0):
        raise NoSolution("no-solution",
                         f"{entries[unknown.place].title}: no value of {unknown.key} meets the budget ε ≤ "
                         f"{plain(question.target or 0.0)}: the other releases alone have ε = {human(epsilon)}",
                         "--file")
