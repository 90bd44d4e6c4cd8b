"""What high precision need not find twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

Numbers = Callable[[int], Any]


def kept(make: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """For `make(mp, …)` that returns a function of whole numbers: the last few remember what they found, at each precision. Not in ball
    arithmetic, which watches comparisons."""

    @lru_cache(maxsize=8)
    def last(mp: Any, precision: int, *args: Any, **p: Any) -> Numbers:
        return cache(make(mp, *args, **p))

    def either(mp: Any, *args: Any, **p: Any) -> Numbers:
        return make(mp, *args, **p) if hasattr(mp, "between") else last(mp, mp.prec, *args, **p)

    return either
