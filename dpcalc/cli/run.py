"""One call: options → parameters → answer → text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.commands.ask import warnings_of
from dpcalc.core.command import Command
from dpcalc.core.text import report

if TYPE_CHECKING:
    from dpcalc.commands.sweep import Axis
    from dpcalc.core.results import Answer
    from dpcalc.output.plot.target import Target


class Printed(NamedTuple):
    """The text for stdout, and the exit code."""

    text: str
    code: int = 0


_SWITCHES = ("json", "quiet", "all", "explain", "certify")


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> Printed | Callable[[], int]:
    """What to print; with --batch, what prints while it reads and gives the exit code. Raises DpcalcError for all a
    person can put right."""
    from dpcalc.core.errors import DpcalcError

    switches = {name: raw.pop(name, False) for name in _SWITCHES}
    sources = tuple(raw.pop("input", None) or ()) + tuple(files)
    if raw.pop("batch", False):
        from dpcalc.cli.batch import stream

        return stream(command, raw, sources, switches)
    if sources.count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once", "--input")
    if switches["json"] and raw.get("format") not in (None, "json"):
        raise DpcalcError("contradictory", "--json is --format json", "--format")
    if switches["json"]:
        raw["format"] = "json"
    if switches["quiet"] and raw.get("format"):
        from dpcalc.cli.standard_streams import quiet_beside

        raise quiet_beside("--json" if switches["json"] else f"--format {raw['format']}")
    where = "--quiet" if switches["quiet"] else f"--format {raw['format']}"
    if switches["all"] and (switches["quiet"] or raw.get("format") in ("json", "jsonl", "csv", "tsv")):
        raise DpcalcError("contradictory", f"is for tables, not with {where}; JSON, CSV and TSV always hold every row",
                          "--all")
    if switches["explain"] and (switches["quiet"] or raw.get("format") in ("csv", "tsv", "markdown", "latex")):
        raise DpcalcError("contradictory",
                          f"explains in a table or in JSON, not with {where}; dpcalc explain NAME tells about a bound",
                          "--explain")
    if raw.get("digits") and (switches["quiet"] or raw.get("format") in ("csv", "tsv")):
        raise DpcalcError("contradictory", f"stand in tables and in JSON, not with {where}", "--digits")
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.accounting.guarantee import load_all

        inputs = load_all(sources)
    from dpcalc.commands.sweep import axes

    plot = raw.pop("plot", None)
    swept = axes(command, raw)
    target = _target(command, raw, plot, bool(swept), switches) if plot is not None else None
    if swept:
        return _swept(command, raw, inputs, swept, switches, target)
    from dpcalc.cli.progress import waiting

    with waiting(f"dpcalc {command.name}"):
        answer = _answer(command, raw, inputs, switches)
    # A table's headline says itself what holds for one record only.
    has_headline = raw.get("format") in (None, "table") and not switches["quiet"] and not target
    _warn(answer._replace(only=None) if has_headline else answer)
    if target:
        from dpcalc.output.plot.data import of_tables

        drawing = of_tables(command, raw, [("", answer)])
        if target.in_terminal:
            return Printed(target.shown(drawing))
        target.write(drawing)
    if switches["quiet"]:
        return Printed("\n".join(map(repr, answer.values)))
    if switches["explain"] and answer.table:
        raise DpcalcError("unneeded", "no bound is used to print the noise of steps", "--explain")
    from dpcalc.output.answer import FORMATS

    return Printed(FORMATS[raw.get("format") or "table"](answer, switches["explain"]))


def _answer(command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...], switches: Mapping[str, bool]) -> Answer:
    """The answer, certified where that was asked for."""
    from dpcalc.commands.ask import answer

    found = answer(command, raw, inputs, switches["all"])
    if switches["certify"]:
        from dpcalc.verify.certify import certified

        found = certified(found)
    return found


def _target(command: Command, raw: dict[str, Any], name: str, swept: bool, switches: dict[str, bool]) -> Target:
    from dpcalc.output.plot.target import checked

    said = {"--json": switches["json"], "--format": raw.get("format"), "--quiet": switches["quiet"],
            "--explain": switches["explain"]}
    return checked(command, raw, name, swept, next((option for option, value in said.items() if value), None))


def _swept(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], swept: tuple[Axis, ...],
           switches: dict[str, bool],
           target: Target | None) -> Printed:
    """Every point by itself; a point without an answer is told in its place, and makes the exit code 1."""
    from dpcalc.cli.progress import waiting
    from dpcalc.commands.sweep import points
    from dpcalc.core.errors import DpcalcError
    from dpcalc.output.sweep import FORMATS, UNTOLD, Point, unanswered

    if switches["explain"]:
        raise DpcalcError("unneeded", "not for a sweep; ask at one point", "--explain")
    if raw.get("digits") and raw.get("format") not in ("json", "jsonl"):
        raise DpcalcError("unneeded", "stand in the JSON of a sweep (--json), not in its table; or ask at one point",
                          "--digits")
    found: list[Point] = []
    with waiting(f"dpcalc {command.name}"):
        for at in points(swept):
            try:
                found.append(Point(at, _answer(command, {**raw, **at}, inputs, switches)))
            except DpcalcError as error:
                found.append(Point(at, error=error))
    failed = [p.error for p in found if p.error]
    if len(failed) == len(found):
        raise failed[0]
    for warning in dict.fromkeys(w for p in found if p.answer for w in warnings_of(p.answer)):
        warn(warning)
    code = 1 if failed else 0
    if target:
        from dpcalc.output.plot.data import of_sweep

        plot = of_sweep(command, raw, found)
        if target.in_terminal:
            for line in unanswered(found):
                warn(line)
            return Printed(target.shown(plot), code)
    if switches["quiet"] or raw.get("format") in UNTOLD:
        for line in unanswered(found):
            warn(line)
    quiet = "\n".join(x for p in found
                      for x in (map(repr, p.answer.values) if p.answer else ("",))) if switches["quiet"] else None
    text = FORMATS[raw.get("format") or "table"](found) if quiet is None else quiet
    if target:
        target.write(plot)
    return Printed(text, code)


def warn(text: str) -> None:
    """A line on stderr."""
    report(f"warning: {text}")


def _warn(answer: Answer) -> None:
    for warning in warnings_of(answer):
        warn(warning)
