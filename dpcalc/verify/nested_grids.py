"""Discretized distributions of sums of losses on nested grids, in doubles that are rounded to the safe side.

The composition that a witness describes is repeated with every rounding to the safe side (see directed_array.py). For
an upper bound a distribution has one row of weights: the masses under P, split between grid points. For a lower bound
it has two rows: the masses of cells under P and under Q. The weight that truncation removes from an upper bound is
added up in `missing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, exp, inf
from typing import Any, NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.verify.composition_plans import MAX_GRID_POINTS, Plan
from dpcalc.verify.directed_array import add, away, multiply_polynomials, scale, to_doubles, total
from dpcalc.verify.unchecked import TooLong

MAX_SUM_POINTS = 10 * MAX_GRID_POINTS  # points of one product: about 250 MB for the integers of each row

Rows = tuple[Array, ...]


class WeightedLevel(NamedTuple):
    """One level of a discretized distribution.

    Weight i of a row belongs to the loss offset + (first + i)·step; it is the mass times e^{λ(first + i)·step}, with λ
    + 1 for λ in the row of Q. `missing` is the weight that truncation has removed.
    """

    step: float
    first: int
    rows: Rows
    missing: float = 0.0
    offset: float = 0.0

    @property
    def size(self) -> int:
        return len(self.rows[0])

    def index_of(self, loss: float) -> int:
        """Return the index of the first point that is not below the loss."""
        return ceil(min(max((loss - self.offset) / self.step - self.first, 0.0), self.size))

    def part(self, begin: int, end: int) -> WeightedLevel:
        """Return the level with the points of these indices alone, `end` excluded."""
        return self._replace(first=self.first + begin, rows=tuple(row[begin:end] for row in self.rows))


WeightedGrid = tuple[WeightedLevel, ...]  # from the finest to the coarsest level


class Rounding(NamedTuple):
    """The direction in which each row is rounded, and the number of 64-bit words of a factor in products."""

    words: int
    up: tuple[bool, ...]


class Composer:
    """The operations on distributions, which take the choices of a plan in their order. One subclass splits
    masses between points, for an upper bound; the other merges cells, for a lower bound."""

    def __init__(self, mp: Any, plan: Plan, rounding: Rounding) -> None:
        self.mp, self.rounding, self.tilt = mp, rounding, plan.tilt
        self.windows, self.steps, self.digits = iter(plan.windows), iter(plan.steps), iter(plan.digits)

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        """Return the distribution of a level on the grid with twice its step."""
        raise NotImplementedError

    def add(self, x: WeightedLevel, y: WeightedLevel) -> WeightedLevel:
        """Return the sum of the masses of two levels with the same step."""
        first, last = min(x.first, y.first), max(x.first + x.size, y.first + y.size)
        rows = []
        for a, b, up in zip(x.rows, y.rows, self.rounding.up, strict=True):
            row = np.zeros(last - first)
            row[x.first - first :][: len(a)] = a
            part = slice(y.first - first, y.first - first + len(b))
            row[part] = add(row[part], b, up)
            rows.append(row)
        return WeightedLevel(x.step, first, tuple(rows), add_missing(x.missing, y.missing), x.offset)

    def next_window(self, x: WeightedLevel) -> tuple[float, float]:
        low, high = _next_choice(self.windows)
        return float(low), float(high)

    def next_step(self) -> float:
        return float(_next_choice(self.steps))

    def tilt_factor(self, row: int, loss: float) -> float:
        """Return the factor e^{λ·loss} of a weight under P (row 0), or e^{(λ+1)loss} under Q, rounded as the row is."""
        exponent = (self.mp.mpf(self.tilt) + row) * self.mp.mpf(loss)
        return float(to_doubles(self.mp, [self.mp.exp(exponent)], self.rounding.up[row])[0])


class Splitting(Composer):
    """Splits masses between the neighbouring points, for an upper bound."""

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        low, high = self._shares(x.step)
        padding = x.first % 2
        row = np.pad(x.rows[0], (padding, (padding + x.size + 1) % 2))  # of odd length: even points at both ends
        odd, even = row[1::2], row[::2].copy()
        even[:-1] = add(even[:-1], scale(odd, low, True), True)
        even[1:] = add(even[1:], scale(odd, high, True), True)
        missing = scale(x.missing, max(away(low + high, True), 1.0), True) if x.missing else 0.0
        return WeightedLevel(2 * x.step, (x.first - padding) // 2, (even,), missing)

    def _shares(self, h: float) -> tuple[float, float]:
        """Return the shares of a split point, with their tilt: e^{−(λ+1)h}/(1 + e^{−h}) and e^{λh}/(1 + e^{−h})."""
        lam, step = self.mp.mpf(self.tilt), self.mp.mpf(h)
        both = 1 + self.mp.exp(-step)
        low, high = to_doubles(self.mp, [self.mp.exp(x) / both for x in (-(lam + 1) * step, lam * step)], True).tolist()
        return low, high


class Merging(Composer):
    """Merges neighbouring cells, for a lower bound. Merging updates the `offset` of a level to the mean loss of the
    merged cells relative to their points; `add` uses it to merge cells with nearly equal losses.
    """

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        h, padding, rows, shift = x.step, x.first % 2, [], 0.0
        for k, (row, up) in enumerate(zip(x.rows, self.rounding.up, strict=True)):
            row = np.pad(row, (padding, (padding + len(row)) % 2))
            if k == 0 and (mass := float(row.sum())):
                shift = h * (float(row[1::2].sum()) / mass)
            rows.append(add(row[::2], scale(row[1::2], self.tilt_factor(k, -h), up), up))
        return WeightedLevel(2 * h, (x.first - padding) // 2, tuple(rows), 0.0, x.offset + shift)

    def add(self, x: WeightedLevel, y: WeightedLevel) -> WeightedLevel:
        """Return the sum of two levels. The second is moved by whole steps, after which the offsets differ by at most
        half a step; the offset of the sum is their mean, weighted by the masses."""
        shift = round((y.offset - x.offset) / x.step)
        if shift:
            rows = tuple(scale(row, self.tilt_factor(k, x.step * shift), up)
                         for k, (row, up) in enumerate(zip(y.rows, self.rounding.up, strict=True)))
            y = y._replace(first=y.first + shift, rows=rows, offset=y.offset - shift * x.step)
        difference, mass = y.offset - x.offset, float(y.rows[0].sum())
        ratio = float(x.rows[0].sum()) / mass if mass else inf
        exponent = min(max(-self.tilt * difference, -LARGEST_EXPONENT), LARGEST_EXPONENT)  # any share is valid
        share = 1 / (1 + ratio * exp(exponent))
        return super().add(x, y)._replace(offset=x.offset + share * difference)

    def next_window(self, x: WeightedLevel) -> tuple[float, float]:
        """Return the next window with a step more at both ends, as the offsets differ slightly from the
        calculator's."""
        low, high = super().next_window(x)
        return low - x.step, high + x.step


def _next_choice(choices: Iterator[Any]) -> Any:
    for choice in choices:
        return choice
    raise ValueError("its choices are too few")


def coarsen(x: WeightedLevel, step: float, composer: Composer) -> WeightedLevel:
    """Double the step of a level until it is at least `step`."""
    while x.step < step:
        x = composer.double_step(x)
    return x


def move_to_steps(grid: WeightedGrid, steps: Sequence[float], composer: Composer) -> WeightedGrid:
    """Coarsen each level to the smallest of these increasing steps that is at least its own, and add equal levels."""
    found: dict[float, WeightedLevel] = {}
    for level in grid:
        step = next((h for h in steps if h >= level.step), None)
        if step is None:
            raise ValueError("its steps are too small")
        moved = coarsen(level, step, composer)
        found[step] = composer.add(found[step], moved) if step in found else moved
    return tuple(found[h] for h in sorted(found))


def convolve(a: WeightedGrid, b: WeightedGrid, composer: Composer) -> WeightedGrid:
    """Return the convolution of two distributions.

    Let A_j and B_j be the sums of the levels of a and b up to j, on the grid of level j. Level j of the result is
    A_j·B_j − A_{j−1}·B_{j−1}, computed without a subtraction.
    """
    found: list[WeightedLevel] = []
    all_a: WeightedLevel | None = None
    all_b: WeightedLevel | None = None
    for step in sorted({level.step for level in (*a, *b)}):
        x, y = (next((level for level in grid if level.step == step), None) for grid in (a, b))
        finer_a = coarsen(all_a, step, composer) if all_a else None
        if a is b:
            both = finer_a and finer_a._replace(rows=tuple(2 * row for row in finer_a.rows),  # without rounding
                                                missing=2 * finer_a.missing)
            level = _multiply(x, _add(both, x, composer), composer)
        else:
            finer_b = coarsen(all_b, step, composer) if all_b else None
            all_b = _add(finer_b, y, composer)
            level = _add(_multiply(x, all_b, composer), _multiply(finer_a, y, composer), composer)
        if level is not None:
            found.append(level)
        all_a = _add(finer_a, x, composer)
    return tuple(found)


def _add(x: WeightedLevel | None, y: WeightedLevel | None, composer: Composer) -> WeightedLevel | None:
    return x or y if x is None or y is None else composer.add(x, y)


def _multiply(x: WeightedLevel | None, y: WeightedLevel | None, composer: Composer) -> WeightedLevel | None:
    """Return the convolution of two levels with the same step; None where one is absent."""
    if x is None or y is None:
        return None
    if (length := x.size + y.size) > MAX_SUM_POINTS:
        raise TooLong(f"its sums have {length} points, and sums of at most {MAX_SUM_POINTS} are checked")
    rounding, missing = composer.rounding, 0.0
    rows = tuple(multiply_polynomials(a, b, up, rounding.words)
                 for a, b, up in zip(x.rows, y.rows, rounding.up, strict=True))
    if x.missing or y.missing:
        of_x, of_y = total(x.rows[0], True), away(total(y.rows[0], True) + y.missing, True)
        missing = away(x.missing * of_y + y.missing * of_x, True, 3)
    return WeightedLevel(x.step, x.first + y.first, rows, missing, x.offset + y.offset)


def restrict(grid: WeightedGrid, composer: Composer) -> WeightedGrid:
    """Truncate each level to the next window of the plan, and coarsen it to the next step. The points outside of a
    window move to the next coarser level; those outside of the window of the coarsest level are `missing`."""
    levels = list(grid)
    for j in range(len(levels) - 1):
        levels[j], outside = _split_at_window(levels[j], composer.next_window(levels[j]))
        for part in outside:
            levels[j + 1] = composer.add(levels[j + 1], coarsen(part, levels[j + 1].step, composer))
    levels[-1], outside = _split_at_window(levels[-1], composer.next_window(levels[-1]))
    if composer.rounding.up[0]:
        missing = levels[-1].missing
        for part in outside:
            missing = add_missing(missing, total(part.rows[0], True))
        levels[-1] = levels[-1]._replace(missing=missing)
    steps = [composer.next_step() for _ in levels][::-1]
    return move_to_steps(tuple(levels), steps, composer)


def add_missing(x: float, y: float) -> float:
    return away(x + y, True) if x and y else x or y


def _split_at_window(x: WeightedLevel, window: tuple[float, float]) -> tuple[WeightedLevel, list[WeightedLevel]]:
    """Return the part of a level inside of a window, at least one point, and the parts outside."""
    begin = min(x.index_of(window[0]), x.size - 1)
    end = max(x.index_of(window[1]), begin + 1)
    outside = [x.part(*ends)._replace(missing=0.0) for ends in ((0, begin), (end, x.size)) if ends[0] < ends[1]]
    return x.part(begin, end), outside
