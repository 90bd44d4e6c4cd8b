"""Lower bounds of δ and of the Rényi divergence of the concrete runs of the bound lower-bound.

After one step the two distributions of a run are mixtures of two Gaussians, clamped to an interval; after more steps
they are bounded in lower_bound_walks.py, or in lower_bound_rest.py if they start at rest. Any run, any threshold, and
any cells prove a lower bound. δ of one step is the closed form of the bound. For more steps the run and the threshold
are those that are best by the calculator's numbers.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.bounds.noisy_sgd._engine.walk import law
from dpcalc.bounds.noisy_sgd._engine.walk_step import Law, places
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.verify import lower_bound_rest, lower_bound_walks
from dpcalc.verify.arb.context import is_ball_context
from dpcalc.verify.unchecked import Unchecked

_CELLS = 2000  # of the interval, for a Rényi divergence; any number gives a valid bound, and more a tighter one


def delta(mp: Any, epsilon: Any, way: int | None = None, **params: Any) -> Any:
    """Return a lower bound of δ at ε: the largest P(A) − e^ε Q(A) over a few half-lines A and all runs, or for the run
    at the place `way` of the calculator's."""
    if params["iterations"] > 1:
        return _delta_after_many_steps(mp, epsilon, way, params)
    return lower_bound.exact(mp, epsilon, **params)


def rdp(mp: Any, alpha: float, params: Mapping[str, Any]) -> Any:
    """Return a lower bound of the Rényi divergence: log(Σ P^α Q^{1−α})/(α − 1), summed over cells."""
    if params["iterations"] > 1:
        return _rdp_after_many_steps(mp, alpha, params)
    a, best = mp.mpf(alpha), mp.mpf(0)
    for (pair,) in lower_bound.instances(**params):
        cells = zip(*(_cells(mp, pair, kick) for kick in (pair.up, pair.down)), strict=True)
        total = mp.fsum(mp.exp(a * mp.log(p) - (a - 1) * mp.log(q)) for p, q in cells)
        best = max(best, mp.log(total) / (a - 1), key=float)
    return best


# --- one step --------------------------------------------------------------------------------------------------------


def _cells(mp: Any, pair: Pair, kick: float) -> list[Any]:
    """Return the masses at the left wall, in the cells of the interval, and at the right wall, where the step that uses
    the record has the mean `kick`."""
    base, rate = pair.pull * mp.mpf(pair.start), mp.mpf(pair.rate)
    edges = [mp.mpf(pair.half) * (2 * k - _CELLS) / _CELLS for k in range(_CELLS + 1)]
    columns = (repeated_draws.normal_cells(mp, edges, share, base + mean)
               for share, mean in ((1 - rate, pair.drift), (rate, kick)))
    return [x + y for x, y in zip(*columns, strict=True)]


# --- many steps ------------------------------------------------------------------------------------------------------


def _delta_after_many_steps(mp: Any, epsilon: float, way: int | None, params: Mapping[str, Any]) -> Any:
    """Return P(A) − e^ε Q(A) for the run and the half-line A that are best by the calculator's numbers."""
    _require_balls(mp)
    steps = int(params["iterations"])

    def deltas(known: Law) -> Any:
        return known.lead - np.expm1(min(float(epsilon), LARGEST_EXPONENT)) * known.above

    if way is not None:
        pair = lower_bound.walks(**params)[way - 1]
        known = law(pair, steps)
    else:
        pair, known = max(lower_bound.laws(lambda law: float(deltas(law).max()), **params),
                          key=lambda found: float(deltas(found[1]).max()))
    threshold = float(places(pair)[int(deltas(known).argmax())])
    walks = lower_bound_rest if pair.at_rest else lower_bound_walks
    q, difference = walks.half_lines(mp, pair, steps, [threshold])[0]
    return mp.mpf(difference) - mp.expm1(mp.mpf(epsilon)) * mp.mpf(q)


def _rdp_after_many_steps(mp: Any, alpha: float, params: Mapping[str, Any]) -> Any:
    """Return a lower bound of the Rényi divergence, by 1 + Σ Q·g(d/Q) with d = P − Q. As the sum decreases in Q and
    increases in |d|, upper bounds of Q and lower bounds of |d| suffice (see bounds/noisy_sgd/lower_bound.py)."""
    _require_balls(mp)
    steps, a = int(params["iterations"]), mp.mpf(alpha)
    divergence = partial(lower_bound.divergence, alpha)
    pair, _ = max(lower_bound.laws(divergence, **params), key=lambda found: divergence(found[1]))
    walks = lower_bound_rest if pair.at_rest else lower_bound_walks
    total = mp.mpf(0)
    for q, d in walks.cells(mp, pair, steps, [float(x) for x in places(pair)]):
        if q > 0 and 1 + d / q > 0:
            total = total + mp.mpf(q) * (mp.exp(a * mp.log1p(mp.mpf(d / q))) - 1 - a * mp.mpf(d / q))
    return mp.log1p(total) / (a - 1)


def _require_balls(mp: Any) -> None:
    if not is_ball_context(mp):
        raise Unchecked("many steps of the runs need python-flint: pip install python-flint")
