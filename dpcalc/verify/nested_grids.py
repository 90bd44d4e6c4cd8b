"""Distributions of sums of losses on nested grids, in whole numbers.

The composition that a witness describes is carried out again, with every rounding to the safe side. Weights are whole
multiples of 2^−bits, and products are exact before they are rounded. For an upper bound a distribution has one row of
weights: its mass under P, split between the points. For a lower bound it has two: the masses of cells under P and
under Q. Everything that an upper bound leaves out is counted as `missing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, exp
from typing import Any, NamedTuple

from dpcalc.verify.composition_convolution import multiply_polynomials
from dpcalc.verify.composition_plans import MAX_GRID_POINTS, Plan
from dpcalc.verify.unchecked import TooLong

MAX_SUM_POINTS = 10 * MAX_GRID_POINTS  # of one product: about 250 MB of whole numbers in each row
MAX_EXPONENT = 700.0  # e^x is a double for |x| up to about 709

Rows = tuple[list[int], ...]


class WeightedLevel(NamedTuple):
    """Weights at the losses offset + (first + i)·step, multiplied by e^{λ(first + i)·step}; and the weight that was
    left out of them."""

    step: float
    first: int
    rows: Rows
    missing: int = 0
    offset: float = 0.0

    @property
    def size(self) -> int:
        return len(self.rows[0])

    def index_of(self, loss: float) -> int:
        """Return the index of the first point that is not below the loss."""
        return ceil(min(max((loss - self.offset) / self.step - self.first, 0.0), self.size))

    def part(self, begin: int, end: int) -> WeightedLevel:
        return self._replace(first=self.first + begin, rows=tuple(row[begin:end] for row in self.rows))


WeightedGrid = tuple[WeightedLevel, ...]  # from the finest to the coarsest level


class Rounding(NamedTuple):
    """The rounding of products of weights to whole units of 2^−bits: up or down, for each row."""

    bits: int
    up: tuple[bool, ...]

    def rescale(self, x: int, row: int) -> int:
        """Divide a product of two weights by the units in 1."""
        return (x + ((1 << self.bits) - 1 if self.up[row] else 0)) >> self.bits

    def scale(self, weights: Sequence[int], factor: int, row: int) -> list[int]:
        return [self.rescale(w * factor, row) for w in weights]


class Composer:
    """The operations on distributions, with the choices of a plan in their order. The subclasses split masses between
    points, or merge cells."""

    def __init__(self, plan: Plan, rounding: Rounding, exp_in_units: Callable[[float, bool], int]) -> None:
        """`exp_in_units` returns e^x in units, rounded up or down."""
        self.rounding, self.exp_in_units = rounding, exp_in_units
        self.tilts = (plan.tilt, plan.tilt + 1)
        self.windows, self.steps = iter(plan.windows), iter(plan.steps)

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        """Return the same masses on a grid of twice the step."""
        raise NotImplementedError

    def add(self, x: WeightedLevel, y: WeightedLevel) -> WeightedLevel:
        """Return the sum of the masses of two levels with the same step."""
        first, last = min(x.first, y.first), max(x.first + x.size, y.first + y.size)
        rows = []
        for a, b in zip(x.rows, y.rows, strict=True):
            row = [0] * (x.first - first) + a + [0] * (last - x.first - len(a))
            for k, w in enumerate(b, y.first - first):
                row[k] += w
            rows.append(row)
        return WeightedLevel(x.step, first, tuple(rows), x.missing + y.missing, x.offset)

    def next_window(self, x: WeightedLevel) -> tuple[float, float]:
        low, high = _next_choice(self.windows)
        return float(low), float(high)

    def next_step(self) -> float:
        return float(_next_choice(self.steps))


class Splitting(Composer):
    """Splits masses between the neighbouring points, for an upper bound."""

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        h, tilt, (row,) = x.step, self.tilts[0], x.rows
        low, high = self._share(-(tilt + 1) * h, h), self._share(tilt * h, h)
        padding = x.first % 2
        row = [0] * padding + row
        row += [0] * ((len(row) + 1) % 2)
        odd, even = row[1::2], row[::2]
        for k, w in enumerate(odd):
            even[k] += self.rounding.rescale(w * low, 0)
            even[k + 1] += self.rounding.rescale(w * high, 0)
        missing = self.rounding.rescale(x.missing * max(low + high, 1 << self.rounding.bits), 0)
        return WeightedLevel(2 * h, (x.first - padding) // 2, (even,), missing)

    def _share(self, exponent: float, h: float) -> int:
        """Return e^exponent/(1 + e^{−h}) in units, rounded up."""
        one = 1 << self.rounding.bits
        return -(-self.exp_in_units(exponent, True) * one // (one + self.exp_in_units(-h, False)))


class Merging(Composer):
    """Merges neighbouring cells, for a lower bound. The `offset` of a level follows the mean loss of what was merged,
    so that cells of nearly equal losses are put together."""

    def double_step(self, x: WeightedLevel) -> WeightedLevel:
        h, padding, rows = x.step, x.first % 2, []
        shift = 0.0
        for k, row in enumerate(x.rows):
            row = [0] * padding + row
            row += [0] * (len(row) % 2)
            factor = self.exp_in_units(-self.tilts[k] * h, self.rounding.up[k])
            odd = self.rounding.scale(row[1::2], factor, k)
            if k == 0 and (total := sum(row)):
                shift = h * (sum(row[1::2]) / total)
            rows.append([a + b for a, b in zip(row[::2], odd, strict=True)])
        return WeightedLevel(2 * h, (x.first - padding) // 2, tuple(rows), 0, x.offset + shift)

    def add(self, x: WeightedLevel, y: WeightedLevel) -> WeightedLevel:
        shift = round((y.offset - x.offset) / x.step)
        if shift:
            factors = [self.exp_in_units(self.tilts[k] * x.step * shift, up) for k, up in enumerate(self.rounding.up)]
            rows = tuple(self.rounding.scale(row, factor, k)
                         for k, (row, factor) in enumerate(zip(y.rows, factors, strict=True)))
            y = y._replace(first=y.first + shift, rows=rows, offset=y.offset - shift * x.step)
        difference, total = y.offset - x.offset, sum(y.rows[0])
        share = 1 / (1 + sum(x.rows[0]) / total * bounded_exp(-self.tilts[0] * difference)) if total else 0.0
        return super().add(x, y)._replace(offset=x.offset + share * difference)

    def next_window(self, x: WeightedLevel) -> tuple[float, float]:
        low, high = super().next_window(x)
        return low - x.step, high + x.step


def _next_choice(choices: Iterator[Any]) -> Any:
    for choice in choices:
        return choice
    raise ValueError("its choices are too few")


def coarsen(x: WeightedLevel, step: float, composer: Composer) -> WeightedLevel:
    """Double the step of a level until it is at least this one."""
    while x.step < step:
        x = composer.double_step(x)
    return x


def move_to_steps(grid: WeightedGrid, steps: Sequence[float], composer: Composer) -> WeightedGrid:
    """Move each level to the first of these increasing steps that is at least its own."""
    found: dict[float, WeightedLevel] = {}
    for level in grid:
        step = next((h for h in steps if h >= level.step), None)
        if step is None:
            raise ValueError("its steps are too small")
        moved = coarsen(level, step, composer)
        found[step] = composer.add(found[step], moved) if step in found else moved
    return tuple(found[h] for h in sorted(found))


def convolve(a: WeightedGrid, b: WeightedGrid, composer: Composer) -> WeightedGrid:
    """Return the distribution of a sum.

    With A_j and B_j the sums of all levels up to j, its level j is A_j·B_j without A_{j−1}·B_{j−1}.
    """
    found: list[WeightedLevel] = []
    all_a: WeightedLevel | None = None
    all_b: WeightedLevel | None = None
    for step in sorted({level.step for level in (*a, *b)}):
        x, y = (next((level for level in grid if level.step == step), None) for grid in (a, b))
        finer_a = coarsen(all_a, step, composer) if all_a else None
        if a is b:
            level = _multiply(x, _add(_twice(finer_a), x, composer), composer)
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


def _twice(x: WeightedLevel | None) -> WeightedLevel | None:
    return x and x._replace(rows=tuple([2 * w for w in row] for row in x.rows), missing=2 * x.missing)


def _multiply(x: WeightedLevel | None, y: WeightedLevel | None, composer: Composer) -> WeightedLevel | None:
    if x is None or y is None:
        return None
    if (length := x.size + y.size) > MAX_SUM_POINTS:
        raise TooLong(f"its sums have {length} points, and sums of at most {MAX_SUM_POINTS} are checked")
    rounding, missing = composer.rounding, 0
    rows = tuple([rounding.rescale(w, k) for w in multiply_polynomials(a, b)]
                 for k, (a, b) in enumerate(zip(x.rows, y.rows, strict=True)))
    if rounding.up[0]:
        missing = rounding.rescale(x.missing * (sum(y.rows[0]) + y.missing) + y.missing * sum(x.rows[0]), 0)
    return WeightedLevel(x.step, x.first + y.first, rows, missing, x.offset + y.offset)


def restrict(grid: WeightedGrid, composer: Composer) -> WeightedGrid:
    """Restrict each level to the next window of the plan, and move it to the next step. What is outside of a window
    goes to the next coarser level; what is outside of the coarsest is missing."""
    levels = list(grid)
    for j in range(len(levels) - 1):
        levels[j], outside = _cut(levels[j], composer.next_window(levels[j]))
        for part in outside:
            levels[j + 1] = composer.add(levels[j + 1], coarsen(part, levels[j + 1].step, composer))
    levels[-1], outside = _cut(levels[-1], composer.next_window(levels[-1]))
    lost = sum(sum(part.rows[0]) for part in outside)
    levels[-1] = levels[-1]._replace(missing=levels[-1].missing + (lost if composer.rounding.up[0] else 0))
    steps = [composer.next_step() for _ in levels][::-1]
    return move_to_steps(tuple(levels), steps, composer)


def _cut(x: WeightedLevel, window: tuple[float, float]) -> tuple[WeightedLevel, list[WeightedLevel]]:
    """Return the part of a level inside of a window, and the parts outside."""
    begin = min(x.index_of(window[0]), x.size - 1)
    end = max(x.index_of(window[1]), begin + 1)
    outside = [x.part(*ends)._replace(missing=0) for ends in ((0, begin), (end, x.size)) if ends[0] < ends[1]]
    return x.part(begin, end), outside


def self_compose(one: WeightedGrid, count: int, composer: Composer) -> WeightedGrid:
    """Return the distribution of the sum of `count` losses, by repeated squaring."""
    total = one = restrict(one, composer)
    for bit in bin(count)[3:]:
        total = convolve(total, total, composer)
        if bit == "1":
            one = move_to_steps(one, [level.step for level in total], composer)
            total = convolve(total, one, composer)
        total = restrict(total, composer)
    return total


def compose_all(grids: Sequence[WeightedGrid], composer: Composer) -> WeightedGrid:
    """Return the distribution of the sum over all parts, by pairs of similar steps."""
    def steps(grid: WeightedGrid) -> list[float]:
        return [level.step for level in grid]

    rest = sorted(grids, key=steps)
    while len(rest) > 1:
        pairs: Iterator[tuple[WeightedGrid, WeightedGrid]] = zip(rest[::2], rest[1::2], strict=False)
        sums = []
        for a, b in pairs:
            finest = max(a[0].step, b[0].step)
            common = sorted({h for h in (*steps(a), *steps(b)) if h >= finest})
            moved = move_to_steps(a, common, composer), move_to_steps(b, common, composer)
            sums.append(restrict(convolve(*moved, composer), composer))
        rest = sorted(sums + rest[len(rest) // 2 * 2 :], key=steps)
    return rest[0]


def bounded_exp(x: float) -> float:
    """Return e^x with x confined to the range of doubles, for choices that need no accuracy."""
    return exp(max(-MAX_EXPONENT, min(MAX_EXPONENT, x)))
