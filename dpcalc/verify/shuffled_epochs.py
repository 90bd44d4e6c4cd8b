"""Epochs of shuffled batches that leave out records, as privacy loss distributions from above: one epoch, or all epochs
that have the same order; and, from below, the pair that an epoch dominates.

The profiles are those of the theorems in bounds/sampling/shuffle_profile.py and shuffle_profile_one_order.py. The
difference D* of likelihood ratios of a step is put on points with its mean kept: its masses there are second
differences of E(D* − k)₊, which has a closed form, in balls. So are W, X and X′ of epochs that have the same order. The
points, p, the ε and the grids of sums are those of the calculator, of which any choice is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling._engine import swapped_exact
from dpcalc.core.bound import Params
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_up
from dpcalc.pld import positive_sums, shuffled_epoch
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA, Atoms, upper_log_delta
from dpcalc.pld.pair import Pair
from dpcalc.pld.profile_pairs import PRECISION, walk
from dpcalc.pld.sum_events import event_of_sum
from dpcalc.pld.swapped_record import REPLACED, WITH, WITHOUT, Mesh
from dpcalc.pld.tilted_sums import Grid
from dpcalc.verify import allocation_replaced
from dpcalc.verify.allocation import DIGITS, Epoch, double_outwards
from dpcalc.verify.arb.context import compute_once
from dpcalc.verify.composition_atoms import convex_minorant_pair
from dpcalc.verify.loss_distributions import LossPair, gaussian
from dpcalc.verify.sum_events import Bound, bound_of_event, polyline_pair
from dpcalc.verify.tilted_powers import ROUNDING, Summand, mean_of_positive_part
from dpcalc.verify.unchecked import OtherQuestion

FINER = 0.25  # the precision of sums over that of the calculator: steps are half as wide


@dataclass(frozen=True)
class Batches(Epoch):
    """An epoch of batches with `rest` other records, and its noise in clipping norms."""

    batch_size: int
    rest: int
    replaced: bool

    @property
    def records(self) -> int:
        return self.steps * self.batch_size + self.rest

    @property
    def mu(self) -> Any:
        """That of one step on all records."""
        return (2 if self.replaced else 1) / self.mp.mpf(self.sigma)


DeltaAt = Callable[[Batches, int, float, float, float], float]  # direction, ε, about δ, precision → δ


def left_out(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, tail: float,
             epochs: int | None = None) -> LossPair:
    """Return a pair that dominates an epoch that leaves out `rest` records, or several epochs together, which have the
    same order."""
    if rest < 1:
        raise OtherQuestion("its epochs leave out no record")
    run = steps, batch_size, rest, replaced
    if epochs is None:
        of_all, pair, delta_at = sigma, shuffled_epoch.left_out(sigma, *run, tail), _delta_left_out
    else:
        of_all, pair = sigma / sqrt(epochs) * (1 - ROUNDING), shuffled_epoch.one_order(sigma, *run, epochs, tail)
        delta_at = _delta_of_one_order
    return pair_of_profile(pair, lambda mp: Batches(of_all, steps, tail, mp, batch_size, rest, replaced), delta_at,
                           shuffled_epoch.GAPS)


def pair_of_profile(pair: Pair, epoch_in: Callable[[Any], Batches], delta_at: DeltaAt, gaps: float) -> LossPair:
    """Return the pair of upper bounds of the profile at the losses of the calculator's pair, which has such gaps."""
    if not isinstance(pair, Atoms) or pair.reverse is None:
        return gaussian(lambda mp: epoch_in(mp).mu)
    profiles, largest = {1: pair, -1: pair.reverse}, exp(upper_log_delta(pair, 0.0))

    def delta(mp: Any, epsilon: float, side: int) -> Any:
        epoch, abouts = epoch_in(mp), {x: exp(upper_log_delta(pair, epsilon)) for x, pair in profiles.items()}
        directions = (REPLACED,) if epoch.replaced else (side,) if epsilon else (WITH, WITHOUT)
        precision = FINER * PRECISION * gaps * gaps * (1 + log(largest / max(abouts.values())))
        found = min(delta_at(epoch, direction, epsilon, abouts[side], precision) for direction in directions)
        return min(mp.mpf(found), theta(mp, mp.mpf(epsilon), epoch.mu), key=float)

    @compute_once  # from 0 on, as the calculator does, where searches of similar sums begin with the last one
    def deltas(mp: Any) -> dict[float, Any]:
        return {loss: delta(mp, abs(loss), 1 if loss >= 0 else -1) for loss in sorted(pair.losses, key=abs)}

    return convex_minorant_pair(pair.losses, lambda mp, epsilon, side: deltas(mp)[side * epsilon])


@lru_cache(maxsize=4096)
def _delta_left_out(epoch: Batches, direction: int, epsilon: float, about: float, precision: float) -> float:
    """Return the δ of `delta_of_epoch` for the law of D*/γ."""
    difference = Mesh(1 / epoch.sigma, epoch.tail / 100).difference(epsilon, direction)

    def law(grid: Grid) -> Summand:
        begin, end = np.searchsorted(difference.points, (grid.low, grid.high))
        points = difference.points[max(begin - 1, 0) : end + 1]
        return Summand(points, *Difference.of(epoch, direction, epsilon).masses(points.tolist()), epoch.steps)

    pilot = positive_sums.Summand(difference.points, *positive_sums.spread(*difference))
    return delta_of_epoch(epoch, epsilon, about, precision, pilot, law)


def delta_of_epoch(epoch: Batches, epsilon: float, about: float, precision: float, pilot: positive_sums.Summand,
                   law: Callable[[Grid], Summand]) -> float:
    """Return e^ε·E(w(e^−ε − 1) + ΣV)₊/(t + w), rounded up, for a V whose law is nearly that of the pilot, by which a
    grid is found."""
    mp, steps = epoch.mp, epoch.steps
    w, factor = mp.mpf(epoch.rest) / epoch.batch_size, mp.exp(mp.mpf(epsilon))
    constant = -double_outwards(mp, w * (1 - 1 / factor), -1)
    question = positive_sums.Question(steps, constant, precision, about * float((steps + w) / factor))
    _, grid = positive_sums.mean_of_sum(pilot, question)
    if grid is None:  # no sum is positive, but for what is above the last point
        return 1.0
    return double_outwards(mp, mp.mpf(mean_of_positive_part(grid, [law(grid)], constant)) * factor / (steps + w), 1)


class Difference(NamedTuple):
    """D*/γ in a direction."""

    mp: Any
    direction: int
    gamma: Any
    m: Any

    @classmethod
    def of(cls, epoch: Batches, direction: int, epsilon: float) -> Difference:
        mp = epoch.mp
        with mp.workdps(DIGITS):
            return cls(mp, direction, mp.exp(mp.mpf(epsilon)), 1 / mp.mpf(epoch.sigma))

    def call(self, k: Any) -> Any:
        """Return E(D*/γ − k)₊. −D*/γ is the D* of the opposite direction at 1/γ."""
        mp, direction, gamma, m = self
        if k >= 0:
            return swapped_exact.call(mp, direction, gamma, m, gamma * k) / gamma
        return swapped_exact.call(mp, -direction, 1 / gamma, m, -k) + (1 / gamma - 1 - k)

    def masses(self, points: Sequence[float]) -> tuple[Array, float]:
        """Return masses at points to which D*/γ is moved, and E(D*/γ − last point)₊, rounded up."""
        with self.mp.workdps(DIGITS):
            return masses_of_calls(self.mp, points, [self.call(self.mp.mpf(k)) for k in points])


def masses_of_calls(mp: Any, points: Sequence[float], calls: Sequence[Any]) -> tuple[Array, float]:
    """Return masses at points to which a variable is moved, and E(X − last point)₊, rounded up, from E(X − k)₊ at the
    points. Values below the first point are raised to it."""
    corners = [(mp.mpf(k), c) for k, c in zip(points, calls, strict=True)]
    slopes = [mp.mpf(1), *((c - d) / (l - k) for (k, c), (l, d) in pairwise(corners)), mp.mpf(0)]
    masses = np.array([double_outwards(mp, a - b, 1) for a, b in pairwise(slopes)])
    return masses, double_outwards(mp, calls[-1], 1)


# --- all epochs in the same order -------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _delta_of_one_order(epoch: Batches, direction: int, epsilon: float, about: float, precision: float) -> float:
    """Return the δ of `delta_of_epoch` where V is W(X − γ), W(1 − γX) or W(X − γX′), over γ."""
    mp, found = epoch.mp, shuffled_epoch.OneOrder(Mesh(1 / epoch.sigma, epoch.tail / 100), epoch.replaced)

    def law(grid: Grid) -> Summand:
        outer, inner = (_log_normal(mp, mu, tuple(axis.points.tolist()))
                        for mu, axis in zip(_mus(epoch), (found.outer, found.inner), strict=True))
        return _product(outer, inner, double_outwards(mp, mp.exp(-mp.mpf(epsilon)), 1), direction, epoch.steps)

    return delta_of_epoch(epoch, epsilon, about, precision, found.summand(epsilon, direction), law)


def _mus(epoch: Batches) -> tuple[Any, Any]:
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


# --- a pair that an epoch dominates ----------------------------------------------------------------------------------

# By events of a run whose other gradients point away. Of t numbers all are N(−m, 1), except for one, drawn uniformly,
# which is (1 − ρ)N(m, 1) + ρN(−m, 1) with the record, and (1 − ρ)N(0, 1) + ρN(−m, 1) without it (see
# bounds/sampling/shuffle_lower.py). The ε are found by the walk of the calculator, of which any choice is valid, with
# events that are computed here.

Side = tuple[Array, Array]  # likelihood ratios to the base law, and masses of cells


def dominated_pair(p: Params) -> LossPair:
    """Return the pair of one epoch with its reverse, from the parameters of the bound."""
    z, batches, unused = ratio_up((p["sigma"],), (p["sensitivity"],)), p["steps_per_epoch"], p["dropped"]

    def bounds(mp: Any) -> tuple[list[Bound], list[Bound]]:
        cells = allocation_replaced.cells_of(Epoch(z, batches, p["tail"], mp))
        own, m = 1 - unused, 1 / z
        without, with_record, base = cells.masses
        sides = [(own * np.exp(rate * cells.middles + shift) + unused, own * masses + unused * base)
                 for rate, shift, masses in ((2 * m, 0.0, with_record), (m, m * m / 2, without))]
        last = 4 * m * float(cells.edges[-1])
        found, reverse = (_events(base, one, other, batches, p["tail"], m, last)
                          for one, other in (sides, sides[::-1]))
        return found, reverse

    return polyline_pair(bounds)


def _events(base: Array, p: Side, q: Side, batches: int, tail: float, m: float, last: float) -> list[Bound]:
    """Return what events show of P against Q, at γ from 1 on."""
    found = list[Bound]()

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        gamma = exp(epsilon)
        values, masses = p[0] - gamma * q[0], (base, p[1], q[1])
        if values.max() <= 0:
            return SMALLEST_LOG_DELTA
        question = positive_sums.Question(batches, 0.0, precision, batches * expected, batches * (1 + gamma))
        _, step = event_of_sum(values, masses, ROUNDING, gamma, question)
        bound = bound_of_event(values, masses, gamma, question, allocation_replaced.FINER * step)
        if bound.advantage <= 0:
            return SMALLEST_LOG_DELTA
        found.append(bound)
        return log(bound.advantage)

    # chords between narrower gaps than those of the calculator change the result by half as much
    gaps = allocation_replaced.FINER * shuffled_epoch.GAPS_OF_EVENTS
    walk(log_delta, exp(log_theta(0.0, m)) / sqrt(batches), tail, last, gaps)
    return found
