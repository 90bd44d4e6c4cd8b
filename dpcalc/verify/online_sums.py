"""The bounds for a stream of records (dpcalc.bounds.online), evaluated rigorously for any number of steps.

Long sums are those of decreasing_sums.py, or in blocks where the theorem allows blocks. The noise levels of a schedule
are written here as analytic functions of a complex step, as decreasing_sums.py needs them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.online import online_contraction, online_hybrid
from dpcalc.bounds.online._engine import shift
from dpcalc.bounds.online._engine.levels import Levels, Listed, Schedule
from dpcalc.bounds.pnsgd._engine.hybrid import Way
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, Law
from dpcalc.bounds.pnsgd._engine.step import contraction_exact, factor_exact
from dpcalc.verify.decreasing_sums import ENDLESS, decreasing_sum, integral


def _noise_level(mp: Any, levels: Schedule) -> Callable[[Any], Any]:
    """Return the noise level as a function of the step x."""
    half = shift_of_diameter(mp, *levels.step) / 2
    a, c1, c2 = mp.mpf(levels.decay), mp.mpf(levels.c1), mp.mpf(levels.c2)
    if levels.noise == "laplace":
        return lambda x: half / mp.log(mp.exp(a * mp.log(x)) / c1 + c2)
    return lambda x: half / mp.sqrt(mp.lambertw(mp.exp(2 * a * mp.log(x)) / (2 * mp.pi * c1 * c1) + c2))


def shift_of_diameter(mp: Any, diameter: float, learning_rate: float, smoothness: float,
                      strong_convexity: float) -> Any:
    """Return MD/η, for the contraction factor M of a step and the diameter D of the set."""
    factor = contraction_exact(mp, learning_rate, smoothness, strong_convexity)
    return factor * mp.mpf(diameter) / mp.mpf(learning_rate)


# --- the bounds ------------------------------------------------------------------------------------------------------


def contraction(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float,
                learning_rate: float, smoothness: float, strong_convexity: float, n: float, index: int) -> Any:
    """Return δ = A_i Π_{t=i+1}^n B_t; n may be ∞."""
    run = (diameter, learning_rate, smoothness, strong_convexity)
    if isinstance(levels, Listed):
        return online_contraction.exact(mp, epsilon, law, levels, lipschitz, *run, int(n), index)
    return _product_of_factors(mp, epsilon, law, levels, lipschitz, run, index,
                               lambda f: decreasing_sum(mp, f, index + 1, n), n == index)


def limit(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, index: int) -> Any:
    """Return δ = A_i exp(∫_{i+1}^∞ log B)."""
    run = (diameter, learning_rate, smoothness, strong_convexity)
    return _product_of_factors(mp, epsilon, law, levels, lipschitz, run, index,
                               lambda f: integral(mp, f, mp.mpf(index + 1), mp.mpf(ENDLESS), is_endless=True))


def _product_of_factors(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float,
                        run: tuple[float, float, float, float], index: int, accumulate: Callable[[Any], Any],
                        is_last: bool = False) -> Any:
    """Return A_i e^{−S}, for the sum or the integral S of −log B over the later steps."""
    sigma, reach = _noise_level(mp, levels), shift_of_diameter(mp, *run)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / sigma(mp.mpf(index)))
    if is_last:
        return a
    if not law.exact(mp, epsilon, reach / sigma(mp.mpf(index + 1))) > 0:  # then B is 0
        return mp.mpf(0)
    e, rest = mp.mpf(epsilon), law.exact_rest  # −log B_x from 1 − B_x, as B_x is near 1 at most steps
    return a * mp.exp(-accumulate(lambda x: -mp.log1p(-rest(mp, e, reach / sigma(x)))))


def iteration(mp: Any, epsilon: float, levels: Levels, lipschitz: float, learning_rate: float, smoothness: float,
              strong_convexity: float, n: int, index: int) -> Any:
    """Return δ = θ(ε, μ_i)."""
    c = factor_exact(mp, learning_rate, strong_convexity)
    if isinstance(levels, Schedule) and strong_convexity == 0:
        sigma = _noise_level(mp, levels)
        variance = decreasing_sum(mp, lambda x: sigma(x) ** 2, index, n)
    else:
        # in blocks of at most 1/512 of the steps before each; any blocks give a valid bound
        variance = shift.carried_exact(mp, levels, c, shift.ends(n - index, index, 512))[-1]
    return theta(mp, epsilon, 2 * mp.mpf(lipschitz) * c ** (n - index) / mp.sqrt(variance))


def hybrid(mp: Any, epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
           smoothness: float, strong_convexity: float, n: int, index: int, way: Way | None = None) -> Any:
    """Return δ = d_n by the breakpoints in `way`, which are free choices; or by online-contraction where it has
    none."""
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    way = way or online_hybrid.own_way(epsilon, levels, run, n, index)
    if not way[0]:
        return contraction(mp, epsilon, GAUSSIAN, levels, *run, n, index)
    return online_hybrid.exact(mp, epsilon, levels, *run, n, index, way)


FORMULAS: Mapping[str, Callable[..., Any]] = {
    online_contraction.BOUND.name: contraction,
    online_hybrid.ITERATION.name: iteration,
    online_hybrid.BOUND.name: hybrid,
    online_contraction.LIMIT.name: limit,
}
