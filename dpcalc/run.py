"""One call: options → parameters → answer → text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.spec import Command, Given

if TYPE_CHECKING:
    from dpcalc.answer import Answer
    from dpcalc.sweep import Axis


class Printed(NamedTuple):
    """The text for stdout, and the exit code."""

    text: str
    code: int = 0


_SWITCHES = ("json", "quiet", "explain", "certify")


def _answered(command: Command, given: Given) -> Answer:
    from dpcalc.errors import NoSolution
    from dpcalc.numerics.invert import Unreachable
    from dpcalc.progress import waiting

    try:
        with waiting(f"dpcalc {command.name}"):
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


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> Printed:
    """What to print. Raises DpcalcError for everything a person can put right."""
    from dpcalc.errors import DpcalcError

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
    from dpcalc.sweep import axes

    swept = axes(command, raw)
    if swept:
        return _swept(command, raw, inputs, swept, switches)
    answer = _one(command, raw, inputs, switches["certify"])
    _warn(answer)
    if switches["quiet"]:
        return Printed(repr(answer.value))
    from dpcalc.render import FORMATS

    return Printed(FORMATS[raw.get("format") or "table"](answer, switches["explain"]))


def _one(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], certify: bool = False) -> Answer:
    from dpcalc.params import validate

    given = validate(command, raw, inputs)
    answer = told(_answered(command, given), given)
    if certify:
        from dpcalc.verify.certify import certified

        answer = certified(answer)
    if given["digits"]:
        from dpcalc.digits import with_digits

        answer = with_digits(answer, given["digits"])
    return answer


_HOW_PRINTED = ("format", "digits", "input")


def told(answer: Answer, given: Given) -> Answer:
    """The answer with what it takes to ask again: the options as given, and the guarantees that were read."""
    said = {name: given[name] for name in sorted(given.provided) if name not in _HOW_PRINTED}
    return answer._replace(options={**said, **answer.options},
                           inputs=tuple(g.model_dump(mode="json", exclude_none=False) for g in given.inputs))


def _swept(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], swept: tuple[Axis, ...], switches: dict[str, bool]) -> Printed:
    """Every point by itself; a point without an answer is told in its place, and makes the exit code 1."""
    from dpcalc.errors import DpcalcError
    from dpcalc.render_sweep import FORMATS, Point
    from dpcalc.sweep import points

    if switches["explain"]:
        raise DpcalcError("unneeded", "not for a sweep; ask at one point", "--explain")
    found: list[Point] = []
    for at in points(swept):
        try:
            found.append(Point(at, _one(command, {**raw, **at}, inputs, switches["certify"])))
        except DpcalcError as error:
            found.append(Point(at, error=error))
    failed = [p.error for p in found if p.error]
    if len(failed) == len(found):
        raise failed[0]
    for warning in dict.fromkeys(w for p in found if p.answer for w in _warnings(p.answer)):
        print(f"warning: {warning}", file=sys.stderr)
    if switches["quiet"]:
        return Printed("\n".join(repr(p.answer.value) if p.answer else "" for p in found), 1 if failed else 0)
    return Printed(FORMATS[raw.get("format") or "table"](found), 1 if failed else 0)


def _warnings(answer: Answer) -> tuple[str, ...]:
    head = answer.headline.route if answer.rows else None
    doubtful = head is not None and head.bound.status != "proven"
    first = (f"{head.label} is {head.bound.status}, not a guarantee",) if head and doubtful else ()
    return first + tuple(answer.warnings)


def _warn(answer: Answer) -> None:
    for warning in _warnings(answer):
        print(f"warning: {warning}", file=sys.stderr)
