"""The processor time that the verification of one record may take, and the interruption of what takes longer."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from threading import current_thread, main_thread
from time import process_time
from typing import TypeVar

SECONDS = 120.0  # of processor time for one record; the slowest ones, compositions of many epochs, take about a minute
T = TypeVar("T")


class OutOfTime(BaseException):
    """The budget is used up. The class derives from BaseException, so that no `except Exception` in a caller catches
    it."""


class _Interruption:
    """The state of the interruption: whether it has to be deferred, and whether it is pending."""

    deferred = pending = False


@contextmanager
def defer_interruption() -> Iterator[None]:
    """Defer an interruption to the end of the block. This is for callbacks of a library whose state would become
    inconsistent if an exception passed through it."""
    outer, _Interruption.deferred = _Interruption.deferred, True
    try:
        yield
    finally:
        _Interruption.deferred = outer
    if _Interruption.pending and not outer:
        raise OutOfTime


def interruption_is_pending() -> bool:
    """Whether the budget is used up and the interruption is still deferred."""
    return _Interruption.pending


class Budget:
    """A budget of processor time in seconds, which begins when the object is created.

    A running computation is interrupted by a timer when the budget is used up. Where there is no such timer (on
    Windows, and outside of the main thread) a computation that has begun is completed, and no further one is started.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds, self._end = seconds, process_time() + seconds

    def run(self, compute: Callable[[], T], when_late: Callable[[str], T]) -> T:
        """Return `compute()`; or, if the budget does not suffice, `when_late(reason)`."""
        reason = f"it takes longer than the {self.seconds:g} s of the processor that a result is given"
        left = self._end - process_time()
        if left <= 0:
            return when_late(reason)
        try:
            with _interrupted_after(left):
                return compute()
        except OutOfTime:
            self._end = -inf
            return when_late(reason)


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    if current_thread() is not main_thread() or not hasattr(signal, "SIGVTALRM"):
        yield
        return

    def interrupt(*_: object) -> None:
        _Interruption.pending = True
        if not _Interruption.deferred:
            raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        # The timer fires again every second, in case a library catches the first exception.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
        _Interruption.pending = False
