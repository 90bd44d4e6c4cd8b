"""A progress bar on standard error, shown on a terminal when a call takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DELAY = 1.0  # seconds before the bar appears: shorter answers would only flicker


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Shows the bar while the body of the `with` runs, from a separate thread, and removes it at the end."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    shown: list[Any] = []
    timer = Timer(DELAY, lambda: shown.append(_bar(text)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for bar in shown:
            bar.stop()


def _bar(text: str) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True),
                   transient=True)
    bar.add_task(text, total=None)
    bar.start()
    return bar
