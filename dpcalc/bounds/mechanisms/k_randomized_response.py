"""k-ary randomised response: the true category out of K with probability e^ε₀/(e^ε₀ + K − 1), and else another one."""

from typing import Any

from dpcalc.bounds.mechanisms.finite import Losses, bounds, symmetric
from dpcalc.core.bound import Theorem

ASSUMPTIONS = ("one category per person out of K: the true one is reported with probability e^ε₀/(e^ε₀ + K − 1), and "
               "every other one with probability 1/(e^ε₀ + K − 1)",)


def atoms(number: Any, step_epsilon: float, categories: int) -> Losses:
    """The losses ± ε₀ of a report of one of the two categories, and 0 of all others."""
    e = number.mpf(step_epsilon)
    log_true = -number.log1p((categories - 1) * number.exp(-e))
    others = [(0.0, log_true - e + number.log(categories - 2))] if categories > 2 else []
    return symmetric([(e, log_true)], others)


BOUNDS = EXACT, RDP = bounds(
    Theorem(
        name="k-randomized-response-exact",
        example="rdp --mechanism randomized-response --categories 10 --step-epsilon 1 --epsilon 0.5",
        statement="δ(ε) = max(0, (e^ε₀ − e^ε)/(e^ε₀ + K − 1)) for one report, which has the losses ±ε₀ and 0; pure ε = "
                  "ε₀; several reports are composed numerically",
        in_words="The privacy profile of k-ary randomised response: a person reports the true one of K categories "
                 "with the largest probability, and each of the others with the same smaller one. It is tight: for a "
                 "person whose category changes, no smaller δ is true. Several reports, each with fresh randomness, "
                 "are composed numerically.",
        source="Kairouz, Bonawitz & Ramage 2016, arXiv:1602.07387 (the mechanism); Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    Theorem(
        name="k-randomized-response-rdp",
        example="rdp --mechanism randomized-response --categories 10 --step-epsilon 1 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( (e^(αε₀) + e^((1−α)ε₀) + K − 2)/(e^ε₀ + K − 1) ) / (α−1)",
        in_words="The Rényi divergence of k-ary randomised response at an order α; those of several reports add up. "
                 "It is exact for a person whose category changes. It assumes that all false categories are equally "
                 "likely; for another law of the report use convert --from outcomes.",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Kairouz, "
               "Bonawitz & Ramage 2016, arXiv:1602.07387",
        assumptions=ASSUMPTIONS,
    ),
    ("step_epsilon", "categories"), atoms, pure=lambda step_epsilon, categories: step_epsilon)
