"""Lines in, lines out: nothing waits while there is something to write, and no line is ever written in part."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, BinaryIO

from dpcalc.core.errors import DpcalcError
from dpcalc.core.text import report

_CHUNK = 1 << 16
_PATIENCE = 0.1  # seconds that an answer may wait for others before it is written


def blocks(descriptor: int, longest: int) -> Iterator[list[bytes | None]]:
    """The lines that have arrived, as soon as they have, without their ends: a list a read, the last line too where it
    has no end. A line of more than `longest` bytes is None, and is never held in whole."""
    rest, dropping = b"", False
    while chunk := _read(descriptor):
        lines: list[bytes | None] = [*(rest + chunk).split(b"\n")]
        last = lines.pop() or b""
        if lines and dropping:
            lines[0], dropping = None, False
        yield [line if line is None or len(line) <= longest else None for line in lines]
        dropping = dropping or len(last) > longest
        rest = b"" if dropping else last
    if dropping or rest:
        yield [None if dropping else rest]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError as e:
        raise DpcalcError("unreadable", f"standard input: {e.strerror or e}", "--batch") from None


class Writer:
    """Whole lines, written together when there is nothing to do or a tenth of a second has passed.

    Inside the `with` an interrupt waits for the writing at hand, and then all finished lines are written before it goes
    on (a second one does not wait: whoever reads may have stopped to). """

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
            if not self._writing:  # else the write itself was broken off
                self.flush()
        finally:
            if self._before is not None:
                signal.signal(signal.SIGINT, self._before)

    def line(self, text: str) -> None:
        self._lines.append(text)
        if monotonic() - self._last > _PATIENCE:
            self.flush()

    def flush(self) -> None:
        self._writing = True
        if self._lines:
            rest = memoryview("\n".join([*self._lines, ""]).encode())
            while rest:  # where the stream is not buffered, an interrupt ends a write early
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


class Told:
    """Lines on stderr."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._known = prefix, set[str]()

    def always(self, text: str) -> None:
        report(f"{self._prefix}{text}")

    def once(self, warnings: Iterable[str]) -> None:
        """Each warning once, and of endlessly many different ones the first: a stream may have any number of lines."""
        for text in warnings:
            if text not in self._known and len(self._known) < _MOST_WARNINGS:
                self._known.add(text)
                report(f"warning: {text}")


_MOST_WARNINGS = 20
