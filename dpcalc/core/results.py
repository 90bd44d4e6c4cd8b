"""The records of a question and its answer: a route (bound and conversion), the row it gives, and all rows together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, nextafter
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.core.bound import Bound, Conversion, Params, PointBound
from dpcalc.core.errors import DpcalcError
from dpcalc.core.quantities import Quantity
from dpcalc.core.relations import RELATIONS
from dpcalc.core.text import MOST_NAMED

CONVERTED = "(to-replace-one)"  # ends the note on guarantees that were converted to other neighbours

RESULT = "result_"  # begins the name of a column of the answer, where an option that is given has the name itself


# --- the question ----------------------------------------------------------------------------------------------------


class Question(NamedTuple):
    """The question of a call: ε at δ, δ at ε, RDP at α, TV or μ; or the parameter that just meets a budget.

    `asks` is epsilon, delta, rdp, tv, tpr (at `fpr`), mu, rho, or guarantee: only the description, for a pipe.

    With an `unknown`, the parameter to solve for, `target` is the budget on the quantity that `asks` names. A search
    asks for the upper end of a numerical composition only.
    """

    asks: str
    epsilon: float | None = None
    delta: float | None = None
    alpha: float | None = None
    orders: tuple[float, ...] = ()
    unknown: Quantity | None = None
    target: float | None = None
    fpr: float | None = None
    upper_only: bool = False

    @property
    def log_delta(self) -> float:
        """log δ, rounded down; −∞ where δ is 0 or not given."""
        return nextafter(log(self.delta), -inf) if self.delta else -inf


# --- the answer ------------------------------------------------------------------------------------------------------


class Route(NamedTuple):
    """A bound, and for an RDP bound the conversion to (ε, δ), or the bound on the total variation at one order."""

    bound: Bound
    conversion: Conversion | PointBound | None = None
    on_request: bool = False  # shown only when named: another route is never worse
    by_conversion: bool = False  # the conversion was chosen by the user, and names the row

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
    """What one route gives: numbers by quantity, and the free choices (the order α, …) that prove them."""

    route: Route
    result: dict[str, float]
    witness: Mapping[str, float] = MappingProxyType({})
    params: Params = MappingProxyType({})  # the arguments of the bounds
    digits: Mapping[str, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    more: Callable[[], Mapping[str, Any]] | None = None  # rest of the witness, computed when printed as JSON
    # Of a comparison: the row's adjacency, what it assumes, the command that gives it.
    context: Mapping[str, str] = MappingProxyType({})

    @property
    def status(self) -> str:
        """The status of the bound: a number that is not proven is no guarantee."""
        return self.route.bound.status

    @property
    def theorem(self) -> tuple[str, str | None]:
        """The key under which a table shows one row only: the bound, and the adjacency in a comparison."""
        return self.route.bound.name, self.context.get("adjacency")

    @property
    def proof(self) -> dict[str, Any]:
        """The whole witness."""
        return {**self.witness, **(self.more() if self.more else {})}


def guarantee_of(epsilon: Any, delta: Any) -> dict[str, Any]:
    """(ε, δ) as the next command reads it. Where δ is 1, which no command accepts, it is TV <= 1, which promises as
    little."""
    return {"kind": "dp", "epsilon": epsilon, "delta": delta} if delta < 1 else {"kind": "tv", "tv": 1.0}


class Table(NamedTuple):
    """A table with named columns, as the noise of every step or an ROC curve: of numbers, or of names and numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""


class Release(NamedTuple):
    """One release of a ledger, at the δ of the ledger: its own ε, the ε of all releases up to it, and with a budget the
    difference between the budget and that, which is 0 where nothing is left. `parts` say what is released of each of
    several disjoint parts of the data, `share` what it adds to the total, as a share of the budget, and `remarks` its
    date, its note and keys of the writer's own. Without δ the numbers are ρ or μ, as `quantity` says."""

    name: str
    epsilon: float
    total_epsilon: float
    left: float | None = None
    parts: tuple[str, ...] | None = None
    share: float | None = None
    remarks: Mapping[str, Any] = MappingProxyType({})
    quantity: str = "epsilon"


class Charged(NamedTuple):
    """One release of an adaptive ledger: what it takes from the budget of the filter, what all releases up to it take,
    and what is left; and what stands beside it, as beside a Release."""

    name: str
    spent: float
    total_spent: float
    left: float
    parts: tuple[str, ...] | None = None
    share: float | None = None
    remarks: Mapping[str, Any] = MappingProxyType({})


class OneRecord(NamedTuple):
    """The words beside a number that holds for one record alone, and not for the whole data set, as 'for record 100
    only; the worst record, 1000, has δ = 0.507'."""

    text: str
    is_worst: bool = False  # then the number holds for every record


def for_one(index: int, worst: float | None = None, value: str = "", what: str = "record") -> OneRecord:
    """The words for the record at an index (or another `what` with an index).

    `worst` is the index of the record with the greatest loss, where it is known, and `value` its loss in words.
    """
    if worst == index:
        return OneRecord(f"for {what} {index}, which is the worst one", True)
    if worst is None:
        return OneRecord(f"for {what} {index} only")
    number = "in the limit" if worst == inf else f"{worst:.17g}"
    return OneRecord(f"for {what} {index} only; the worst {what}, {number}, has {value}")


def for_some(indices: Sequence[int]) -> OneRecord:
    """The words for guarantees that were read from JSON, each for one record of a run that is not known here."""
    if len(indices) == 1:
        return OneRecord(f"for record {indices[0]} only, as the input says")
    places = f"{len(indices)} places" if len(indices) > MOST_NAMED else f"places {' and '.join(map(str, indices))}"
    return OneRecord(f"for one record only, at {places} of its runs, as the inputs say")


_ANY_GROUPS = "groups of {size} records; for one record {adjacency}"


class Answer(NamedTuple):
    """All rows, the best proven one first, with what a reader must know to use the number."""

    command: str
    question: Question
    parameters: dict[str, Any]
    rows: tuple[Row, ...]
    guarantee: dict[str, Any]
    adjacency: str
    released: str
    notes: tuple[str, ...] = ()
    extra: Mapping[str, float] = MappingProxyType({})  # printed beside the result of every row
    warnings: tuple[str, ...] = ()  # for stderr
    only: OneRecord | None = None  # where the number is about one record alone
    table: Table | None = None  # what is printed instead of rows
    roc: Table | None = None  # true-positive rates at false-positive rates, beside the rows
    # Of a comparison: the further keys of its JSON, computed when printed.
    more: Callable[[], Mapping[str, Any]] | None = None
    options: Mapping[str, Any] = MappingProxyType({})  # as they were given: with the inputs, enough to repeat the call
    inputs: tuple[dict[str, Any], ...] = ()  # guarantees read from JSON
    scope: str = ""  # "for one step" where the number is not about the whole run: words of the headline
    certified: Mapping[str, float] | None = None  # bits of ball arithmetic, and an enclosure of the headline
    releases: Sequence[Any] = ()  # of a ledger, in its order: Release, or of an adaptive one Charged
    # Of an adaptive ledger: its filter, order, budget, what is spent and left of it, and the reserve of δ.
    adaptive: Mapping[str, Any] | None = None
    over_budget: bool = False  # of a ledger: the total ε is above its budget, and the exit code is 3
    refuted: bool | None = None  # of an audit: whether it refutes the claim, if there is one; then the exit code is 3
    curves: Callable[[], Table] | None = None  # of an audit: the true-positive rates that --plot draws
    every_row: bool = False  # whether tables show all rows, not only the best of each theorem
    promises: tuple[str, ...] = ()  # what must hold besides the assumptions of theorems, which the next command reads
    of_respondents: bool = False  # whether neighbouring data sets differ in what one respondent reports

    @property
    def headline(self) -> Row:
        """The best proven row. Raises DpcalcError where the call only describes a mechanism."""
        if self.table:
            raise DpcalcError("missing", "a table has no single number")
        if not self.rows:
            raise DpcalcError("missing", "there is no number to print; add --delta, --epsilon or --alpha", "--quiet")
        return self.rows[0]

    @property
    def piped_guarantee(self) -> dict[str, Any]:
        """The guarantee as the next command reads it; with status and bound where the headline is not proven, which
        makes that command refuse it."""
        head = self.rows[0] if self.rows else None
        if head is None or head.status == "proven":
            return self.guarantee
        return {**self.guarantee, "status": head.status, "bound": head.route.label}

    @property
    def with_best_rows(self) -> Answer:
        """The answer with the rows that a table shows: the best of each theorem, or all with `every_row`. Of a
        comparison only guarantees."""
        if self.every_row:
            return self
        best: dict[tuple[str, str | None], Row] = {}
        for row in self.rows:
            # A comparison says its lower end in the line below the headline.
            if self.more is None or row is self.rows[0] or row.status != "lower":
                best.setdefault(row.theorem, row)
        return self._replace(rows=tuple(best.values()))

    @property
    def group_size(self) -> int:
        """The number of records that neighbouring data sets differ in."""
        return int(self.guarantee.get("group_size", 1)) if self.guarantee else 1

    @property
    def neighbours(self) -> str:
        """Which data sets are neighbours, in words where they differ in a group of records."""
        if self.group_size == 1:
            return f"{self.adjacency} (one respondent's answer)" if self.of_respondents else self.adjacency
        groups = RELATIONS[self.adjacency].groups if self.adjacency in RELATIONS else _ANY_GROUPS
        return groups.format(size=self.group_size, adjacency=self.adjacency)

    @property
    def limits(self) -> tuple[str, ...]:
        """What the number is about, where that is one record or one step alone. A headline says it already."""
        return (*((self.only.text,) if self.only else ()), *((f"{self.scope} only",) if self.scope else ()))

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes of the answer and of its rows, once each, without its promises."""
        return tuple(dict.fromkeys((*self.limits, *self.notes, *(note for row in self.rows for note in row.notes))))

    @property
    def quantity(self) -> str:
        """The name of the quantity that the answer is about: the unknown, or what the question asks."""
        return self.question.unknown.name if self.question.unknown else self.question.asks

    @property
    def has_given_namesake(self) -> bool:
        """Whether an option of the same name as the number asked for is given: the ε of each step, where the total ε is
        asked for. In one table the two need different names."""
        return self.question.unknown is None and self.options.get(self.quantity) is not None

    @property
    def value(self) -> float:
        """The number asked for, of the headline."""
        return self.headline.result[self.quantity]

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers that --quiet prints: that of the headline, or the last column of a table."""
        return tuple(row[-1] for row in self.table.rows) if self.table else (self.value,)
