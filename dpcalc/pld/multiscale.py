"""Sums of many losses: repeated squaring, on nested grids that get coarser as sums get wider.

A law is kept on levels: a fine grid where most of the mass is, and coarser ones around it for rare large losses. In the
product of two laws a sum of parts from different levels is put on the coarser grid of both. Where a fine level becomes
too long, what is outside moves to the next level. With T/m sums of m losses left to combine, a step h changes log δ by
about (T/m)·λ(1+λ)h²/8, so it may grow by √2 at each squaring: a sum of 1e9 losses needs no more points than one of 10.

`Splitting` moves laws to coarser grids for upper bounds, and writes down every choice that it makes. `Merging` makes
the same choices for lower bounds. All choices are valid. """

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log, log2
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.pld import pmf
from dpcalc.pld.pair import LARGEST_EXPONENT
from dpcalc.pld.pmf import Pmf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MAX_POINTS = 1 << 21  # of one transform: 16 MB an array, of which there are about ten
MAX_FINE_POINTS = 1 << 14  # of a level that is not the coarsest one
# sums that are left to combine, times their weight: with more, errors of transforms would add up, and products are
# direct
MANY = 1e3
DIRECT_POINTS = 1 << 14  # of laws that are multiplied directly, at most: it takes 70 ms
UNBOUNDED = 1e300  # of a loss, in a witness
# of all weight, that may be left out at either end of the sum of all losses: it changes δ by about 1e-8 of itself
CROPPED = 1e-10


class TooLarge(OutOfScope):
    """The composition does not fit in memory, or its bracket is too wide to be an answer."""


@dataclass(frozen=True)
class Law:
    """The levels, from the finest to the coarsest, the log of what weights are relative to, and the relative error of
    all weights."""

    levels: tuple[Pmf, ...]
    log_scale: float = 0.0
    relative_error: float = 0.0

    @property
    def steps(self) -> list[float]:
        return [x.step for x in self.levels]

    def normalized(self) -> Law:
        """With weights that add up to 1."""
        total = sum(float(x.weight.sum()) for x in self.levels)
        if not 0 < total < inf:
            raise TooLarge("too-large", "the weights of the sums are beyond doubles")
        return Law(tuple(x.scaled(1 / total) for x in self.levels), self.log_scale + log(total), self.relative_error)


class Coarsening(Protocol):
    """How laws are moved to coarser grids, and which of these are taken."""

    def double(self, x: Pmf) -> Pmf:
        """To twice the step."""

    def plus(self, x: Pmf, y: Pmf) -> Pmf:
        """Both on one grid."""

    def window(self, x: Pmf, left: float) -> tuple[float, float]:
        """From where to where the coarsest level is kept, `left` sums as this one being left to combine."""

    def fine_window(self, x: Pmf, step: float, left: float) -> tuple[float, float]:
        """From where to where another level is kept, while what is outside moves to this step."""

    def step(self, x: Pmf, left: float, most: float) -> float:
        """The step that a level may move to, at most that of the next one."""


def coarsened(x: Pmf, step: float, grid: Coarsening) -> Pmf:
    while x.step < step:
        x = grid.double(x)
    return x


def on_steps(x: Law, steps: Sequence[float], grid: Coarsening) -> Law:
    """The law with levels of these steps, where it has any: each level moves to the next coarser one of them."""
    found: dict[float, Pmf] = {}
    for level in x.levels:
        step = next(h for h in steps if h >= level.step)
        here = coarsened(level, step, grid)
        found[step] = grid.plus(found[step], here) if step in found else here
    return replace(x, levels=tuple(found[h] for h in sorted(found)))


def multiply(a: Law, b: Law, grid: Coarsening, left: float) -> Law:
    """The law of the sum of two losses, whose levels are on the same grids; `left` such sums are to be combined. With
    A_j and B_j the sums of all levels up to j, on the grid of level j, level j of the product is A_j·B_j without
    A_{j−1}·B_{j−1}."""
    found: list[Pmf] = []
    all_a: Pmf | None = None
    all_b: Pmf | None = None
    errors = [0.0]

    def product(x: Pmf | None, y: Pmf | None) -> Pmf | None:
        if x is None or y is None:
            return None
        if (n := len(x.weight) + len(y.weight) - 1) > MAX_POINTS:
            raise TooLarge("too-large", f"sums would take {n} points")
        is_direct = left * float(x.weight.sum()) * float(y.weight.sum()) > MANY and min(len(x.weight),
                                                                                        len(y.weight)) <= DIRECT_POINTS
        found, error = pmf.convolve(x, y, is_direct)
        errors.append(error)
        return found

    def plus(x: Pmf | None, y: Pmf | None) -> Pmf | None:
        return x or y if x is None or y is None else grid.plus(x, y)

    for step in sorted({*a.steps, *b.steps}):
        x, y = (next((level for level in law.levels if level.step == step), None) for law in (a, b))
        lower_a = coarsened(all_a, step, grid) if all_a else None
        if a is b:
            level = product(x, plus(lower_a.scaled(2.0) if lower_a else None, x))
        else:
            lower_b = coarsened(all_b, step, grid) if all_b else None
            all_b = plus(lower_b, y)
            level = plus(product(x, all_b), product(lower_a, y))
        if level is not None:
            found.append(level)
        all_a = plus(lower_a, x)
    return Law(tuple(found), a.log_scale + b.log_scale, a.relative_error + b.relative_error + max(errors)).normalized()


def settled(x: Law, left: float, grid: Coarsening) -> Law:
    """The law of a sum, of which `left` are to be combined: without the far ends of its levels, on grids as coarse as
    the choices allow."""
    levels = list(x.levels)
    for j in range(len(levels) - 1):
        levels[j], outside = pmf.cut(levels[j], *grid.fine_window(levels[j], levels[j + 1].step, left))
        for part in outside:
            levels[j + 1] = grid.plus(levels[j + 1], coarsened(part, levels[j + 1].step, grid))
    levels[-1], outside = pmf.cut(levels[-1], *grid.window(levels[-1], left))
    lost = sum(float(part.weight.sum()) for part in outside)
    levels[-1] = levels[-1]._replace(cropped=levels[-1].cropped + lost)
    steps = list[float]()
    for level in reversed(levels):
        steps.insert(0, grid.step(level, left, steps[0] if steps else inf))
    return on_steps(replace(x, levels=tuple(levels)), steps, grid)


def power(one: Law, count: int, grid: Coarsening) -> Law:
    """The law of the sum of `count` losses, by the binary digits of the number."""
    found, m = settled(one, count, grid), 1
    one = found
    for bit in bin(count)[3:]:
        found, m = multiply(found, found, grid, count / m), 2 * m
        if bit == "1":
            one = on_steps(one, found.steps, grid)
            found, m = multiply(found, one, grid, count / m), m + 1
        found = settled(found, count / m, grid)
    return found


def combined(laws: Sequence[Law], grid: Coarsening) -> Law:
    """The law of the sum of different losses, those on finer grids first."""
    rest = sorted(laws, key=lambda x: x.steps)
    while len(rest) > 1:
        found = [_sum_of_two(a, b, len(rest) / 2, grid) for a, b in _pairs(rest)]
        rest = sorted(found + rest[len(rest) // 2 * 2 :], key=lambda x: x.steps)
    return rest[0]


def _pairs(laws: list[Law]) -> Iterator[tuple[Law, Law]]:
    return zip(laws[::2], laws[1::2], strict=False)


def _sum_of_two(a: Law, b: Law, left: float, grid: Coarsening) -> Law:
    finest = max(a.steps[0], b.steps[0])
    steps = sorted({h for h in (*a.steps, *b.steps) if h >= finest})
    return settled(multiply(on_steps(a, steps, grid), on_steps(b, steps, grid), grid, left), left, grid)


# --- the choices ------------------------------------------------------------------------------------------------------


@dataclass
class Choices:
    """What was chosen, in order: ends of windows, and steps."""

    windows: list[tuple[float, float]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)


@dataclass
class Splitting:
    """For upper bounds. A level moves to a coarser grid as long as what this changes log δ by is a fair share of the
    budget that is left, up to the step `coarsest`."""

    tilt: float
    # of log δ: a sum of all losses with as much more variance v has a log δ that is larger by v/2 times this
    curvature: float
    coarsest: float
    budget: float = 0.0  # what is left of it
    choices: Choices = field(default_factory=Choices)

    def double(self, x: Pmf) -> Pmf:
        if self.tilt * x.step > LARGEST_EXPONENT:
            raise TooLarge("too-large", "the weights of the sums are beyond doubles")
        return pmf.split_to_double_step(x, self.tilt)

    def plus(self, x: Pmf, y: Pmf) -> Pmf:
        return pmf.plus(x, y)

    def window(self, x: Pmf, left: float) -> tuple[float, float]:
        return self._without(x, CROPPED / left, len(x.weight))

    def fine_window(self, x: Pmf, step: float, left: float) -> tuple[float, float]:
        return self._without(x, self._share(left) / (left * self.curvature * step * step / 8), MAX_FINE_POINTS)

    def _share(self, left: float) -> float:
        """Half of what is left of the budget for each squaring to come."""
        return self.budget / (2 * (1 + log2(max(left, 1.0))))

    def _without(self, x: Pmf, little: float, most: int) -> tuple[float, float]:
        """But for so little weight at either end, and at most so many points."""
        sums = np.cumsum(x.weight)
        begin = min(int(np.searchsorted(sums, little, "right")), len(sums) - 1)
        end = max(int(np.searchsorted(sums, float(sums[-1]) - little)) + 1, begin + 1)
        if end - begin > most:
            begin += int((sums[begin + most : end] - sums[begin : end - most]).argmax())
            end = begin + most
        return self._between(x, begin, end)

    def _between(self, x: Pmf, begin: int, end: int) -> tuple[float, float]:
        """Halfway between points, as the grids of merged laws are moved by parts of a step; unbounded where nothing is
        left out."""
        at = x.offset + (x.first - 0.5) * x.step
        low, high = at + begin * x.step if begin else -UNBOUNDED, at + end * x.step if end < len(x.weight) else UNBOUNDED
        self.choices.windows.append((low, high))
        return self.choices.windows[-1]

    def step(self, x: Pmf, left: float, most: float) -> float:
        allowed = self._share(left)
        while 2 * x.step <= min(self.coarsest, most) and (cost := left * self.cost_of_doubling(x)) <= allowed:
            x, allowed, self.budget = self.double(x), allowed - cost, self.budget - cost
        self.choices.steps.append(x.step)
        return x.step

    def cost_of_doubling(self, x: Pmf) -> float:
        """What it changes log δ by, about: log M, and the variance of the sum."""
        h = x.step
        if self.tilt * h > 50:
            return inf
        odd = float(x.weight[(x.first + 1) % 2 :: 2].sum())
        excess = (exp(-(self.tilt + 1) * h) + exp(self.tilt * h)) / (1 + exp(-h)) - 1
        return odd * excess * self.curvature / (self.tilt * (1 + self.tilt))


@dataclass
class Merging:
    """For lower bounds, by the choices of an upper one: outcomes are merged, and tilted by their mean loss."""

    tilt: float
    choices: Choices

    def __post_init__(self) -> None:
        self._windows, self._steps = iter(self.choices.windows), iter(self.choices.steps)

    def double(self, x: Pmf) -> Pmf:
        return pmf.merged_to_double_step(x, self.tilt)

    def plus(self, x: Pmf, y: Pmf) -> Pmf:
        apart = round((y.offset - x.offset) / x.step)
        y = y._replace(first=y.first + apart, offset=y.offset - apart * x.step)  # the nearest of its points at each one
        in_x, in_y = float(x.weight.sum()), float(y.weight.sum())
        by = (y.offset - x.offset) * (in_y / (in_x + in_y) if in_x + in_y > 0 else 0.5)
        return pmf.plus(pmf.moved(x, by, self.tilt), pmf.moved(y, x.offset + by - y.offset, self.tilt))

    def window(self, x: Pmf, left: float) -> tuple[float, float]:
        low, high = next(self._windows)
        return low - x.step, high + x.step  # as the means of cells lie between the points of the upper law

    def fine_window(self, x: Pmf, step: float, left: float) -> tuple[float, float]:
        return self.window(x, left)

    def step(self, x: Pmf, left: float, most: float) -> float:
        return next(self._steps)
