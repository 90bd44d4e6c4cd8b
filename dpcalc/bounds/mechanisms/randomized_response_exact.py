"""The exact privacy profile of randomised response and of its compositions."""

from math import tanh
from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms.binary import log_odds
from dpcalc.bounds.mechanisms.total_variation_law import TotalVariationLaw
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up


def pure(probability: float, steps: int) -> float:
    """T·|log(p/(1−p))|, with δ = 0."""
    return up(steps * log_odds(probability), 2e-15)


def value(epsilon: float, probability: float, steps: int) -> float:
    """log δ(ε) by the optimal composition of pure DP, which is exact here: T bits have the likelihood ratios of its
    worst case."""
    return composition_optimal.value(epsilon, pure(probability, 1), 0.0, steps)


def exact(mp: Any, epsilon: float, probability: float, steps: int) -> Any:
    p = mp.mpf(probability)
    return composition_optimal.exact(mp, epsilon, abs(mp.log(p / (1 - p))), 0, steps)


BOUND = ProfileBound(
    Theorem(
        name="randomized-response-exact",
        example="rdp --mechanism randomized-response --probability 0.7 --steps 9 --delta 1e-3",
        statement="pure ε = T·|log(p/(1−p))|; δ(ε) = max(0, p − e^ε(1−p)) for one bit with p ≥ 1/2, the optimal "
                  "composition for T",
        source="Warner 1965; Kairouz, Oh & Viswanath 2015, Theorem 3.3, arXiv:1311.0776v4; Berthier 2019, §2.2",
        assumptions=("one bit per person, answered truly with probability p and flipped otherwise",),
    ),
    params=("probability", "steps"),
    value=value,
    exact=exact,
    rtol=3e-10,
    pure=pure,
    exact_steps=composition_optimal.BOUND.exact_steps,
)

TOTAL_VARIATION = TotalVariationLaw(lambda r: tanh(r / 2), lambda mp, r: mp.tanh(r / 2))  # of log(p/(1−p))
