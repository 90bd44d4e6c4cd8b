"""The privacy profile of one use of a mechanism as a value, from which that of a sampled batch is computed."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


class Profile(NamedTuple):
    """A symmetric profile: ε >= 0 → log δ, the printed formula for δ at high precision, and the function that makes its
    dominating pair (which needs numpy). `outcomes` are as in ProfileBound."""

    log_delta: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    pair: Callable[[], Pair]
    outcomes: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None

    @property
    def total_variation(self) -> float:
        """δ(0), rounded up."""
        return min(1.0, up(exp(self.log_delta(0.0)), 4e-16))


def sampled_epsilon(epsilon: float, rate: float) -> float:
    """log(1 + (e^ε − 1)/q), rounded down: the ε of the mechanism that a batch at rate q uses at ε."""
    if epsilon >= 600:  # 1 is nothing beside e^600
        inner = epsilon - log(rate)
    else:
        odds = expm1(epsilon) / rate
        inner = log1p(odds) if odds < inf else log(expm1(epsilon)) - log(rate)
    return inner * (1 - 1e-15)
