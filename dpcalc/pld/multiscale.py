"""Sums of many independent losses by repeated squaring, on nested grids that become coarser as sums become wider.

A distribution is represented on several levels: a fine grid where most of the mass is, and coarser grids around it for
rare large losses. In the product of two distributions, a sum of parts from different levels is put on the coarser grid
of both. Where a fine level becomes too long, the part outside of a window moves to the next level. With T/m sums of m
losses left to combine, a grid step h changes log δ by about (T/m)·λ(1+λ)h²/8, so it may grow by √2 at each squaring: a
sum of 1e9 losses needs no more points than one of 10.

Where at most 1e4 sums are left to combine and all levels fit on the finest grid, a power of one transform (powers.py)
replaces several squarings. `Splitting` moves distributions to coarser grids for upper bounds, and records every choice
that it makes. `Merging` makes the same choices for lower bounds. Both bounds are valid for any choices. """

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, exp, inf, log, log2

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.pld import pmf, powers
from dpcalc.pld.pmf import Pmf

# Points of a level that is not the coarsest, and of several levels put on one grid; also of the shorter factor of a
# direct product, which then takes 70 ms.
MAX_FINE_POINTS = 1 << 14
MAX_POINTS_OF_POWER = 1 << 16  # of one use, so that the power has at most 2^21 points, of which an array takes 16 MB
MAX_SUMS = 1e4  # left to combine: of more, products are computed directly, as errors of transforms would add up
DIGITS_AT_ONCE = 4  # of powers: 3 or 6 take as long, but 6 take longer to verify
WRAPPED = 1e-11  # share of the weight of the sum of all losses that may wrap around in each power: 1e-9 of δ


class TooLarge(OutOfScope):
    """The composition does not fit in memory, or its bracket is too wide to be an answer."""


@dataclass(frozen=True)
class MultiscalePmf:
    """Parts of one distribution on grids from the finest to the coarsest, the log of the factor of all weights, and
    the relative error of all weights."""

    levels: tuple[Pmf, ...]
    log_scale: float = 0.0
    relative_error: float = 0.0

    @property
    def steps(self) -> list[float]:
        return [x.step for x in self.levels]

    def normalized(self) -> MultiscalePmf:
        """The same distribution with weights that add up to 1."""
        total = sum(float(x.weight.sum()) for x in self.levels)
        if not 0 < total < inf:
            raise TooLarge("too-large", "the weights of the sums are beyond doubles")
        return MultiscalePmf(tuple(x.scaled(1 / total) for x in self.levels), self.log_scale + log(total),
                             self.relative_error)


def coarsened(x: Pmf, step: float, grid: Splitting | Merging) -> Pmf:
    """The distribution on a grid of this step, by doubling; unchanged if its own step is not smaller."""
    while x.step < step:
        x = grid.double(x)
    return x


def on_steps(x: MultiscalePmf, steps: Sequence[float], grid: Splitting | Merging) -> MultiscalePmf:
    """The distribution with each level moved to the smallest of these steps that is not below its own."""
    by_step: dict[float, Pmf] = {}
    for level in x.levels:
        step = next(h for h in steps if h >= level.step)
        moved = coarsened(level, step, grid)
        by_step[step] = grid.add(by_step[step], moved) if step in by_step else moved
    return replace(x, levels=tuple(by_step[h] for h in sorted(by_step)))


def multiply(a: MultiscalePmf, b: MultiscalePmf, grid: Splitting | Merging, remaining: float) -> MultiscalePmf:
    """The distribution of the sum of two losses whose levels are on the same grids. With A_j and B_j the sums of all
    levels up to j, on the grid of level j, level j of the product is A_j·B_j without A_{j−1}·B_{j−1}."""
    levels, errors, steps = list[Pmf](), [0.0], sorted({*a.steps, *b.steps})
    all_a: Pmf | None = None
    all_b: Pmf | None = None

    def product(x: Pmf | None, y: Pmf | None) -> Pmf | None:
        if x is None or y is None:
            return None
        if (n := len(x.weight) + len(y.weight) - 1) > 1 << 21:  # an array takes 16 MB, and about ten are needed
            raise TooLarge("too-large", f"sums would take {n} points")
        many = remaining * float(x.weight.sum()) * float(y.weight.sum()) > MAX_SUMS
        direct = many and min(len(x.weight), len(y.weight)) <= MAX_FINE_POINTS  # which takes longer
        try:
            with np.errstate(over="raise", invalid="raise"):
                xy, error = pmf.convolve(x, y, direct)
        except FloatingPointError:
            raise TooLarge("too-large", "the weights of the sums are beyond doubles") from None
        errors.append(error)
        return xy

    def add(x: Pmf | None, y: Pmf | None) -> Pmf | None:
        return x or y if x is None or y is None else grid.add(x, y)

    for step in steps:
        x, y = (next((level for level in factor.levels if level.step == step), None) for factor in (a, b))
        lower_a = coarsened(all_a, step, grid) if all_a else None
        if a is b:
            level = product(x, add(lower_a.scaled(2.0) if lower_a else None, x))
        else:
            lower_b = coarsened(all_b, step, grid) if all_b else None
            all_b = add(lower_b, y)
            level = add(product(x, all_b), product(lower_a, y))
        if level is not None:
            levels.append(level)
        if step < steps[-1]:
            all_a = add(lower_a, x)
    error = a.relative_error + b.relative_error + max(errors)
    return MultiscalePmf(tuple(levels), a.log_scale + b.log_scale, error).normalized()


def reduced(x: MultiscalePmf, remaining: float, grid: Splitting | Merging) -> MultiscalePmf:
    """The distribution of a sum with fewer points: levels are truncated to their windows and moved to grids as coarse
    as the choices allow."""
    levels = list(x.levels)
    for j in range(len(levels) - 1):
        levels[j], outside = pmf.truncate(levels[j], *grid.fine_window(levels[j], levels[j + 1].step, remaining))
        for part in outside:
            levels[j + 1] = grid.add(levels[j + 1], coarsened(part, levels[j + 1].step, grid))
    levels[-1], outside = pmf.truncate(levels[-1], *grid.window(levels[-1], remaining))
    lost = sum(float(part.weight.sum()) for part in outside)
    levels[-1] = levels[-1]._replace(truncated=levels[-1].truncated + lost)
    moved = list[Pmf]()
    for level in reversed(levels):
        moved.insert(0, grid.coarser(level, remaining, moved[0].step if moved else inf))
    return on_steps(replace(x, levels=tuple(moved)), [y.step for y in moved], grid)


def self_compose(one: MultiscalePmf, count: int, grid: Splitting | Merging) -> MultiscalePmf:
    """The distribution of the sum of `count` losses, by squaring and multiplying along the binary digits of `count`:
    for one digit after the other on several grids, for several digits at once on one grid."""
    total = one = reduced(one, count, grid)
    digits, done = bin(count)[2:], 1
    while done < len(digits):
        remaining, now = count / int(digits[:done], 2), grid.digits_at_once(total, count, done)
        if now > 1:
            x = on_one_grid(total, total.steps[0], grid)
            y = x if one is total else on_one_grid(one, x.step, grid)
            total, one = replace(total, levels=(x,)), replace(one, levels=(y,))
            total = power(total, one, digits[done : done + now], remaining)
        else:
            total = multiply(total, total, grid, remaining)
            if digits[done] == "1":
                one = on_steps(one, total.steps, grid)
                total = multiply(total, one, grid, remaining / 2)
        done += now
        total = reduced(total, count / int(digits[:done], 2), grid)
    return total


def on_one_grid(x: MultiscalePmf, step: float, grid: Splitting | Merging) -> Pmf:
    """The distribution on the grid of this step. Points of coarser grids are points of it, too."""
    return functools.reduce(grid.add, (pmf.spread(coarsened(level, step, grid), step) for level in x.levels))


def power(total: MultiscalePmf, one: MultiscalePmf, digits: str, remaining: float) -> MultiscalePmf:
    """The distribution of the sum of 2^n losses `total` and of m losses `one`, which are on the same single grid, where
    `digits` are the n binary digits of m."""
    n, m = 1 << len(digits), int(digits, 2)
    try:
        with np.errstate(over="raise", invalid="raise"):
            level = powers.power(total.levels[0], one.levels[0], digits, WRAPPED / remaining)
    except (FloatingPointError, OverflowError, ZeroDivisionError):
        raise TooLarge("too-large", "the weights of the sums are beyond doubles") from None
    return MultiscalePmf((level,), n * total.log_scale + m * one.log_scale,
                         n * total.relative_error + m * one.relative_error).normalized()


def sum_of_two(a: MultiscalePmf, b: MultiscalePmf, grid: Splitting | Merging, remaining: float) -> MultiscalePmf:
    """The distribution of the sum of two losses, on the steps of both of them that neither has to be refined for."""
    steps = sorted({h for h in (*a.steps, *b.steps) if h >= max(a.steps[0], b.steps[0])})
    return reduced(multiply(on_steps(a, steps, grid), on_steps(b, steps, grid), grid, remaining), remaining, grid)


@dataclass
class Splitting:
    """How distributions are moved to coarser grids for upper bounds, and the windows and steps that were chosen, in
    order. A level moves to coarser grids, up to the step `coarsest`, as long as the change of log δ is within the share
    of the remaining budget that this squaring has; `remaining` is the number of sums like this one that are left to
    combine. `curvature` relates variance to log δ: additional variance v of the sum of all losses raises log δ by v/2
    times it."""

    tilt: float
    curvature: float
    coarsest: float
    budget: float = 0.0  # change of log δ that is still allowed
    windows: list[tuple[float, float]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    digits: list[int] = field(default_factory=list)

    def digits_at_once(self, x: MultiscalePmf, count: int, done: int) -> int:
        """How many of the binary digits of a count come next, after the first ones of which x is the sum."""
        left = count.bit_length() - done
        losses = max((y.first + len(y.weight)) * y.step for y in x.levels) - min(y.first * y.step for y in x.levels)
        fits = losses / x.steps[0] <= (MAX_FINE_POINTS if len(x.levels) > 1 else MAX_POINTS_OF_POWER)
        self.digits.append(left // ceil(left / DIGITS_AT_ONCE) if fits and count / (count >> left) <= MAX_SUMS else 1)
        return self.digits[-1]

    def double(self, x: Pmf) -> Pmf:
        """The distribution on a grid of twice the step."""
        if self.tilt * x.step > LARGEST_EXPONENT:
            raise TooLarge("too-large", "the weights of the sums are beyond doubles")
        return pmf.split_to_double_step(x, self.tilt)

    def add(self, x: Pmf, y: Pmf) -> Pmf:
        """The sum of two parts of a mixture on one grid."""
        return pmf.add(x, y)

    def window(self, x: Pmf, remaining: float) -> tuple[float, float]:
        """The range of losses outside of which the coarsest level is truncated. Of the weight of the sum of all losses
        that is 1e-10 at either end: 1e-8 of δ."""
        return self._window(x, 1e-10 / remaining, len(x.weight))

    def fine_window(self, x: Pmf, step: float, remaining: float) -> tuple[float, float]:
        """The range of losses outside of which another level moves to a grid of this step."""
        cost_per_weight = remaining * self.curvature * step * step / 8
        return self._window(x, self._share(remaining) / cost_per_weight, MAX_FINE_POINTS)

    def _share(self, remaining: float) -> float:
        """The budget of this squaring, or power: half of the remaining budget is shared equally among those to
        come."""
        return self.budget / (2 * (1 + log2(max(remaining, 1.0)) / (self.digits or [1])[-1]))

    def _window(self, x: Pmf, weight: float, max_points: int) -> tuple[float, float]:
        """The range of losses without this much weight at either end, and with at most `max_points` points."""
        sums = np.cumsum(x.weight)
        begin = min(int(np.searchsorted(sums, weight, "right")), len(sums) - 1)
        end = max(int(np.searchsorted(sums, float(sums[-1]) - weight)) + 1, begin + 1)
        if end - begin > max_points:
            begin += int((sums[begin + max_points : end] - sums[begin : end - max_points]).argmax())
            end = begin + max_points
        # Its ends lie halfway between points, as the grids of merged distributions are offset by parts of a step. Where
        # nothing is truncated they are ±1e300, as JSON has no infinite numbers.
        start = x.offset + (x.first - 0.5) * x.step
        low = start + begin * x.step if begin else -1e300
        high = start + end * x.step if end < len(x.weight) else 1e300
        self.windows.append((low, high))
        return low, high

    def coarser(self, x: Pmf, remaining: float, largest: float) -> Pmf:
        """A level on the grid that it moves to, whose step is at most that of the next level."""
        allowed = self._share(remaining)
        while 2 * x.step <= min(self.coarsest, largest) and (
                cost := remaining * self._cost_of_doubling(x)) <= allowed:
            x, allowed, self.budget = self.double(x), allowed - cost, self.budget - cost
        self.steps.append(x.step)
        return x

    def _cost_of_doubling(self, x: Pmf) -> float:
        """The approximate change of log δ, through the moment and the variance of the sum, by doubling the step."""
        h = x.step
        if self.tilt * h > 50:  # the exponential below would be beyond any budget
            return inf
        odd = float(x.weight[(x.first + 1) % 2 :: 2].sum())
        excess = (exp(-(self.tilt + 1) * h) + exp(self.tilt * h)) / (1 + exp(-h)) - 1
        return odd * excess * self.curvature / (self.tilt * (1 + self.tilt))


@dataclass
class Merging:
    """The choices of an upper bound, repeated for a lower one: outcomes are merged, and placed at their mean loss."""

    tilt: float
    windows: Iterator[tuple[float, float]]
    steps: Iterator[float]
    digits: Iterator[int]

    def digits_at_once(self, x: MultiscalePmf, count: int, done: int) -> int:
        return next(self.digits)

    def double(self, x: Pmf) -> Pmf:
        return pmf.merged_to_double_step(x, self.tilt)

    def add(self, x: Pmf, y: Pmf) -> Pmf:
        steps = round((y.offset - x.offset) / x.step)
        # Each point of y is added to the nearest point of x.
        y = y._replace(first=y.first + steps, offset=y.offset - steps * x.step)
        weight_x, weight_y = float(x.weight.sum()), float(y.weight.sum())
        share_y = weight_y / (weight_x + weight_y) if weight_x + weight_y > 0 else 0.5
        by = (y.offset - x.offset) * share_y
        return pmf.add(pmf.shifted(x, by, self.tilt), pmf.shifted(y, x.offset + by - y.offset, self.tilt))

    def window(self, x: Pmf, remaining: float) -> tuple[float, float]:
        low, high = next(self.windows)
        return low - x.step, high + x.step  # the mean losses of cells lie between the points of the upper bound

    def fine_window(self, x: Pmf, step: float, remaining: float) -> tuple[float, float]:
        return self.window(x, remaining)

    def coarser(self, x: Pmf, remaining: float, largest: float) -> Pmf:
        return coarsened(x, next(self.steps), self)
