"""One use of a pair on nested grids: its pessimistic law, whose masses are split, and its optimistic laws under P and
Q, which are merged.

The grids are refined where they cost most: where the loss is widely spread, or where the tilted law has its mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld.multiscale import Law, TooLarge
from dpcalc.pld.pair import LARGEST_EXPONENT, log_q
from dpcalc.pld.pmf import NOTHING, ULP, Pmf, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Pair

    Array = NDArray[Any]

FIRST_CELLS = 1024  # of the coarsest grid at first
MAX_CELLS = 1 << 15  # of one level: it takes a few tenths of a second to compose
RELATIVE_ERROR = 5e-15  # of the distribution functions of pairs
FINER = 8  # times, that a level is finer than the one around it, at most
OUTSIDE = 1 / 16  # of the budget, that a level may cost at either side of the finer one within


@dataclass(frozen=True)
class Level:
    """The cells between the points step·first and step·last, but for those of the finer level within."""

    step: float
    first: int
    last: int

    @property
    def edges(self) -> Array:
        return np.arange(self.first, self.last + 1) * self.step


def power_of_two(x: float) -> float:
    """The largest one that is not above: grids of such steps have points in common, and doubling is exact."""
    if not 0 < x < inf:
        raise TooLarge("too-large", "losses are too large, or too small, for grids of doubles")
    return 2.0 ** floor(log2(x))


def cell_costs(pair: Pair, tilt: float, level: Level, log_moment: float, weight: float) -> Array:
    """Of each cell, what splitting is above merging in the moment M, relative to it, times `weight`."""
    edges = level.edges
    log_p, loss = pair.masses(edges)
    low, high = split(log_p, loss, edges)
    with np.errstate(over="ignore", invalid="ignore"):
        above = np.exp(low + tilt * edges[:-1] - log_moment) + np.exp(high + tilt * edges[1:] - log_moment)
        found: Array = weight * np.maximum(above - np.exp(np.where(log_p > -inf, log_p + tilt * loss, -inf)
                                                          - log_moment), 0.0)
    return found


def nested_levels(pair: Pair, tilt: float, low: float, high: float, log_moment: float, weight: float, budget: float,
                  coarsest: float) -> list[Level]:
    """Levels from the finest to the coarsest one, from `low` to `high`, with steps of at most `coarsest`. They cost at
    most the budget if they need no more than MAX_CELLS each."""
    enough = sqrt(4 * budget / (weight * tilt * (1 + tilt)))  # no grid costs more than half the budget with this step
    step = power_of_two(max(min(max((high - low) / FIRST_CELLS, enough), coarsest), (high - low) / MAX_CELLS))
    level, outside = Level(step, floor(low / step), floor(high / step) + 1), list[Level]()
    while True:
        cost = cell_costs(pair, tilt, level, log_moment, weight)
        total, cells = float(cost.sum()), level.last - level.first
        if not total < inf:
            raise TooLarge("too-large", "the moments of so large losses are beyond doubles")
        if total <= budget:
            return [level, *outside]
        sums, small = np.cumsum(cost), OUTSIDE * budget
        first = level.first + int(np.searchsorted(sums, small))
        last = level.first + int(np.searchsorted(sums, total - small)) + 1
        if 2 * (last - first) <= cells:
            outside.insert(0, level)
            ratio = min(round(level.step / power_of_two(level.step * sqrt(budget / total))), FINER)
            budget -= 2 * small
        else:
            first, last, ratio = level.first, level.last, 2
        if ratio * (last - first) > MAX_CELLS:
            return outside if outside and outside[0] is level else [level, *outside]
        level = Level(level.step / ratio, first * ratio, last * ratio)


def pessimistic(pair: Pair, levels: list[Level], tilt: float) -> tuple[Law, float]:
    """The tilted law of all masses split between the points of the grids, and the log of the P-mass that is infinite.
    What is below all points is moved to the first one, and what is above them is split between the last one and ∞."""
    found: list[Array] = []
    inside, log_infinite = None, -inf
    for level in levels:
        logs = np.full(level.last - level.first + 1, -inf)
        for edges in _edges_around(level, inside, level is levels[-1]):
            low, high = split(*pair.masses(edges), edges)
            at_edges = np.logaddexp(np.append(low, -inf), np.append(-inf, high))
            finite = np.isfinite(edges)
            points = np.rint(edges[finite] / level.step).astype(int) - level.first
            logs[points] = np.logaddexp(logs[points], at_edges[finite])
            log_infinite = float(at_edges[-1]) if edges[-1] == inf else log_infinite
        found.append(logs + tilt * level.edges)
        inside = level
    return _law(levels, found, [0.0] * len(levels), None), log_infinite


def _edges_around(level: Level, inside: Level | None, is_last: bool) -> list[Array]:
    """The edges of the cells between the points of a level, beside those of the finer one within; to ±∞ for the last
    one."""
    points = level.edges
    runs = [points]
    if inside is not None:
        ratio = round(level.step / inside.step)
        runs = [points[: inside.first // ratio - level.first + 1], points[inside.last // ratio - level.first :]]
    if is_last:
        runs[0] = np.append(-inf, runs[0])
        runs[-1] = np.append(runs[-1], inf)
    return [edges for edges in runs if len(edges) > 1]


def optimistic(pair: Pair, levels: list[Level], tilt: float) -> tuple[Law, tuple[float, float]]:
    """The law of the number of the cell, of cells around the points of the grids, with its excess over that of Q; each
    level is tilted as if the losses in its cells were at their mean place. And the logs of the P- and the Q-mass of
    what is above all cells, without infinite losses. What is below them is in no test."""
    found: list[Array] = []
    offsets: list[float] = []
    excess: list[Array] = []
    inside = None
    for level in levels:
        points = level.edges
        log_p, loss = np.full(len(points), -inf), points.copy()
        for first, edges in _cells_around_points(level, inside):
            here = slice(first - level.first, first - level.first + len(edges) - 1)
            log_p[here], loss[here] = pair.masses(edges)
        held = log_p > -inf
        weights = np.where(held, log_p + tilt * points, -inf)
        place = np.where(held, np.clip(loss - points, -level.step, level.step), 0.0)
        weight = np.exp(weights - float(weights.max())) if held.any() else np.zeros(len(points))
        offset = float((weight * place).sum() / weight.sum()) if held.any() else 0.0
        found.append(weights + tilt * offset)
        offsets.append(offset)
        apart = np.where(held, points + offset - loss, 0.0)
        if apart.max() > LARGEST_EXPONENT / 10:
            raise TooLarge("too-large", "cells are too wide to show anything from below")
        excess.append(-np.expm1(apart))
        inside = level
    above = pair.masses(np.array([(levels[-1].last + 0.5) * levels[-1].step, inf]))
    return _law(levels, found, offsets, excess), (float(above[0][0]), float(log_q(above)[0]))


def _cells_around_points(level: Level, inside: Level | None) -> list[tuple[int, Array]]:
    """The first points of the ranges of a level beside the finer one within, and the edges of the cells around the
    points there."""
    h = level.step
    edges = (np.arange(level.first, level.last + 2) - 0.5) * h
    if inside is None:
        return [(level.first, edges)]
    ratio = round(h / inside.step)
    left, right = inside.first // ratio - 1, inside.last // ratio + 1  # the last point below, the first one above
    below, above = edges[: left - level.first + 2].copy(), edges[right - level.first :].copy()
    below[-1:], above[:1] = (inside.first - 0.5) * inside.step, (inside.last + 0.5) * inside.step
    return [x for x in ((level.first, below), (right, above)) if len(x[1]) > 1]


def _law(levels: list[Level], weights: list[Array], offsets: list[float], excess: list[Array] | None) -> Law:
    """Of the logs of all weights, and of the part of each that is above Q."""
    top = max(float(x.max()) for x in weights)
    found = []
    for k, (level, offset, x) in enumerate(zip(levels, offsets, weights, strict=True)):
        weight = np.exp(x - top)
        weight[weight < NOTHING] = 0.0
        found.append(Pmf(level.step, offset, level.first, weight, excess[k] * weight if excess else None,
                         NOTHING * len(weight)))
    return Law(tuple(found), top).normalized()


def rounding_of_one_use(pair: Pair, x: Law, tilt: float) -> tuple[float, float]:
    """What rounding may make of log M for one use of a pair, by its pessimistic law, and of the log of the ratio of
    both masses of a cell.

    Both are means over all cells but the lightest: those of a sum; a single cell may have more, far less than what
    merging gives away. Losses have errors of a few units in the last place of themselves and of the pair's scale, more
    where masses are small. Errors of the distribution functions, RELATIVE_ERROR of them, move mass from a cell to the
    next one: over all cells that adds up to no more than the same error of M, nor than moves losses by as much."""
    log_p = size = 0.0
    for level in x.levels:
        held = level.weight > 1e-12
        weight, loss = level.weight[held], level.losses[held]
        each = np.abs(np.log(weight) + x.log_scale - tilt * loss)
        log_p += float((weight * each).sum())
        size += float((weight * (np.abs(loss) + pair.scale) * (4 + 2 * each)).sum())
    functions = RELATIVE_ERROR * min(1.0, (1 + tilt) * size)
    return ULP * (log_p + pair.scale + abs(x.log_scale)) + (1 + tilt) * (ULP * size + functions), ULP * size
