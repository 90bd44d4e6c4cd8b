"""The records of an answer: a way to answer, what it gave, and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.core.bound import Bound, Params
from dpcalc.core.errors import DpcalcError
from dpcalc.core.one_record import OneRecord
from dpcalc.core.question import Question

# Said of every answer for Poisson batches of a run that is described by its records and its batch size.
NOT_SHUFFLED = ("this holds for Poisson-sampled batches, and does not cover a loader that shuffles the data (for that: "
                "dpcalc compare "
                "--batches shuffled)")


class Route(NamedTuple):
    """One way to answer: a bound, and for an RDP bound the conversion that ends it."""

    bound: Bound
    conversion: Bound | None = None
    on_request: bool = False  # shown only when named: never sharper than another one
    by_conversion: bool = False  # the conversion is what the reader chose, and names the row

    @property
    def named(self) -> Bound:
        """The theorem that names the row."""
        return self.conversion if self.by_conversion and self.conversion else self.bound

    @property
    def label(self) -> str:
        return self.named.name

    @property
    def theorems(self) -> tuple[Bound, ...]:
        return (self.bound, self.conversion) if self.conversion else (self.bound,)


class Row(NamedTuple):
    """What one route says: numbers by quantity, and the free choices (α, …) that prove them."""

    route: Route
    result: dict[str, float]
    witness: Mapping[str, float] = MappingProxyType({})
    params: Params = MappingProxyType({})  # what the bounds read
    digits: Mapping[str, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    more: Callable[[], Mapping[str, Any]] | None = None  # of the witness, computed when printed as JSON
    # of a comparison: the row's neighbours, what it assumes, the command that gives it
    said: Mapping[str, str] = MappingProxyType({})

    @property
    def theorem(self) -> tuple[str, str | None]:
        """What a table shows one row of: the bound, for one kind of neighbours."""
        return self.route.bound.name, self.said.get("adjacency")

    @property
    def proof(self) -> dict[str, Any]:
        """The whole witness."""
        return {**self.witness, **(self.more() if self.more else {})}


def guarantee_of(epsilon: Any, delta: Any) -> dict[str, Any]:
    """(ε, δ) as a next command reads it; where δ is 1, that a total variation is at most 1, which says as little."""
    return {"kind": "dp", "epsilon": epsilon, "delta": delta} if delta < 1 else {"kind": "tv", "tv": 1.0}


class Table(NamedTuple):
    """An answer that is a table of numbers, not a guarantee."""

    header: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


class Answer(NamedTuple):
    """All rows, sharpest proven first, with what a reader must know to use the number."""

    command: str
    question: Question
    parameters: dict[str, Any]
    rows: tuple[Row, ...]
    guarantee: dict[str, Any]
    adjacency: str
    released: str
    notes: tuple[str, ...] = ()
    extra: Mapping[str, float] = MappingProxyType({})  # companions of every result
    warnings: tuple[str, ...] = ()  # for stderr
    only: OneRecord | None = None  # where the number is about one record alone
    table: Table | None = None  # what is printed instead of rows
    roc: Table | None = None  # true-positive rates at false-positive rates, beside the rows
    # of a comparison: what else its JSON holds, computed when printed
    more: Callable[[], Mapping[str, Any]] | None = None
    options: Mapping[str, Any] = MappingProxyType({})  # as they were given: with the inputs, all it takes to ask again
    inputs: tuple[dict[str, Any], ...] = ()  # guarantees read from JSON
    scope: str = ""  # what else the headline says: for one step
    certified: Mapping[str, float] | None = None  # bits, and ends of what the theorem gives for the headline
    every_row: bool = False  # whether people are shown all rows, not the best of each theorem

    @property
    def headline(self) -> Row:
        """The sharpest proven row. Raises DpcalcError where only a description was asked for."""
        if self.table:
            raise DpcalcError("missing", "a table of the noise of steps has no headline")
        if not self.rows:
            raise DpcalcError("missing", "nothing to print: give --delta, --epsilon or --alpha", "--quiet")
        return self.rows[0]

    @property
    def handed_on(self) -> dict[str, Any]:
        """The guarantee as a next command reads it: with status and bound where the headline is not proven, so that it
        is refused."""
        head = self.rows[0].route if self.rows else None
        if head is None or head.bound.status == "proven":
            return self.guarantee
        return {**self.guarantee, "status": head.bound.status, "bound": head.label}

    @property
    def for_people(self) -> Answer:
        """The answer with the rows that a table shows: all of them, or the best of each theorem (rows are in order)."""
        if self.every_row:
            return self
        best: dict[tuple[str, str | None], Row] = {}
        for row in self.rows:
            best.setdefault(row.theorem, row)
        return self._replace(rows=tuple(best.values()))

    @property
    def all_notes(self) -> tuple[str, ...]:
        only = (self.only.text,) if self.only else ()
        return tuple(dict.fromkeys((*only, *self.notes, *(note for row in self.rows for note in row.notes))))

    @property
    def asked(self) -> str:
        return self.question.unknown.name if self.question.unknown else self.question.asks

    @property
    def value(self) -> float:
        return self.headline.result[self.asked]

    @property
    def values(self) -> tuple[float, ...]:
        """What --quiet prints: the headline's number, or the last column of a table."""
        return tuple(row[-1] for row in self.table.rows) if self.table else (self.value,)
