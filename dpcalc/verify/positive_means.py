"""Upper bounds of E(c + ΣD)₊ for independent variables on a grid, by powers of transforms of tilted masses.

(·)₊ is convex, increases, and is subadditive. So masses may be split between two points of a grid with their mean kept,
values below the grid may be raised to its lowest point, and values above it may be capped, where E(D − highest)₊ is
added. Grids and tilts are choices of which any is valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.verify import tilted_powers
from dpcalc.verify.tilted_powers import UNIT, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.tilted_sums import Grid

    Array = NDArray[Any]

ROUNDING = 1e-13  # relative: more than that of a few operations on doubles


class Summand(NamedTuple):
    """`copies` of a variable: masses at points, rounded up, and an upper bound of E(D − last point)₊ for each."""

    places: Array
    masses: Array
    excess: float
    copies: int


def mean_of_positive_part(grid: Grid, summands: Sequence[Summand], constant: float = 0.0) -> float:
    """Return an upper bound of the mean of (constant + ΣD)₊; ∞ where this grid gives none."""
    step, a = grid.step, grid.tilt * grid.step
    paid = sum(x.copies * (x.excess + float((x.masses * np.maximum(x.places - grid.high, 0.0)).sum())
                          * (1 + ROUNDING * len(x.places))) for x in summands)
    laws = [(_on_grid(grid, x), x.copies) for x in summands]
    rates = grid.window.rates[0] * step, grid.window.rates[1] * step
    window = tilted_powers.window_of(laws, rates, grid.window.log_outside)
    total = tilted_powers.power(laws, window)
    points = step * (total.first + np.arange(len(total.weight)))
    values = constant + points + 4 * UNIT * (abs(constant) + np.abs(points))
    if values[0] > 0:  # sums below the window may be positive
        return inf
    begin = int(np.searchsorted(values, 0.0, "right"))
    factors = values[begin:] * total.factors(a)[begin:]
    inside = float((total.weight[begin:] * factors).sum()) * (1 + total.rounding(a))
    # Above the window the mean is at most the outside mass times the largest v·e^{−(θ+r)(v − last)} for v >= last.
    last = max(float(values[-1]), 1 / (grid.tilt + grid.window.rates[1]))
    beyond = last * float(total.factors(a)[-1]) * window.outside
    return float(inside + total.error * tilted_powers.norm(factors) + beyond + paid) * (1 + ROUNDING)


def _on_grid(grid: Grid, x: Summand) -> Law:
    step = grid.step
    first, size = floor(grid.low / step), ceil(grid.high / step) - floor(grid.low / step) + 2
    place = x.places.clip(grid.low, grid.high) / step
    place = place - first + 8 * UNIT * (np.abs(place) + abs(first) + 1)
    cell = np.minimum(place.astype(np.intp), size - 2)
    share = np.minimum(place - cell, 1.0)
    on_grid = np.bincount(cell, x.masses * (1 - share), size) + np.bincount(cell + 1, x.masses * share, size)
    return tilted_powers.tilted(first, on_grid, grid.tilt * step, (len(x.places) + 10) * UNIT)
