"""One call of a calculator: from its options to the text that is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.cli.output_file import QUIET, Outputs, as_standard_output, outputs
from dpcalc.cli.parsing import check_format
from dpcalc.cli.progress import waiting
from dpcalc.commands.ask import answer as answer_of
from dpcalc.commands.ask import warnings_of
from dpcalc.commands.sweep import axes
from dpcalc.core import plotting
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Answer
from dpcalc.core.text import report
from dpcalc.output.answer import document
from dpcalc.output.formats import FORMATS, format_of, render

if TYPE_CHECKING:
    from dpcalc.output.plot.target import Target

# The text, None where standard output stays empty, and the exit code; for --batch and for lines of a sweep, a function
# that prints them as they come and returns the exit code.
Printed = tuple[str | None, int] | Callable[[], int]
_SWITCHES = ("json", "quiet", "all", "explain", "certify")


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> Printed:
    """What to print. Raises DpcalcError for every mistake in the call."""
    switches = {name: raw.pop(name, False) for name in _SWITCHES}
    if files:
        raw[command.files] = (*(raw.get(command.files) or ()), *files)
    sources = tuple(raw.pop("input", None) or ())
    names = tuple(raw.pop("output", None) or ())
    where = outputs(names, raw, switches)
    if (batch := raw.pop("batch", None)) is not None:
        return _batch(command, raw, batch, sources, switches, names)
    _check_output_options(raw, switches, sources, where)
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.accounting.guarantee import load_all

        inputs = load_all(sources)
    drawing = {q.name: value for q in plotting.OPTIONS if (value := raw.pop(q.name, None)) is not None}
    swept = axes(command, raw)
    target = None
    if drawing:
        from dpcalc.output.plot.target import checked

        printed = {"--json": where.screen == "json", "--format": where.screen not in ("", "table", QUIET),
                   "--quiet": switches["quiet"], "--explain": switches["explain"]}
        target = checked(command, raw, drawing, bool(swept), next(filter(printed.get, printed), None))
    if swept:
        from dpcalc.cli.sweep import answer_sweep

        return answer_sweep(command, raw, swept, switches, target, where,
                            lambda options: _answer(command, options, inputs, switches))
    return _answer_one(command, raw, inputs, switches, target, where)


def _batch(command: Command, raw: dict[str, Any], batch: str, sources: tuple[str, ...], switches: Mapping[str, bool],
           names: tuple[str, ...]) -> Callable[[], int]:
    """The function that answers a batch, on standard output or in one file."""
    from dpcalc.cli.batch_stream import stream

    if len(names) > 1:
        raise DpcalcError("contradictory", "a batch is written to one file, line after line", "--output")
    if names in ((), ("-",)):
        return stream(command, raw, batch, sources, switches)
    if format := format_of(names[0]):
        raw["format"], switches = format.name, {**switches, "quiet": False, "json": False}
    run = stream(command, raw, batch, sources, switches)

    def to_file() -> int:
        with as_standard_output(names[0]):
            return run()

    return to_file


def _check_output_options(raw: dict[str, Any], switches: Mapping[str, bool], sources: tuple[str, ...],
                          where: Outputs) -> None:
    """Raises DpcalcError for options about the output that contradict each other; --json becomes --format json, as does
    a file of JSON alone."""
    if sources.count("-") + (raw.get("file") or ()).count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once", "--input")
    check_format(raw.get("format"), {**switches, "quiet": switches["quiet"] and not where.files})
    shown = "--quiet" if switches["quiet"] else f"--format {where.names[0]}"
    if switches["json"] or (where.files and all(x in FORMATS and FORMATS[x].is_json for _, x in where.files)):
        raw["format"] = "json"
    if switches["all"] and not where.any(lambda format: format.selects_rows):
        raise DpcalcError("contradictory", f"is for tables, not with {shown}; JSON, CSV and TSV always hold every row",
                          "--all")
    if switches["explain"] and not where.any(lambda format: format.has_sentences):
        raise DpcalcError("contradictory",
                          f"explains in a table or in JSON, not with {shown}; dpcalc explain NAME tells about a bound",
                          "--explain")
    if raw.get("digits") and not where.any(lambda format: format.has_digits):
        raise DpcalcError("contradictory", f"stand in tables and in JSON, not with {shown}", "--digits")


def _answer_one(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], switches: Mapping[str, bool],
                target: Target | None, where: Outputs) -> tuple[str | None, int]:
    """The text and the exit code of a call without a sweep, which may be drawn."""
    with waiting(f"dpcalc {command.name}"):
        answer = _answer(command, raw, inputs, switches)
    # The headline already says that a number holds for one record or one step only, so that no warning is needed.
    has_headline = where.screen in ("table", "statement") and not target
    for warning in warnings_of(answer._replace(only=None, scope="") if has_headline else answer):
        report(warning, "warning")
    code = 3 if answer.over_budget or answer.refuted else 0
    if switches["explain"] and answer.table:
        raise DpcalcError("unneeded", "no bound is used to print a table of steps or of strategies", "--explain")
    shown = None
    if target:
        from dpcalc.output.plot.data import plot_tables
        from dpcalc.output.plot.rates import plot_rates
        from dpcalc.output.plot.releases import plot_releases

        drawing = (plot_releases(answer) if answer.releases else plot_rates(answer) if command.name == "audit" else
                   plot_tables(command, raw, [("", answer)]))
        shown = target.shown(drawing) if target.in_terminal else target.write(drawing)

    def text(format: str) -> str:
        if format == QUIET:
            return "\n".join(map(repr, answer.values))
        return render(document(answer, switches["explain"]), format)

    where.save(text)
    is_description = where.files and not answer.rows and not answer.table  # which only JSON has
    return shown or (text(where.screen) if where.screen and not is_description else None), code


def _answer(command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...], switches: Mapping[str, bool]) -> Answer:
    """The answer; with --certify, its headline is proven in ball arithmetic."""
    found = answer_of(command, raw, inputs, switches["all"])
    if switches["certify"]:
        from dpcalc.verify.certify import certified

        found = certified(found)
    return found
