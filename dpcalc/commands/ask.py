"""Answers to questions that are given as options: command names, spellings of options, and the answer itself."""

from collections.abc import Mapping
from math import log
from typing import Any

from dpcalc.accounting.cautions import with_cautions
from dpcalc.commands import CALCULATORS, calculator
from dpcalc.core import audits, plotting
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError, NoSolution, flag
from dpcalc.core.results import Answer
from dpcalc.core.validate import near, validate
from dpcalc.numerics.root import Unreachable

# Options that a record need not repeat to ask its question again.
_OF_OUTPUT = ("format", "digits", "input", "run")


def answer(command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...] = (), every_row: bool = False) -> Answer:
    """The answer to one question, from options as they were given. Its table shows every row with `every_row`, or where
    --bound names bounds. Raises DpcalcError."""
    given = validate(command, raw, inputs)
    try:
        found = with_cautions(command.answer(given), given.inputs)
    except (OverflowError, ZeroDivisionError, Unreachable):
        raise NoSolution("no-solution", "leads outside the range of double precision; give a number nearer to "
                                        "1", _extreme(given)) from None
    except NoSolution as error:
        error.option = error.option or _extreme(given)
        raise
    # everything that repeats the question: the options as they were given, but --solve by our own name
    unknown = found.question.unknown
    solve = {"solve": unknown.option[2:]} if unknown and given.has("solve") else {}
    options = {**given.options_given(without=_OF_OUTPUT), **solve, **found.options}
    found = found._replace(options={name: x for name, x in options.items() if x is not None},
                           inputs=tuple(g.as_json() for g in given.inputs))
    if given["digits"]:
        from dpcalc.accounting.digits import with_digits

        found = with_digits(found, given["digits"])
    return found._replace(every_row=every_row or given.has("bound"))


def _extreme(given: Given) -> str | None:
    """The option that an error names where double precision does not suffice: the one whose number is furthest from 1
    in ratio, or --input; None where neither is given."""
    sizes = {n: abs(log(x)) for n, x in given.values.items() if n in given.provided and isinstance(x, float | int)
             and x > 0}
    extreme = max(sizes, key=lambda n: sizes[n], default=None)
    # A number within e^±200 does not overflow by itself, so that the cause is a number in the input.
    if extreme is None or (given.inputs and sizes[extreme] < 200):
        return "--input" if given.inputs else None
    return flag(extreme)


def command_of(name: str) -> Command:
    """The calculator of this name. Raises DpcalcError, which suggests a similar name, where there is none."""
    word = str(name).replace("_", "-")
    if word in CALCULATORS:
        return calculator(word)
    raise DpcalcError("unknown-command", f"there is no calculator {name!r}; there are {', '.join(CALCULATORS)}"
                                         f"{near(str(name), CALCULATORS)}")


def named(command: Command, options: Mapping[str, Any], names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Name → value of the options, from any of their spellings, or from `names`: spelling → name. Raises DpcalcError
    for an option that the command does not have, and for one that is given twice."""
    names, raw = names or spellings(command), dict[str, Any]()
    repeatable = {o.name for o in command.all_options() if o.multiple and o.name not in _NOT_ASKED}
    for key, x in options.items():
        name = names.get(key)
        if name is None:
            instead = command.elsewhere.get(key.replace("_", "-"))
            way_out = f"; {instead}" if instead else near(key[:40], tuple(names)) or (
                f"; dpcalc {command.name} --help lists the options")
            raise DpcalcError("unknown-option", f"{command.name} has no such option{way_out}", flag(key[:40]))
        if raw.get(name) is not None:
            raise DpcalcError("contradictory", "is given twice; drop one", flag(name))
        raw[name] = (x,) if isinstance(x, str) and name in repeatable else x
    return raw


def spellings(command: Command) -> dict[str, str]:
    """Spelling → name of the options that are part of a question; those about the output format are not."""
    quantities = [o.quantity for o in command.all_options() if o.name not in _NOT_ASKED]
    return {form: q.name for q in quantities for n in q.names
            for form in (n, n.replace("_", "-"), *((n + "_",) if n in ("from", "in", "lambda") else ()))}


_NOT_ASKED = {"format", "input", *(q.name for q in plotting.OPTIONS), "output", "batch"}


# Each status of a bound that is no guarantee, in a sentence.
_UNPROVEN = {"as-published": "a published formula without a sound proof", "conjecture": "a conjecture",
             "limit": "a limit", "lower": "a lower bound",
             "model": "a lower bound that assumes a Gaussian trade-off curve"}


def warnings_of(answer: Answer) -> tuple[str, ...]:
    """The warnings that are printed on standard error with an answer."""
    head = answer.headline.route if answer.rows else None
    # the headline of an audit says that it is a lower bound
    doubtful = head is not None and head.bound.status != "proven" and (answer.question.asks, head.bound.status) != (
        audits.ASKS, "lower")
    first = (f"{head.label} is {_UNPROVEN[head.bound.status]}, not a guarantee",) if head and doubtful else ()
    shown = answer._replace(only=None) if answer.only and answer.only.is_worst else answer
    return first + tuple(answer.warnings) + tuple(f"the guarantee is {limit}" for limit in shown.limits)
