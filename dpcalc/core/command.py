"""What a command is: its options (quantities with defaults), its words, and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core import quantities as q
from dpcalc.core.quantities import Quantity

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

QUESTION, ATTACK, GUARANTEE, MECHANISM, RUN, OUTPUT = GROUPS = ("Question", "Attack", "Guarantee", "Mechanism", "Run",
                                                                "Output")
ASKS = "Ask with --delta (prints ε), --epsilon (prints δ), --alpha (prints the RDP), or give a budget and --solve."


class Option(NamedTuple):
    """A parameter of one command: the quantity, its default there, and the group it is listed under."""

    quantity: Quantity
    group: str
    default: Any = None
    choices: tuple[str, ...] = ()  # where the command narrows them
    multiple: bool = False

    @property
    def name(self) -> str:
        return self.quantity.name


# (routes, values, derive, question, how a row's command begins) → rows of a record
Recorded = Callable[..., tuple["Row", ...]]


class Given:
    """Validated parameters: `values` with the defaults filled in, `provided` the names that were said, `inputs` the
    guarantees read from JSON. `recorded` is there where a record is verified: it gives the rows of the record instead
    of computed ones."""

    def __init__(self, values: dict[str, Any], provided: frozenset[str], inputs: tuple[Any, ...] = (),
                 recorded: Recorded | None = None) -> None:
        self.values, self.provided, self.inputs, self.recorded = values, provided, inputs, recorded

    def having(self, values: dict[str, Any], provided: frozenset[str] | None = None,
               inputs: tuple[Any, ...] | None = None) -> Given:
        """The same call with other values; what is not said stays."""
        return Given(values, self.provided if provided is None else provided, self.inputs if inputs is None else inputs,
                     self.recorded)

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def has(self, name: str) -> bool:
        return name in self.provided

    def said(self, without: Container[str]) -> dict[str, Any]:
        """The options as they were given."""
        return {name: self[name] for name in sorted(self.provided) if name not in without}


class Command(NamedTuple):
    name: str
    help: str
    options: tuple[Option, ...]
    answer: Callable[[Given], Answer]
    examples: tuple[tuple[str, str], ...] = ()  # (arguments, headline)
    inputs: bool = False  # takes guarantees from files or standard input
    describes: bool = False  # without a question, JSON output is the description of the mechanism alone
    theorems: Callable[[], Iterable[Route]] = tuple  # every way in which it can answer
    asks: str = ASKS  # how a question is put, for the help

    def __hash__(self) -> int:
        return hash(self.name)

    def option(self, name: str) -> Option:
        return next(o for o in self.all_options() if o.name == name)

    def all_options(self) -> tuple[Option, ...]:
        common = COMMON + ((Option(q.INPUT, OUTPUT, multiple=True),) if self.inputs else ())
        mine = {o.name for o in self.options}
        return self.options + tuple(o for o in common if o.name not in mine)

    def solvable(self) -> tuple[str, ...]:
        return tuple(o.quantity.option[2:] for o in self.options if o.quantity.safer)


class Page(NamedTuple):
    """A command that answers no question: words, and options where it has some (as keywords), → text."""

    name: str
    help: str
    metavar: str
    prints: Callable[..., Any]
    examples: tuple[tuple[str, str], ...] = ()
    options: tuple[Option, ...] = ()
    switches: tuple[tuple[str, str], ...] = ()  # (name, help)
    words: Callable[[], Iterable[str]] = tuple  # what the words can be, for completions

    def all_options(self) -> tuple[Option, ...]:
        return self.options


COMMON = (
    Option(q.EPSILON, QUESTION),
    Option(q.DELTA, QUESTION),
    Option(q.ALPHA, QUESTION),
    Option(q.RDP, QUESTION),
    Option(q.SOLVE, QUESTION),
    Option(q.BOUND, QUESTION, multiple=True),
    Option(q.FORMAT, OUTPUT, default="table"),
    Option(q.DIGITS, OUTPUT),
    Option(q.PLOT, OUTPUT),
)


def refuse_unneeded(given: Given, needed: set[str], why: str) -> None:
    """Options that the question does not use are an error: an ignored one would be answered wrongly in silence."""
    from dpcalc.core.errors import DpcalcError, flag

    always = {"bound", "format", "digits", "input", "solve", "epsilon", "delta", "alpha", "rdp"}
    for name in sorted(given.provided - needed - always):
        instead = " or ".join(flag(n) for n in _LEVELS if n in needed
                              and n not in given.provided) if name in _LEVELS else ""
        raise DpcalcError("unneeded", f"not used {why}{f'; give {instead}' if instead else ''}", flag(name))


_LEVELS = ("sigma", "noise_multiplier", "scale", "probability", "c1", "sigmas", "scales")  # each says how much noise


def check_unknown(question: Question, used: set[str], where: str) -> None:
    """The parameter to be solved for must be one that the answer depends on; --orders belongs to a search over
    orders."""
    from dpcalc.core.errors import DpcalcError

    if question.unknown is not None and question.unknown.name not in used:
        raise DpcalcError("unknown-value", f"{question.unknown.option} is no parameter {where}", "--solve")
    if question.asks == "rdp" and question.orders:
        raise DpcalcError("unneeded", "the order is given by --alpha", "--orders")


def require(given: Given, names: tuple[str, ...], why: str, unknown: str | None = None) -> None:
    """All of `names` but the one to be solved for."""
    missing([name for name in names if given[name] is None and name != unknown], why)


def missing(names: Sequence[str], why: str) -> None:
    """An error that tells all of these at once, if there are any."""
    from dpcalc.core.errors import DpcalcError, flag

    if names:
        first, *others = map(flag, names)
        also = f"; so {'are' if len(others) > 1 else 'is'} {', '.join(others)}" if others else ""
        raise DpcalcError("missing", f"needed {why}{also}", first)
