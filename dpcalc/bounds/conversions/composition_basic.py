"""Basic composition of (ε, δ)-DP guarantees, equal or different.

Numbers of at most 15 digits count as the decimals that were given: ten times 0.1 are 1, and not the sum of the doubles,
which is above 1.
"""

from fractions import Fraction
from math import inf, log
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import decimal, decimal_up

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
    """log δ, rounded up."""
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


BOUND = ProfileBound(
    Theorem(
        name="composition-basic",
        example="convert --from dp --epsilon 0.1 --delta 1e-6 --steps 20 --target-delta 1e-4",
        statement="releases that are (ε_i, δ_i)-DP are (Σε_i, Σδ_i)-DP together",
        source="Dwork & Roth 2014, Theorem 3.16",
        assumptions=("adaptive composition is allowed",),
    ),
    params=("points",), value=value, exact=exact, rtol=1e-14, pure=pure, inverse=inverse)
