"""One call: options → parameters → answer → text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.spec import Command, Given
from dpcalc.standard_streams import report

if TYPE_CHECKING:
    from dpcalc.errors import DpcalcError
    from dpcalc.plot_target import Target
    from dpcalc.rows import Answer
    from dpcalc.sweep import Axis


class Printed(NamedTuple):
    """The text for stdout, and the exit code."""

    text: str
    code: int = 0


_SWITCHES = ("json", "quiet", "all", "explain", "certify")


def _answered(command: Command, given: Given) -> Answer:
    from dpcalc.cautions import with_cautions
    from dpcalc.errors import NoSolution
    from dpcalc.numerics.invert import Unreachable

    try:
        return with_cautions(command.answer(given), given.inputs)
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
    return flag(worst)


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> Printed | Callable[[], int]:
    """What to print; with --batch, what prints while it reads and gives the exit code. Raises DpcalcError for all a person can
    put right."""
    from dpcalc.errors import DpcalcError

    switches = {name: raw.pop(name, False) for name in _SWITCHES}
    sources = tuple(raw.pop("input", None) or ()) + tuple(files)
    if raw.pop("batch", False):
        from dpcalc.batch import stream

        return stream(command, raw, sources, switches)
    if sources.count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once", "--input")
    if switches["json"] and raw.get("format") not in (None, "json"):
        raise DpcalcError("contradictory", "--json is --format json", "--format")
    if switches["json"]:
        raw["format"] = "json"
    if switches["quiet"] and raw.get("format"):
        raise quiet_beside("--json" if switches["json"] else f"--format {raw['format']}")
    where = "--quiet" if switches["quiet"] else f"--format {raw['format']}"
    if switches["all"] and (switches["quiet"] or raw.get("format") in ("json", "jsonl", "csv", "tsv")):
        raise DpcalcError("contradictory", f"is for tables, not with {where}; JSON, CSV and TSV always hold every row", "--all")
    if switches["explain"] and (switches["quiet"] or raw.get("format") in ("csv", "tsv", "markdown", "latex")):
        raise DpcalcError("contradictory", f"explains in a table or in JSON, not with {where}; dpcalc explain NAME tells about a bound",
                          "--explain")
    if raw.get("digits") and (switches["quiet"] or raw.get("format") in ("csv", "tsv")):
        raise DpcalcError("contradictory", f"stand in tables and in JSON, not with {where}", "--digits")
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.guarantee import load_all

        inputs = load_all(sources)
    from dpcalc.sweep import axes

    plot = raw.pop("plot", None)
    swept = axes(command, raw)
    target = _target(command, raw, plot, bool(swept), switches) if plot is not None else None
    if swept:
        return _swept(command, raw, inputs, swept, switches, target)
    from dpcalc.progress import waiting

    with waiting(f"dpcalc {command.name}"):
        answer = single(command, raw, inputs, switches["certify"], switches["all"])
    # A table's headline says itself what holds for one record only.
    has_headline = raw.get("format") in (None, "table") and not switches["quiet"] and not target
    _warn(answer._replace(only=None) if has_headline else answer)
    if target:
        from dpcalc.plot import of_tables

        drawing = of_tables(command, raw, [("", answer)])
        if target.in_terminal:
            return Printed(target.shown(drawing))
        target.write(drawing)
    if switches["quiet"]:
        return Printed("\n".join(map(repr, answer.values)))
    if switches["explain"] and answer.table:
        raise DpcalcError("unneeded", "no bound is used to print the noise of steps", "--explain")
    from dpcalc.render import FORMATS

    return Printed(FORMATS[raw.get("format") or "table"](answer, switches["explain"]))


def quiet_beside(option: str) -> DpcalcError:
    """The error for --quiet beside an option that says what to print."""
    from dpcalc.errors import DpcalcError

    return DpcalcError("contradictory", f"prints the number alone; drop {option} or --quiet", "--quiet")


def single(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], certify: bool = False, every_row: bool = False) -> Answer:
    """The answer to one question, from options as they were given; a table of it has every row where bounds are named. Raises
    DpcalcError."""
    from dpcalc.params import validate

    given = validate(command, raw, inputs)
    answer = told(_answered(command, given), given)
    if certify:
        from dpcalc.verify.certify import certified

        answer = certified(answer)
    if given["digits"]:
        from dpcalc.digits import with_digits

        answer = with_digits(answer, given["digits"])
    return answer._replace(every_row=every_row or given.has("bound"))


_HOW_PRINTED = ("format", "digits", "input", "run")


def told(answer: Answer, given: Given) -> Answer:
    """The answer with what it takes to ask again: the options as given, and the guarantees that were read."""
    return answer._replace(options={**given.said(without=_HOW_PRINTED), **answer.options}, inputs=tuple(g.told() for g in given.inputs))


def _target(command: Command, raw: dict[str, Any], name: str, swept: bool, switches: dict[str, bool]) -> Target:
    from dpcalc.plot_target import checked

    said = {"--json": switches["json"], "--format": raw.get("format"), "--quiet": switches["quiet"], "--explain": switches["explain"]}
    return checked(command, raw, name, swept, next((option for option, value in said.items() if value), None))


def _swept(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], swept: tuple[Axis, ...], switches: dict[str, bool],
           target: Target | None) -> Printed:
    """Every point by itself; a point without an answer is told in its place, and makes the exit code 1."""
    from dpcalc.errors import DpcalcError
    from dpcalc.progress import waiting
    from dpcalc.render_sweep import FORMATS, UNTOLD, Point, unanswered
    from dpcalc.sweep import points

    if switches["explain"]:
        raise DpcalcError("unneeded", "not for a sweep; ask at one point", "--explain")
    if raw.get("digits") and raw.get("format") not in ("json", "jsonl"):
        raise DpcalcError("unneeded", "stand in the JSON of a sweep (--json), not in its table; or ask at one point", "--digits")
    found: list[Point] = []
    with waiting(f"dpcalc {command.name}"):
        for at in points(swept):
            try:
                found.append(Point(at, single(command, {**raw, **at}, inputs, switches["certify"], switches["all"])))
            except DpcalcError as error:
                found.append(Point(at, error=error))
    failed = [p.error for p in found if p.error]
    if len(failed) == len(found):
        raise failed[0]
    for warning in dict.fromkeys(w for p in found if p.answer for w in warnings_of(p.answer)):
        warn(warning)
    code = 1 if failed else 0
    if target:
        from dpcalc.plot import of_sweep

        plot = of_sweep(command, raw, found)
        if target.in_terminal:
            for line in unanswered(found):
                warn(line)
            return Printed(target.shown(plot), code)
    if switches["quiet"] or raw.get("format") in UNTOLD:
        for line in unanswered(found):
            warn(line)
    quiet = "\n".join(x for p in found for x in (map(repr, p.answer.values) if p.answer else ("",))) if switches["quiet"] else None
    text = FORMATS[raw.get("format") or "table"](found) if quiet is None else quiet
    if target:
        target.write(plot)
    return Printed(text, code)


def warnings_of(answer: Answer) -> tuple[str, ...]:
    """What to say on standard error beside an answer."""
    head = answer.headline.route if answer.rows else None
    doubtful = head is not None and head.bound.status != "proven"
    first = (f"{head.label} is {head.bound.status}, not a guarantee",) if head and doubtful else ()
    only = (f"the guarantee is {answer.only.text}",) if answer.only and not answer.only.is_worst else ()
    return first + tuple(answer.warnings) + only


def warn(text: str) -> None:
    """A line on stderr."""
    report(f"warning: {text}")


def _warn(answer: Answer) -> None:
    for warning in warnings_of(answer):
        warn(warning)
