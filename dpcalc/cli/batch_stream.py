"""--batch on the command line: reads lines from a file or standard input, and prints one answer for each, in order."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from dpcalc.cli.batch import LONGEST, WHITE_SPACE, Batch, JsonReplies, NumberReplies, Replies, Request, request_in_json
from dpcalc.cli.batch_csv import CsvQuestions, CsvReplies
from dpcalc.cli.parsing import check_format
from dpcalc.cli.progress import waiting
from dpcalc.cli.streams import Messages, Writer, blocks
from dpcalc.commands.sweep import axes
from dpcalc.core import plotting
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.output.formats import FORMATS, JSON_FORMATS, format_of


def stream(command: Command, raw: dict[str, Any], source: str, inputs: tuple[str, ...],
           switches: Mapping[str, bool]) -> Callable[[], int]:
    """A function that answers the lines of a file, or of standard input (-), and returns the exit code.

    `inputs` names the guarantees of all lines. Raises DpcalcError for options that do not go with --batch.
    """
    _check_options(command, raw, source, inputs, switches)
    guarantees: tuple[Any, ...] = ()
    if inputs:
        from dpcalc.accounting.guarantee import load_all

        guarantees = load_all(inputs)
    format = "jsonl" if switches["json"] else raw.pop("format", None)
    batch = Batch(command, {k: v for k, v in raw.items() if v is not None and v != ()}, guarantees, switches["certify"])
    return lambda: _run(batch, source, "quiet" if switches["quiet"] else format)


def _check_options(command: Command, raw: Mapping[str, Any], source: str, inputs: tuple[str, ...],
                   switches: Mapping[str, bool]) -> None:
    format = raw.get("format")
    of_lines = [name for name, form in FORMATS.items() if form.is_of_lines]
    if format not in (None, *of_lines):
        raise DpcalcError("contradictory", f"--batch prints {', '.join(of_lines)}, or with -q numbers; a "
                            "sweep of one or two options can be a table", "--format")
    check_format(format, switches, JSON_FORMATS)
    if drawing := next((q.option for q in plotting.OPTIONS if raw.get(q.name)), None):
        raise DpcalcError("contradictory", "--batch prints lines; a sweep is drawn", drawing)
    if switches["all"]:
        raise DpcalcError("unneeded", "every line of --batch holds every row already", "--all")
    if switches["explain"]:
        raise DpcalcError("unneeded", "every line of --batch names source, assumptions and errata already", "--explain")
    reading = (o.quantity.option for o in command.all_options() if o.quantity.source(raw.get(o.name)) == "-")
    own = "--input" if "-" in inputs else next(reading, None)
    if own and source == "-":
        raise DpcalcError("contradictory", "standard input (-) is the batch", own)
    for axis in axes(command, raw):
        raise DpcalcError("contradictory", "no sweep beside --batch: a line is a point", flag(axis.quantity.name))


def _run(batch: Batch, source: str, format: str | None) -> int:
    """Answers every line, and returns 1 where some line failed, else 3 where an audit refutes a claim, else 0."""
    if sys.stdout is None:
        raise DpcalcError("unreadable", "standard output is closed", "--batch")
    name, failed, refuted, count = f"dpcalc {batch.command.name}", 0, 0, 0
    messages = Messages(f"{name}: ")
    with _Source(source) as lines, Writer(sys.stdout.buffer) as out, waiting(name, lines.may_show_progress) as work:
        lines.before_waiting = out.flush
        questions, replies = _forms(batch, lines, source, format)
        for count, request in enumerate(questions, 1):
            line = batch.reply(request, replies)
            failed, refuted = failed + bool(line.error), refuted + line.is_refuted
            if line.text is not None:
                out.line(line.text)
            if line.error and format == "quiet":
                out.flush()
                messages.print_error(line.error)
            messages.print_new_warnings(line.warnings)
            work.show(lines.share_read, f"{count} lines")
        if (rest := replies.rest()) is not None:
            out.line(rest)
    if failed and replies.error_column:
        messages.print_error(f"{failed} of {count} lines have no answer; the column error says why")
    return 1 if failed else 3 if refuted else 0


def _forms(batch: Batch, lines: _Source, source: str, format: str | None) -> tuple[Iterable[Request], Replies]:
    """The questions in the lines, and the form of the answers, which is that of the questions by default."""
    first = next((data for data in lines if data is None or data.strip(WHITE_SPACE)), b"")
    numbered = lines.number
    from_here: Iterator[bytes | None] = chain([first], lines) if numbered else iter(())
    if _is_json(source, first):
        requests: Any = (request_in_json(data, number) for number, data in enumerate(from_here, numbered)
                         if data is None or data.strip(WHITE_SPACE))
        columns, delimiter = None, ""
    else:
        requests = CsvQuestions(from_here, batch.names, batch.command.name, numbered)
        columns, delimiter = requests.columns, requests.delimiter
    if format == "quiet":
        return requests, NumberReplies()
    delimiter = FORMATS[format].delimiter if format else delimiter
    if not delimiter:
        return requests, JsonReplies()
    return requests, CsvReplies(batch.names, delimiter, columns)


def _is_json(source: str, first: bytes | None) -> bool:
    """Whether the lines are JSON Lines: by the suffix of the file, or else by the first line that is not empty."""
    format = format_of(source)
    if format and format.is_of_lines:
        return format.is_json
    return not first or first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")


class _Source:
    """The lines of a file or of standard input, without their newlines; None for one that is too long."""

    def __init__(self, source: str) -> None:
        self._source, self._read, self.number = source, 0, 0
        self.before_waiting: Callable[[], None] = lambda: None

    def __enter__(self) -> _Source:
        if self._source == "-":
            if sys.stdin is None:
                raise DpcalcError("unreadable", "standard input is closed", "--batch")
            self._descriptor = sys.stdin.fileno()
        else:
            try:
                self._descriptor = os.open(self._source, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            except (OSError, ValueError) as e:
                reason = getattr(e, "strerror", None) or e
                size = "; the size of a batch of records is --batch-size" if self._source.isdecimal() else ""
                raise DpcalcError("unreadable", f"{self._source!r}: {reason}{size}", "--batch") from None
        status = os.fstat(self._descriptor)
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        self._lines = self._all_lines()
        return self

    def __exit__(self, *_: object) -> None:
        if self._source != "-":
            os.close(self._descriptor)

    def __iter__(self) -> Iterator[bytes | None]:
        return self._lines

    def _all_lines(self) -> Iterator[bytes | None]:
        for block in blocks(self._descriptor, LONGEST, self._source):
            for data in block:
                self.number += 1
                self._read += len(data or b"") + 1
                yield data
            self.before_waiting()

    @property
    def share_read(self) -> float | None:
        """The share of a file that was read, from 0 to 1; None where its size is not known."""
        return min(self._read / self._size, 1.0) if self._size else None

    @property
    def may_show_progress(self) -> bool:
        """Whether nobody types the lines, or reads the answers, on the terminal that would show it."""
        return not os.isatty(self._descriptor) and not sys.stdout.isatty()
