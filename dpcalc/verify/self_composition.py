"""Sums of independent losses on nested grids: of many equal ones by repeated squaring, and of different ones in pairs.

A sum is restricted to its windows and steps after each squaring, or after several, during which it is on one grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.verify.directed_array import total as directed_total
from dpcalc.verify.nested_grids import (
    MAX_SUM_POINTS,
    Composer,
    WeightedGrid,
    WeightedLevel,
    add_missing,
    coarsen,
    convolve,
    move_to_steps,
    restrict,
)
from dpcalc.verify.unchecked import TooLong

NEGLIGIBLE_SHARE = 1e-16  # of the weight of a sum: of at most 1e4 sums that are left to combine, 1e-12 of all weight


def self_compose(one: WeightedGrid, count: int, composer: Composer) -> WeightedGrid:
    """Return the distribution of the sum of `count` losses, by squaring along the binary digits of `count`."""
    total = one = restrict(one, composer)
    digits, done = bin(count)[2:], 1
    while done < len(digits):
        at_once = next(composer.digits, 1)
        if at_once > 1:
            total, one = (_on_one_grid(x, total[0].step, composer) for x in (total, one))
        for digit in digits[done : done + at_once]:
            total = convolve(total, total, composer)
            if digit == "1":
                one = move_to_steps(one, [level.step for level in total], composer)
                total = convolve(total, one, composer)
            if at_once > 1:
                total = _without_negligible_ends(total, composer)
        total, done = restrict(total, composer), done + at_once
    return total


def _on_one_grid(grid: WeightedGrid, step: float, composer: Composer) -> WeightedGrid:
    """Return the distribution on the grid with this step, of which the points of coarser ones are points, too."""
    first, *others = (_spread(coarsen(level, step, composer), step) for level in grid)
    for level in others:
        first = composer.add(first, level)
    return (first,)


def _spread(x: WeightedLevel, step: float) -> WeightedLevel:
    """Return the level on the grid with a smaller step, which divides its step."""
    ratio = x.step / step
    if x.size * ratio > MAX_SUM_POINTS:
        raise TooLong("its grids are too far apart to be put on one")

    def among_zeros(row: Array) -> Array:
        longer = np.zeros((x.size - 1) * int(ratio) + 1)
        longer[:: int(ratio)] = row
        return longer

    return x._replace(step=step, first=x.first * int(ratio), rows=tuple(among_zeros(row) for row in x.rows))


def _without_negligible_ends(grid: WeightedGrid, composer: Composer) -> WeightedGrid:
    """Return a single level without its ends, which have a negligible weight."""
    (x,) = grid
    row = x.rows[0]
    negligible = NEGLIGIBLE_SHARE * float(row.sum())
    begin = int(np.searchsorted(np.cumsum(row), negligible))
    end = max(x.size - int(np.searchsorted(np.cumsum(row[::-1]), negligible)), begin + 1)
    missing = x.missing
    if composer.rounding.up[0]:
        for part in (row[:begin], row[end:]):
            missing = add_missing(missing, directed_total(part, True))
    return (x.part(begin, end)._replace(missing=missing),)


def compose_all(grids: Sequence[WeightedGrid], composer: Composer) -> WeightedGrid:
    """Return the distribution of the sum of all parts. Parts are convolved in pairs with similar steps."""
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
