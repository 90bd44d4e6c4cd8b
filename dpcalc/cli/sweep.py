"""A sweep on the command line: the answers at all points, printed or drawn."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

from dpcalc.cli.output_file import Outputs
from dpcalc.cli.progress import waiting
from dpcalc.cli.standard_streams import write
from dpcalc.cli.streams import Writer
from dpcalc.commands.ask import warnings_of
from dpcalc.commands.sweep import Axis
from dpcalc.commands.sweep import points as points_of
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Answer
from dpcalc.core.strict_json import dumps, indented
from dpcalc.core.text import report
from dpcalc.output.formats import FORMATS, delimited, render
from dpcalc.output.plot.data import plot_sweep
from dpcalc.output.plot.target import Target
from dpcalc.output.sweep import document, long_table, record_of
from dpcalc.output.sweep_words import Point, unanswered

_NUMBER = re.compile(r"\d+(\.\d+)?(e[-+]\d+)?")

AnswerAt = Callable[[Mapping[str, Any]], Answer]  # the answer to the question with these options


def answer_sweep(command: Command, raw: dict[str, Any], swept: tuple[Axis, ...], switches: Mapping[str, bool],
                 target: Target | None, where: Outputs,
                 answer: AnswerAt) -> tuple[str | None, int] | Callable[[], int]:
    """The text to print and the exit code; for numbers and JSON on standard output alone, a function that prints point
    after point and returns the exit code.

    A point without an answer is reported, and makes the exit code 1. Raises DpcalcError where no point has an answer.
    """
    form = FORMATS.get(where.screen)
    if switches["explain"]:
        raise DpcalcError("unneeded", "not for a sweep; ask at one point", "--explain")
    if "statement" in where.names:
        raise DpcalcError("unneeded",
                          f"statement is about one guarantee; give one value of {swept[0].quantity.option}", "--format")
    if raw.get("digits") and not where.any(lambda format: format.is_json):
        raise DpcalcError("unneeded", "stand in the JSON of a sweep (--json), not in its table; or ask at one point",
                          "--digits")
    drawn_here = target is not None and target.in_terminal
    messages = _Messages(in_table=where.screen == "table" and not drawn_here,
                         names_failures=drawn_here or not (form and form.has_sentences))
    is_alone, in_lines = target is None and not where.files, where.screen in _LINES
    points = messages.of(_from_first_answer(_points(command, raw, swept, answer, is_alone and in_lines, any(
        name in _LINES for name in where.names))))
    if is_alone and in_lines:
        return lambda: _print_lines(_LINES[where.screen](points), messages)
    if is_alone and form and form.delimiter:
        return delimited(long_table(points), form.delimiter), messages.print()
    found = list(points)
    code = messages.print()
    shown = None
    if target:
        plot = plot_sweep(command, raw, found)
        shown = target.shown(plot) if drawn_here else target.write(plot)

    def text(format: str) -> str:
        return "\n".join(_LINES[format](iter(found))) if format in _LINES else render(document(found), format)

    where.save(text)
    return shown or (text(where.screen) if where.screen else None), code


def _points(command: Command, raw: Mapping[str, Any], swept: tuple[Axis, ...], answer: AnswerAt,
            as_lines: bool, has_records: bool) -> Iterator[Point]:
    """The answer or the error at every point of the sweep. `as_lines` says that each point is printed as soon as it is
    computed; then no progress is shown if that is on a terminal, where it would stand between the lines."""
    size = prod(len(axis.values) for axis in swept)
    with waiting(f"dpcalc {command.name}", not (as_lines and sys.stdout.isatty())) as work:
        for done, at in enumerate(points_of(swept), 1):
            try:
                found = answer({**raw, **at})
                if not has_records:  # the further keys of a record are not printed, and would fill the memory
                    found = found._replace(rows=tuple(row._replace(more=None) for row in found.rows))
                point = Point(at, found)
            except DpcalcError as error:
                point = Point(at, error=error)
            yield point
            work.show(done / size, f"{done} of {size} points")


def _from_first_answer(points: Iterator[Point]) -> Iterator[Point]:
    """The points; those before the first answer come with it. Raises their first error where there is no answer."""
    waiting = list[Point]()
    for point in points:
        waiting.append(point)
        if point.answer:
            yield from waiting
            yield from points
            return
    if waiting and waiting[0].error:
        raise waiting[0].error


def _json_array(points: Iterator[Point]) -> Iterator[str]:
    """The lines of one indented array, each record when the next one is known."""
    before = "["
    for point in points:
        yield before
        before = "  " + indented(record_of(point)).replace("\n", "\n  ") + ","
    yield before.removesuffix(",")
    yield "]"


# Format → its lines, for those that are printed point after point.
_LINES: dict[str, Callable[[Iterator[Point]], Iterator[str]]] = {
    "quiet": lambda points: (text for point in points
                             for text in (map(repr, point.answer.values) if point.answer else ("",))),
    "jsonl": lambda points: (dumps(record_of(point)) for point in points),
    "json": _json_array}


def _print_lines(lines: Iterator[str], messages: _Messages) -> int:
    """Prints the lines as they come, then the messages, and returns the exit code."""
    if not hasattr(sys.stdout, "buffer"):  # a program that collects the text
        write("\n".join(lines))
        return messages.print()
    encoding, errors = sys.stdout.encoding, sys.stdout.errors or "strict"
    with Writer(sys.stdout.buffer) as out:
        for line in lines:
            out.line(line.encode(encoding, errors).decode(encoding))  # without what the encoding lacks
    return messages.print()


class _Messages:
    """What standard error says about the points of a sweep: warnings, each kind once, and points without an answer."""

    def __init__(self, in_table: bool, names_failures: bool) -> None:
        """A table says below it that numbers hold for one record or one step only, and why points have no answer."""
        self._in_table, self._names_failures = in_table, names_failures
        self._warnings, self._failed, self._refuted = dict[str, None](), list[Point](), False

    def of(self, points: Iterator[Point]) -> Iterator[Point]:
        """The points, which are noted on the way."""
        for point in points:
            if point.answer:
                answer = point.answer._replace(only=None, scope="") if self._in_table else point.answer
                self._warnings.update(dict.fromkeys(warnings_of(answer)))
                self._refuted = self._refuted or bool(answer.refuted)
            else:
                self._failed.append(point)
            yield point

    def print(self) -> int:
        """Prints the messages and returns the exit code."""
        kinds: dict[str, list[str]] = {}  # of warnings that differ in numbers only, the first one is printed
        for warning in self._warnings:
            kinds.setdefault(_NUMBER.sub("", warning), []).append(warning)
        for first, *more in kinds.values():
            also = f" (and so at {len(more)} more point{'s' if len(more) > 1 else ''})" if more else ""
            report(f"{first}{also}", "warning")
        if self._names_failures:
            for line in unanswered(self._failed):
                report(line, "warning")
        return 1 if self._failed else 3 if self._refuted else 0
