"""The law of one use, rounded to a grid from above: masses of cells from closed forms (laws.py), and what lies beside the grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from dpcalc.verify import gaussian_cells, laws
from dpcalc.verify.laws import Use

_BACK = 1e-12  # of the loss above which all are infinite: an atom that the fast path found next to it is one of them
_PIECES = 64  # between a grid and the top
_WIDER, _LOWEST = 1.15, 200  # pieces below a grid
_MOVED = 2.0**-30  # of all weight


class Grid(NamedTuple):
    offset: float
    first: int
    points: int
    top: float  # larger losses are infinite

    @property
    def mirror(self) -> Grid:
        return Grid(-self.offset, -(self.first + self.points - 1), self.points, inf)


class Cells(NamedTuple):
    """Masses under P at the points of a grid that have some, P(∞), and of pieces between the last point and the top of all losses the
    masses and upper ends."""

    masses: dict[int, Any]
    infinite: Any
    between: tuple[tuple[Any, Any], ...] = ()
    below: tuple[tuple[Any, Any], ...] = ()  # the same of the losses up to the first point


def cells(mp: Any, use: Use, grid: Grid, step: float) -> Cells:
    """The masses of the rounded law."""
    offset, h, zero = mp.mpf(grid.offset), mp.mpf(step), mp.mpf(0)

    def point(k: int) -> Any:
        return offset + (grid.first + k) * h

    final = point(grid.points - 1)
    back = _BACK if use.base.mu is None else 0.0  # a Gaussian has no atoms, and falls steeply
    cut = grid.top - back * abs(grid.top) if grid.top < inf else inf
    closed = cut < float(final)  # what is at the cut counts as infinite
    end = mp.mpf(cut) if closed else final
    masses = {0: zero}
    low = _below(mp, use, point(0), step)
    shrink, p_left, q_left = mp.exp(-h), *laws.above(use, mp, point(0))
    held = _held(mp, use, grid, step, float(end))
    if gaussian_cells.applies(mp, use):  # all but the last cells at once
        held = held[max(0, int(float((end - point(0)) / h)) - 1) :]
        found, (p_left, q_left) = gaussian_cells.split(mp, use, point(0), h, grid.points - 1 - len(held))
        masses = dict(enumerate(found))
    for k in held:
        right_end = point(k + 1)
        last = right_end >= end
        p, q = laws.above(use, mp, end, closed) if last else laws.above(use, mp, right_end)
        mass, other = p_left - p, q_left - q
        decay = mp.exp(-point(k))
        right = (mass * decay - other) / (decay - decay * shrink)
        masses[k], masses[k + 1] = masses.get(k, zero) + (mass - right), masses.get(k + 1, zero) + right
        p_left, q_left = p, q
        if last:
            break
    if closed or cut == inf:
        return Cells(masses, p_left + laws.infinite(use, mp), (), low)
    ends = [final + (mp.mpf(cut) - final) * k / _PIECES for k in range(1, _PIECES + 1)]
    beyond = [p_left, *(laws.above(use, mp, x)[0] for x in ends[:-1]), laws.above(use, mp, mp.mpf(cut), True)[0]]
    between = tuple((a - b, x) for (a, b), x in zip(pairwise(beyond), ends, strict=True))
    return Cells(masses, beyond[-1] + laws.infinite(use, mp), between, low)


def _below(mp: Any, use: Use, first: Any, step: float) -> tuple[tuple[Any, Any], ...]:
    ends = [first, *(first - mp.mpf(step * _WIDER**k) for k in range(_LOWEST))]
    below, above = [laws.below(use, mp, x) for x in ends], [laws.above(use, mp, x)[0] for x in ends]
    masses = [above[k + 1] - above[k] if float(above[k + 1]) < 0.5 else below[k] - below[k + 1] for k in range(_LOWEST)]
    return tuple(zip([*masses, below[-1]], ends, strict=True))


def _held(mp: Any, use: Use, grid: Grid, step: float, end: float) -> Sequence[int]:
    """The cells that can hold something: all of them, or those next to an atom, and the last one."""
    cells_ = range(grid.points - 1)
    base = use.whole
    if base is None or base.losses is None:
        return cells_
    middles = (round((x - grid.offset) / step) - grid.first for x in (*base.losses(mp), end))
    return sorted({k for m in middles for k in range(max(0, m - 2), min(len(cells_), m + 2))})


def weights_of(mp: Any, found: Cells, grid: Grid, step: float, tilt: float) -> tuple[dict[int, Any], Any]:
    """p_j e^{λℓ_j}, and the weight beside the grid. What is below it moves up to its first point, if that makes it no more than nothing."""
    weights = _tilted(mp, found, grid, step, tilt)
    first = mp.mpf(grid.offset) + grid.first * mp.mpf(step)
    moved = mp.fsum(mass for mass, _ in found.below) * mp.exp(mp.mpf(tilt) * first)
    beside = found.between
    if float(moved / mp.fsum(weights.values())) < _MOVED:
        weights[0] = weights[0] + moved
    else:
        beside += found.below
    return weights, mp.fsum(mass * mp.exp(mp.mpf(tilt) * end) for mass, end in beside)


def _tilted(mp: Any, found: Cells, grid: Grid, step: float, tilt: float) -> dict[int, Any]:
    """p_j e^{λℓ_j}."""
    h, first = mp.mpf(tilt) * mp.mpf(step), mp.mpf(tilt) * mp.mpf(grid.offset)
    if hasattr(mp, "arb"):  # bare numbers: there may be very many
        return {k: mp.mpf(mass.x * (first.x + (grid.first + k) * h.x).exp()) for k, mass in found.masses.items()}
    return {k: mass * mp.exp(first + (grid.first + k) * h) for k, mass in found.masses.items()}
