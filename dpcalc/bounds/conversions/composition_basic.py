"""Basic composition of (ε, δ)-DP."""

from math import inf, log
from typing import Any

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up, up


def pure(step_epsilon: float, step_delta: float, steps: int) -> float:
    """Tε, with δ = 0 where each step has δ = 0."""
    if step_delta > 0:
        raise OutOfScope("no-solution", "δ of each step is positive, so the total δ is", "--delta")
    return ratio_up((steps, step_epsilon))


def value(epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """log(Tδ) from ε = T·ε₀ on; below it the theorem says nothing (log 1)."""
    if epsilon < ratio_up((steps, step_epsilon)):
        return 0.0
    return min(0.0, up(_log_total(step_delta, steps), 1e-15)) if step_delta > 0 else -inf


def _log_total(step_delta: float, steps: int) -> float:
    """log(Tδ): of the product, since the sum of the logarithms cancels where it is near 1."""
    total = ratio_up((steps, step_delta))
    return log(total) if total > 1e-300 else log(step_delta) + log(steps)


def inverse(log_delta: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """Tε, where Tδ <= the total δ asked for."""
    if step_delta > 0 and _log_total(step_delta, steps) > log_delta + 4e-15 * abs(log_delta):
        raise OutOfScope("no-solution", f"{steps:g} steps add up to δ = {steps * step_delta:g} already", "--target-delta")
    return ratio_up((steps, step_epsilon))


def exact(mp: Any, epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> Any:
    met = mp.mpf(epsilon) >= steps * mp.mpf(step_epsilon)
    return min(steps * mp.mpf(step_delta), mp.mpf(1)) if met else mp.mpf(1)


BOUND = Bound(
    name="composition-basic",
    kind="profile",
    statement="T releases that are (ε, δ)-DP each are (Tε, Tδ)-DP together",
    source="Dwork & Roth 2014, Theorem 3.16",
    assumptions=("adaptive composition is allowed",),
    params=("step_epsilon", "step_delta", "steps"),
    value=value,
    exact=exact,
    rtol=1e-14,
    pure=pure,
    inverse=inverse,
)
