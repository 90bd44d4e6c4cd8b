"""One epoch of random allocation where one record is replaced, as privacy loss distributions from above and from below.

With x(z) = e^{mz − ε/2} − e^{ε/2 − mz}, m = 1/σ and independent z_i ~ N(0, 1), one epoch of t steps has
δ(ε) = e^{ε/2 − m²/2} E(x(z_1) + … + x(z_t))₊/t, in both directions. The numbers of the calculator that are used here
are choices of which any is valid: the ε, and the grids.

From above, the mass of a cell of z is split between x at its two ends, with its mean kept, and then between two points
of a uniform grid: (·)₊ is convex and increases, so masses are rounded up and points are moved up. From below, cells of
z get integers as labels; {the sum of labels is at least a threshold} is an event of the outputs, and its probabilities
P(R) and Q(R) bound δ by P(R) − γQ(R) for every γ.

The masses of the cells and their means come from closed forms in balls, rounded outwards to doubles.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import ceil, exp, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling._engine.repeated_draws import normal_cells
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld import allocation_replaced
from dpcalc.pld.allocation_replaced import Point
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.positive_sums import Question, choose_grid
from dpcalc.verify.allocation import DIGITS, Epoch, double_outwards
from dpcalc.verify.composition_atoms import profile_pair
from dpcalc.verify.loss_distributions import LossPair, gaussian
from dpcalc.verify.sum_events import Bound, bound_of_event, polyline_pair
from dpcalc.verify.tilted_powers import ROUNDING, Summand, mean_of_positive_part

FINER = 0.7  # step of a grid over that of the calculator: it changes the result by half as much


def from_above(noise_multiplier: float, steps: int, tail: float) -> LossPair:
    """Return a pair that dominates one epoch."""
    pair = allocation_replaced.dominating_pair(noise_multiplier, steps, tail)
    if isinstance(pair, Gaussian):
        return _gaussian(noise_multiplier, min(steps, 2))
    points = allocation_replaced.upper_points(noise_multiplier, steps, tail)
    epsilons = sorted(loss for loss in pair.losses if loss >= 0)  # type: ignore[attr-defined]

    def delta(mp: Any, epsilon: float) -> Any:
        return mp.mpf(_deltas(Epoch(noise_multiplier, steps, tail, mp), points)[epsilon])

    return profile_pair(epsilons, delta)


def from_below(noise_multiplier: float, steps: int, tail: float) -> LossPair:
    """Return a pair that one epoch with constant gradients dominates."""
    if steps <= 2:
        return _gaussian(noise_multiplier, steps)
    events = allocation_replaced.events_from_below(noise_multiplier, steps, tail)

    def bounds(mp: Any) -> tuple[list[Bound], list[Bound]]:
        cells = cells_of(Epoch(noise_multiplier, steps, tail, mp))
        found = [_bound(cells, steps, 1 / noise_multiplier, at.epsilon, FINER * at.step, at.event.advantage)
                 for at in events]
        return found, found

    return polyline_pair(bounds)


def _bound(cells: Cells, steps: int, m: float, epsilon: float, step: float, value: float) -> Bound:
    """Return what an event shows at γ = e^ε, by a grid with this step, where the value is about the given one."""
    gamma, scale = exp(epsilon), exp(m * m / 2 - epsilon / 2) * steps
    question = Question(steps, 0.0, 1e-4, scale * value, scale * (1 + gamma))
    return bound_of_event(2 * np.sinh(m * cells.middles - epsilon / 2), cells.masses, gamma, question, step)


def _gaussian(noise_multiplier: float, steps: int) -> LossPair:
    """Return the pair of one or two steps, which is that of Gaussian noise."""
    return gaussian(lambda mp: 2 / (mp.sqrt(mp.mpf(steps)) * mp.mpf(noise_multiplier)))


class Cells(NamedTuple):
    """Cells of z between edges, with their masses under N(0, 1), N(m, 1) and N(−m, 1), rounded up; the first and the
    last mass are those of the tails. Of each cell [u, v], `up` and `down` are e^{mv} − e^{mu} and e^{−mu} − e^{−mv},
    rounded down; `rises` and `falls` are the integrals of e^{mz} − e^{mu} and
    e^{−mu} − e^{−mz}, and `above_rises` and `above_falls` those of e^{mv} − e^{mz} and e^{−mz} − e^{−mv}, rounded up.
    `beyond` is the integral of e^{mz} above all cells."""

    edges: Array
    masses: tuple[Array, Array, Array]
    up: Array
    down: Array
    rises: Array
    falls: Array
    above_rises: Array
    above_falls: Array
    beyond: float

    @property
    def middles(self) -> Array:
        return np.concatenate((self.edges[:1], (self.edges[1:] + self.edges[:-1]) / 2, self.edges[-1:]))


@lru_cache(maxsize=8)
def cells_of(epoch: Epoch) -> Cells:
    """Return the cells, half as wide as those of the calculator."""
    mp, m = epoch.mp, 1 / epoch.sigma
    width = 2.0 ** -(8 + min(max(ceil(log2(m)), 0), 3))
    last = ceil((m + sqrt(-2 * log(epoch.tail / 100))) / width)
    edges = width * np.arange(-last, last + 1)
    with mp.workdps(DIGITS):
        rate = 1 / mp.mpf(epoch.sigma)
        ratios = [(mp.exp(rate * mp.mpf(x)), mp.exp(-rate * mp.mpf(x))) for x in edges.tolist()]
        base, shifted, lowered = (normal_cells(mp, edges.tolist(), 1, mean) for mean in (0, rate, -rate))
        factor = mp.exp(rate * rate / 2)
        rows: list[list[float]] = [[] for _ in range(6)]
        for j, (b, p, q) in enumerate(zip(base[1:-1], shifted[1:-1], lowered[1:-1], strict=True)):
            (up, down), (next_up, next_down) = ratios[j], ratios[j + 1]
            numbers = (next_up - up, down - next_down, factor * p - up * b, down * b - factor * q,
                       next_up * b - factor * p, factor * q - next_down * b)
            for row, x, direction in zip(rows, numbers, (-1, -1, 1, 1, 1, 1), strict=True):
                row.append(double_outwards(mp, x, direction))
        masses = [np.array([double_outwards(mp, x, 1) for x in law]) for law in (base, shifted, lowered)]
        beyond = double_outwards(mp, factor * shifted[-1], 1)
    up_gaps, down_gaps, rises, falls, above_rises, above_falls = (np.array(row) for row in rows)
    return Cells(edges, (masses[0], masses[1], masses[2]), up_gaps, down_gaps, rises, falls, above_rises, above_falls,
                 beyond)


@lru_cache(maxsize=8)
def _deltas(epoch: Epoch, points: tuple[Point, ...]) -> dict[float, float]:
    """Return an upper bound of δ at each ε: the smallest one so far, as δ falls."""
    found, least = dict[float, float](), 1.0
    for point in points:
        least = min(least, _delta_from_above(epoch, cells_of(epoch), point))
        if least > exp(point.log_delta):  # where the calculator took that of two steps
            mp = epoch.mp
            whole = theta(mp, mp.mpf(point.epsilon), mp.sqrt(2) / mp.mpf(epoch.sigma))
            least = min(least, double_outwards(mp, whole, 1))
        found[point.epsilon] = least
    return found


def _delta_from_above(epoch: Epoch, cells: Cells, point: Point) -> float:

    steps, epsilon, m = epoch.steps, point.epsilon, 1 / epoch.sigma
    scale = exp(m * m / 2 - epsilon / 2) * steps
    places, masses = _split_at_edges(cells, m, epsilon)
    excess = cells.beyond * exp(-epsilon / 2) * (1 + ROUNDING)
    question = Question(steps, 0.0, 1e-4, scale * exp(point.log_delta))
    grid = replace(choose_grid(places, masses, question, excess), step=FINER * point.step, block=1)
    value = mean_of_positive_part(grid, [Summand(places, masses, excess, steps)])
    return value / scale * (1 + ROUNDING * (1 + epsilon + m * m))


def _split_at_edges(cells: Cells, m: float, epsilon: float) -> tuple[Array, Array]:
    """Return x at the edges, moved up by more than their rounding errors, and masses there."""
    gamma = exp(epsilon)
    gaps = cells.up + gamma * cells.down
    right = (cells.rises + gamma * cells.falls) / gaps
    left = (cells.above_rises + gamma * cells.above_falls) / gaps
    masses = np.append(left, 0.0) + np.append(0.0, right)
    masses[0] += cells.masses[0][0]
    masses[-1] += cells.masses[0][-1]
    argument = m * cells.edges - epsilon / 2
    error = 4 * UNIT * (np.abs(m * cells.edges) + epsilon / 2)  # of the argument
    places = 2 * np.sinh(argument)
    return places + 2 * error * np.cosh(argument) + 4 * UNIT * np.abs(places), masses * (1 + ROUNDING)
