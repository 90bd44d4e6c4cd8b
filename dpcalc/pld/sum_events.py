"""Probabilities of an event that tells two laws of independent variables apart: that the sum of their labels is large.

Of `count` variables, all have the base law except for one, drawn uniformly, which has a law P or Q. Each variable gets
a label that depends on its value only, an integer. So {the sum of labels is at least a threshold} is an event with a
probability under P and under Q, whatever the labels and the threshold are; they are chosen to be multiples of a
likelihood ratio, rounded, and the mean error of their sum. Sums of blocks of labels may be rounded again, at random, to
multiples of a larger number.

Its advantage P(R) − γQ(R) is a sum of differences p − γq of masses of one label times tails T of the sum of the others.
Where differences are much smaller than masses, most of the errors of transforms cancels: T differs from what is
computed by nearly the same number at all labels that matter. """

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld.pmf import dot, norm
from dpcalc.pld.positive_sums import ATTEMPTS, Question, change_by_moves, choose_grid, refined
from dpcalc.pld.tilted_sums import Copies, Grid, Powers, Tilted, block_of, coarsened, sum_of, tilted

Laws = tuple[Array, Array, Array]  # masses under the base law, under P and under Q


class Event(NamedTuple):
    """A lower bound of the advantage P(R) − γQ(R) of an event R, an interval that contains Q(R), and an upper bound of
    P(R)."""

    advantage: float
    q_low: float
    q_high: float
    p_high: float


def event_of_sum(values: Array, laws: Laws, relative: float, gamma: float, question: Question) -> tuple[Event, float]:
    """The event that the sum of values, rounded to a grid, is not negative, and the step of the grid. Any grid is
    valid. The masses of the values have this relative error."""
    order = np.argsort(values, kind="stable")
    values = values[order]
    laws = laws[0][order], laws[1][order], laws[2][order]
    grid = choose_grid(values, laws[0], question)
    for _ in range(ATTEMPTS):
        event, density = _on_grid(grid, values, laws, relative, gamma, question.count)
        change = change_by_moves(grid, question.count, density, question.expected) / 2  # rounding adds h²/12, not h²/6
        finer = refined(grid, change, question)
        if finer is None:
            break
        grid = finer
    return event, grid.step


def _on_grid(grid: Grid, values: Array, laws: Laws, relative: float, gamma: float, count: int) -> tuple[Event, float]:
    """The event on a grid, and the density of the sum at 0 under the base law."""
    first = floor(grid.low / grid.step)
    labels = np.rint(values.clip(grid.low, grid.high) / grid.step).astype(np.intp) - first
    size = ceil(grid.high / grid.step) - first + 2
    relative += len(values) * UNIT
    one, p, q = (tilted(first, np.bincount(labels, masses, size), grid, relative) for masses in laws)
    bias = count * dot(laws[0], labels + first - values.clip(grid.low, grid.high) / grid.step)
    threshold = round(bias / grid.coarsening) * grid.coarsening
    p, q = (x._replace(first=x.first - threshold, log_scale=x.log_scale - grid.tilt_of_step * threshold)
            for x in (p, q))  # the threshold is subtracted from the special variable
    if grid.block == 1:
        return _event_of_parts((p, q, one), [(one, count - 1)], [(one, count - 1)], grid, gamma)
    blocks, rest = divmod(count, grid.block)
    known: Powers = {}
    in_p, in_q, whole = (block_of([(x, 1), (one, grid.block - 1)], grid, known) for x in (p, q, one))
    alone_p, alone_q, single = (coarsened(x, grid) for x in (p, q, one))
    in_block, density = _event_of_parts((in_p, in_q, whole), [(whole, blocks - 1), (single, rest)],
                                        [(one, count - grid.block)], grid, gamma)
    if not rest:
        return in_block, density
    alone, _ = _event_of_parts((alone_p, alone_q, single), [(whole, blocks), (single, rest - 1)], [(one, count - 1)],
                               grid, gamma)
    share = rest / count  # of the variables that are not in a block
    advantage, low, high, p_high = ((1 - share) * x + share * y for x, y in zip(in_block, alone, strict=True))
    up = 1 + 8 * UNIT
    return Event(advantage - 8 * UNIT * p_high, low * (1 - 8 * UNIT), high * up, p_high * up), density


def _event_of_parts(special: tuple[Tilted, Tilted, Tilted], parts: Copies, copies: Copies, grid: Grid,
                    gamma: float) -> tuple[Event, float]:
    """The event {special + the sum of parts >= 0}, the special part having the law P or Q, and the density at 0 of the
    sum if it has the base law; `special` are the parts with the laws P, Q and base. The parts are made of `copies` (see
    sum_of)."""
    rest, base = sum_of(parts, copies, grid, grid.window), special[2]
    p, q = _on_same_points(*special[:2])
    needed = -(max(int(x.indices[-1]) for x in (q, base)) // rest.stride) - rest.first // rest.stride
    needed = min(max(needed, 0), len(rest.weight) - 1)
    rest = rest._replace(first=rest.first + needed * rest.stride, weight=rest.weight[needed:])
    tails = _Tails.of(rest, grid)
    lows, highs = tails.low_at(q), tails.high_at(q)
    p_mass, q_mass = _masses(p, grid), _masses(q, grid)
    p_error, q_error = (x.error * norm(_factor(x, grid) * highs) * (1 + 1e-9) for x in (p, q))
    of_p, of_q = (x.relative + _rounding(x, grid) for x in (p, q))
    errors = p_error + gamma * q_error + (of_p + of_q) * dot(p_mass + gamma * q_mass, highs)
    advantage = tails.least_mean(p_mass - gamma * q_mass, q) - errors * (1 + 1e-9)
    q_low, q_high = dot(q_mass, lows) * (1 - of_q) - q_error, dot(q_mass, highs) * (1 + of_q) + q_error
    p_high = dot(p_mass, highs) * (1 + of_p) + p_error
    at_zero = _at_complement(base, rest, _masses(rest, grid), 0.0, 0.0)
    density = dot(_masses(base, grid), at_zero) / (grid.step * rest.stride)
    return Event(advantage, max(q_low, 0.0), min(q_high, 1.0), min(p_high, 1.0)), density


class _Tails(NamedTuple):
    """The computed probabilities that a sum is at least each point of its window, with lower and upper bounds.

    Errors of masses in [x, y) change the difference of the tails at x and y by at most `error` times the ℓ2 norm of
    the factors in between (`energy` adds up their squares), `relative` times the computed difference, and the mass
    outside, whose factor is at most that of x."""

    law: Tilted
    tails: Array
    low: Array
    high: Array
    energy: Array
    outside: Array
    relative: float

    @classmethod
    def of(cls, x: Tilted, grid: Grid) -> _Tails:
        factor = _factor(x, grid)
        tails = np.cumsum((np.maximum(x.weight, 0.0) * factor)[::-1])[::-1]
        energy, outside = np.cumsum((factor * factor)[::-1])[::-1], grid.window.outside * factor
        relative = x.relative + _rounding(x, grid)
        error = (x.error * np.sqrt(energy) + outside) * (1 + 1e-9)
        low = np.clip(tails * (1 - relative) - error, 0.0, 1.0)
        high = np.clip(tails * (1 + relative) + error, 0.0, 1.0)
        return cls(x, tails, np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high), energy, outside,
                   relative)

    def low_at(self, x: Tilted) -> Array:
        return _at_complement(x, self.law, self.low, float(self.low[0]), 0.0)

    def high_at(self, x: Tilted) -> Array:
        return _at_complement(x, self.law, self.high, 1.0, float(self.high[-1]))

    def least_mean(self, weights: Array, x: Tilted) -> float:
        """A lower bound of the mean of weights·T over the points of x, where T is the tail that makes the sum at least
        0. Near the point with the largest weight, T is the computed tail plus one unknown number that is the same for
        all points, up to the errors in between."""
        low, high = self.low_at(x), self.high_at(x)
        k = x.indices // x.stride + self.law.first // self.law.stride  # minus the index of the tail
        center = min(max(-int(k[np.argmax(np.abs(weights))]), 0), len(self.tails) - 1)
        tails, energy, outside = (_at_complement(x, self.law, y, float(y[0]), float(y[-1]))
                                  for y in (self.tails, self.energy, self.outside))
        rounding = 1e-9 * np.maximum(energy, self.energy[center])
        apart = self.law.error * np.sqrt(np.abs(energy - self.energy[center]) + rounding)
        apart += np.maximum(outside, self.outside[center]) + self.relative * np.abs(tails - self.tails[center])
        inside = (k <= 0) & (k > -len(self.tails)) & (apart < (high - low) / 2)
        apart_only = np.where(inside, weights, 0.0)
        others = np.where(inside, 0.0, np.where(weights > 0, weights * low, weights * high))
        shared = float(apart_only.sum())
        unknown = min(shared * float(self.low[center] - self.tails[center]),
                      shared * float(self.high[center] - self.tails[center]))
        return (dot(apart_only, tails) - dot(np.abs(apart_only), apart) * (1 + 1e-9) + float(others.sum())
                + unknown - 4 * len(weights) * UNIT * dot(np.abs(weights), high))


def _on_same_points(x: Tilted, y: Tilted) -> tuple[Tilted, Tilted]:
    """Both laws with zeros added at their ends, so that they have the same points."""
    first = min(x.first, y.first)
    size = max((z.first - first) // z.stride + len(z.weight) for z in (x, y))
    padded = []
    for z in (x, y):
        before = (z.first - first) // z.stride
        weight = np.zeros(size)
        weight[before : before + len(z.weight)] = z.weight
        padded.append(z._replace(first=first, weight=weight))
    return padded[0], padded[1]


def _at_complement(x: Tilted, rest: Tilted, values: Array, before: float, after: float) -> Array:
    """For each point of x, the value at the point of the rest that makes the sum 0, or that before or after all."""
    begin = -(x.first // x.stride) - rest.first // rest.stride - len(x.weight) + 1  # of the last point of x
    end = begin + len(x.weight)
    inside = values[max(begin, 0) : max(end, 0)]
    missing = min(max(-begin, 0), len(x.weight))
    return np.concatenate((np.full(missing, before), inside,
                           np.full(len(x.weight) - missing - len(inside), after)))[::-1]


def _factor(x: Tilted, grid: Grid) -> Array:
    return np.asarray(np.exp(np.minimum(x.log_scale - grid.tilt_of_step * x.indices, LARGEST_EXPONENT)))


def _masses(x: Tilted, grid: Grid) -> Array:
    return np.asarray(np.maximum(x.weight, 0.0) * _factor(x, grid))


def _rounding(x: Tilted, grid: Grid) -> float:
    """The relative rounding error of sums of masses: of their exponents, and of the additions."""
    largest = grid.tilt_of_step * float(np.abs(x.indices).max())
    return UNIT * (3 * abs(x.log_scale) + 3 * largest + len(x.weight) + 20)
