"""Basic composition of (ε, δ)-DP guarantees, equal or different, and advanced composition of equal ones.

Numbers of at most 15 digits count as the decimals that were given: ten times 0.1 are 1, and not the sum of the doubles,
which is above 1.
"""

from fractions import Fraction
from math import exp, expm1, inf, log, sqrt
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import decimal, decimal_up, difference_down, ratio_up, sum_up, up

Points = tuple[tuple[float, float, int], ...]  # (ε, δ) of a release, and how many such releases there are


def repeated(step_epsilon: float, step_delta: float, steps: int) -> dict[str, Any]:
    """The parameters of T releases with one guarantee, of this theorem and of those about equal releases."""
    return {"step_epsilon": step_epsilon, "step_delta": step_delta, "steps": steps,
            "points": ((step_epsilon, step_delta, steps),)}


def pure(points: Points) -> float:
    """Σε_i, with δ = 0 where every δ_i is 0."""
    if any(delta > 0 for _, delta, _ in points):
        raise OutOfScope("no-solution", "0 is not possible, as a release has a positive δ; give a positive δ",
                         "--delta")
    return decimal_up(total_epsilon(points))


def total_epsilon(points: Points) -> Fraction:
    """Σε_i, exactly."""
    return sum((decimal(epsilon) * count for epsilon, _, count in points), Fraction(0))


def total_delta(points: Points) -> Fraction:
    """Σδ_i, exactly."""
    return sum((decimal(delta) * count for _, delta, count in points), Fraction(0))


def delta(epsilon: float, points: Points) -> Fraction:
    """Σδ_i from ε = Σε_i on, and below it 1, as the theorem does not hold there."""
    return Fraction(1) if decimal(epsilon) < total_epsilon(points) else min(Fraction(1), total_delta(points))


def value(epsilon: float, points: Points) -> float:
    return min(0.0, _log_up(delta(epsilon, points)))


def _log_up(x: Fraction) -> float:
    """log x, rounded up; of its nearest double, since a difference of logarithms cancels where x is near 1."""
    if x == 0:
        return -inf
    log_x = log(nearest) if (nearest := decimal_up(x)) > 1e-300 else log(x.numerator) - log(x.denominator)
    return log_x + 1e-15 * abs(log_x)


def inverse(log_delta: float, points: Points) -> float:
    """Σε_i, where Σδ_i <= δ up to the rounding of log δ; `refuse_excess` compares δ itself."""
    total = total_delta(points)
    if total and _log_up(total) > log_delta + 5e-15 * abs(log_delta):
        raise _excess(total)
    return decimal_up(total_epsilon(points))


def refuse_excess(points: Points, delta: float) -> None:
    """Raises OutOfScope where Σδ_i > δ, compared without rounding errors."""
    if (total := total_delta(points)) > decimal(delta):
        raise _excess(total)


def _excess(total: Fraction) -> OutOfScope:
    return OutOfScope("no-solution", f"the δs of the releases alone add up to {float(total):g}; give a larger "
                                     "δ", "--delta")


def exact(mp: Any, epsilon: float, points: Points) -> Any:
    total = delta(epsilon, points)
    return mp.mpf(total.numerator) / total.denominator


def advanced(epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """log(Tδ₀ + δ′) for the δ′ with ε = √(2T log(1/δ′))ε₀ + Tε₀(e^{ε₀}−1), from above; log 1 where there is none."""
    excess = epsilon - up(steps * step_epsilon * expm1(step_epsilon), 1e-15) if step_epsilon < 700 else -1.0
    if excess <= 0 or step_epsilon == 0:
        return 0.0
    # The subtraction may cancel, so its rounding error is relative to ε.
    x = max(0.0, excess - 4e-16 * epsilon) / step_epsilon
    slack = exp(-x * x / (2 * steps) * (1 - 4e-15))
    total = up(sum_up((ratio_up((steps, step_delta)), slack)), 2e-15)
    return min(0.0, up(log(total), 1e-15)) if total > 0 else -1e300


def inverse_advanced(log_delta: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """ε = √(2T log(1/δ′))ε₀ + Tε₀(e^{ε₀}−1), rounded up, at the slack δ′ = δ − Tδ₀ (an exact subtraction, rounded
    down)."""
    slack = difference_down(exp(log_delta) * (1 - 1e-15 * (1 + abs(log_delta))), ratio_up((steps, step_delta)))
    if slack <= 0:
        raise OutOfScope("no-solution", "the δ of the steps alone uses up the total δ; give a larger "
                                        "--target-delta", "--target-delta")
    drift = steps * step_epsilon * expm1(step_epsilon) if step_epsilon < 700 else 1e308
    return up(sqrt(-2 * steps * log(slack)) * step_epsilon + drift, 5e-15)


def exact_advanced(mp: Any, epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> Any:
    e = mp.mpf(step_epsilon)
    x = mp.mpf(epsilon) - steps * e * mp.expm1(e)
    slack = mp.exp(-((x / e) ** 2) / (2 * steps)) if x > 0 and e > 0 else mp.mpf(1)
    return min(steps * mp.mpf(step_delta) + slack, mp.mpf(1))


BOUND = ProfileBound(
    Theorem(
        name="composition-basic",
        example="convert --from dp --epsilon 0.1 --delta 1e-6 --steps 20 --target-delta 1e-4",
        statement="releases that are (ε_i, δ_i)-DP are (Σε_i, Σδ_i)-DP together",
        in_words="Several releases together: the ε add up, and so do the δ, also where a release is chosen in view of "
                 "earlier outputs. It holds for all mechanisms, and for pure DP no smaller ε with δ = 0 holds for "
                 "all. Where a small δ is allowed, composition-optimal gives less for many releases.",
        source="Dwork & Roth 2014, Theorem 3.16",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
    ),
    params=("points",), value=value, exact=exact, rtol=1e-14, pure=pure, inverse=inverse)

ADVANCED = ProfileBound(
    Theorem(
        name="composition-advanced",
        example="convert --from dp --epsilon 0.1 --delta 1e-6 --steps 20 --slack 1e-6",
        statement="T releases that are (ε, δ)-DP each are (√(2T log(1/δ′))ε + Tε(e^ε−1), Tδ + δ′)-DP together",
        in_words="Many releases with the same small ε: the total grows like √T, at the price of an additional δ′ that "
                 "you choose. It holds for all mechanisms, also where a release is chosen in view of earlier outputs. "
                 "It is loose: composition-optimal is never above it, and for few releases basic composition may be "
                 "below it, too.",
        source="Dwork, Rothblum & Vadhan 2010; Berthier 2019, Theorem 2.1",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
        errata=("The CS5562 lecture's example, (0.005, 1e-5) × 1000 ⇒ (0.15, 1e-5), is not a theorem: 0.005√1000 = "
                "0.158 alone, and the optimal δ at 0.15 is 0.0254.",),
    ),
    params=("step_epsilon", "step_delta", "steps"), value=advanced, exact=exact_advanced, rtol=1e-11,
    inverse=inverse_advanced)

BOUNDS = (BOUND, ADVANCED)
