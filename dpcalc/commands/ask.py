"""The answer to a question given as options: the command of a name, the option of a spelling, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.commands import COMMANDS, PAGES, calculator
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError, flag

if TYPE_CHECKING:
    from dpcalc.core.results import Answer


def answer(command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...] = (), every_row: bool = False) -> Answer:
    """The answer to one question, from options as they were given. A table of it has every row where `every_row` says
    so, or where bounds are named. Raises DpcalcError."""
    from dpcalc.core.validate import validate

    given = validate(command, raw, inputs)
    found = _with_request(_answer(command, given), given)
    if given["digits"]:
        from dpcalc.accounting.digits import with_digits

        found = with_digits(found, given["digits"])
    return found._replace(every_row=every_row or given.has("bound"))


def _answer(command: Command, given: Given) -> Answer:
    from dpcalc.accounting.cautions import with_cautions
    from dpcalc.core.errors import NoSolution
    from dpcalc.numerics.root import Unreachable

    try:
        return with_cautions(command.answer(given), given.inputs)
    except (OverflowError, ZeroDivisionError, Unreachable):
        raise NoSolution("no-solution", "leads outside the range of double precision", _extreme(given)) from None
    except NoSolution as error:
        error.option = error.option or _extreme(given)
        raise


def _extreme(given: Given) -> str | None:
    """The option to name where double precision does not suffice: that of the given number furthest from 1, or the
    input."""
    from math import log

    from dpcalc.core.errors import flag

    sizes = {n: abs(log(x)) for n, x in given.values.items() if n in given.provided and isinstance(x, float | int)
             and x > 0}
    extreme = max(sizes, key=lambda n: sizes[n], default=None)
    # numbers within e^±200 are not extreme by themselves: then those of the input are
    if extreme is None or (given.inputs and sizes[extreme] < 200):
        return "--input" if given.inputs else None
    return flag(extreme)


_OF_OUTPUT = ("format", "digits", "input", "run")


def _with_request(answer: Answer, given: Given) -> Answer:
    """The answer with all that is needed to ask again: the options as they were given, and the guarantees read."""
    return answer._replace(options={**given.options_given(without=_OF_OUTPUT), **answer.options},
                           inputs=tuple(g.as_json() for g in given.inputs))


def command_of(name: str) -> Command:
    """The calculator of that name. Raises DpcalcError, with a similar name, where there is none."""
    word = str(name).replace("_", "-")
    if word in COMMANDS and word not in PAGES:
        return calculator(word)
    from dpcalc.core.validate import near

    calculators = tuple(word for word in COMMANDS if word not in PAGES)
    raise DpcalcError("unknown-command",
                      f"no calculator {name!r}; there are {', '.join(calculators)}{near(str(name), calculators)}")


def named(command: Command, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options under their names, from any of their spellings. Raises DpcalcError for a name that the command does
    not have, and for an option that is given twice."""
    names, raw = spellings(command), dict[str, Any]()
    for key, x in options.items():
        name = names.get(key)
        if name is None:
            from dpcalc.core.validate import near

            raise DpcalcError("unknown-option", f"no such option of {command.name}{near(key[:40], tuple(names))}",
                              flag(key[:40]))
        if raw.get(name) is not None:
            raise DpcalcError("contradictory", "given twice", flag(name))
        raw[name] = (x,) if isinstance(x, str) and command.option(name).multiple else x
    return raw


def spellings(command: Command) -> dict[str, str]:
    """Spelling → name of the options, without those of how an answer is written, which are no part of a question."""
    quantities = [o.quantity for o in command.all_options() if o.name not in _NOT_ASKED]
    return {form: q.name for q in quantities for n in q.names
            for form in (n, n.replace("_", "-"), *((n + "_",) if n in ("from", "in", "lambda") else ()))}


_NOT_ASKED = {"format", "input", "plot"}


def warnings_of(answer: Answer) -> tuple[str, ...]:
    """The warnings that stand on standard error beside an answer."""
    head = answer.headline.route if answer.rows else None
    doubtful = head is not None and head.bound.status != "proven"
    first = (f"{head.label} is {head.bound.status}, not a guarantee",) if head and doubtful else ()
    only = (f"the guarantee is {answer.only.text}",) if answer.only and not answer.only.is_worst else ()
    return first + tuple(answer.warnings) + only
