"""Zero-concentrated differential privacy of pure differential privacy."""

from fractions import Fraction
from typing import Any

from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import quotient_up


def value(points: Points) -> dict[str, float]:
    """ρ = Σε_i²/2, rounded up exactly."""
    return {"rho": share_of_squares(points, 2)}


def share_of_squares(points: Points, part: int) -> float:
    """Σε_i²/part, for a whole number `part`, rounded up exactly."""
    total = sum((Fraction(epsilon) ** 2 * count for epsilon, _, count in points), Fraction(0)) / part
    return quotient_up(total.numerator, total.denominator)


def exact(mp: Any, points: Points) -> Any:
    return {"rho": mp.fsum(count * mp.mpf(epsilon) ** 2 for epsilon, _, count in points) / 2}


BOUND = PointBound(
    Theorem(
        name="pure-zcdp",
        example="convert --from dp --epsilon 1 --delta 0 --to zcdp",
        statement="releases that are ε_i-DP are ρ-zCDP together with ρ = Σε_i²/2",
        source="Bun & Steinke 2016, Proposition 1.4 and Lemma 1.7, arXiv:1605.02065v1",
        assumptions=("pure differential privacy (δ = 0)",),
    ),
    gives=("rho",),
    params=("points",),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
