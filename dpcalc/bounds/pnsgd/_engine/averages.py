"""positions.average_theta for arrays of ε, slightly larger: for the grids from which epochs are composed."""

from functools import lru_cache
from math import log
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, LEAST_RATIO
from dpcalc.bounds.pnsgd._engine.positions import (
    CERTAIN_PART,
    CURVATURE_MARGIN,
    FINE,
    average_nodes,
    block_fineness,
    one_plus_ab,
)
from dpcalc.bounds.pnsgd._engine.shares import Ratio
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta

# Where r > 2, log θ computed by arrays is above the exact one by at most this times 1 + ε²/r² + r²/4; tests measure it.
LOG_THETA_ERROR = 2e-14


class Blocks(NamedTuple):
    """Blocks of the positions 0..n−1."""

    at: Array  # their first positions
    lengths: Array  # how many positions each has
    longer: Array  # the indices of the blocks of several positions, without the last block; they are consecutive


@lru_cache(maxsize=8)
def blocks_of(at: tuple[int, ...], n: int) -> Blocks:
    """The blocks of 0..n−1 that begin at given positions."""
    lengths = np.diff([*at, n])
    return Blocks(np.array(at), lengths, (lengths[:-1] > 1).nonzero()[0])


def average_theta(epsilon: Array, ratio: Ratio, n: int, fine: int,
                  ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m) for every ε, rounded up; in the blocks of positions.average_theta if `fine` is FINE.

    The fineness of the blocks at every ε is added to `ways`.
    """
    fines = np.full(len(epsilon), fine)
    if fine >= FINE:
        fines = np.array([block_fineness(e, ratio, n) for e in epsilon.tolist()])
    if ways is not None:
        ways |= zip(epsilon.tolist(), fines.tolist(), strict=True)
    found = np.empty(len(epsilon))
    for one in set(fines.tolist()):
        found[fines == one] = average_in_blocks(epsilon[fines == one], ratio, n, one)
    return found


def average_in_blocks(epsilon: Array, ratio: Ratio, n: int, fine: int) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m), rounded up, in blocks of at most 1/fine of the positions before them."""
    blocks = blocks_of(tuple(average_nodes(n, fine)), n)
    r = ratio.many(blocks.at)
    return mean(log_theta(epsilon, r[:, None]), blocks, curvatures_many(epsilon, ratio, r, blocks))


class Curvatures(NamedTuple):
    """positions.curvatures for every ε (columns) and block of several positions (rows)."""

    convex: Array | None  # whether θ is surely convex; None: everywhere
    # Where θ is surely concave, a factor: the true θ at the start of the previous block is at least this factor times
    # the computed one. Elsewhere 0. None: concave nowhere.
    concave: Array | None


def curvatures_many(epsilon: Array, ratio: Ratio, r: Array, blocks: Blocks) -> Curvatures:
    """Where θ is convex and where it is concave; r are the ratios at the first positions of the blocks."""
    k = blocks.longer
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not len(k) or bool(np.greater_equal(*_one_plus_ab(epsilon, r[k[:1]])).all()):
            return Curvatures(None, None)
        rows = np.append(k, k[-1] + 1)
        value, error = _one_plus_ab(epsilon, r[rows])
        before = np.maximum(k - 1, 0)
        convexity = np.array([ratio.log_convexity(m) for m in blocks.at.tolist()])
        here, previous = convexity[rows, None], convexity[before, None]
        convex = (value >= error)[:-1] | (value[:-1] + np.minimum(here[:-1], here[1:]) >= error[:-1])
        bend = np.maximum(previous, here[1:]) * (1 + CURVATURE_MARGIN)
        concave = (value[1:] + bend <= -error[1:]) & (k > 0)[:, None] & ~convex
        if not concave.any():
            return Curvatures(convex, None)
        certain = CERTAIN_PART - LOG_THETA_ERROR / CURVATURE_MARGIN * _one_plus_ab(epsilon, r[before])[1]
    return Curvatures(convex, np.where(concave, certain, 0.0))


def _one_plus_ab(epsilon: Array, r: Array) -> tuple[Array, Array]:
    """positions.one_plus_ab for every r (rows)."""
    return one_plus_ab(epsilon / np.maximum(r, LEAST_RATIO)[:, None], r[:, None] / 2)


def mean(logs: Array, blocks: Blocks, curvatures: Curvatures) -> Array:
    """log of the mean of e^logs over the rows, each weighted by the length of its block, rounded up.

    The first row is the largest.
    """
    top = np.maximum(logs[0], -1e300)
    f = np.exp(np.maximum(logs - top, LEAST_EXPONENT))
    total = blocks.lengths @ f - _excess(f, blocks, curvatures)
    found = top + np.log(total) - log(blocks.lengths.sum()) + 1e-15 * len(blocks.lengths) * (1 + np.abs(top))
    bound: Array = np.minimum(logs[0], found)
    return bound


def _excess(f: Array, blocks: Blocks, curvatures: Curvatures) -> Any:
    """How much the sum by chords is below the sum by first terms."""
    k = blocks.longer
    if not len(k):
        return 0.0
    half = (blocks.lengths[k] - 1) / 2
    falls = f[k] - f[k + 1]
    excess: Array = half @ (falls if curvatures.convex is None else np.where(curvatures.convex, falls, 0.0))
    if curvatures.concave is not None:
        before = np.maximum(k - 1, 0)
        drop = np.maximum(f[before] * curvatures.concave - f[k], 0.0)
        excess += (half * blocks.lengths[k] / blocks.lengths[before]) @ drop
    return excess
