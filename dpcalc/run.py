"""One call: options → parameters → answer → text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.spec import Command, Given

if TYPE_CHECKING:
    from dpcalc.answer import Answer

_SWITCHES = ("json", "quiet", "explain")


def _answered(command: Command, given: Given) -> Answer:
    from dpcalc.errors import NoSolution
    from dpcalc.numerics.invert import Unreachable

    try:
        return command.answer(given)
    except (OverflowError, ZeroDivisionError, Unreachable):
        raise NoSolution("no-solution", "leads outside the range of double precision", _extreme(given)) from None
    except NoSolution as error:
        error.option = error.option or _extreme(given)
        raise


def _extreme(given: Given) -> str | None:
    """The option to blame where doubles do not reach: the given number furthest from 1, or the input."""
    from math import log

    from dpcalc.errors import flag

    sizes = {n: abs(log(x)) for n, x in given.values.items() if n in given.provided and isinstance(x, float | int) and x > 0}
    worst = max(sizes, key=lambda n: sizes[n], default=None)
    if worst is None or (given.inputs and sizes[worst] < 200):
        return "--input" if given.inputs else None
    return flag(given.said_as.get(worst, worst))


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> str:
    """The text to print. Raises DpcalcError for everything a person can put right."""
    from dpcalc.errors import DpcalcError
    from dpcalc.params import validate

    switches = {name: raw.pop(name, False) for name in _SWITCHES}
    sources = tuple(raw.pop("input", None) or ()) + tuple(files)
    if sources.count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once", "--input")
    if switches["json"] and raw.get("format") not in (None, "json"):
        raise DpcalcError("contradictory", "--json is --format json", "--format")
    if switches["json"]:
        raw["format"] = "json"
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.guarantee import load

        inputs = tuple(load(source) for source in sources)
    given = validate(command, raw, inputs)
    answer = _answered(command, given)
    if given["digits"]:
        from dpcalc.digits import with_digits

        answer = with_digits(answer, given["digits"])
    if answer.rows and answer.headline.route.bound.status != "proven":
        import sys

        print(f"warning: {answer.headline.route.label} is {answer.headline.route.bound.status}, not a guarantee", file=sys.stderr)
    from dpcalc.render import FORMATS

    if switches["quiet"]:
        return repr(answer.value)
    return FORMATS[given["format"]](answer, switches["explain"])
