"""A progress bar on standard error, shown on a terminal when a call takes longer than two seconds."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpcalc.core.style import is_coloured

DELAY = 2.0  # seconds before the bar appears: shorter answers would only flicker


class Work:
    """How much of a call is done, for the bar where one is shown."""

    def __init__(self, text: str) -> None:
        self._text, self._share, self._done = text, 0.0, ""
        self._bar: Any = None

    def show(self, share: float | None, done: str) -> None:
        """Sets the share of the work that is done, from 0 to 1 (None: unknown), and the words for it."""
        self._share, self._done = share or 0.0, done
        if self._bar:
            self._bar.update(0, total=1.0 if share else None, completed=self._share, done=self._done)

    def start(self) -> None:
        """Shows the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, no_color=not is_coloured(sys.stderr))
        bar = Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]}"),
                       TimeElapsedColumn(), console=console, transient=True, redirect_stdout=False)
        bar.add_task(self._text, total=None, done=self._done)
        bar.start()
        self._bar = bar
        self.show(self._share, self._done)

    def stop(self) -> None:
        """Erases the bar, where one is shown."""
        if self._bar:
            self._bar.stop()


@contextmanager
def waiting(text: str, wanted: bool = True) -> Iterator[Work]:
    """Shows the bar while the body of the `with` runs, from a separate thread, and removes it at the end."""
    work = Work(text)
    if not wanted or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield work
        return
    from threading import Timer

    timer = Timer(DELAY, work.start)
    timer.daemon = True
    timer.start()
    try:
        yield work
    finally:
        timer.cancel()
        timer.join()
        work.stop()
