"""How much has been computed, counted alike on every machine: what ends a search that takes long.

One unit is what a number of an array takes, about a tenth of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeVar

_DONE: ContextVar[int] = ContextVar("done", default=0)
_BEGUN: ContextVar[int] = ContextVar("begun", default=0)
_KEPT: list[Any] = []
F = TypeVar("F", bound=Callable[..., Any])


def count(units: float) -> None:
    _DONE.set(_DONE.get() + round(units))  # whole: in any order the same


def done() -> int:
    return _DONE.get()


def begin() -> None:
    """A question begins here."""
    _BEGUN.set(_DONE.get())


def spent() -> int:
    """On the question so far."""
    return _DONE.get() - _BEGUN.get()


def remembered(most: int) -> Callable[[F], F]:
    """`lru_cache`, for what counts work: `forget` lets a search end at the same point whatever was asked before."""

    def of(find: F) -> F:
        kept = lru_cache(maxsize=most)(find)
        _KEPT.append(kept)
        return kept  # type: ignore[return-value]

    return of


def forget() -> None:
    for kept in _KEPT:
        kept.cache_clear()
    begin()
