"""ε of one epoch, whatever the bound: what compositions of one epoch, and basic ones, start from."""

from __future__ import annotations

from typing import Any

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics.invert import Unreachable, least


def least_epsilon(bound: Bound, log_delta: float, p: dict[str, Any]) -> float:
    """The least ε of one epoch, safe."""
    if bound.inverse:
        return float(bound.inverse(log_delta, **p))
    try:
        return least(lambda epsilon: float(bound.value(epsilon, **p)) - log_delta)
    except Unreachable:
        raise no_epsilon(bound) from None


def no_epsilon(bound: Bound) -> OutOfScope:
    return OutOfScope("no-solution", f"{bound.name} reaches that δ at no ε", "--delta")
