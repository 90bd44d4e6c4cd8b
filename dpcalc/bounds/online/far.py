"""How −log B goes on over a stream: how wide panels of its integral may be, and what closes it far away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, expm1, log

from dpcalc.bounds.online.levels import Schedule
from dpcalc.bounds.online.sums import LEFT, PANEL, WIDEST, Far, Grow, falling

_ASIDE, _ZERO = 3.0, 1.9  # of A
_WORTH = 1.5  # times the least width; panels less wide are the same for all ε, which have the noise at their nodes in common
_FEW = 100  # panels, before arrays are worth their import
_TINY = 1e-13  # of 1 − B, and of C2/x, that are left out


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
        wider = min(wide, levels.width(t)) / PANEL
        return min(WIDEST, 1 + (least(t) - 1) * wider) if wider > _WORTH else least(t)

    return grow


def far_away(epsilon: float, levels: Schedule, power: float) -> Far:
    """What closes the integral; the power as in `panels`."""
    return partial(_FAR_AWAY[levels.noise], epsilon, levels, power)


def _gaussian(epsilon: float, levels: Schedule, power: float, number: int, low: float, high: float, last: float, total: float,
              beside: float) -> float | None:
    """By arrays, after many panels; they are the least wide ones."""
    if number < _FEW:
        return None
    from dpcalc.bounds.online import sums_many

    return sums_many.integral(partial(sums_many.losses, epsilon, levels), low, high, falling(power)(low), last, total, beside, LEFT)


def _laplace(epsilon: float, levels: Schedule, _: float, number: int, low: float, high: float, last: float, total: float,
             beside: float) -> float | None:
    """∫ q from below, q = e^{ε/2}/(x + C2) = 1 − B, x = t^a/C1, where C2 is next to nothing, and q, which −log(1 − q) is not less than."""
    terms = epsilon / 2, log(levels.c1), -levels.decay * log(low)
    if sum(terms) > log(_TINY) or levels.share(low) < 1 - _TINY:
        return None
    off = 10 * _TINY + 1e-15 * sum(map(abs, terms))
    more = levels.decay - 1
    return total + exp(sum(terms)) * low / more * -expm1(more * log(low / high)) * (1 - off)


_FAR_AWAY: dict[str, Callable[..., float | None]] = {"gaussian": _gaussian, "laplace": _laplace}
