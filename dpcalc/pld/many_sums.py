"""Upper bounds of E(D_1 + … + D_t + D′)₊ for many variables at once, as in positive_sums.py: for several grids, and for
several variables on each grid. Operations on one long array take a fraction of the time of those on many short ones.

Where `…` is an array of rows, the first axis is that of grids, the second one that of the variables on a grid. """

from collections.abc import Sequence
from math import ceil, floor, inf, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld.pair import LARGEST_LOG_RATIO
from dpcalc.pld.pmf import fft_length
from dpcalc.pld.positive_sums import Summand
from dpcalc.pld.tilted_sums import FFT_ERROR, NEGLIGIBLE_POWER, Grid, to_power

LARGEST_ERROR = 0.1  # relative, of rounding: where that of a sum is larger, there is no bound
MOST_POINTS = 1 << 14  # of a window: for a longer one, which is that of a grid for very different laws, there is none
SMALLEST_MOMENT = 1e-250  # smaller ones are raised to it, as products of doubles that are negligible may be 0
SMALLEST_TOTAL = 1e-200  # of the tilted masses of a variable: of less there is no bound, as products may underflow


class Summands(NamedTuple):
    """Variables with the same masses, at the points of the rows, and upper bounds of E(D − largest point)₊."""

    points: Array
    masses: Array
    excess: Array

    def each(self) -> list[Summand]:
        return [Summand(points, self.masses, float(excess))
                for points, excess in zip(self.points, self.excess, strict=True)]


class Rows(NamedTuple):
    """Tilted variables: masses weight·e^{log_scale − a·k} at k = first + i, with a relative error, and what capping
    each of them at the highest point of its grid adds to the mean of a sum."""

    weight: Array
    log_scale: Array
    relative: Array
    paid: Array


class Grids:
    """Several grids without blocks, as columns of numbers."""

    def __init__(self, grids: Sequence[Grid]) -> None:
        self.low, self.high, self.step, self.tilt = (
            np.array([getattr(grid, name) for grid in grids]) for name in ("low", "high", "step", "tilt"))
        self.a = self.tilt * self.step
        self.first = np.array([floor(grid.low / grid.step) for grid in grids])
        self.size = np.array([ceil(grid.high / grid.step) for grid in grids]) - self.first + 2
        self.rates = np.array([grid.window.rates for grid in grids]).T
        self.log_outside = np.array([grid.window.log_outside for grid in grids])
        self.outside = np.array([grid.window.outside for grid in grids])

    def indices(self, first: Array, size: int) -> Array:
        return first[:, None] + np.arange(size)

    def placed(self, variables: Sequence[Summands]) -> Rows:
        """The variables of each grid on it."""
        width = int(self.size.max())
        found = [self._placed_on(i, x, width) for i, x in enumerate(variables)]
        terms = np.array([len(x.masses) for x in variables])[:, None]
        return self._tilted(np.stack([table for table, _ in found]), terms, np.stack([paid for _, paid in found]))

    def _placed_on(self, i: int, x: Summands, width: int) -> tuple[Array, Array]:
        """Masses on a grid, each being split between two points with its mean kept or raised, and what is paid."""
        rows, terms = x.points.shape
        capped = np.minimum(x.points, self.high[i])
        paid = x.excess + np.einsum("kp,p->k", x.points - capped, x.masses)
        place, first = np.maximum(capped, self.low[i]) / self.step[i], self.first[i]
        place = place - first + 4 * UNIT * (np.abs(place) + (abs(first) + 1))
        cell = np.minimum(place.astype(np.intp), self.size[i] - 2)
        right = np.minimum(place - cell, 1.0) * x.masses
        cell += width * np.arange(rows)[:, None]
        at, length = cell.ravel(), rows * width
        table = np.bincount(at, (x.masses - right).ravel(), length) + np.bincount(at + 1, right.ravel(), length)
        return table.reshape(rows, width), paid * (1 + (terms + 9) * UNIT)

    def _tilted(self, table: Array, terms: Array, paid: Array) -> Rows:
        exponent = self.a[:, None] * self.indices(self.first, table.shape[2])
        top = np.where(table.max(axis=1) > 0, exponent, -inf).max(axis=1)
        weight = table * np.exp(np.minimum(exponent - top[:, None], 0.0))[:, None, :]
        total = np.maximum(weight.sum(axis=2), SMALLEST_TOTAL / 2)
        weight /= total[:, :, None]
        largest = np.abs(exponent[:, [0, -1]]).max(axis=1)
        relative = UNIT * (terms + 6 * largest[:, None] + 4 * np.abs(np.log(total)) + 20)
        relative[total < SMALLEST_TOTAL] = 1.0  # more than LARGEST_ERROR
        return Rows(weight, top[:, None] + np.log(total), relative, paid)

    def ends(self, parts: Sequence[tuple[Rows, int]]) -> tuple[Array, Array]:
        """The first and last indices of windows: the tilted masses beyond them are at most `outside`, by Chernoff."""
        found = []
        indices = self.indices(self.first, parts[0][0].weight.shape[2])
        for sign, rates in zip((-1, 1), self.rates, strict=True):
            exponent = (sign * rates * self.step)[:, None] * indices
            top = exponent.max(axis=1)
            growth = np.exp(exponent - top[:, None])
            log_moment = sum(times * (top[:, None] + np.log(np.maximum(
                np.einsum("lkw,lw->lk", x.weight, growth), SMALLEST_MOMENT))) for x, times in parts)
            found.append(np.ceil((log_moment.max(axis=1) + self.log_outside) / (rates * self.step)) + 1)
        return -found[0].astype(np.intp), found[1].astype(np.intp)


def means_of_sums(grids: Sequence[Grid], copies: Sequence[Summands], count: int,
                  others: Sequence[Summands] | None = None) -> Array:
    """Upper bounds of E(ΣD)₊ for `count` >= 1 independent copies of each variable, and one of the other one: a row for
    each grid, ∞ where a grid cannot hold the sum, or rounding errors are too large."""
    at = Grids(grids)
    parts = [(at.placed(copies), count)] + ([(at.placed(others), 1)] if others is not None else [])
    low, high = at.ends(parts)
    lengths = high - low + 1
    n = fft_length(max(int(lengths[lengths <= MOST_POINTS].max(initial=2)), int(at.size.max())))
    eta = FFT_ERROR * (log2(n) + 2)
    transform, number = np.ones(1), sum(times for _, times in parts)
    log_scale, relative, error, log_largest = (np.zeros(parts[0][0].relative.shape) for _ in range(4))
    for x, times in parts:
        transform = transform * _power(np.fft.rfft(x.weight, n), times)
        change = sqrt(n) * eta * _norm(x.weight)
        bound = 1 + change + n * UNIT  # of the transform: weights add up to 1
        error, log_largest = error + times * change / bound, log_largest + times * np.log(bound)
        log_scale, relative = log_scale + times * x.log_scale, relative + times * x.relative
    weight = np.fft.irfft(transform, n)
    error = (error * np.exp(log_largest) / sqrt(n) + len(parts) * NEGLIGIBLE_POWER
             + (eta + 6 * UNIT * number) * _norm(weight))
    paid = sum(times * x.paid for x, times in parts)
    first = number * at.first  # of the sum; weights are those of indices in the window, modulo n
    indices = low[:, None] + (at.indices(first - low, n)) % n
    mean = _mean_of_window(at, weight, indices, log_scale, relative * (1 + 2 * relative), error * (1 + 2 * relative))
    is_bound = (relative <= LARGEST_ERROR) & (log_scale <= LARGEST_LOG_RATIO) & ((low <= 0) & (lengths <= n))[:, None]
    return np.where(is_bound, mean + paid, inf)


def _mean_of_window(at: Grids, weight: Array, indices: Array, log_scale: Array, relative: Array,
                    error: Array) -> Array:
    """Upper bounds of the means of the positive parts, from weights in windows with these indices."""
    n, end = weight.shape[2], indices.max(axis=1)
    values = at.step[:, None] * indices
    values = np.maximum(values + 4 * UNIT * np.abs(values), 0.0)
    largest = np.minimum(log_scale.max(axis=1), LARGEST_LOG_RATIO)
    factor = values * np.exp(np.minimum(largest[:, None] - at.a[:, None] * indices, 2 * LARGEST_LOG_RATIO))
    scale = np.exp(np.clip(log_scale - largest[:, None], -LARGEST_LOG_RATIO, 0.0))  # raised, so that it is not 0
    inside = np.einsum("lkw,lw->lk", np.maximum(weight, 0.0), factor) * scale
    # Beyond the last value v the mean is at most the outside mass times the largest v'·e^{−(θ+r)(v' − v)}, v' >= v.
    last = np.maximum(at.step * end, 1 / (at.tilt + at.rates[1])) * (1 + 9 * UNIT)
    at_last = largest - at.a * end
    beyond = last * np.exp(np.minimum(at_last, 2 * LARGEST_LOG_RATIO)) * at.outside
    beyond = np.where(at_last <= 2 * LARGEST_LOG_RATIO, beyond, inf)
    farthest = 3 * at.a * np.abs(indices).max(axis=1) + 3 * np.abs(largest)
    relative = relative + UNIT * (3 * np.abs(log_scale) + farthest[:, None] + n + 20)
    errors = error * np.sqrt((factor * factor).sum(axis=1))[:, None] + beyond[:, None]
    return np.asarray(inside * (1 + relative) + errors * scale * (1 + 1e-9))


def _norm(x: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("lkw,lkw->lk", x, x)))


def _power(x: Array, times: int) -> Array:
    """x^times for times >= 1, with negligible powers set to 0, which most of them are where there are many copies."""
    if times == 1:
        return x
    matters = x.real**2 + x.imag**2 >= NEGLIGIBLE_POWER ** (2 / times)
    power = np.zeros_like(x)
    power[matters] = to_power(x[matters], times)
    return power
