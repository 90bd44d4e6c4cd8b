"""The law of a privacy loss under P, tilted: weights w_j ∝ p_j e^{λℓ_j} at losses ℓ_j, and its rounding to a grid.

Composing T steps and reading δ at ε needs the probability of sums that are rare under P (δ down to 1e-100). Under the
tilt they are typical, and doubles keep their relative accuracy: δ(ε) = M(λ)^T Σ_{ℓ>ε} w_T(ℓ) e^{−λℓ}(1 − e^{ε−ℓ}).
A part of weight `defect` that is lost or misplaced changes δ(ε) by at most M^T e^{−λε}·defect: what is cut off, wrapped
around or rounded is counted there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcalc.errors import OutOfScope
from dpcalc.profiles.pair import Pair, Piece

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

MOST_CELLS = 3_000_000
QUADRATURE = 1e-12  # relative, of the weights below
_ROUNDOFF = 2.0**-53
_SHARES_ULPS = 300.0  # a tilt of 60 a step included
_LIGHT = 100.0  # log of how much lighter atoms have a weight that does not matter
SNAP = 1e-9  # of a cell: a loss this close below a grid point is taken to be on it
_NARROW, _MIDDLE = 3.5e-3, 0.045  # half cells, in units of what the density changes in: two nodes and three are off by 6e-13 at most
_FALL = 0.35
_GAUSS_2 = np.array([-1, 1]) / np.sqrt(3), np.array([0.5, 0.5])
_GAUSS_3 = np.array([-1, 0, 1]) * np.sqrt(0.6), np.array([5, 8, 5]) / 18
_GAUSS_4 = tuple(np.asarray(x) for x in ((-0.8611363115940526, -0.3399810435848563, 0.3399810435848563, 0.8611363115940526),
                                         (0.17392742256872692, 0.32607257743127307, 0.32607257743127307, 0.17392742256872692)))


TOO_LARGE = ("too-large", "the profile could not be composed within the limits of memory (its grid of losses is too fine)")


class TooLarge(OutOfScope):
    """The accuracy asked for cannot be had within the limits of memory and time."""


class Law(NamedTuple):
    """Weights that sum to 1, log M(λ), and the defect."""

    loss: Array
    weight: Array
    log_total: float
    defect: float
    has_rest: bool = False  # the last loss is the pair's `rest`


class Grid(NamedTuple):
    """A law on the losses offset + (first + i)·step. Besides the defect, a weight each, its weights may be off by rounding: `noise` is not
    less than the ℓ2 norm of these errors."""

    step: float
    offset: float
    first: int
    weight: Array
    log_total: float
    defect: float
    noise: float = 0.0

    @property
    def lost(self) -> float:
        """Not less than the sum of all errors of weights."""
        return self.defect + self.noise * sqrt(len(self.weight))

    @property
    def reach(self) -> float:
        """The largest number that its places are computed from."""
        return max(abs(self.offset), *(abs(self.offset + k * self.step) for k in (self.first, self.first + len(self.weight) - 1)))

    def losses(self) -> Array:
        return self.offset + (self.first + np.arange(len(self.weight))) * self.step

    def moments(self) -> tuple[float, float]:
        """Mean and variance under the tilt."""
        x = np.flatnonzero(self.weight)  # of samples, next to none
        weight = self.weight[x]
        mean = float((weight * x).sum())
        return self.offset + (self.first + mean) * self.step, float((weight * (x - mean) ** 2).sum()) * self.step**2


def law(pair: Pair, tilt: float, depth: float, edges: Array | None = None) -> Law:
    """The finite losses of a pair. Weight below e^{−depth} may be cut off; no node's cell spans one of the `edges`."""
    loss, log_mass, has_rest = masses(pair, tilt, depth, edges)
    log_mass = log_mass + tilt * loss
    top = float(log_mass.max())
    weight = np.exp(log_mass - top)
    total = float(weight.sum())
    return Law(loss, weight / total, top + log(total), exp(-depth) + 1e-16, has_rest)


def masses(pair: Pair, tilt: float, depth: float, edges: Array | None) -> tuple[Array, Array, bool]:
    """Losses, log P-masses, and whether the last loss is the rest."""
    losses, logs = [], []
    for piece in pair.pieces:
        t, log_weight = _nodes(piece, tilt, depth, edges)
        if len(t):
            losses.append(piece.loss(t))
            logs.append(piece.log_density(t) + log_weight)
    if pair.atoms:
        loss, log_mass = _of_atoms(pair.atoms)
        losses.append(loss)
        logs.append(log_mass)
    left = 0.0
    if pair.rest is not None:
        left = 1 - exp(pair.log_infinite) - sum(float(np.exp(x).sum()) for x in logs)
        if left > 0:
            losses.append(np.array([pair.rest]))
            logs.append(np.array([log(left)]))
    return np.concatenate(losses), np.concatenate(logs), left > 0


@lru_cache(maxsize=8)
def _of_atoms(atoms: tuple[tuple[float, float], ...]) -> tuple[Array, Array]:
    """Losses and log P-masses, of a pair that is asked for by one tilt after another."""
    loss, log_mass = np.array(atoms).T
    return loss.copy(), log_mass.copy()


def grid_edges(pair: Pair, tilt: float, depth: float, step: float, offset: float) -> Array:
    """The grid points offset + i·step from below all losses to above them."""
    ends = [float(x) for piece in pair.pieces for x in piece.loss(np.array(_range(piece, tilt, depth)))]
    ends += [loss for loss, _ in pair.atoms] + ([pair.rest] if pair.rest is not None else [])
    first, last = np.floor((min(ends) - offset) / step + SNAP) - 1, np.ceil((max(ends) - offset) / step) + 2
    if not last - first < MOST_CELLS:
        raise TooLarge(*TOO_LARGE)
    return offset + np.arange(int(first), int(last) + 1) * step


def _range(piece: Piece, tilt: float, depth: float) -> tuple[float, float]:
    return piece.reach(tilt, (2 * depth) ** 0.5)


def _nodes(piece: Piece, tilt: float, depth: float, edges: Array | None) -> tuple[Array, Array]:
    """Gauss-Legendre nodes in t and the logs of their weights, between knots and the edges."""
    low, high = _range(piece, tilt, depth)
    # Doubles may not tell the points of a range apart that is far out: it must be refused before it looks empty.
    if not fits(low, high, piece.scale):
        raise TooLarge(*TOO_LARGE)
    if not low < high:
        return np.empty(0), np.empty(0)
    knots = _knots(low, high, piece.scale / 8)
    if edges is not None:
        at = piece.at(edges)
        knots = np.sort(np.concatenate((knots, at[(at > low) & (at < high)])))
    middle, half = (knots[1:] + knots[:-1]) / 2, np.diff(knots) / 2
    if edges is None:
        return _in_cells(middle, half, _GAUSS_4)
    # The n-th derivative of a Gaussian density is less than (|t| + 3)^n of it, for n up to 6.
    rule = np.searchsorted((_NARROW, _MIDDLE), half * (np.abs(middle) + 3 / piece.scale))
    chosen = ((np.flatnonzero(rule == k), rules) for k, rules in enumerate((_GAUSS_2, _GAUSS_3, _GAUSS_4)))
    found = [_in_cells(middle[cells], half[cells], rules) for cells, rules in chosen if len(cells)]
    return np.concatenate([t for t, _ in found]), np.concatenate([log_weight for _, log_weight in found])


def _in_cells(middle: Array, half: Array, rule: tuple[Array, ...]) -> tuple[Array, Array]:
    x, w = rule
    with np.errstate(divide="ignore"):
        return (middle[:, None] + half[:, None] * x).ravel(), (np.log(2 * half)[:, None] + np.log(w)).ravel()


def fits(low: float, high: float, scale: float) -> bool:
    """Whether the nodes between two parameters of a piece with this scale fit in memory; so they do not where doubles cannot tell them
    apart."""
    return (high - low) / (scale / 8) + (low * low + high * high) / _FALL < MOST_CELLS


def _knots(low: float, high: float, spacing: float) -> Array:
    """Points from low to high, at most `spacing` apart and 0.35/|t|: a Gaussian density falls by little between two."""
    bend = _FALL / spacing
    # Even steps of u, where dt/du is the spacing wanted: t = spacing·u up to the bend, then √(bend² + 2·0.35·(u − u_b)).
    ends = [_unbent(t, spacing, bend) for t in (low, high)]
    u = np.linspace(ends[0], ends[1], int(ends[1] - ends[0]) + 2)
    far = np.abs(u) > bend / spacing
    t = np.where(far, np.sign(u) * np.sqrt(np.maximum(bend * bend + 2 * _FALL * (np.abs(u) - bend / spacing), 0.0)), u * spacing)
    t[0], t[-1] = low, high
    return t


def _unbent(t: float, spacing: float, bend: float) -> float:
    size = abs(t) / spacing if abs(t) <= bend else bend / spacing + (t * t - bend * bend) / (2 * _FALL)
    return size if t >= 0 else -size


def round_up(x: Law, tilt: float, step: float, offset: float) -> Grid:
    """A law that is worse: each loss is split between its two neighbours so that both its P- and its Q-mass stay.

    E_P f(e^{−ℓ}) grows by that for every convex f (Doroshenko et al. 2022: connect the dots). A loss that is so little below a grid point
    that it may be on it is raised to it, with its P-mass: that makes the law worse, too.
    """
    index, place = _cells(x.loss, step, offset)
    low, high = (x.weight * share for share in shares(place, tilt, step))
    first = int(index.min())
    size = fitting(int(index.max()) - first + 2)
    weight = np.bincount(index - first, low, size) + np.bincount(index - first + 1, high, size)
    total = float(weight.sum())
    return Grid(step, offset, first, weight / total, x.log_total + log(total), x.defect)


def round_up_whole(grid: Grid, tilt: float, step: float, at: int) -> Grid:
    """The same for a grid and a whole multiple of its step, with a point where its weight `at` is: all places are known."""
    ratio, held = round(step / grid.step), np.flatnonzero(grid.weight)
    begin, end = int(held[0]), int(held[-1]) + 1
    first, last = (begin - at) // ratio, (end - 1 - at) // ratio
    weight = np.zeros((fitting(last - first + 1), ratio))
    weight.ravel()[begin - at - first * ratio : end - at - first * ratio] = grid.weight[begin:end]
    low, high = shares(np.arange(ratio) * grid.step, tilt, step)
    found = np.append(weight @ low, 0.0)
    found[1:] += weight @ high
    total = float(found.sum())
    return Grid(step, grid.offset + (grid.first + at) * grid.step, first, found / total, grid.log_total + log(total), grid.defect)


def imprecision(pair: Pair, tilt: float) -> float:
    """By how much the weights of a step, rounded to a grid from above, may be too low, relative: of atoms some ulps of their exponents, of
    the sum of those that share a place, and of their shares."""
    if pair.pieces:
        return QUADRATURE
    loss, log_mass, _ = masses(pair, tilt, 0.0, None)
    tilted = log_mass + tilt * loss
    below = tilted.max() - tilted
    ulps = 2 * np.abs(log_mass) + 2 * np.abs(tilt * loss) + below
    return _ROUNDOFF * (_SHARES_ULPS + len(loss) + float(ulps[below <= _LIGHT].max()))


def shares(place: Array, tilt: float, step: float | Array) -> tuple[Array, Array]:
    """Of tilted weights at these places above a grid point, what goes to it and to the next one: both masses stay."""
    above = np.maximum(place, 0.0)
    high = (np.expm1(-above) / np.expm1(-step)) * np.exp(tilt * (step - above))
    return (np.expm1(above - step) / np.expm1(-step)) * np.exp(-above - tilt * place), high


def _cells(loss: Array, step: float, offset: float) -> tuple[Array, Array]:
    """Index of the cell of each loss, and the distance above its lower end, which may be a little below 0."""
    place = (loss - offset) / step
    index = np.floor(place + SNAP)
    return index.astype(np.int64), (place - index) * step


def fitting(size: int) -> int:
    if size > MOST_CELLS:
        raise TooLarge(*TOO_LARGE)
    return size


def misplaced(grids: Sequence[tuple[Grid, int]]) -> float:
    """By how much a sum of rounded losses may be too low: a loss and its place on the grid are off by a few roundings of the largest number
    that they are computed from (of a sampled loss log(1 − q + q e^w) by those of w, which is at most some tens of them)."""
    return 256 * _ROUNDOFF * sum(count * grid.reach for grid, count in grids)
