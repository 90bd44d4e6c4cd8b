"""Advanced composition of (ε, δ)-DP."""

from math import exp, expm1, log, sqrt
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import difference_down, ratio_up, sum_up, up


def value(epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """log(Tδ₀ + δ′) for the δ′ with ε = √(2T log(1/δ′))ε₀ + Tε₀(e^{ε₀}−1), from above; log 1 where there is none."""
    excess = epsilon - up(steps * step_epsilon * expm1(step_epsilon), 1e-15) if step_epsilon < 700 else -1.0
    if excess <= 0 or step_epsilon == 0:
        return 0.0
    # The subtraction may cancel, so its rounding error is relative to ε.
    x = max(0.0, excess - 4e-16 * epsilon) / step_epsilon
    slack = exp(-x * x / (2 * steps) * (1 - 4e-15))
    total = up(sum_up((ratio_up((steps, step_delta)), slack)), 2e-15)
    return min(0.0, up(log(total), 1e-15)) if total > 0 else -1e300


def inverse(log_delta: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """ε = √(2T log(1/δ′))ε₀ + Tε₀(e^{ε₀}−1), rounded up, at the slack δ′ = δ − Tδ₀ (an exact subtraction, rounded
    down)."""
    slack = difference_down(exp(log_delta) * (1 - 1e-15 * (1 + abs(log_delta))), ratio_up((steps, step_delta)))
    if slack <= 0:
        raise OutOfScope("no-solution", "the δ of the steps alone uses up the total δ; give a larger "
                                        "--target-delta", "--target-delta")
    drift = steps * step_epsilon * expm1(step_epsilon) if step_epsilon < 700 else 1e308
    return up(sqrt(-2 * steps * log(slack)) * step_epsilon + drift, 5e-15)


def exact(mp: Any, epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> Any:
    e = mp.mpf(step_epsilon)
    x = mp.mpf(epsilon) - steps * e * mp.expm1(e)
    slack = mp.exp(-((x / e) ** 2) / (2 * steps)) if x > 0 and e > 0 else mp.mpf(1)
    return min(steps * mp.mpf(step_delta) + slack, mp.mpf(1))


BOUND = ProfileBound(
    Theorem(
        name="composition-advanced",
        example="convert --from dp --epsilon 0.1 --delta 1e-6 --steps 20 --slack 1e-6",
        statement="T releases that are (ε, δ)-DP each are (√(2T log(1/δ′))ε + Tε(e^ε−1), Tδ + δ′)-DP together",
        source="Dwork, Rothblum & Vadhan 2010; Berthier 2019, Theorem 2.1",
        assumptions=("adaptive composition is allowed",),
        errata=("The CS5562 lecture's example, (0.005, 1e-5) × 1000 ⇒ (0.15, 1e-5), is not a theorem: 0.005√1000 = "
                "0.158 alone, and the optimal δ at 0.15 is 0.0254.",),
    ),
    params=("step_epsilon", "step_delta", "steps"), value=value, exact=exact, rtol=1e-11, inverse=inverse)
