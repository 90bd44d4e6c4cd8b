"""One call of a calculator: from its options to the text that is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.cli.parsing import check_format
from dpcalc.cli.progress import waiting
from dpcalc.commands.ask import answer as answer_of
from dpcalc.commands.ask import warnings_of
from dpcalc.commands.sweep import axes
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.quantities import PLOTTING
from dpcalc.core.results import Answer
from dpcalc.core.text import report
from dpcalc.output.answer import document
from dpcalc.output.formats import FORMATS, render

if TYPE_CHECKING:
    from dpcalc.output.plot.target import Target

_SWITCHES = ("json", "quiet", "all", "explain", "certify")


def run(command: Command, raw: dict[str, Any], files: tuple[str, ...] = ()) -> tuple[str, int] | Callable[[], int]:
    """The text to print and the exit code; for --batch and for lines of a sweep, a function that prints them as they
    come and returns the exit code. Raises DpcalcError for every mistake in the call."""
    if (output := raw.pop("output", None)) not in (None, "-"):
        from dpcalc.cli.output_file import to_file

        return to_file(output, raw, lambda: run(command, raw, files))
    switches = {name: raw.pop(name, False) for name in _SWITCHES}
    if files:
        raw[command.files] = (*(raw.get(command.files) or ()), *files)
    sources = tuple(raw.pop("input", None) or ())
    if (batch := raw.pop("batch", None)) is not None:
        from dpcalc.cli.batch_stream import stream

        return stream(command, raw, batch, sources, switches)
    _check_output_options(raw, switches, sources)
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.accounting.guarantee import load_all

        inputs = load_all(sources)
    drawing = {q.name: value for q in PLOTTING if (value := raw.pop(q.name, None)) is not None}
    swept = axes(command, raw)
    target = None
    if drawing:
        from dpcalc.output.plot.target import checked

        printed = {"--json": switches["json"], "--format": raw.get("format"), "--quiet": switches["quiet"],
                   "--explain": switches["explain"]}
        target = checked(command, raw, drawing, bool(swept), next(filter(printed.get, printed), None))
    if swept:
        from dpcalc.cli.sweep import answer_sweep

        return answer_sweep(command, raw, swept, switches, target,
                            lambda options: _answer(command, options, inputs, switches))
    return _answer_one(command, raw, inputs, switches, target)


def _check_output_options(raw: dict[str, Any], switches: Mapping[str, bool], sources: tuple[str, ...]) -> None:
    """Raises DpcalcError for options about the output that contradict each other; --json becomes --format json."""
    if sources.count("-") + (raw.get("file") or ()).count("-") > 1:
        raise DpcalcError("contradictory", "standard input (-) can be read once", "--input")
    check_format(raw.get("format"), switches)
    if switches["json"]:
        raw["format"] = "json"
    where = "--quiet" if switches["quiet"] else f"--format {raw['format']}"
    format = FORMATS.get(str(raw.get("format")), FORMATS["table"])  # another name is refused where it is validated
    if switches["all"] and (switches["quiet"] or not format.selects_rows):
        raise DpcalcError("contradictory", f"is for tables, not with {where}; JSON, CSV and TSV always hold every row",
                          "--all")
    if switches["explain"] and (switches["quiet"] or not format.has_sentences):
        raise DpcalcError("contradictory",
                          f"explains in a table or in JSON, not with {where}; dpcalc explain NAME tells about a bound",
                          "--explain")
    if raw.get("digits") and (switches["quiet"] or not format.has_digits):
        raise DpcalcError("contradictory", f"stand in tables and in JSON, not with {where}", "--digits")


def _answer_one(command: Command, raw: dict[str, Any], inputs: tuple[Any, ...], switches: Mapping[str, bool],
                target: Target | None) -> tuple[str, int]:
    """The text and the exit code of a call without a sweep, which may be drawn."""
    with waiting(f"dpcalc {command.name}"):
        answer = _answer(command, raw, inputs, switches)
    format = raw.get("format") or "table"
    # The headline already says that a number holds for one record or one step only, so that no warning is needed.
    has_headline = format in ("table", "statement") and not switches["quiet"] and not target
    for warning in warnings_of(answer._replace(only=None, scope="") if has_headline else answer):
        report(warning, "warning")
    code = 3 if answer.over_budget or answer.refuted else 0
    if target:
        from dpcalc.output.plot.data import plot_tables
        from dpcalc.output.plot.rates import plot_rates
        from dpcalc.output.plot.releases import plot_releases

        drawing = (plot_releases(answer) if answer.releases else plot_rates(answer) if command.name == "audit" else
                   plot_tables(command, raw, [("", answer)]))
        if target.in_terminal:
            return target.shown(drawing), code
        target.write(drawing)
    if switches["quiet"]:
        return "\n".join(map(repr, answer.values)), code
    if switches["explain"] and answer.table:
        raise DpcalcError("unneeded", "no bound is used to print a table of steps or of strategies", "--explain")
    return render(document(answer, switches["explain"]), format), code


def _answer(command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...], switches: Mapping[str, bool]) -> Answer:
    """The answer; with --certify, its headline is proven in ball arithmetic."""
    found = answer_of(command, raw, inputs, switches["all"])
    if switches["certify"]:
        from dpcalc.verify.certify import certified

        found = certified(found)
    return found
