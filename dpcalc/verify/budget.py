"""The processor time that one record may take. A computation that is still running when it is used up is
interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import current_thread, main_thread
from time import process_time
from typing import TypeVar

SECONDS = 120.0  # of the processor, for one record
_AGAIN = 1.0  # seconds, after which an interruption that a library swallowed is repeated
T = TypeVar("T")


class OutOfTime(BaseException):
    """The time is over. It derives from BaseException, so that no `except Exception` on the way catches it."""


class _State:
    """Whether an interruption has to wait, and whether one does."""

    waits = due = False


@contextmanager
def unbroken() -> Iterator[None]:
    """Within: an interruption waits, as in functions that are called back by a library that an exception leaves in
    disorder."""
    outer, _State.waits = _State.waits, True
    try:
        yield
    finally:
        _State.waits = outer
    if _State.due and not outer:
        raise OutOfTime


def due() -> bool:
    """Whether an interruption waits."""
    return _State.due


class Budget:
    """Seconds of the processor from now on. Where there are no timers (Windows, other threads) nothing is begun after
    the end, and what was begun before it is waited for."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds, self._end = seconds, process_time() + seconds

    def within(self, find: Callable[[], T], late: Callable[[str], T]) -> T:
        """What `find` finds; or what `late` makes of the reason, where the time is over before."""
        reason = f"it takes longer than the {self.seconds:g} s of the processor that a record is given"
        left = self._end - process_time()
        if left <= 0:
            return late(reason)
        try:
            with _interrupted_after(left):
                return find()
        except OutOfTime:
            self._end = -inf
            return late(reason)


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    if current_thread() is not main_thread() or not hasattr(signal, "SIGVTALRM"):
        yield
        return

    def end(*_: object) -> None:
        _State.due = True
        if not _State.waits:
            raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, end)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        _State.due = False
