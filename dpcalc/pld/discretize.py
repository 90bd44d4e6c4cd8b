"""Discretization of the privacy loss of one use of a mechanism on nested grids: the pessimistic estimate, whose masses
are split between grid points, and the optimistic estimate, whose outcomes are merged into cells.

The grids are refined where discretization changes the result most: where the loss is widely spread, or where the tilted
distribution has its mass. """

from dataclasses import dataclass
from functools import cached_property
from math import floor, inf, log2, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.multiscale import MultiscalePmf, TooLarge
from dpcalc.pld.pair import Masses, Pair, log_q
from dpcalc.pld.pmf import NEGLIGIBLE_WEIGHT, Pmf, loss_error, split

MAX_CELLS = 1 << 15  # of one level: composing takes a few tenths of a second; with half as many some brackets are wider
CDF_ERROR = 5e-15  # relative rounding error of the distribution functions of pairs (see tails_array.py)


@dataclass(frozen=True)
class Level:
    """The cells of a pair between the points step·first and step·last, except those of the finer level inside."""

    pair: Pair
    step: float
    first: int
    last: int

    @cached_property
    def edges(self) -> Array:
        return np.arange(self.first, self.last + 1) * self.step

    @cached_property
    def masses(self) -> Masses:
        return self.pair.masses(self.edges)

    @cached_property
    def split(self) -> tuple[Array, Array]:
        """The logs of the P-masses that each cell gives to its lower and to its upper edge."""
        return split(*self.masses, self.edges)


def power_of_two(x: float) -> float:
    """The largest power of two that is at most x. Grids with such steps share points, and doubling is exact."""
    if not 0 < x < inf:
        raise TooLarge("too-large", "losses are too large, or too small, for grids of doubles")
    return 2.0 ** floor(log2(x))


def cell_costs(level: Level, tilt: float, log_moment: float, weight: float) -> Array:
    """The costs of all cells: the difference that splitting instead of merging makes to the moment E_P[e^{λℓ}],
    relative to the moment, times `weight`."""
    edges, (log_p, loss), (low, high) = level.edges, level.masses, level.split
    with np.errstate(over="ignore", invalid="ignore"):
        if_split = np.exp(low + tilt * edges[:-1] - log_moment) + np.exp(high + tilt * edges[1:] - log_moment)
        if_merged = np.exp(np.where(log_p > -inf, log_p + tilt * loss, -inf) - log_moment)
        costs: Array = weight * np.maximum(if_split - if_merged, 0.0)
    return costs


def nested_levels(pair: Pair, tilt: float, low: float, high: float, log_moment: float, weight: float, budget: float,
                  coarsest: float) -> list[Level]:
    """Levels from the finest to the coarsest, which covers losses from `low` to `high`, with steps of at most
    `coarsest`. Together they cost at most the budget, unless a level would need more than MAX_CELLS."""
    safe_step = sqrt(4 * budget / (weight * tilt * (1 + tilt)))  # with it, any grid costs at most half the budget
    step = power_of_two(max(min(max((high - low) / 1024, safe_step), coarsest), (high - low) / MAX_CELLS))
    if max(-low, high) / step > 2**53:  # grid points are whole multiples of the step, as doubles
        raise TooLarge("too-large", "losses are too large for grids of doubles")
    level, outside = Level(pair, step, floor(low / step), floor(high / step) + 1), list[Level]()
    while True:
        cost = cell_costs(level, tilt, log_moment, weight)
        total, cells = float(cost.sum()), level.last - level.first
        if not total < inf:
            raise TooLarge("too-large", "the moments of so large losses are beyond doubles")
        if total <= budget:
            return [level, *outside]
        sums, outer_cost = np.cumsum(cost), budget / 16  # what cells may cost on either side of the finer level
        first = level.first + int(np.searchsorted(sums, outer_cost))
        last = level.first + int(np.searchsorted(sums, total - outer_cost)) + 1
        if 2 * (last - first) <= cells:
            outside.insert(0, level)
            ratio = min(round(level.step / power_of_two(level.step * sqrt(budget / total))), 8)
            budget -= 2 * outer_cost
        else:
            first, last, ratio = level.first, level.last, 2
        if ratio * (last - first) > MAX_CELLS:
            return outside if outside and outside[0] is level else [level, *outside]
        level = Level(pair, level.step / ratio, first * ratio, last * ratio)


def pessimistic(levels: list[Level], tilt: float) -> tuple[MultiscalePmf, float]:
    """The tilted pessimistic estimate, all masses being split between grid points, and the log of the P-mass of an
    infinite loss. Losses below the first point are moved up to it, and losses above the last point are split between it
    and ∞."""
    log_weights: list[Array] = []
    inside = None
    for level in levels:
        low, high = level.split
        logs = np.full(level.last - level.first + 1, -inf)
        for begin, end in _cells_around(level, inside):
            logs[begin:end] = np.logaddexp(logs[begin:end], low[begin:end])
            logs[begin + 1 : end + 1] = np.logaddexp(logs[begin + 1 : end + 1], high[begin:end])
        log_weights.append(logs)
        inside = level
    outer = levels[-1]
    around = np.array([-inf, outer.edges[0], outer.edges[-1], inf])
    log_p, loss = outer.pair.masses(around)
    low, high = split(log_p, loss + loss_error(log_p, loss, outer.pair.rounding_scale), around)
    logs[0], logs[-1] = np.logaddexp(logs[0], high[0]), np.logaddexp(logs[-1], low[2])
    tilted = [logs + tilt * level.edges for logs, level in zip(log_weights, levels, strict=True)]
    return _normalized(levels, tilted, [0.0] * len(levels), None), float(high[2])


def _cells_around(level: Level, inside: Level | None) -> list[tuple[int, int]]:
    """The ranges of the cells of a level, without those of the finer level inside."""
    if inside is None:
        return [(0, level.last - level.first)]
    ratio = round(level.step / inside.step)
    return [(0, inside.first // ratio - level.first), (inside.last // ratio - level.first, level.last - level.first)]


def optimistic(levels: list[Level], tilt: float) -> tuple[MultiscalePmf, tuple[float, float]]:
    """The tilted optimistic estimate, all outcomes of a cell around a grid point being merged, with the excess over the
    weights of Q; and the logs of the P-mass and the Q-mass of finite losses above all cells.

    Each level is tilted as if the losses of its cells were at their mean offset from the points. Losses below all cells
    are left out of every test, which is valid for a lower bound. """
    log_weights: list[Array] = []
    offsets: list[float] = []
    excess: list[Array] = []
    inside = None
    covered = inf, -inf  # ends of the cells so far; a coarser level may have no points beyond one of them
    for level in levels:
        points = level.edges
        log_p, loss = np.full(len(points), -inf), points.copy()
        for first, edges in _cells_around_points(level, inside, covered):
            covered = min(covered[0], float(edges[0])), max(covered[1], float(edges[-1]))
            here = slice(first - level.first, first - level.first + len(edges) - 1)
            log_p[here], loss[here] = level.pair.masses(edges)
        has_mass = log_p > -inf
        logs = np.where(has_mass, log_p + tilt * points, -inf)
        from_point = np.where(has_mass, np.clip(loss - points, -level.step, level.step), 0.0)
        weight = np.exp(logs - float(logs.max())) if has_mass.any() else np.zeros(len(points))
        offset = float((weight * from_point).sum() / weight.sum()) if has_mass.any() else 0.0
        log_weights.append(logs + tilt * offset)
        offsets.append(offset)
        difference = np.where(has_mass, points + offset - loss, 0.0)
        if difference.max() > LARGEST_EXPONENT / 10:
            raise TooLarge("too-large", "cells are too wide to show anything from below")
        excess.append(-np.expm1(difference))
        inside = level
    above = level.pair.masses(np.array([covered[1], inf]))
    return _normalized(levels, log_weights, offsets, excess), (float(above[0][0]), float(log_q(above)[0]))


def _cells_around_points(level: Level, inside: Level | None, covered: tuple[float, float]) -> list[tuple[int, Array]]:
    """The edges of the cells around the points of a level, in one range or in two beside the cells of all finer levels,
    which cover the losses between the given ends; each range with the index of its first point."""
    h = level.step
    edges = (np.arange(level.first, level.last + 2) - 0.5) * h
    if inside is None:
        return [(level.first, edges)]
    ratio = round(h / inside.step)
    left, right = inside.first // ratio - 1, inside.last // ratio + 1  # the last point below it, the first one above it
    below, above = edges[: left - level.first + 2].copy(), edges[right - level.first :].copy()
    below[-1:], above[:1] = covered
    return [x for x in ((level.first, below), (right, above)) if len(x[1]) > 1]


def _normalized(levels: list[Level], log_weights: list[Array], offsets: list[float],
                excess: list[Array] | None) -> MultiscalePmf:
    """The distribution with these weights, and with this excess relative to each weight."""
    top = max(float(x.max()) for x in log_weights)
    if top == -inf:
        raise TooLarge("too-large", "no cell has a mass that a double can hold")
    pmfs = []
    for k, (level, offset, logs) in enumerate(zip(levels, offsets, log_weights, strict=True)):
        weight = np.exp(logs - top)
        weight[weight < NEGLIGIBLE_WEIGHT] = 0.0
        pmfs.append(Pmf(level.step, offset, level.first, weight, excess[k] * weight if excess else None,
                        NEGLIGIBLE_WEIGHT * len(weight)))
    return MultiscalePmf(tuple(pmfs), top).normalized()


def rounding_of_one_use(pair: Pair, estimate: MultiscalePmf, tilt: float) -> tuple[float, float]:
    """Bounds on the rounding errors of log E_P[e^{λℓ}] of one use of a pair, for its pessimistic estimate, and of the
    log of the ratio of both masses of a cell.

    Both are means over the cells, because the errors of many losses average in their sum. A single cell may have a
    larger error, which is much smaller than the difference that merging its outcomes makes. Losses have errors of a few
    units in the last place of themselves and of the pair's rounding scale, more where masses are small. A relative
    error CDF_ERROR of a distribution function moves mass from a cell to the next one. Over all cells this changes the
    moment by at most the same relative error, and by at most as much as an equal change of all losses."""
    log_p = size = 0.0
    for level in estimate.levels:
        counted = level.weight > 1e-12  # the others are too light to change a mean
        weight, loss = level.weight[counted], level.losses[counted]
        abs_log_p = np.abs(np.log(weight) + estimate.log_scale - tilt * loss)
        log_p += float((weight * abs_log_p).sum())
        size += float((weight * loss_error(abs_log_p, loss, pair.rounding_scale)).sum()) / ULP
    cdf_error = CDF_ERROR * min(1.0, (1 + tilt) * size)
    scales = pair.rounding_scale + abs(estimate.log_scale)
    return ULP * (log_p + scales) + (1 + tilt) * (ULP * size + cdf_error), ULP * size
