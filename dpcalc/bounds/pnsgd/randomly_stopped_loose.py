"""Projected noisy SGD stopped at random: the looser profile that holds for every position."""

from math import inf, log
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.step import LAPLACE_LINE, SETTING, STEP, pure, rest_exact, step, step_exact
from dpcalc.bounds.pnsgd.randomly_stopped import RELEASED
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up


def value(epsilon: float, law: Law, level: float, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int) -> float:
    """log of A/(n(1 − B)), rounded up; at most 0."""
    s = step(epsilon, law, level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    if s.log_a == -inf:
        return -inf
    return min(0.0, up(s.log_a - log(n) - s.log_rest, 2e-12) + 1e-12)


def exact(mp: Any, epsilon: float, n: int, **p: Any) -> Any:
    return min(mp.mpf(1), step_exact(mp, epsilon, **p)[0] / (n * rest_exact(mp, epsilon, **p)))


BOUND = ProfileBound(
    Theorem(
        name="randomly-stopped-loose",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--epsilon 1 --bound randomly-stopped-loose",
        statement="stopped at a uniformly random one of n records: δ = A/(n(1 − B)) for every position",
        source="Asoodeh, Diaz & Calmon 2020, Theorem 5, arXiv:2001.06546",
        assumptions=(*SETTING, "η ≤ 2/(β+ρ)", "the stopping time is uniform on 1..n and independent of everything",
                     LAPLACE_LINE),
        released=RELEASED,
    ),
    params=(*STEP, "n"),
    value=value,
    exact=exact,
    rtol=2e-10,
    pure=pure,
)
