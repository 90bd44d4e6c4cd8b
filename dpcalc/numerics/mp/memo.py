"""What need not be found twice at high precision, or in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any, TypeVar

Numbers = Callable[[int], Any]
F = TypeVar("F", bound=Callable[..., Any])


def kept(most: float = 8) -> Callable[[F], F]:
    """For a function of a context and of what can be hashed: it remembers the last values that it found, at each
    precision; but those of comparisons that balls left open, which may turn out another way."""

    def of(find: F) -> F:
        known: dict[Any, Any] = {}

        @wraps(find)
        def again(mp: Any, *args: Any, **p: Any) -> Any:
            key = (mp, mp.prec, args, *p.items())
            if key in known:
                return known[key]
            before = getattr(mp, "position", 0)
            value = find(mp, *args, **p)
            if getattr(mp, "position", 0) == before:
                if len(known) >= most:
                    del known[next(iter(known))]
                known[key] = value
            return value

        return again  # type: ignore[return-value]

    return of


def kept_numbers(make: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """The same for `make(mp, …)`, which returns a function of whole numbers: the last few, and all that they found."""

    @kept()
    def last(mp: Any, *args: Any, **p: Any) -> Callable[[Any, int], Any]:
        find = make(mp, *args, **p)
        return kept(inf)(lambda mp, n: find(n))

    @wraps(make)
    def made(mp: Any, *args: Any, **p: Any) -> Numbers:
        numbers = last(mp, *args, **p)
        return lambda n: numbers(mp, n)

    return made

