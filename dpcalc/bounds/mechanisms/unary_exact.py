"""The exact privacy profile of unary encoding (RAPPOR, OUE): a category as a vector of bits, each of them randomised.

Two categories differ in two bits. Their four outcomes have the losses ±ε₀ and 0, as the bits (1, 1) and (0, 0) are
equally likely for both categories. Neighbours replace one category by another: respondents who are added or removed,
and RAPPOR with Bloom filters, where categories may differ in more bits, are not covered.
"""

from math import log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import three_losses
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ASSUMPTIONS = ("one category per person, encoded as one bit for every category: the bit of the true one is reported as "
               "1 with probability p, and every other bit with probability q ≤ p, all of them independently",)


def pure(probability: float, flip_probability: float) -> float:
    """ε₀ = log(p(1−q)/(q(1−p))), rounded up. Raises OutOfScope where q is above p."""
    p, q = probability, flip_probability
    if q > p:
        raise OutOfScope("out-of-range", f"{q:g} is above --probability {p:g}: a bit that is 1 must not be reported as "
                                         "1 less often than a bit that is 0; exchange the two numbers",
                         "--flip-probability")
    return up(_largest_loss(p, q), 1e-15)


def _largest_loss(p: float, q: float) -> float:
    """ε₀, to a few ulp."""
    if (odds := q * (1 - p)) < 1e-290:  # where quotients overflow; the logs do not cancel
        return log(p) + log1p(-q) - log(q) - log1p(-p)
    return log1p((p - q) / odds)


def weight(probability: float, flip_probability: float) -> float:
    """p(1−q), the probability of the outcome with the loss ε₀, rounded up."""
    return min(up(probability * (1 - flip_probability), 1e-15), 1.0)


def value(epsilon: float, probability: float, flip_probability: float) -> float:
    """log δ(ε) = log(p(1−q) − e^ε q(1−p)), rounded up; −inf from ε₀ on."""
    return three_losses.log_delta(epsilon, pure(probability, flip_probability),
                                  weight(probability, flip_probability))


def inverse(log_delta: float, probability: float, flip_probability: float) -> float:
    """ε = (ε₀ + log(1 − δ/(p(1−q))))₊, rounded up."""
    return three_losses.epsilon(log_delta, pure(probability, flip_probability), weight(probability, flip_probability))


def pair(probability: float, flip_probability: float) -> "Pair":
    p, q = probability, flip_probability
    pure(p, q)  # refuses q above p
    return three_losses.pair(_largest_loss(p, q), log(p) + log1p(-q), p * q + (1 - p) * (1 - q))


def exact_losses(mp: Any, probability: float, flip_probability: float) -> tuple[Any, Any]:
    """ε₀ and the P-mass p(1−q) of the outcome with this loss."""
    p, q = mp.mpf(probability), mp.mpf(flip_probability)
    return mp.log(p * (1 - q) / (q * (1 - p))), p * (1 - q)


def exact(mp: Any, epsilon: float, probability: float, flip_probability: float) -> Any:
    return three_losses.exact_delta(mp, epsilon, *exact_losses(mp, probability, flip_probability))


def exact_outcomes(mp: Any, probability: Any, flip_probability: Any) -> Any:
    p, q = mp.mpf(probability), mp.mpf(flip_probability)
    return three_losses.exact_outcomes(mp, *exact_losses(mp, p, q), p * q + (1 - p) * (1 - q))


BOUND = ProfileBound(
    Theorem(
        name="unary-exact",
        example="rdp --mechanism unary --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="δ(ε) = max(0, p(1−q) − e^ε q(1−p)) for one report, which has the losses ±ε₀ and 0; pure ε₀ = "
                  "log(p(1−q)/(q(1−p))); RAPPOR has p = 1 − f/2, q = f/2, OUE p = 1/2, q = 1/(e^ε₀ + 1); several "
                  "reports are composed numerically",
        source="Wang, Blocki, Li & Jha 2017; Erlingsson, Pihur & Korolova 2014, arXiv:1407.6981 (RAPPOR); Zhu, Dong & "
               "Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("probability", "flip_probability"),
    value=value,
    exact=exact,
    rtol=2e-14,
    pure=pure,
    inverse=inverse,
    pair=pair,
    outcomes=exact_outcomes,
)
