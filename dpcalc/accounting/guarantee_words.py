"""How a δ is reported, why nothing holds at δ = 0, and whether a bound is composed numerically."""

from __future__ import annotations

from math import inf

from dpcalc.core.bound import Bound, Params
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.numerics.elementary import exp_or_zero
from dpcalc.numerics.rounding import up


def no_pure_epsilon(params: Params) -> DpcalcError:
    """Why nothing holds at δ = 0."""
    if reason := params.get("no_pure"):
        return OutOfScope(reason.code, reason.message, reason.option)  # a copy: whoever answers may change its option
    why = next((words for names, words in _NO_PURE if names & params.keys()),
               "no pure ε follows from a bound on Rényi divergences")
    return OutOfScope("no-solution", f"0: {why}; δ must be positive", "--delta")


_NO_PURE = (
    (frozenset({"sigma", "noise_multiplier", "mu", "level", "levels"}), "Gaussian noise has no pure ε"),
    (frozenset({"rho"}), "zCDP gives no pure ε, as Gaussian noise is zCDP"),
    (frozenset({"alphas", "base"}), "an RDP curve gives no pure ε"),
)


def delta_result(log_delta: float, epsilon: float) -> dict[str, float]:
    # A positive δ below the least double is reported as that double, never as 0; log δ tells it in full.
    delta = 0.0 if log_delta == -inf else max(exp_or_zero(log_delta), 5e-324)
    return {"delta": min(1.0, up(delta, told_above(log_delta))), "log_delta": log_delta, "epsilon": epsilon}


def told_above(log_delta: float) -> float:
    """How far above e^{log δ} a δ is told, relative."""
    return 4e-16 * (1 + min(abs(log_delta), 1e3))


def is_composed(bound: Bound, params: Params) -> bool:
    return bound.pair is not None and params.get("steps", 1) > 1
