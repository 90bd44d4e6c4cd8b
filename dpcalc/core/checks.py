"""Which options a question needs, uses and excludes, as data, and the function that evaluates it.

A `Mode` says which options one kind of question takes. A `Check` says what some values must not be together, and the
message for the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core.errors import DpcalcError, flag

if TYPE_CHECKING:
    from dpcalc.core.command import Given
    from dpcalc.core.results import Question
    from dpcalc.core.run import Run

Texts = Mapping[str, str]  # by the name of an option
NO_TEXTS: Texts = MappingProxyType({})

# The options of every question.
ALWAYS = frozenset({"bound", "format", "digits", "input", "solve", "epsilon", "delta", "alpha", "rdp"})
# The options that set how much noise a mechanism adds.
NOISE_LEVELS = ("sigma", "noise_multiplier", "scale", "probability", "step_epsilon", "threshold_scale", "c1", "sigmas",
                "scales")


class Mode(NamedTuple):
    """The options of one kind of question. The texts end the messages "not used …", "has no effect …", "needed …"."""

    uses: Iterable[str]
    needs: Sequence[str]
    where: str
    by: str = ""  # as `where` if it is empty
    solving: str = ""  # as `where` if it is empty
    ways_out: Texts = NO_TEXTS  # what to write instead of an option that is not used
    hints: Texts = NO_TEXTS  # how to find the value of an option that is missing

    def test(self, run: Run) -> None:
        """Raises DpcalcError for options that the question does not use, for an unknown on which the answer does not
        depend, and for options that are missing."""
        refuse_unneeded(run.given, self.uses, self.where, self.ways_out)
        check_unknown(run.question, self.uses, self.solving or self.where)
        require(run.given, self.needs, self.by or self.where, run.unknown, self.hints)


class Check(NamedTuple):
    """What may not be. It is tested where all options of `about` have a value; "unknown" is the name of the parameter
    to be solved for. The message is formatted with these values, and with what `broken` returned as {it}."""

    about: tuple[str, ...]
    broken: Callable[..., Any]
    message: str
    code: str = "out-of-range"
    option: str = ""  # that the error names, as written on the command line; the first of `about` if it is empty

    def test(self, run: Run) -> None:
        """Raises DpcalcError where the check is broken."""
        values = {name: run.unknown if name == "unknown" else run[name] for name in self.about}
        if None not in values.values() and (it := self.broken(*values.values())):
            raise DpcalcError(self.code, self.message.format(it=it, **values), self.option or flag(self.about[0]))


class Rule(NamedTuple):
    """What may not be, in view of which options are given or solved for, whatever their values."""

    broken: Callable[[Run], Any]
    message: str
    code: str
    option: str  # that the error names, as written on the command line

    def test(self, run: Run) -> None:
        """Raises DpcalcError where the rule is broken."""
        if self.broken(run):
            raise DpcalcError(self.code, self.message, self.option)


class Needed(NamedTuple):
    """Options that are needed: always, or where one of `beside` is given or solved for."""

    names: Sequence[str]
    why: str
    beside: Sequence[str] = ()

    def test(self, run: Run) -> None:
        """Raises DpcalcError where one of them is missing."""
        if not self.beside or run.sets(*self.beside):
            require(run, self.names, self.why, run.unknown)


def excludes(option: str, other: str, message: str, at: str = "") -> Rule:
    """Two options of which only one may be given or solved for."""
    return Rule(lambda run: run.sets(option) and run.sets(other), message, "contradictory", at or flag(option))


Test = Mode | Check | Rule | Needed


def check(run: Run, *tests: Test) -> None:
    """Raises DpcalcError for the first test that the options of a run do not pass."""
    for one in tests:
        one.test(run)


def refuse_unneeded(given: Given, needed: Iterable[str], why: str, ways_out: Texts = NO_TEXTS) -> None:
    """Raises DpcalcError for an option that the question does not use.

    Ignoring the option would answer another question than the one asked, without notice. `ways_out` says for some
    options what to write instead.
    """
    needed = set(needed)
    for name in sorted(given.provided - needed - ALWAYS):
        missing_levels = [flag(n) for n in NOISE_LEVELS if n in needed and n not in given.provided]
        instead = " or ".join(missing_levels) if name in NOISE_LEVELS else ""
        way_out = ways_out.get(name, f"give {instead} instead" if instead else "drop it")
        raise DpcalcError("unneeded", f"not used {why}; {way_out}", flag(name))


def refuse(given: Given, names: Iterable[str], message: str, code: str = "unneeded") -> None:
    """Raises DpcalcError for the first of these options that is given; {option} in the message stands for it."""
    for name in names:
        if given.has(name):
            raise DpcalcError(code, message.format(option=flag(name)), flag(name))


def check_unknown(question: Question, used: Iterable[str], where: str) -> None:
    """Raises DpcalcError where the answer does not depend on the parameter to be solved for, or where --orders is given
    although the question fixes the order."""
    if question.unknown is not None and question.unknown.name not in used:
        raise DpcalcError("unknown-value", f"{question.unknown.option} has no effect {where}; solve for another option",
                          "--solve")
    if question.asks == "rdp" and question.orders:
        raise DpcalcError("unneeded", "not used with --alpha, which fixes the order; drop one of them", "--orders")


def require(given: Given | Run, names: Sequence[str], why: str, unknown: str | None = None,
            hints: Texts = NO_TEXTS) -> None:
    """Raises DpcalcError unless all of these parameters have a value, except the one to be solved for."""
    missing([name for name in names if given[name] is None and name != unknown], why, hints)


def missing(names: Sequence[str], why: str, hints: Texts = NO_TEXTS) -> None:
    """Raises one DpcalcError that names all of these parameters, if there are any; the hint for the first of them ends
    its message."""
    if names:
        first, *others = map(flag, names)
        also = f"; also add {', '.join(others)}" if others else ""
        raise DpcalcError("missing", f"needed {why}{also}{hints.get(names[0], '')}", first)
