"""The bounds on a stream (dpcalc.bounds.online) for any number of steps: their sums rigorous, in blocks where their
theorems take blocks.

The levels of a schedule are written down anew for complex steps, as analytic functions: sums.py needs that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.online import online_contraction, online_hybrid, online_iteration, online_limit
from dpcalc.bounds.online._engine import shift
from dpcalc.bounds.online._engine.levels import Levels, Listed, Schedule
from dpcalc.bounds.pnsgd._engine.hybrid import Way
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, Law
from dpcalc.bounds.pnsgd._engine.step import contraction_exact, factor_exact
from dpcalc.verify.sums import falling

_FINEST = 512  # blocks of online-iteration hold at most this part of the steps before them
_LOOSE = 4096.0  # of the accuracy of sums of log B, which the bounds claim to 1e-9


# --- functions of a step ---------------------------------------------------------------------------------------------


def _laplace_level(mp: Any, grown: Any, half: Any, c1: Any, c2: Any) -> Any:
    return half / mp.log(grown / c1 + c2)


def _gaussian_level(mp: Any, grown: Any, half: Any, c1: Any, c2: Any) -> Any:
    return half / mp.sqrt(mp.lambertw(grown * grown / (2 * mp.pi * c1 * c1) + c2))


_LEVELS: Mapping[str, Callable[..., Any]] = {"laplace": _laplace_level, "gaussian": _gaussian_level}


def level(mp: Any, levels: Schedule) -> Callable[[Any], Any]:
    """The noise of step x."""
    diameter, learning_rate, smoothness, strong_convexity = levels.step
    half = contraction_exact(mp, learning_rate, smoothness,
                             strong_convexity) * mp.mpf(diameter) / (2 * mp.mpf(learning_rate))
    a, c1, c2 = mp.mpf(levels.decay), mp.mpf(levels.c1), mp.mpf(levels.c2)
    return lambda x: _LEVELS[levels.noise](mp, mp.exp(a * mp.log(x)), half, c1, c2)


def _loss(mp: Any, law: Law, epsilon: float, ratio: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """x → −log B_x, by 1 − B: B is near 1 at most steps."""
    e, rest = mp.mpf(epsilon), law.exact_rest
    return lambda x: -mp.log1p(-rest(mp, e, ratio(x)))


# --- the bounds ------------------------------------------------------------------------------------------------------


def contraction(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float,
                learning_rate: float,
                smoothness: float, strong_convexity: float, n: float, index: int) -> Any:
    """A_i Π_{t=i+1}^n B_t; n may be ∞."""
    if isinstance(levels, Listed):
        return online_contraction.exact(mp, epsilon, law, levels, lipschitz, diameter, learning_rate, smoothness,
                                        strong_convexity, int(n),
                                        index)
    sigma = level(mp, levels)
    reach = contraction_exact(mp, learning_rate, smoothness,
                              strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / sigma(mp.mpf(index)))
    if n == index or not law.exact(mp, epsilon, reach / sigma(mp.mpf(index + 1))) > 0:
        return a if n == index else mp.mpf(0)
    return a * mp.exp(-falling(mp, _loss(mp, law, epsilon, lambda x: reach / sigma(x)), index + 1, n, loose=_LOOSE))


def iteration(mp: Any, epsilon: float, levels: Levels, lipschitz: float, learning_rate: float, smoothness: float,
              strong_convexity: float,
              n: int, index: int) -> Any:
    """θ(ε, μ_i)."""
    c = factor_exact(mp, learning_rate, strong_convexity)
    if isinstance(levels, Schedule) and strong_convexity == 0:
        sigma = level(mp, levels)
        total = falling(mp, lambda x: sigma(x) ** 2, index, n)
    else:
        total = shift.carried_exact(mp, levels, c, shift.ends(n - index, index, _FINEST))[-1]
    return theta(mp, epsilon, 2 * mp.mpf(lipschitz) * c ** (n - index) / mp.sqrt(total))


def hybrid(mp: Any, epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
           smoothness: float,
           strong_convexity: float, n: int, index: int, way: Way | None = None) -> Any:
    """d_n along links, which are free choices, or online-contraction where there are none."""
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    way = way or online_hybrid.own_way(epsilon, levels, run, n, index)
    if not way[0]:
        return contraction(mp, epsilon, GAUSSIAN, levels, *run, n, index)
    return online_hybrid.exact(mp, epsilon, levels, *run, n, index, way)


def limit(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float,
          strong_convexity: float, index: int) -> Any:
    """A_i exp(∫_{i+1}^∞ log B)."""
    from dpcalc.verify.sums import END, integral

    sigma = level(mp, levels)
    reach = contraction_exact(mp, learning_rate, smoothness,
                              strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / sigma(mp.mpf(index)))
    if not law.exact(mp, epsilon, reach / sigma(mp.mpf(index + 1))) > 0:
        return mp.mpf(0)
    loss = _loss(mp, law, epsilon, lambda x: reach / sigma(x))
    return a * mp.exp(-integral(mp, loss, mp.mpf(index + 1), mp.mpf(END), endless=True, loose=_LOOSE))


FORMULAS: Mapping[str, Callable[..., Any]] = {
    online_contraction.BOUND.name: contraction,
    online_iteration.BOUND.name: iteration,
    online_hybrid.BOUND.name: hybrid,
    online_limit.BOUND.name: limit,
}
