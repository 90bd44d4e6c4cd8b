"""One step of a pair of clamped walks: its transition matrix, the cells it is evaluated in, and bounds on the rounding
errors of both (walk.py has the proof that uses them)."""

from collections.abc import Callable
from math import e, exp, pi, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.bounds.noisy_sgd._engine.banded import ROWS, Banded, Block
from dpcalc.bounds.noisy_sgd._engine.one_step import LEAST_PULL, Pair
from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.numerics import legendre, tails_array
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT

FLOOR = 1e-285  # bound on the probability lost to underflow in all: fewer than 1e12 entries below TINY are dropped
TINY = 1e-300  # smaller entries are dropped; products of larger ones may still be denormal, and those cost time
_FUNCTION_UNITS = 200  # bound on the error of exp and tails_array.tail, in units of rounding
_LARGEST_ARGUMENT = 38.6  # φ(z) is 0 in doubles beyond


class Law(NamedTuple):
    """Bounds on the final laws, over the cells from left to right (the walls are the first and the last) and over the
    events w > −h, w >= each edge between cells, and w >= h."""

    mass: Array  # upper bounds on Q(cell)
    gain: Array  # P(cell) − Q(cell), moved towards 0 by the bound on its error
    above: Array  # upper bounds on Q(event)
    lead: Array  # lower bounds on P(event) − Q(event), at least 0


def means(pair: Pair, up: bool) -> tuple[tuple[float, float], ...]:
    """The means of a step of P (`up`) or Q with their probabilities."""
    kick = pair.up if up else pair.down
    return tuple((m, share) for m, share in ((pair.drift, 1 - pair.rate), (kick, pair.rate)) if share > 0)


def _matrix(pair: Pair, y: Array, x: Array, entries: Callable[[Array, Array], Array]) -> Banded:
    """The matrix with rows y and columns x of entries that are 0 in doubles for x beyond the noise of a step from y;
    only the others are computed. Both y and x rise."""
    blocks = list[Block]()
    for first in range(0, len(y), ROWS):
        rows = slice(first, min(first + ROWS, len(y)))
        columns = _near(pair, y[rows], x)
        blocks.append((rows, columns, entries(y[rows], x[columns])))
    return Banded((len(y), len(x)), blocks)


def _near(pair: Pair, y: Array, x: Array) -> slice:
    """The range of x, which rise, outside of which the tails and the density of a step from y are 0 in doubles."""
    centres, reach = pair.pull * y, pair.reach + _LARGEST_ARGUMENT + 1
    return slice(*np.searchsorted(x, [centres.min() - reach, centres.max() + reach]).tolist())


def density(pair: Pair, y: Array, x: Array, up: bool) -> Banded:
    """The matrix with rows y and columns x of the density of a step from y to x."""
    def entries(y: Array, x: Array) -> Array:
        total = np.zeros((len(y), len(x)))
        for m, share in means(pair, up):
            z = x[None, :] - (pair.pull * y + m)[:, None]
            total += share / sqrt(2 * pi) * np.exp(-0.5 * z * z)
        return total

    return _matrix(pair, y, x, entries)


def between(low: Array, high: Array) -> Array:
    """Φ(high) − Φ(low) for high >= low, as a difference of the tails that are small."""
    mirrored = low + high < 0
    a, b = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    return np.asarray(np.maximum(tails_array.above(a) - tails_array.above(b), 0.0))


def push(pair: Pair, y: Array, x: Array) -> Banded:
    """The matrix with rows y and columns x of Φ(ay + up − x) − Φ(ay + down − x)."""
    half = (pair.up - pair.down) / 2
    # An even number of nodes, as many as are needed for |z| <= 39; 20 where half = 1/4.
    nodes = next((n for n in range(4, 20, 2) if (e * 39 * half / (4 * n)) ** (2 * n) < 1e-20), 20)

    def entries(y: Array, x: Array) -> Array:
        z = (pair.pull * y + (pair.up + pair.down) / 2)[:, None] - x[None, :]
        if half >= 0.25:
            return between(z - half, z + half)
        # e^{−z²/2} Σ w e^{−v²/2} (e^{zv} + e^{−zv}) over the positive nodes v. With the ellipse ρ = 4n/(39·half) of the
        # proof in walk_grid.py the error is 1e-18 of the integral.
        t, w = legendre.rule(nodes)
        total = np.zeros(z.shape)
        for v, weight in zip((half * t[nodes // 2 :]).tolist(), (half * w[nodes // 2 :]).tolist(), strict=True):
            grown = np.exp(v * z)
            total += weight / sqrt(2 * pi) * exp(-0.5 * v * v) * (grown + 1 / grown)
        return total * np.exp(-0.5 * z * z)

    return _matrix(pair, y, x, entries)


def entry_error(pair: Pair, nodes: int) -> float:
    """A bound on the relative error of the entries of a step, and of a sum of products of `nodes` of them."""
    # The error of arguments: of x, ends of panels, ay + m and their differences.
    argument_error = 8 * UNIT * (pair.half + pair.reach + 1) + legendre.ERROR
    # The largest slope of the exponent, in an entry and in the quadrature with rounded nodes.
    slope = 1 + _LARGEST_ARGUMENT + 2 * (4.5 + 1.62 * pair.reach + 13)
    entry = slope * argument_error + (3 * _LARGEST_ARGUMENT**2 + _FUNCTION_UNITS + 2 / LEAST_PULL) * UNIT
    # A difference of tails at arguments 1/2 or more apart has at most 2.3 times their relative error (5.2 times near 0,
    # where the error of a tail is a few ulp).
    cancellation = 2.5 if pair.up - pair.down >= 0.5 else 1.01
    return cancellation * entry + (2 * nodes + 8) * UNIT + 5 * legendre.ERROR + 1e-16


def moved_masses(pair: Pair, g: Grid, y: Array, up: bool) -> Banded:
    """The transition matrix with rows y; its columns are the masses of the left wall, the nodes, and the right wall."""
    left, right = np.zeros(len(y)), np.zeros(len(y))
    for m, share in means(pair, up):
        left += share * tails_array.above(pair.half + (pair.pull * y + m))
        right += share * tails_array.above(pair.half - (pair.pull * y + m))
    inner = density(pair, y, g.x, up).changed(lambda entries, _, columns: entries * g.w[columns])
    rows, end = slice(0, len(y)), len(g.x) + 1
    shifted = [(r, slice(c.start + 1, c.stop + 1), entries) for r, c, entries in inner.blocks]
    return Banded((len(y), end + 1), [(rows, slice(0, 1), left[:, None]), *shifted,
                                      (rows, slice(end, end + 1), right[:, None])])


def flush(matrix: Array) -> Array:
    """Sets entries so small that their products could underflow to 0, in place, and returns the matrix."""
    matrix[matrix < TINY] = 0.0
    return matrix


def places(pair: Pair) -> Array:
    """The points where cells meet, walls included; they are the thresholds of the events. Any cells prove a bound."""
    width = 2 * pair.half
    # A narrow interval is one cell, as nearly all mass is in the walls and smaller cells have larger errors.
    count = min(200, max(8, int(width / 0.1))) if width > 0.05 else 1
    return np.linspace(-pair.half, pair.half, count + 1)


def unknown(edges: Array) -> Law:
    """The bounds that say nothing, where errors exceed the probabilities."""
    return Law(np.ones(len(edges) + 1), np.zeros(len(edges) + 1), np.ones(len(edges)), np.zeros(len(edges)))


def cells(pair: Pair, y: Array, mass: Array, edges: Array, up: bool = False) -> Array:
    """The masses of the cells after one more step of Q, or of P (`up`), from masses at y."""
    total = np.zeros(len(edges) + 1)
    for first in range(0, len(y), ROWS):
        rows = slice(first, first + ROWS)
        near = _near(pair, y[rows], edges)
        for m, share in means(pair, up):
            z = edges[None, near] - (pair.pull * y[rows] + m)[:, None]
            tail = tails_array.tail(np.abs(z))
            above, below = _upper(tail, z), _upper(tail, -z)
            inner = np.where(z[:, :-1] + z[:, 1:] >= 0, above[:, :-1] - above[:, 1:], below[:, 1:] - below[:, :-1])
            moved = np.concatenate([below[:, :1], np.maximum(inner, 0.0), above[:, -1:]], axis=1)
            total[near.start : near.stop + 1] += share * (mass[rows] @ moved)
    return total


def _upper(tail: Array, z: Array) -> Array:
    """The normal tail at z from that at |z|."""
    return np.where(z >= 0, tail, 1 - tail)


def cell_error(pair: Pair, edges: Array) -> float:
    """A bound on the relative error of the cells' masses, which are differences of tails.

    With a cell of width w from z >= −w/2 and the tail Q these cancel by 2/(1 − Q(z + w)/Q(z)) <= 8/w + 2 at most."""
    width = 2 * pair.half / (len(edges) - 1)
    argument_error = 8 * UNIT * (pair.half + pair.reach + 1)
    tail_error = argument_error * (_LARGEST_ARGUMENT + 1) + (3 * _LARGEST_ARGUMENT**2 + _FUNCTION_UNITS) * UNIT
    return (len(edges) + 8) * UNIT + (8 / min(width, 1.0) + 2) * tail_error
