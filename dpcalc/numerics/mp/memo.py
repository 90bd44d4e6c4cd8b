"""Caches for functions of a high-precision context (mpmath, or ball arithmetic), which hold values per precision."""

from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any, TypeVar

Numbers = Callable[[int], Any]
F = TypeVar("F", bound=Callable[..., Any])


def cached_by_precision(most: float = 8) -> Callable[[F], F]:
    """Decorates a function of a context and of hashable arguments: its last `most` values are cached, each for the
    precision that it was computed at. A value is not cached if a comparison of balls was undecided in its computation,
    as the same comparison may be decided the other way later."""

    def decorate(function: F) -> F:
        known: dict[Any, Any] = {}

        @wraps(function)
        def cached(mp: Any, *args: Any, **p: Any) -> Any:
            key = (mp, mp.prec, args, *p.items())
            if key in known:
                return known[key]
            before = getattr(mp, "position", 0)  # number of undecided comparisons so far
            value = function(mp, *args, **p)
            if getattr(mp, "position", 0) == before:
                if len(known) >= most:
                    del known[next(iter(known))]
                known[key] = value
            return value

        return cached  # type: ignore[return-value]

    return decorate


def cached_sequence(make: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """Decorates `make(mp, …)`, which returns a function of whole numbers: the last few functions are cached, with all
    their values."""

    @cached_by_precision()
    def last(mp: Any, *args: Any, **p: Any) -> Callable[[Any, int], Any]:
        function = make(mp, *args, **p)
        return cached_by_precision(inf)(lambda mp, n: function(n))

    @wraps(make)
    def cached(mp: Any, *args: Any, **p: Any) -> Numbers:
        numbers = last(mp, *args, **p)
        return lambda n: numbers(mp, n)

    return cached
