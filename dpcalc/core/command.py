"""The records that describe a command: its options, its help, and the function that answers a call."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core import quantities as q
from dpcalc.core.quantities import Quantity

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

GROUPS = ("Question", "Attack", "Guarantee", "Mechanism", "Run", "Output")  # of options in the help, in this order
QUESTION, ATTACK, GUARANTEE, MECHANISM, RUN, OUTPUT = GROUPS
ASKS = "Ask with --delta (prints ε), --epsilon (prints δ) or --alpha (prints the RDP), or give a budget and --solve."


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
    """The validated parameters of one call.

    `values` holds every parameter with a value, defaults included; `provided` the names that were given explicitly;
    `inputs` the guarantees read from JSON. When a JSON record is verified, `recorded` returns the rows of the record,
    which stand in place of computed ones.
    """

    def __init__(self, values: dict[str, Any], provided: frozenset[str], inputs: tuple[Any, ...] = (),
                 recorded: Recorded | None = None) -> None:
        self.values, self.provided, self.inputs, self.recorded = values, provided, inputs, recorded

    def replace(self, values: dict[str, Any], provided: frozenset[str] | None = None,
               inputs: tuple[Any, ...] | None = None) -> Given:
        """The same call with other values; what is not passed stays as it is."""
        return Given(values, self.provided if provided is None else provided, self.inputs if inputs is None else inputs,
                     self.recorded)

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def has(self, name: str) -> bool:
        """Whether the parameter was given explicitly."""
        return name in self.provided

    def options_given(self, without: Container[str]) -> dict[str, Any]:
        """The values of the parameters that were given explicitly, but for some names."""
        return {name: self[name] for name in sorted(self.provided) if name not in without}


class Command(NamedTuple):
    name: str
    help: str
    options: tuple[Option, ...]
    answer: Callable[[Given], Answer]
    examples: tuple[tuple[str, str], ...] = ()  # (arguments, headline)
    inputs: bool = False  # takes guarantees from files or standard input
    files: str = "input"  # with `inputs`: the option whose values stand without its name on the command line
    describes: bool = False  # without a question, JSON output is the description of the mechanism alone
    theorems: Callable[[], Iterable[Route]] = tuple  # every route by which it can answer
    asks: str = ASKS  # how a question is put, for the help
    sample: str = ""  # what the file holds that the first example reads, for the help
    usual: tuple[str, ...] = ()  # names of the options that the short help (-h) shows
    by_formula: tuple[str, ...] = ()  # what --solve gives by a formula, without a budget

    def __hash__(self) -> int:
        return hash(self.name)

    def option(self, name: str) -> Option:
        return next(o for o in self.all_options() if o.name == name)

    def all_options(self) -> tuple[Option, ...]:
        common = COMMON + ((Option(q.INPUT, OUTPUT, multiple=True),) if self.inputs else ())
        mine = {o.name for o in self.options}
        return self.options + tuple(o for o in common if o.name not in mine)

    def solvable(self) -> tuple[str, ...]:
        """What --solve finds for a budget."""
        return tuple(o.quantity.option[2:] for o in self.options if o.quantity.safe_direction)


class Page(NamedTuple):
    """A command that prints text but answers no privacy question, as `bounds` and `explain`.

    `prints` takes the words of the command line, and the options as keywords, and returns what is printed.
    """

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
    Option(q.OUTPUT_FILE, OUTPUT),
    Option(q.BATCH, OUTPUT),
)


def refuse_unneeded(given: Given, needed: set[str], why: str) -> None:
    """Raises DpcalcError for an option that the question does not use.

    Ignoring the option would answer another question than the one asked, without notice.
    """
    from dpcalc.core.errors import DpcalcError, flag

    always = {"bound", "format", "digits", "input", "solve", "epsilon", "delta", "alpha", "rdp"}
    for name in sorted(given.provided - needed - always):
        missing_levels = [flag(n) for n in _NOISE_LEVELS if n in needed and n not in given.provided]
        instead = " or ".join(missing_levels) if name in _NOISE_LEVELS else ""
        way_out = f"give {instead} instead" if instead else "drop it"
        raise DpcalcError("unneeded", f"not used {why}; {way_out}", flag(name))


# The options that set how much noise a mechanism adds.
_NOISE_LEVELS = ("sigma", "noise_multiplier", "scale", "probability", "step_epsilon", "threshold_scale", "c1", "sigmas",
                 "scales")


def check_unknown(question: Question, used: set[str], where: str) -> None:
    """Raises DpcalcError where the answer does not depend on the parameter to be solved for, or where --orders is given
    although the question fixes the order."""
    from dpcalc.core.errors import DpcalcError

    if question.unknown is not None and question.unknown.name not in used:
        raise DpcalcError("unknown-value", f"{question.unknown.option} has no effect {where}; solve for another option",
                          "--solve")
    if question.asks == "rdp" and question.orders:
        raise DpcalcError("unneeded", "not used with --alpha, which fixes the order; drop one of them", "--orders")


def require(given: Given, names: tuple[str, ...], why: str, unknown: str | None = None) -> None:
    """Raises DpcalcError unless all of these parameters have a value, except the one to be solved for."""
    missing([name for name in names if given[name] is None and name != unknown], why)


def missing(names: Sequence[str], why: str) -> None:
    """Raises one DpcalcError that names all of these parameters, if there are any."""
    from dpcalc.core.errors import DpcalcError, flag

    if names:
        first, *others = map(flag, names)
        also = f"; also add {', '.join(others)}" if others else ""
        raise DpcalcError("missing", f"needed {why}{also}", first)
