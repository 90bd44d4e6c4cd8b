"""Lower bounds of δ and of the Rényi divergence of the concrete runs of the bound lower-bound.

After one step the two distributions of a run are mixtures of two Gaussians, clamped to an interval; after more steps
they are bounded in lower_bound_walks.py, or in lower_bound_rest.py if they start at rest. Any run, any threshold, and
any cells prove a lower bound. For one step the best threshold is computed here from the densities. For more steps the
run and the threshold are those that are best by the calculator's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine.walk import law
from dpcalc.bounds.noisy_sgd._engine.walk_step import Law, Pair, places
from dpcalc.verify import lower_bound_rest, lower_bound_walks
from dpcalc.verify.arb.context import is_ball_context, midpoint
from dpcalc.verify.nested_grids import MAX_EXPONENT
from dpcalc.verify.unchecked import Unchecked

_CELLS = 2000  # of the interval, for a Rényi divergence; any number gives a valid bound, and more a tighter one


def delta(mp: Any, epsilon: Any, way: int | None = None, **params: Any) -> Any:
    """Return a lower bound of δ at ε: the largest P(A) − e^ε Q(A) over a few half-lines A and all runs, or for the run
    at the place `way` of the calculator's."""
    if params["iterations"] > 1:
        return _delta_after_many_steps(mp, epsilon, way, params)
    e_to_epsilon = mp.exp(mp.mpf(epsilon))
    deltas = [_OneStep(mp, pair).hockey_stick(t, e_to_epsilon) for (pair,) in lower_bound.instances(**params)
              for t in _thresholds(mp, pair, e_to_epsilon)]
    return max((mp.mpf(0), *deltas), key=float)


def rdp(mp: Any, alpha: float, params: Mapping[str, Any]) -> Any:
    """Return a lower bound of the Rényi divergence: log(Σ P^α Q^{1−α})/(α − 1), summed over cells."""
    if params["iterations"] > 1:
        return _rdp_after_many_steps(mp, alpha, params)
    divergences = [_divergence(mp, mp.mpf(alpha), _OneStep(mp, pair)) for (pair,) in lower_bound.instances(**params)]
    return max((mp.mpf(0), *divergences), key=float)


# --- one step --------------------------------------------------------------------------------------------------------


class _OneStep:
    """The two distributions after one step: the differing record, if it is used, moves the iterate up (P) or down
    (Q)."""

    def __init__(self, mp: Any, pair: Pair) -> None:
        self.mp, self.pair = mp, pair
        self.base, self.rate = pair.pull * mp.mpf(pair.start), mp.mpf(pair.rate)

    def density(self, kick: float, x: Any) -> Any:
        """Return the density at x inside the interval, where `kick` is the mean of the step that uses the record."""
        z = x - self.base
        return (1 - self.rate) * self.mp.npdf(z - self.pair.drift) + self.rate * self.mp.npdf(z - kick)

    def hockey_stick(self, t: Any, e_to_epsilon: Any) -> Any:
        """Return P(w >= t) − e^ε Q(w >= t)."""
        return self._tail(self.pair.up, t) - e_to_epsilon * self._tail(self.pair.down, t)

    def _tail(self, kick: float, x: Any) -> Any:
        return (1 - self.rate) * self._above(x, self.pair.drift) + self.rate * self._above(x, kick)

    def _above(self, x: Any, push: float) -> Any:
        return self.mp.erfc((x - self.base - push) / self.mp.sqrt(self.mp.mpf(2))) / 2

    def _below(self, x: Any, push: float) -> Any:
        return self.mp.erfc((self.base + push - x) / self.mp.sqrt(self.mp.mpf(2))) / 2

    def cells(self, kick: float) -> list[Any]:
        """Return the masses at the left wall, in the cells of the interval, and at the right wall."""
        by_drift, by_kick = (self._gaussian_cells(push) for push in (self.pair.drift, kick))
        return [(1 - self.rate) * a + self.rate * b for a, b in zip(by_drift, by_kick, strict=True)]

    def _gaussian_cells(self, push: float) -> list[Any]:
        """Return the masses of `cells` for one Gaussian, as differences of whichever tail is smaller, against
        cancellation."""
        edges = [self.mp.mpf(self.pair.half) * (2 * k - _CELLS) / _CELLS for k in range(_CELLS + 1)]
        above, below = [self._above(x, push) for x in edges], [self._below(x, push) for x in edges]
        inner = [from_above - above_next if float(from_above) < 0.5 else below_next - from_below
                 for (from_above, above_next), (from_below, below_next)
                 in zip(pairwise(above), pairwise(below), strict=True)]
        return [below[0], *inner, above[-1]]


def _thresholds(mp: Any, pair: Pair, e_to_epsilon: Any) -> tuple[Any, ...]:
    """Return the point where the increasing ratio of the densities reaches e^ε, by bisection; and the right wall."""
    step, low, high = _OneStep(mp, pair), mp.mpf(-pair.half), mp.mpf(pair.half)
    for _ in range(mp.prec):
        t = midpoint(mp, (low + high) / 2)
        is_above = float(step.density(pair.up, t) / step.density(pair.down, t) - e_to_epsilon) > 0
        low, high = (low, t) if is_above else (t, high)
    return low, mp.mpf(pair.half)


def _divergence(mp: Any, a: Any, step: _OneStep) -> Any:
    """Return the Rényi divergence of order a of the cells."""
    p, q = step.cells(step.pair.up), step.cells(step.pair.down)
    return mp.log(mp.fsum(mp.exp(a * mp.log(x) - (a - 1) * mp.log(y)) for x, y in zip(p, q, strict=True))) / (a - 1)


# --- many steps ------------------------------------------------------------------------------------------------------


def _delta_after_many_steps(mp: Any, epsilon: float, way: int | None, params: Mapping[str, Any]) -> Any:
    """Return P(A) − e^ε Q(A) for the run and the half-line A that are best by the calculator's numbers."""
    import numpy as np

    _require_balls(mp)
    steps = int(params["iterations"])

    def deltas(known: Law) -> Any:
        return known.lead - np.expm1(min(float(epsilon), MAX_EXPONENT)) * known.above

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
