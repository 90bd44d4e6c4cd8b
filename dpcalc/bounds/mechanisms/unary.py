"""Unary encoding (RAPPOR, OUE): a category as a vector of bits, each of them randomised.

Two categories differ in two bits. Their four outcomes have the losses ±ε₀ and 0, as the bits (1, 1) and (0, 0) are
equally likely for both categories. Neighbours replace one category by another: respondents who are added or removed,
and RAPPOR with Bloom filters, where categories may differ in more bits, are not covered.
"""

from typing import Any

from dpcalc.bounds.mechanisms.finite import DOUBLES, Losses, bounds, log_quotient, symmetric
from dpcalc.core.bound import Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

ASSUMPTIONS = ("one category per person, encoded as one bit for every category: the bit of the true one is reported as "
               "1 with probability p, and every other bit with probability q ≤ p, all of them independently",)


def atoms(number: Any, probability: Any, flip_probability: Any) -> Losses:
    """The losses ± ε₀ of the bits (1, 0) and (0, 1), and 0 of (1, 1) and (0, 0)."""
    p, q = number.mpf(probability), number.mpf(flip_probability)
    largest = log_quotient(number, p, q) + number.log1p((p - q) / (1 - p))
    return symmetric([(largest, number.log(p) + number.log1p(-q))], [(0.0, number.log(p * q + (1 - p) * (1 - q)))])


def pure(probability: float, flip_probability: float) -> float:
    """ε₀ = log(p(1−q)/(q(1−p))), rounded up. Raises OutOfScope where q is above p."""
    p, q = probability, flip_probability
    if q > p:
        raise OutOfScope("out-of-range", f"{q:g} is above --probability {p:g}: a bit that is 1 must not be reported as "
                                         "1 less often than a bit that is 0; exchange the two numbers",
                         "--flip-probability")
    return up(atoms(DOUBLES, p, q)[0][0], 1e-15)


BOUNDS = EXACT, RDP = bounds(
    Theorem(
        name="unary-exact",
        example="rdp --mechanism unary --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="δ(ε) = max(0, p(1−q) − e^ε q(1−p)) for one report, which has the losses ±ε₀ and 0; pure ε₀ = "
                  "log(p(1−q)/(q(1−p))); RAPPOR has p = 1 − f/2, q = f/2, OUE p = 1/2, q = 1/(e^ε₀ + 1); several "
                  "reports are composed numerically",
        in_words="The privacy profile of unary encoding (RAPPOR, OUE): a person sends one bit for every category, and "
                 "each bit is flipped independently. It is tight for a person whose category changes, in which case "
                 "two bits change. It is false for people with several categories, of whom more bits change. Several "
                 "reports are composed numerically.",
        source="Wang, Blocki, Li & Jha 2017; Erlingsson, Pihur & Korolova 2014, arXiv:1407.6981 (RAPPOR); Zhu, Dong & "
               "Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    Theorem(
        name="unary-rdp",
        example="rdp --mechanism unary --probability 0.75 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( p^α(1−p)^(1−α)·q^(1−α)(1−q)^α + pq + (1−p)(1−q) + "
                  "q^α(1−q)^(1−α)·p^(1−α)(1−p)^α ) / (α−1)",
        in_words="The Rényi divergence of unary encoding (RAPPOR, OUE) at an order α; those of several reports add "
                 "up. It is exact for a person whose category changes, in which case two bits change. It is false for "
                 "people with several categories, of whom more bits change.",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Wang, Blocki, Li "
               "& Jha 2017",
        assumptions=ASSUMPTIONS,
    ),
    ("probability", "flip_probability"), atoms, pure)
