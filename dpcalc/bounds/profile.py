"""The profile of one use of a mechanism as a value: what a sampled batch is made of."""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

_LARGE = 600.0


class Profile(NamedTuple):
    """A symmetric profile: ε >= 0 → log δ, the printed formula for δ, and its dominating pair (which needs numpy)."""

    log_delta: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    pair: Callable[[], Pair]


def sampled_epsilon(epsilon: float, rate: float) -> float:
    """log(1 + (e^ε − 1)/q), rounded down."""
    if epsilon >= _LARGE:  # beside e^600 no 1 shows
        inner = epsilon - log(rate)
    else:
        odds = expm1(epsilon) / rate
        inner = log1p(odds) if odds < inf else log(expm1(epsilon)) - log(rate)
    return inner * (1 - 1e-15)
