"""Projected noisy SGD over the records in a fixed order: the privacy profile of the record at one position."""

from math import inf
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.step import LAPLACE_LINE, SETTING, STEP, reach_ratio, step, step_exact
from dpcalc.bounds.pnsgd._engine.step import pure as step_pure
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up

_LEAST_LOG = -1.7e308  # a positive δ whose logarithm would overflow is reported as e to this, not as 0


def value(epsilon: float, law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int) -> float:
    """log δ = log A + (n − i) log B, rounded up."""
    s = step(epsilon, law, level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    later = n - index
    if later == 0 or s.log_a == -inf:
        return s.log_a
    if s.log_b == -inf:
        return -inf
    return min(0.0, max(up(s.log_a + later * s.log_b, 2e-12), _LEAST_LOG))


def exact(mp: Any, epsilon: float, n: int, index: int, **p: Any) -> Any:
    a, b = step_exact(mp, epsilon, **p)
    return a * b ** (n - index) if n > index else a


def pure(law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, n: int, index: int) -> float:
    """The least ε with δ = 0: with A = 0 or, where steps follow, B = 0."""
    own = step_pure(law, level, lipschitz)
    return own if n == index else min(own, reach_ratio(level, diameter, learning_rate, smoothness, strong_convexity))


BOUND = ProfileBound(
    Theorem(
        name="fixed-order",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --epsilon 1",
        statement="δ = A·B^(n−i) for the record at position i; A, B are θ(ε, 2L/σ), θ(ε, MD/(ησ)) for Gaussian noise "
                  "and (1 − e^(ε/2 − L/v))₊, (1 − e^(ε/2 − MD/(2ηv)))₊ for Laplace; M = √(1 − 2ηβρ/(β+ρ))",
        source="Sordello, Bu & Dong 2021, Theorem 1; Asoodeh, Diaz & Calmon 2020, Theorems 3 and 4, arXiv:2001.06546",
        assumptions=(*SETTING, "η ≤ 2/(β+ρ)", LAPLACE_LINE),
        errata=("Sordello et al. 2021 omit η ≤ 2/(β+ρ): with the printed M and a larger η the theorem is violated by "
                "up "
                "to 136 times.",),
    ),
    params=(*STEP, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-10,
    pure=pure,
)
