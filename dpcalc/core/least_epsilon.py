"""The ε of a profile at δ, of any bound: what answers, compositions of one epoch, and basic ones start from."""

from __future__ import annotations

from math import log
from typing import Any

from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human_claimed, human_probability
from dpcalc.numerics.elementary import exp_or_zero
from dpcalc.numerics.root import Never, Unreachable, least

_TINY = 1e-300  # below, a δ is written from its logarithm
_DOUBLES = 1e-14  # relative: the rounding of logarithms and exponentials on the way


def least_epsilon(bound: Bound, log_delta: float, own: dict[str, Any], epochs: int = 1) -> float:
    """The least ε, safe; of one of some epochs, each of which has that δ in basic composition. Raises OutOfScope where
    no ε reaches it."""
    try:
        return _found(bound, log_delta, own)
    except Never as e:
        name = bound.name if epochs == 1 else f"{bound.name}-basic"
        raise no_epsilon(name, float(bound.value(e.at, **own)) + log(epochs), bound.rtol) from None


def _found(bound: Bound, log_delta: float, own: dict[str, Any]) -> float:
    return float(bound.inverse(log_delta, **own)) if bound.inverse else _least(bound, log_delta, own)


def _least(bound: Bound, log_delta: float, own: dict[str, Any]) -> float:
    try:
        return least(lambda epsilon: float(bound.value(epsilon, **own)) - log_delta)
    except Unreachable as e:
        raise Never(e.at, e.gap) from None


def no_epsilon(name: str, best: float, rtol: float, what: str = "the best reachable is") -> OutOfScope:
    """That a bound reaches a δ at no ε, and `what` the log δ is that it cannot be below, computed to rtol·max(1, |log
    δ|)."""
    least = min(best, 0.0)
    delta = exp_or_zero(least)
    text = human_claimed(delta, rtol * max(1.0, -least) + _DOUBLES) if delta > _TINY else human_probability(delta,
                                                                                                            least)
    return OutOfScope("no-solution", f"{name} reaches that δ at no ε; {what} δ = {text}", "--delta")
