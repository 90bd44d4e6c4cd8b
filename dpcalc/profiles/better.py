"""A law that is better than a law, for lower values: losses are merged and lowered to a grid."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcalc.profiles.law import SNAP, Grid, Law, fitting
from dpcalc.profiles.pair import Pair

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

_BALANCINGS = 3


class Boxes(NamedTuple):
    """Atoms that stand for the losses between `low` and `high` each: a merging of losses may split them in proportion."""

    loss: Array
    weight: Array
    low: Array
    high: Array
    log_total: float
    defect: float


def merged_cells(pair: Pair, x: Law, tilt: float, edges: Array) -> Boxes:
    """The losses between two edges merged (on which x has its nodes); the atoms of the pair stay by themselves."""
    smooth = len(x.loss) - len(pair.atoms) - (pair.rest is not None and x.has_rest)
    index = np.searchsorted(edges, x.loss[:smooth], "right") - 1
    mass, place = _merge(index, x.weight[:smooth], x.loss[:smooth] - edges[index], tilt, len(edges) - 1)
    held = mass > 0
    low, high = edges[:-1][held], edges[1:][held]
    lumps = x.loss[smooth:]
    loss = np.concatenate((low + place[held], lumps))
    weight = np.concatenate((mass[held] * np.exp(tilt * place[held]), x.weight[smooth:]))
    return Boxes(loss, weight, np.concatenate((low, lumps)), np.concatenate((high, lumps)), x.log_total, x.defect)


def boxes(grid: Grid) -> Boxes:
    """A composed grid as atoms in boxes around them."""
    loss = grid.losses()
    held = grid.weight > 0
    loss, half = loss[held], grid.step / 2
    return Boxes(loss, grid.weight[held], loss - half, loss + half, grid.log_total, grid.lost)


def _merge(index: Array, weight: Array, above: Array, tilt: float, size: int) -> tuple[Array, Array]:
    """Weight (before the tilt within the cell) and place of the merged loss in each cell: e^{−place} is a mean under P."""
    mass = weight * np.exp(-tilt * above)
    total = np.bincount(index, mass, size)
    least = np.zeros(size)
    np.minimum.at(least, index, above)  # a loss may lie far below the point of a wide cell
    with np.errstate(invalid="ignore", divide="ignore"):
        # A cell so wide that e^{−loss} vanishes in it is placed lower than it is: a better law still.
        place = -np.log1p(np.maximum(np.bincount(index, mass * np.expm1(least[index] - above), size) / total, -1 + 2.0**-53))
    return total, np.where(total > 0, least + place, 0.0)


def round_down(x: Boxes, tilt: float, step: float, offset: float) -> Grid:
    """A law that is better: losses are merged (post-processing), and lowered to a grid.

    The edges between what is merged start halfway between grid points and are moved until each merged loss is nearly at
    its grid point; then the grid is shifted down by what suits most of them.
    """
    first, last = (round((float(end) - offset) / step) for end in (x.low.min() - step, x.high.max() + step))
    fitting(last - first + 1)
    points = offset + np.arange(first, last + 1) * step
    even = points[:-1] + step / 2
    best: Grid | None = None
    edges = even
    for _ in range(_BALANCINGS):
        total, place = _merged(x, tilt, points, edges)
        grid = _lowered(x, tilt, step, offset, first, total, place)
        if best is None or grid.log_total > best.log_total:
            best = grid
        edges = even + np.clip(edges - even - (place[:-1] + place[1:]) / 2, -step / 4, step / 4)
    assert best is not None
    return best


def _lowered(x: Boxes, tilt: float, step: float, offset: float, first: int, total: Array, place: Array) -> Grid:
    """Merged losses at `place` above the points of a grid, lowered to it after the best shift."""
    shift = _best_shift(place, total, tilt, step)
    fall = np.maximum(np.ceil((shift - place) / step), 0.0)
    most = int(fall.max())
    weight = np.bincount(np.arange(len(total)) + most - fall.astype(np.int64), total * np.exp(-tilt * step * fall))
    kept = float(weight.sum())
    return Grid(step, offset + shift, first - most, weight / kept, x.log_total + log(kept) + tilt * shift, x.defect + 1e-16)


def _merged(x: Boxes, tilt: float, points: Array, edges: Array) -> tuple[Array, Array]:
    """Weight and place of what lies between the edges; a box over an edge is split in proportion."""
    left, right = np.searchsorted(edges, x.low, "right"), np.searchsorted(edges, x.high, "left")
    right = np.maximum(left, right)
    over = right > left
    share = np.ones(len(x.loss))
    share[over] = (edges[left[over]] - x.low[over]) / (x.high[over] - x.low[over])
    index = np.concatenate((left, right[over]))
    weight = np.concatenate((x.weight * share, (x.weight * (1 - share))[over]))
    loss = np.concatenate((x.loss, x.loss[over]))
    return _merge(index, weight, loss - points[index], tilt, len(points))


def snap_error(step: float) -> float:
    """By how much a lower law's losses may be too high."""
    return SNAP * step


def _best_shift(place: Array, merged: Array, tilt: float, step: float) -> float:
    """The shift that keeps most: a cell placed below it falls by one step."""
    order = np.argsort(place)
    fallen = np.concatenate(([0.0], np.cumsum(merged[order])[:-1]))  # weight strictly before each candidate
    lost = np.maximum(fallen / merged.sum() * np.expm1(-tilt * step), -1.0)
    with np.errstate(divide="ignore"):  # where everything falls and a step weighs all, nothing is gained: −∞
        gain = tilt * place[order] + np.log1p(lost)
    return float(place[order][int(np.argmax(gain))])
