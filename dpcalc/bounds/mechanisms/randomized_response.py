"""Randomised response: one bit, answered truly with probability p, and flipped otherwise."""

from math import log, log1p
from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import finite
from dpcalc.bounds.mechanisms.finite import DOUBLES, Losses
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.numerics.rounding import up

ASSUMPTIONS = ("one bit per person, answered truly with probability p and flipped otherwise",)


def atoms(number: Any, probability: float) -> Losses:
    """The losses ± |log(p/(1−p))|."""
    p = number.mpf(probability)
    if number is not DOUBLES:
        odds = abs(number.log(p / (1 - p)))
    elif p < 0.25:
        odds = log1p(-p) - log(p)
    else:  # accurate near 1/2, too, where 2p − 1 is exact
        odds = abs(log1p((2 * p - 1) / (1 - p)) if p < 0.75 else log(p / (1 - p)))
    return finite.binary(number, odds)


def pure(probability: float, steps: int) -> float:
    """T·|log(p/(1−p))|, with δ = 0."""
    return up(steps * atoms(DOUBLES, probability)[0][0], 2e-15)


def value(epsilon: float, probability: float, steps: int) -> float:
    """log δ(ε) by the optimal composition of pure DP, which is exact here: T bits have the likelihood ratios of its
    worst case."""
    return composition_optimal.value(epsilon, pure(probability, 1), 0.0, steps)


def exact(mp: Any, epsilon: float, probability: float, steps: int) -> Any:
    return composition_optimal.exact(mp, epsilon, atoms(mp, probability)[0][0], 0, steps)


EXACT = ProfileBound(
    Theorem(
        name="randomized-response-exact",
        example="rdp --mechanism randomized-response --probability 0.7 --steps 9 --delta 1e-3",
        statement="pure ε = T·|log(p/(1−p))|; δ(ε) = max(0, p − e^ε(1−p)) for one bit with p ≥ 1/2, the optimal "
                  "composition for T",
        in_words="The privacy profile of a report of one bit that is true with probability p, and of T such reports "
                 "together. It is tight: where a person who is replaced has the other bit in all T reports, no "
                 "smaller δ is true. Every report needs fresh randomness, and nobody has to be trusted with the true "
                 "bits.",
        source="Warner 1965; Kairouz, Oh & Viswanath 2015, Theorem 3.3, arXiv:1311.0776v4; Berthier 2019, §2.2",
        assumptions=ASSUMPTIONS,
    ),
    params=("probability", "steps"), value=value, exact=exact, rtol=3e-10, pure=pure,
    exact_steps=composition_optimal.BOUND.exact_steps)

RDP = RdpBound(
    Theorem(
        name="randomized-response-rdp",
        example="rdp --mechanism randomized-response --probability 0.7 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( p^α(1−p)^(1−α) + (1−p)^α p^(1−α) ) / (α−1)",
        in_words="The Rényi divergence of a report of one bit that is true with probability p, at an order α; those "
                 "of several reports add up. It is exact for a person whose bit changes. The ε to which it is "
                 "converted is never below the exact one of randomized-response-exact.",
        source="Mironov 2017, Proposition 5, arXiv:1702.07476v3",
        assumptions=ASSUMPTIONS,
    ),
    params=("probability",),
    value=lambda alpha, probability: finite.rdp(alpha, atoms(DOUBLES, probability), pure(probability, 1)),
    exact=lambda mp, alpha, probability: finite.exact_rdp(mp, alpha, atoms(mp, probability)), rtol=5e-14)

BOUNDS = (EXACT, RDP)
