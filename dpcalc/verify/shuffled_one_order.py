"""All epochs of shuffled batches that have the same order and leave out records, as one privacy loss distribution from
above.

The profile is that of the theorem in bounds/sampling/shuffle_profile_one_order.py. W, X and X′ are put on points with
their means kept; the masses are second differences of E(X − k)₊, in balls. The points, p, the ε and the grids of sums
are those of the calculator, of which any choice is valid.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld import shuffled_epoch
from dpcalc.pld.swapped_record import REPLACED, WITH, Mesh
from dpcalc.verify.allocation import DIGITS, double_outwards
from dpcalc.verify.directed_array import Array
from dpcalc.verify.shuffled_epochs import Epoch, delta_of_epoch, masses_of_calls, pair_of_profile
from dpcalc.verify.tilted_powers import ROUNDING, Summand
from dpcalc.verify.unchecked import OtherQuestion

if TYPE_CHECKING:
    from dpcalc.pld.tilted_sums import Grid
    from dpcalc.verify.loss_distributions import LossPair


def left_out(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, epochs: int,
             tail: float) -> LossPair:
    """Return a pair that dominates all epochs together, which leave out the same `rest` records."""
    if rest < 1:
        raise OtherQuestion("its epochs leave out no record")
    pair = shuffled_epoch.one_order(sigma, steps, batch_size, rest, replaced, epochs, tail)
    of_all = sigma / sqrt(epochs) * (1 - ROUNDING)
    return pair_of_profile(pair, lambda mp: Epoch(of_all, steps, batch_size, rest, replaced, tail, mp), _delta,
                           shuffled_epoch.GAPS)


def _delta(epoch: Epoch, direction: int, epsilon: float, about: float, precision: float) -> float:
    """Return the δ of `delta_of_epoch` where V is W(X − γ), W(1 − γX) or W(X − γX′), over γ."""
    mp, found = epoch.mp, shuffled_epoch.OneOrder(Mesh(1 / epoch.sigma, epoch.tail / 100), epoch.replaced)

    def law(grid: Grid) -> Summand:
        outer, inner = (_log_normal(mp, mu, tuple(axis.points.tolist()))
                        for mu, axis in zip(_mus(epoch), (found.outer, found.inner), strict=True))
        return _product(outer, inner, double_outwards(mp, mp.exp(-mp.mpf(epsilon)), 1), direction, epoch.steps)

    return delta_of_epoch(epoch, epsilon, about, precision, found.summand(epsilon, direction), law)


def _mus(epoch: Epoch) -> tuple[Any, Any]:
    """Return the μ of W and of X: the condition of the theorem gives q from the p of the calculator."""
    mp, m = epoch.mp, 1 / epoch.mp.mpf(epoch.sigma)
    p2 = mp.mpf(shuffled_epoch.axes(1 / epoch.sigma, epoch.replaced)[1])
    q2 = p2 / (p2 - 1)
    if epoch.replaced:  # q² >= 4 − p²/2, and p²q² >= (4 − p²)(p² + q²)
        q2 = max(4 - p2 / 2, p2 * (4 - p2) / (2 * p2 - 4), key=float)
    return mp.sqrt(q2) * m, mp.sqrt(p2) * m


@lru_cache(maxsize=64)
def _log_normal(mp: Any, mu: Any, points: tuple[float, ...]) -> tuple[Array, Array, float]:
    """Return the points, masses at them to which X = exp(μG − μ²/2) is moved, and E(X − last point)₊, rounded up."""
    def call(k: Any) -> Any:
        if k == 0:
            return mp.mpf(1)
        z = mp.log(k) / mu
        return mp.ncdf(mu / 2 - z) - k * mp.ncdf(-mu / 2 - z)

    with mp.workdps(DIGITS):
        masses, excess = masses_of_calls(mp, points, [call(mp.mpf(k)) for k in points])
    return np.array(points), masses, excess


def _product(outer: tuple[Array, Array, float], inner: tuple[Array, Array, float], factor: float, direction: int,
             copies: int) -> Summand:
    """Return the law of WV for V = X/γ − X′, X/γ − 1 or 1/γ − X, with 1/γ rounded up. What is above the last point of X
    adds at most E(X − last)₊/γ for each copy, and above that of W, E(W − last)₊ times the mean of V₊."""
    (w, of_w, above_w), (x, of_x, above_x) = outer, inner
    if direction == REPLACED:
        values = (factor * x[:, None] - x + ROUNDING * (factor * x[:, None] + x)).ravel()
        masses, excess = np.outer(of_x, of_x).ravel(), factor * above_x
    elif direction == WITH:
        values, masses, excess = factor * x - 1 + ROUNDING * (factor * x + 1), of_x, factor * above_x
    else:
        values, masses, excess = factor - x + ROUNDING * (factor + x), of_x, 0.0
    mean = float(masses @ np.maximum(values, 0.0)) + excess
    places = np.outer(w, values).ravel()
    places += ROUNDING * np.abs(places)
    weights = np.outer(of_w, masses).ravel() * (1 + ROUNDING)
    order = np.argsort(places)
    return Summand(places[order], weights[order], (above_w * mean + excess) * (1 + ROUNDING * len(values)), copies)
