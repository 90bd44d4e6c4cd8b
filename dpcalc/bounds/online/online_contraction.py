"""Noisy SGD over a stream, a noise level for each step: the guarantee of one index, by contraction."""

from functools import lru_cache
from math import frexp, inf, ldexp
from typing import Any

from dpcalc.bounds.online._engine.integral_tail import tail_of_losses
from dpcalc.bounds.online._engine.levels import Levels, Listed, Schedule
from dpcalc.bounds.online._engine.setting import ASSUMPTIONS, STREAM
from dpcalc.bounds.online._engine.shift import reaches
from dpcalc.bounds.online._engine.sums import lower_sum, panel_factor
from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.step import (
    LAPLACE_LINE,
    check_step_size,
    contraction_exact,
    log_b,
    move_ratio,
    reach_ratio,
)
from dpcalc.bounds.pnsgd._engine.step import pure as pure_step
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.mp.sums import is_long, smooth_sum
from dpcalc.numerics.rounding import up


def value(epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: float, index: int) -> float:
    """log A_i + Σ_{t=i+1}^n log B_t."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_a = law.log_delta(epsilon, move_ratio(levels.at(index), lipschitz))
    if n == index or log_a == -inf:
        return log_a

    if isinstance(levels, Listed):
        from dpcalc.bounds.online import listed  # arrays: for lists only

        reach = reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity)
        return min(0.0, up(log_a - listed.loss(epsilon, law, levels, reach, index + 1, int(n)), 1e-12))

    total = _loss(epsilon, law, levels.shape, index + 1, n, _power_of_16_below(-log_a))
    return min(0.0, up(log_a - total, 1e-12))


@lru_cache(maxsize=64)  # the same at every learning rate
def _loss(epsilon: float, law: Law, shape: Schedule, first: int, n: float, offset: float) -> float:
    """Σ −log B_t over the steps from first to n, from below, to 1e-12 of the sum with the `offset`."""
    ratio, power = reaches(shape), 2 * shape.decay + 2

    def loss(t: float) -> float:
        return -log_b(law, epsilon, ratio(t))

    return lower_sum(loss, first, n, panel_factor(power), offset, tail_of_losses(epsilon, shape, power),
                     shape.head_terms(first, n))


def _power_of_16_below(x: float) -> float:
    """A power of 16 that is at most x, so that arguments of a cache seldom change; 0 at 0."""
    return ldexp(1.0, (frexp(x)[1] - 1) // 4 * 4) if x else 0.0


def exact(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int) -> Any:
    contraction = contraction_exact(mp, learning_rate, smoothness, strong_convexity)
    reach = contraction * mp.mpf(diameter) / mp.mpf(learning_rate)
    product, n = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / levels.exact(mp, index)), int(n)
    if isinstance(levels, Listed) or not is_long(mp, n - index):
        for t in range(index + 1, n + 1):
            product *= law.exact(mp, epsilon, reach / levels.exact(mp, t))
        return product
    if not product:
        return product

    def loss(t: Any) -> Any:
        ratio = reach / levels.exact(mp, t)
        rest = law.exact_rest(mp, epsilon, ratio)
        return -mp.log1p(-rest) if rest < 0.5 else -mp.log(law.exact(mp, epsilon, ratio))

    return product * mp.exp(-smooth_sum(mp, loss, index + 1, n))


def pure(law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, index: int, n: float = inf) -> float:
    """The least ε with δ = 0, where A or some B is 0."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    own = pure_step(law, levels.at(index), lipschitz)
    if n == index:
        return own
    if isinstance(levels, Listed):
        largest = max(levels.levels[index : int(n)])
        return min(own, up(reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity) / largest, 1e-15))
    return min(own, levels.reach(index + 1))  # the noise falls


BOUND = ProfileBound(
    Theorem(
        name="online-contraction",
        example="online-noise --decay 2 --c1 9 --c2 9 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate 0.1 "
                "--n 1e6 --index 2 --epsilon 1",
        statement="δ_i(n) = A_i Π_{t=i+1..n} B_t, A and B as in fixed-order at the noise level of each step",
        source="Sordello, Bu & Dong 2021, eq. 11",
        assumptions=(*ASSUMPTIONS, LAPLACE_LINE),
        errata=("Sordello et al. 2021 report the limits (13) and (15) at finite n: δ_i(n) falls to its limit, and at n "
                "= "
                "1e4 of Figure 4 it is 26.6 times that.",),
    ),
    params=("law", *STREAM),
    value=value,
    pure=pure,
    exact=exact,
    rtol=5e-9,
)
