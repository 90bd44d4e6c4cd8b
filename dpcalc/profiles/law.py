"""The law of a privacy loss under P, tilted: weights w_j ∝ p_j e^{λℓ_j} at losses ℓ_j, and its rounding to a grid.

Composing T steps and reading δ at ε needs the probability of sums that are rare under P (δ down to 1e-100). Under the
tilt they are typical, and doubles keep their relative accuracy: δ(ε) = M(λ)^T Σ_{ℓ>ε} w_T(ℓ) e^{−λℓ}(1 − e^{ε−ℓ}).
A part of weight `defect` that is lost or misplaced changes δ(ε) by at most M^T e^{−λε}·defect: what is cut off, wrapped
around or rounded is counted there.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcalc.errors import OutOfScope
from dpcalc.profiles.pair import Pair, Piece

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

MOST_CELLS = 3_000_000
QUADRATURE = 1e-13  # relative, of the weights below
_SNAP = 1e-9  # of a cell: a loss this close below a grid point is taken to be on it
_NARROW = 1 / 256
_GAUSS_2 = np.array([-1, 1]) / np.sqrt(3), np.array([0.5, 0.5])
_GAUSS_4 = tuple(np.asarray(x) for x in ((-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526),
                                         (0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692)))


class TooLarge(OutOfScope):
    """The accuracy asked for cannot be had within the limits of memory and time."""


class Law(NamedTuple):
    """Weights that sum to 1, log M(λ), and the defect."""

    loss: Array
    weight: Array
    log_total: float
    defect: float


class Grid(NamedTuple):
    """A law on the losses offset + (first + i)·step."""

    step: float
    offset: float
    first: int
    weight: Array
    log_total: float
    defect: float

    def losses(self) -> Array:
        return self.offset + (self.first + np.arange(len(self.weight))) * self.step

    def moments(self) -> tuple[float, float]:
        """Mean and variance under the tilt."""
        x = np.arange(len(self.weight))
        mean = float(self.weight @ x)
        return self.offset + (self.first + mean) * self.step, float(self.weight @ (x - mean) ** 2) * self.step**2


def law(pair: Pair, tilt: float, depth: float, edges: Array | None = None) -> Law:
    """The finite losses of a pair. Weight below e^{−depth} may be cut off; no node's cell spans one of the `edges`."""
    losses, logs = [], []
    for piece in pair.pieces:
        t, log_weight = _nodes(piece, tilt, depth, edges)
        if len(t):
            losses.append(piece.loss(t))
            logs.append(piece.log_density(t) + log_weight)
    if pair.atoms:
        losses.append(np.array([loss for loss, _ in pair.atoms]))
        logs.append(np.array([mass for _, mass in pair.atoms]))
    if pair.rest is not None:
        left = 1 - exp(pair.log_infinite) - sum(float(np.exp(x).sum()) for x in logs)
        if left > 0:
            losses.append(np.array([pair.rest]))
            logs.append(np.array([log(left)]))
    loss, log_mass = np.concatenate(losses), np.concatenate(logs)
    log_mass = log_mass + tilt * loss
    top = float(log_mass.max())
    weight = np.exp(log_mass - top)
    total = float(weight.sum())
    return Law(loss, weight / total, top + log(total), exp(-depth) + 1e-16)


def cut(pair: Pair, log_tail: float) -> Pair:
    """The pair with the largest losses, of P-mass at most e^{log_tail}, taken to be infinite: a worse pair."""
    x = law(pair, 0.0, 40.0 - log_tail)
    order = np.argsort(x.loss)[::-1]
    beyond = np.cumsum(x.weight[order]) * exp(x.log_total)
    kept = int(np.searchsorted(beyond, exp(log_tail), "right"))
    if kept == 0 or kept == len(order):
        return pair
    top = float(x.loss[order[kept]])
    tail = float(beyond[kept]) * (1 + 1e-9) + exp(log_tail - 40)  # with the loss at the top itself: it may be an atom
    infinite = log(tail + exp(pair.log_infinite))
    return pair._replace(pieces=tuple(_below(piece, top) for piece in pair.pieces),
                         atoms=tuple(a for a in pair.atoms if a[0] < top), log_infinite=infinite)


def _below(piece: Piece, top: float) -> Piece:
    end = float(piece.at(np.array(top)))

    def reach(tilt: float, k: float) -> tuple[float, float]:
        low, high = piece.reach(tilt, k)
        first, last = (float(x) for x in piece.loss(np.array((low, high))))
        if max(first, last) <= top:
            return low, high
        if min(first, last) >= top:
            return low, low
        return (low, end) if first < last else (end, high)

    return piece._replace(reach=reach)


def grid_edges(pair: Pair, tilt: float, depth: float, step: float, offset: float) -> Array:
    """The grid points offset + i·step from below all losses to above them."""
    ends = [float(x) for piece in pair.pieces for x in piece.loss(np.array(_range(piece, tilt, depth)))]
    ends += [loss for loss, _ in pair.atoms] + ([pair.rest] if pair.rest is not None else [])
    first, last = np.floor((min(ends) - offset) / step + _SNAP) - 1, np.ceil((max(ends) - offset) / step) + 2
    if not last - first < MOST_CELLS:
        raise TooLarge("no-solution", "the grid of losses would not fit in memory")
    return offset + np.arange(int(first), int(last) + 1) * step


def _range(piece: Piece, tilt: float, depth: float) -> tuple[float, float]:
    return piece.reach(tilt, (2 * depth) ** 0.5)


def _nodes(piece: Piece, tilt: float, depth: float, edges: Array | None) -> tuple[Array, Array]:
    """Gauss-Legendre nodes in t and the logs of their weights, between knots and the edges."""
    low, high = _range(piece, tilt, depth)
    if not low < high:
        return np.empty(0), np.empty(0)
    count = int((high - low) / piece.scale * 8) + 2
    if not count < MOST_CELLS:
        raise TooLarge("no-solution", "the grid of losses would not fit in memory")
    knots = np.linspace(low, high, count)
    if edges is not None:
        at = piece.at(edges)
        knots = np.sort(np.concatenate((knots, at[(at > low) & (at < high)])))
    middle, half = (knots[1:] + knots[:-1]) / 2, np.diff(knots) / 2
    narrow = half < _NARROW * piece.scale
    wide = ~narrow
    nodes, logs = [], []
    with np.errstate(divide="ignore"):
        for chosen, (x, w) in ((narrow, _GAUSS_2), (wide, _GAUSS_4)):
            nodes.append((middle[chosen][:, None] + half[chosen][:, None] * x).ravel())
            logs.append((np.log(2 * half[chosen])[:, None] + np.log(w)).ravel())
    return np.concatenate(nodes), np.concatenate(logs)


def round_up(x: Law, tilt: float, step: float, offset: float) -> Grid:
    """A law that is worse: each loss is split between its two neighbours so that both its P- and its Q-mass stay.

    E_P f(e^{−ℓ}) grows by that for every convex f (Doroshenko et al. 2022: connect the dots).
    """
    index, above = _cells(x.loss, step, offset)
    high = x.weight * (np.expm1(-above) / np.expm1(-step)) * np.exp(tilt * (step - above))
    low = x.weight * (np.expm1(step - above) / np.expm1(step)) * np.exp(-tilt * above)
    first = int(index.min())
    size = _fitting(int(index.max()) - first + 2)
    weight = np.bincount(index - first, low, size) + np.bincount(index - first + 1, high, size)
    total = float(weight.sum())
    return Grid(step, offset, first, weight / total, x.log_total + log(total), x.defect + 1e-16)


def round_down(x: Law, tilt: float, edges: Array, step: float, offset: float, first: int) -> Grid:
    """A law that is better. The losses between two edges are merged (post-processing: e^{−ℓ} becomes its mean under P);
    the i-th is near offset + (first + i)·step, and is lowered to that grid, shifted by what suits most of them."""
    index = np.searchsorted(edges, x.loss, "right") - 1
    size = _fitting(len(edges) - 1)
    above = x.loss - (offset + (first + index) * step)
    mass = x.weight * np.exp(-tilt * above)  # P-mass times e^{λ·grid point}
    merged = np.bincount(index, mass, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        place = -np.log1p(np.bincount(index, mass * np.expm1(-above), size) / merged)
    place = np.where(merged > 0, place, 0.0)
    shift = _best_shift(place, merged, tilt, step)
    lowered = place < shift
    if (place + step < shift).any():
        raise TooLarge("no-solution", "a cell of the grid is out of place")
    weight = np.zeros(size + 1)
    weight[1:] = np.where(lowered, 0.0, merged)
    weight[:-1] += np.where(lowered, merged * exp(-tilt * step), 0.0)
    total = float(weight.sum())
    return Grid(step, offset + shift, first - 1, weight / total, x.log_total + log(total) + tilt * shift, x.defect + 1e-16)


def even_edges(x: Law, step: float, offset: float) -> tuple[Array, int]:
    """Edges halfway between grid points, and the index of the first grid point."""
    first, last = (int(round((float(end) - offset) / step)) for end in (x.loss.min(), x.loss.max()))
    return offset + (np.arange(first, last + 2) - 0.5) * step, first


def balanced_edges(x: Law, tilt: float, step: float, grid: Array) -> Array:
    """Edges near the middles of the cells of a grid (on which x has nodes), moved so that the mean of what lies between
    two of them is at the grid point: by how far the mean of each cell is from its middle."""
    index = np.clip(np.searchsorted(grid, x.loss + _SNAP * step, "right") - 1, 0, len(grid) - 2)
    above = x.loss - grid[index]
    mass = x.weight * np.exp(-tilt * above)
    merged = np.bincount(index, mass, len(grid) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        place = -np.log1p(np.bincount(index, mass * np.expm1(-above), len(grid) - 1) / merged) - step / 2
    known = np.abs(place) < step / 4  # neither empty nor the cell of a lump at a grid point
    place = np.where(known, place, np.append(np.where(known, place, 0.0)[1:], 0.0))
    return grid[:-1] + step / 2 - place


def _cells(loss: Array, step: float, offset: float) -> tuple[Array, Array]:
    """Index of the cell of each loss, and the distance above its lower end."""
    place = (loss - offset) / step
    index = np.floor(place + _SNAP)
    return index.astype(np.int64), np.clip(place - index, 0.0, 1.0) * step


def _fitting(size: int) -> int:
    if size > MOST_CELLS:
        raise TooLarge("no-solution", "the grid of losses would not fit in memory")
    return size


def snap_error(step: float) -> float:
    return _SNAP * step


def _best_shift(place: Array, merged: Array, tilt: float, step: float) -> float:
    """The shift that keeps most: a cell placed below it falls by one step."""
    order = np.argsort(place)
    fallen = np.concatenate(([0.0], np.cumsum(merged[order])[:-1]))  # weight strictly before each candidate
    gain = tilt * place[order] + np.log1p(fallen / merged.sum() * np.expm1(-tilt * step))
    return float(place[order][int(np.argmax(gain))])
