"""How −log B goes on over a stream: how wide panels of its integral may be, and what closes it far away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, expm1, log

from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.online._engine.sums import LEFT, PANEL, WIDEST, Far, Grow, SoFar, falling

_ASIDE, _ZERO = 3.0, 1.9  # of A
# times the least width; panels less wide are the same for all ε, which have the noise at their nodes in common
_WORTH = 1.5
_FEW = 100  # panels, before arrays are worth their import
_TINY = 1e-13  # of 1 − B, and of C2/x, that are left out


def course(epsilon: float, levels: Schedule, reach: Callable[[float], float], power: float) -> tuple[Grow, Far]:
    """How panels of the integral of −log B may grow, and what closes it; t → MD/(ησ_t), and about the largest −d
    log(−log B)/d log t."""
    grow, far = _NOISES[levels.noise]
    return grow(epsilon, levels, reach, power), partial(far, epsilon, levels, power)


def _gaussian_panels(epsilon: float, levels: Schedule, reach: Callable[[float], float], power: float) -> Grow:
    """At κ = 2√W Gaussian noise has about Q(A), A = ε/κ − κ/2, whose zeros nearest to the real line are at −1.9 ± 2.8i:
    panels are as wide as σ² is smooth, and 3 of A or half as far as the zeros, as long as A > 0; beyond, as at ε = 0,
    Q(A) falls by e²."""
    least = falling(power)
    if epsilon == 0:
        return least

    def grow(t: float) -> float:
        kappa = reach(t)
        w = kappa * kappa / 4
        a = epsilon / kappa - kappa / 2
        slope = (epsilon / 2 + w) / (kappa * (1 + w)) * levels.share(t)  # −dA/d log x
        wide = (max(_ASIDE, (a + _ZERO) / 2) if a > 0 else min(_ASIDE, 2 / -a)) / slope
        wider = min(wide, levels.width(t)) / PANEL
        return min(WIDEST, 1 + (least(t) - 1) * wider) if wider > _WORTH else least(t)

    return grow


def _by_arrays(epsilon: float, levels: Schedule, power: float, done: SoFar) -> float | None:
    """After many panels; these are the least wide ones."""
    if done.panels < _FEW:
        return None
    from dpcalc.bounds.online._engine import sums_many

    return sums_many.integral(partial(sums_many.losses, epsilon, levels), done, falling(power)(done.low), LEFT)


def _laplace_panels(epsilon: float, levels: Schedule, reach: Callable[[float], float], power: float) -> Grow:
    """1 − B is next to a power of t, or constant."""
    return falling(power)


def _closed(epsilon: float, levels: Schedule, power: float, done: SoFar) -> float | None:
    """∫ q from below, q = e^{ε/2}/(x + C2) = 1 − B, where C2 is next to nothing, and q, which −log(1 − q) is not less
    than."""
    log_q = epsilon / 2 - levels.log_x(done.low)
    if log_q > log(_TINY) or levels.share(done.low) < 1 - _TINY:
        return None
    off = 10 * _TINY + 1e-15 * (epsilon / 2 + abs(log(levels.c1)) + levels.decay * log(done.low))
    more = levels.decay - 1
    return done.total + exp(log_q) * done.low / more * -expm1(more * log(done.low / done.high)) * (1 - off)


_NOISES: dict[str, tuple[Callable[..., Grow], Callable[..., float | None]]] = {
    "gaussian": (_gaussian_panels, _by_arrays), "laplace": (_laplace_panels, _closed)}
