"""A progress bar on stderr, on a terminal only, for what takes over a second."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PATIENCE = 1.0  # seconds


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Shows that something is under way, from a thread of its own, while the body runs; wiped at the end."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Timer

    shown: list[Any] = []
    timer = Timer(_PATIENCE, lambda: shown.append(_bar(text)))
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
