"""Noisy SGD over a stream, a noise level for each step: the guarantee of one index, by contraction."""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.online.levels import Levels, Listed, Schedule
from dpcalc.bounds.online.setting import ASSUMPTIONS, STREAM
from dpcalc.bounds.online.shift import reaches
from dpcalc.bounds.online.sums import FIRST, Grow, Many, falling, lower_sum
from dpcalc.bounds.pnsgd.laws import Law
from dpcalc.bounds.pnsgd.positions import inverse_of
from dpcalc.bounds.pnsgd.step import LAPLACE_LINE, check_step_size, contraction_exact, log_b, move_ratio, reach_ratio
from dpcalc.numerics.rounding import up

_ASIDE, _ZERO = 3.0, 1.9  # of A


def value(epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: float, index: int, rough: bool = False) -> float:
    """log A_i + Σ_{t=i+1}^n log B_t."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_a = law.log_delta(epsilon, move_ratio(levels.at(index), lipschitz))
    if n == index or log_a == -inf:
        return log_a

    reach = reaches(levels, diameter, learning_rate, smoothness, strong_convexity)

    def loss(t: float) -> float:
        return -log_b(law, epsilon, reach(t))

    if isinstance(levels, Listed):
        total = sum(loss(t) for t in range(index + 1, int(n) + 1)) * (1 - 1e-13)
    else:
        many = far_away(epsilon, levels, reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity))
        terms = levels.smooth_from(index + FIRST) - index
        total = lower_sum(loss, index + 1, n, panels(epsilon, levels, reach, 2 * levels.decay + 2), -log_a, rough, many, terms)
    return min(0.0, up(log_a - total, 1e-12))


def panels(epsilon: float, levels: Schedule, reach: Callable[[float], float], power: float) -> Grow:
    """How panels of the integral of −log B may grow. At κ = 2√W Gaussian noise has about Q(A), A = ε/κ − κ/2, whose zeros nearest to the
    real line are at −1.9 ± 2.8i: panels are as wide as σ² is smooth, and 3 of A or half as far as the zeros, as long as A > 0; beyond, Q(A)
    falls by e² at most."""
    least = falling(power)
    if levels.noise != "gaussian" or epsilon == 0:
        return least

    def grow(t: float) -> float:
        kappa = reach(t)
        w = kappa * kappa / 4
        a = epsilon / kappa - kappa / 2
        slope = (epsilon / 2 + w) / (kappa * (1 + w)) * levels.share(t)  # −dA/d log x
        wide = (max(_ASIDE, (a + _ZERO) / 2) if a > 0 else min(_ASIDE, 2 / -a)) / slope
        factor: float = 1 + (least(t) - 1) * max(1.0, min(wide, levels.width(t)) / 4)
        return min(2.0, factor)

    return grow


def far_away(epsilon: float, levels: Levels, reach: float) -> Many | None:
    """t → −log B_t by arrays, where there is such a form; the reach is MD/η."""
    if isinstance(levels, Listed) or levels.noise not in _FAR_AWAY:
        return None
    return partial(_FAR_AWAY[levels.noise], epsilon, levels, reach)


def _gaussian(epsilon: float, levels: Schedule, reach: float, t: Any) -> Any:
    from dpcalc.bounds.online import sums_many  # with numpy

    return sums_many.losses(epsilon, levels, reach, t)


_FAR_AWAY = {"gaussian": _gaussian}


def coarse(epsilon: float, **p: Any) -> float:
    """`value` with the sum far away by wide panels, near it."""
    return value(epsilon, rough=True, **p)


def exact(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int) -> Any:
    reach = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
    product = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / levels.exact(mp, index))
    for t in range(index + 1, int(n) + 1):
        product *= law.exact(mp, epsilon, reach / levels.exact(mp, t))
    return product


BOUND = Bound(
    name="online-contraction",
    kind="profile",
    statement="δ_i(n) = A_i Π_{t=i+1..n} B_t, A and B as in fixed-order at the noise level of each step",
    source="Sordello, Bu & Dong 2021, eq. 11",
    assumptions=(*ASSUMPTIONS, LAPLACE_LINE),
    params=("law", *STREAM),
    value=value,
    coarse=coarse,
    inverse=inverse_of(value, coarse),
    exact=exact,
    rtol=5e-9,
    errata=("Sordello et al. 2021 report the limits (13) and (15) at finite n: δ_i(n) falls to its limit, and at n = 1e4 of Figure 4 it is "
            "26.6 times that.",),
    exact_n=100_000,
    margin=3e-10,
)
