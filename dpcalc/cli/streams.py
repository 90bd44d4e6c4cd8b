"""Input and output of lines: answers are written before the next input is awaited, and always as whole lines."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, BinaryIO

from dpcalc.core.errors import DpcalcError
from dpcalc.core.reading import where
from dpcalc.core.text import report


def blocks(descriptor: int, longest: int, source: str) -> Iterator[list[bytes | None]]:
    """The lines of a stream as soon as they arrive, without their newlines: a list for each read.

    `source` names the stream in errors: a file, or - for standard input. A last line without a newline counts. A line
    of more than `longest` bytes is None, and is never held in memory.
    """
    rest, dropping = b"", False
    while chunk := _read(descriptor, source):
        lines: list[bytes | None] = [*(rest + chunk).split(b"\n")]
        last = lines.pop() or b""
        if lines and dropping:
            lines[0], dropping = None, False
        yield [line if line is None or len(line) <= longest else None for line in lines]
        dropping = dropping or len(last) > longest
        rest = b"" if dropping else last
    if dropping or rest:
        yield [None if dropping else rest]


def _read(descriptor: int, source: str) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)  # at most 64 KiB, the capacity of a pipe on Linux
    except OSError as e:
        raise DpcalcError("unreadable", f"{where(source)}: {e.strerror or e}", "--batch") from None


class Writer:
    """Writes whole lines, buffered until `flush` is called or a tenth of a second has passed.

    Inside the `with`, an interrupt waits until the write under way is complete, and all finished lines are written
    before KeyboardInterrupt is raised. A second interrupt does not wait, because the reader may have stopped reading.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._lines, self._last = out, list[str](), monotonic()
        self._writing = self._interrupted = False
        self._before: Any = None

    def __enter__(self) -> Writer:
        if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if not self._writing:  # else the write itself was interrupted
                self.flush()
        finally:
            if self._before is not None:
                signal.signal(signal.SIGINT, self._before)

    def line(self, text: str) -> None:
        """Adds a line, without its newline."""
        self._lines.append(text)
        if monotonic() - self._last > 0.1:
            self.flush()

    def flush(self) -> None:
        """Writes all lines that were added."""
        self._writing = True
        if self._lines:
            rest = memoryview("\n".join([*self._lines, ""]).encode("utf-8", "surrogateescape"))
            while rest:  # an interrupt ends a write early where the stream is not buffered
                rest = rest[self._out.write(rest) :]
            self._out.flush()
            self._lines.clear()
        self._last = monotonic()
        self._writing = False
        if self._interrupted:
            self._interrupted = False
            raise KeyboardInterrupt

    def _interrupt(self, *_: object) -> None:
        if not self._writing or self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True


class Messages:
    """Errors and warnings of a batch, on standard error."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._known = prefix, set[str]()

    def print_error(self, text: str) -> None:
        report(f"{self._prefix}{text}")

    def print_new_warnings(self, warnings: Iterable[str]) -> None:
        """Prints each warning once, and only the first 20, as an endless stream may have any number of them."""
        for text in warnings:
            if text not in self._known and len(self._known) < 20:
                self._known.add(text)
                report(text, "warning")
