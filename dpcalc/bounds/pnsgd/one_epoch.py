"""ε of one epoch, whatever the bound: what compositions of one epoch, and basic ones, start from."""

from __future__ import annotations

from typing import Any

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket


def least_epsilon(bound: Bound, log_delta: float, p: dict[str, Any]) -> float:
    """The least ε of one epoch, safe."""
    if bound.inverse:
        return float(bound.inverse(log_delta, **p))

    def gap(epsilon: float) -> float:
        return float(bound.value(epsilon, **p)) - log_delta

    if gap(0.0) <= 0:
        return 0.0
    try:
        meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    except Unreachable:
        raise no_epsilon(bound) from None
    return boundary_log(gap, meets, fails)


def no_epsilon(bound: Bound) -> OutOfScope:
    return OutOfScope("no-solution", f"{bound.name} reaches that δ at no ε", "--delta")
