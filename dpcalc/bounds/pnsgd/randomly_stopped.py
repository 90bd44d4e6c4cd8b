"""Projected noisy SGD stopped after a uniformly random number of records: the privacy profile of one position."""

from math import inf, log
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
from dpcalc.numerics.rounding import ratio_up, up

RELEASED = "the iterate at the random time"


def value(epsilon: float, law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int) -> float:
    """log of A(1 − B^{n−i+1})/(n(1 − B)), rounded up."""
    s = step(epsilon, law, level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    if s.log_a == -inf:
        return -inf
    count = n - index + 1
    left = log(ratio_up((count,), (n,)))
    return min(0.0, up(s.log_a + log_average_power(s.log_b, s.log_rest, count) + up(left, 4e-16), 4e-16))


def exact(mp: Any, epsilon: float, n: int, index: int, **p: Any) -> Any:
    a, count = step_exact(mp, epsilon, **p)[0], n - index + 1
    return a * average_power_exact(mp, rest_exact(mp, epsilon, **p), count) * count / n


BOUND = ProfileBound(
    Theorem(
        name="randomly-stopped",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --epsilon 1 --bound randomly-stopped",
        statement="stopped at a uniformly random one of n records: δ = A(1 − B^(n−i+1))/(n(1 − B)) for the record at "
                  "position i",
        source="Asoodeh, Diaz & Calmon 2020, Theorem 5, arXiv:2001.06546; Sordello, Bu & Dong 2021, Section 1",
        assumptions=(*SETTING, "η ≤ 2/(β+ρ)", "the stopping time is uniform on 1..n and independent of everything",
                     LAPLACE_LINE),
        released=RELEASED,
    ),
    params=(*STEP, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-10,
    pure=pure,
)
