"""The exact privacy profile of k-ary randomised response."""

from math import exp, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import three_losses
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ASSUMPTIONS = ("one category per person out of K: the true one is reported with probability e^ε₀/(e^ε₀ + K − 1), and "
               "every other one with probability 1/(e^ε₀ + K − 1)",)


def weight(step_epsilon: float, categories: int) -> float:
    """The probability e^ε₀/(e^ε₀ + K − 1) of the true category, rounded up."""
    return min(up(1 / (1 + (categories - 1) * exp(-step_epsilon)), 1e-15), 1.0)


def value(epsilon: float, step_epsilon: float, categories: int) -> float:
    """log δ(ε) = log((e^ε₀ − e^ε)/(e^ε₀ + K − 1)), rounded up; −inf from ε₀ on."""
    return three_losses.log_delta(epsilon, step_epsilon, weight(step_epsilon, categories))


def inverse(log_delta: float, step_epsilon: float, categories: int) -> float:
    """ε = (ε₀ + log(1 − δ/w))₊, rounded up, for the probability w of the true category."""
    return three_losses.epsilon(log_delta, step_epsilon, weight(step_epsilon, categories))


def pair(step_epsilon: float, categories: int) -> "Pair":
    others = exp(-step_epsilon)  # the probability of another category over that of the true one
    log_weight = -log1p((categories - 1) * others)
    return three_losses.pair(step_epsilon, log_weight, (categories - 2) * others * exp(log_weight))


def exact_weight(mp: Any, step_epsilon: float, categories: int) -> Any:
    return 1 / (1 + (categories - 1) * mp.exp(-mp.mpf(step_epsilon)))


def exact(mp: Any, epsilon: float, step_epsilon: float, categories: int) -> Any:
    return three_losses.exact_delta(mp, epsilon, mp.mpf(step_epsilon), exact_weight(mp, step_epsilon, categories))


def exact_outcomes(mp: Any, step_epsilon: float, categories: int) -> Any:
    e, weight = mp.mpf(step_epsilon), exact_weight(mp, step_epsilon, categories)
    return three_losses.exact_outcomes(mp, e, weight, (categories - 2) * mp.exp(-e) * weight)


BOUND = ProfileBound(
    Theorem(
        name="k-randomized-response-exact",
        example="rdp --mechanism randomized-response --categories 10 --step-epsilon 1 --epsilon 0.5",
        statement="δ(ε) = max(0, (e^ε₀ − e^ε)/(e^ε₀ + K − 1)) for one report, which has the losses ±ε₀ and 0; pure ε = "
                  "ε₀; several reports are composed numerically",
        source="Kairouz, Bonawitz & Ramage 2016, arXiv:1602.07387 (the mechanism); Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("step_epsilon", "categories"),
    value=value,
    exact=exact,
    rtol=2e-14,
    pure=lambda step_epsilon, categories: step_epsilon,
    inverse=inverse,
    pair=pair,
    outcomes=exact_outcomes,
)
