"""Shuffled projected noisy SGD: the privacy profile by the contraction of every step."""

from math import inf
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.step import (
    LAPLACE_LINE,
    SETTING,
    STEP,
    average_power_exact,
    log_average_power,
    pure,
    rest_exact,
    step,
    step_exact,
)
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up


def value(epsilon: float, law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int) -> float:
    """log of A(1 − B^n)/(n(1 − B)), rounded up; 1 − B is computed without cancellation."""
    s = step(epsilon, law, level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    if s.log_a == -inf:
        return -inf
    return min(0.0, up(s.log_a + log_average_power(s.log_b, s.log_rest, n), 4e-16))


def exact(mp: Any, epsilon: float, n: int, **p: Any) -> Any:
    return step_exact(mp, epsilon, **p)[0] * average_power_exact(mp, rest_exact(mp, epsilon, **p), n)


BOUND = ProfileBound(
    Theorem(
        name="shuffled-contraction",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--epsilon 1",
        statement="records in a uniformly random order: δ = A(1 − B^n)/(n(1 − B)), A and B as in fixed-order",
        source="Sordello, Bu & Dong 2021, Theorem 2",
        assumptions=(*SETTING, "the order is uniformly random and secret", "η ≤ 2/(β+ρ)", LAPLACE_LINE),
        errata=("Sordello et al. 2021 omit η ≤ 2/(β+ρ).",
                "Their Section 5 turns (ε, δ) into RDP by a converse that does not hold; epochs are composed by the "
                "whole "
                "profile here."),
    ),
    params=(*STEP, "n"),
    value=value,
    exact=exact,
    rtol=2e-10,
    pure=pure,
)
