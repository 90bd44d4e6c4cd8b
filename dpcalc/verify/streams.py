"""The bounds on a stream (dpcalc.bounds.online) for any number of steps: their sums rigorous, in blocks where their theorems take blocks.

The levels of a schedule are written down anew for complex steps, as analytic functions: sums.py needs that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.online import online_contraction, online_hybrid, online_iteration, online_limit, shift
from dpcalc.bounds.online.levels import Levels, Listed, Schedule
from dpcalc.bounds.pnsgd.chain import Way, follow, follow_exact
from dpcalc.bounds.pnsgd.laws import GAUSSIAN, Law
from dpcalc.bounds.pnsgd.positions import share_exact
from dpcalc.bounds.pnsgd.step import contraction_exact, factor_exact
from dpcalc.verify.sums import falling

_FINEST = 512  # blocks of online-iteration hold at most this part of the steps before them
_LOOSE = 4096.0  # of the accuracy of sums of log B, which the bounds claim to 1e-9
_ALONE = 0.01  # of the noise so far: with less of it in a block the difference of two sums cancels


# --- functions of a step ---------------------------------------------------------------------------------------------


def _laplace_level(mp: Any, grown: Any, half: Any, c1: Any, c2: Any) -> Any:
    return half / mp.log(grown / c1 + c2)


def _gaussian_level(mp: Any, grown: Any, half: Any, c1: Any, c2: Any) -> Any:
    return half / mp.sqrt(mp.lambertw(grown * grown / (2 * mp.pi * c1 * c1) + c2))


_LEVELS: Mapping[str, Callable[..., Any]] = {"laplace": _laplace_level, "gaussian": _gaussian_level}


def level(mp: Any, levels: Schedule) -> Callable[[Any], Any]:
    """The noise of step x."""
    diameter, learning_rate, smoothness, strong_convexity = levels.step
    half = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / (2 * mp.mpf(learning_rate))
    a, c1, c2 = mp.mpf(levels.decay), mp.mpf(levels.c1), mp.mpf(levels.c2)
    return lambda x: _LEVELS[levels.noise](mp, mp.exp(a * mp.log(x)), half, c1, c2)


def _loss(mp: Any, law: Law, epsilon: float, ratio: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """x → −log B_x, by 1 − B: B is near 1 at most steps."""
    e, rest = mp.mpf(epsilon), law.exact_rest
    return lambda x: -mp.log1p(-rest(mp, e, ratio(x)))


# --- the bounds ------------------------------------------------------------------------------------------------------


def contraction(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
                smoothness: float, strong_convexity: float, n: float, index: int) -> Any:
    """A_i Π_{t=i+1}^n B_t; n may be ∞."""
    if isinstance(levels, Listed):
        return online_contraction.exact(mp, epsilon, law, levels, lipschitz, diameter, learning_rate, smoothness, strong_convexity, int(n),
                                        index)
    sigma = level(mp, levels)
    reach = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / sigma(mp.mpf(index)))
    if n == index or not law.exact(mp, epsilon, reach / sigma(mp.mpf(index + 1))) > 0:
        return a if n == index else mp.mpf(0)
    return a * mp.exp(-falling(mp, _loss(mp, law, epsilon, lambda x: reach / sigma(x)), index + 1, n, loose=_LOOSE))


def iteration(mp: Any, epsilon: float, levels: Levels, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
              n: int, index: int) -> Any:
    """θ(ε, μ_i)."""
    c = factor_exact(mp, learning_rate, strong_convexity)
    if isinstance(levels, Schedule) and strong_convexity == 0:
        sigma = level(mp, levels)
        total = falling(mp, lambda x: sigma(x) ** 2, index, n)
    else:
        total = carried(mp, levels, c, shift.ends(n - index, index, _FINEST))[-1]
    return theta(mp, epsilon, 2 * mp.mpf(lipschitz) * c ** (n - index) / mp.sqrt(total))


def carried(mp: Any, levels: Levels, c: Any, steps: list[int]) -> list[Any]:
    """Σ_{t=i}^{q} c^{2(q−t)}σ_t² for every q in steps (rising, from i on): of a schedule from below, with the last noise of each block."""
    found = [levels.exact(mp, steps[0]) ** 2]
    for p, q in pairwise(steps):
        if isinstance(levels, Listed):
            total = found[-1]
            for t in range(p + 1, q + 1):
                total = total * c**2 + levels.exact(mp, t) ** 2
        else:
            total = found[-1] * c ** (2 * (q - p)) + levels.exact(mp, q) ** 2 * _weight(c, q - p)
        found.append(total)
    return found


def _weight(c: Any, steps: int) -> Any:
    """Σ_{k<steps} c^{2k}."""
    return steps if c == 1 else (1 - c ** (2 * steps)) / (1 - c * c)


def hybrid(mp: Any, epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
           strong_convexity: float, n: int, index: int, way: Way | None = None) -> Any:
    """d_n along links, which are free choices, or online-contraction where there are none."""
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    nodes, chain = way or _way(epsilon, levels, run, n, index)
    if not nodes:
        return contraction(mp, epsilon, GAUSSIAN, levels, *run, n, index)
    steps = [index + m for m in nodes]
    c = factor_exact(mp, learning_rate, strong_convexity)
    sums, first = carried(mp, levels, c, steps), mp.mpf(diameter) / mp.mpf(learning_rate)

    def mu(j: int) -> Any:
        return 2 * mp.mpf(lipschitz) * c ** (steps[j] - index) / mp.sqrt(sums[j])

    def kappa(p: int, j: int, block: int) -> Any:
        if block == 1:
            return first * c / levels.exact(mp, levels.quietest(steps[p] + 1, steps[j]))
        if steps[j] - steps[p] == block:
            between = sums[j] - sums[p] * c ** (2 * block)
            if float(between) > _ALONE * float(sums[j]):
                return first * c**block / mp.sqrt(between)
        least = levels.exact(mp, levels.quietest(steps[p] + 1, steps[j]))
        return first / least * c * mp.sqrt(share_exact(mp, c, block - 1))

    return follow_exact(mp, epsilon, chain, theta, mu, kappa)[-1]


def _way(epsilon: float, levels: Levels, run: tuple[float, float, float, float, float], n: int, index: int) -> Way:
    """The free choices of online-hybrid, found anew; none where online-contraction is sharper."""
    along = shift.path(levels, *run, n, index)
    logs, links = follow(epsilon, along)
    return ([], []) if online_contraction.value(epsilon, GAUSSIAN, levels, *run, n, index) < logs[-1] else (along.nodes, links)


def limit(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, index: int) -> Any:
    """A_i exp(∫_{i+1}^∞ log B)."""
    from dpcalc.verify.sums import END, integral

    sigma = level(mp, levels)
    reach = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
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
