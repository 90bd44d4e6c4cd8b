"""positions.average_theta by arrays, a little above it: for the many values that a composition takes."""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.pnsgd._engine.positions import FINE, SURELY, UNSURE, Ratio, heads, suited, turn_at
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_RATIO
from dpcalc.numerics.hockey_stick_array import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LEAST = -1e300
# log of a part of the largest term, rounded up to it: next to the least doubles, exp takes a hundred times as long
LEAST_HEIGHT = -700.0
_ROUNDING = 2e-14  # of log_theta, over 1 + ε²/r² + r²/4


class Blocks(NamedTuple):
    """Where blocks begin, the positions from each to the next one (from the last one: to the end), and which are of
    several positions."""

    at: Array
    lengths: Array
    longer: Array


@lru_cache(maxsize=8)
def blocks_of(at: tuple[int, ...], n: int) -> Blocks:
    lengths = np.diff([*at, n])
    return Blocks(np.array(at), lengths, (lengths[:-1] > 1).nonzero()[0])


def average_theta(epsilon: Array, ratio: Ratio, n: int, fine: int,
                  ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m) for every ε, in blocks from above, for r_m decreasing in m; in those of `value` where
    `fine` is FINE."""
    fines = np.array([suited(e, ratio, n) for e in epsilon.tolist()]) if fine >= FINE else np.full(len(epsilon), fine)
    if ways is not None:
        ways |= zip(epsilon.tolist(), fines.tolist(), strict=True)
    found = np.empty(len(epsilon))
    for one in set(fines.tolist()):
        found[fines == one] = _average_theta(epsilon[fines == one], ratio, n, one)
    return found


def _average_theta(epsilon: Array, ratio: Ratio, n: int, fine: int) -> Array:
    blocks = blocks_of(tuple(heads(n, fine)), n)
    r = ratio.many(blocks.at)
    logs = log_theta(epsilon, r[:, None])
    return mean(logs, blocks, bows_many(epsilon, ratio, r, blocks))


class Bows(NamedTuple):
    """positions.bows for every ε, of blocks of several positions: where θ is convex (None: everywhere); and where it is
    concave the part of the number at the head before that θ is not below, elsewhere 0 (None: nowhere)."""

    convex: Array | None
    concave: Array | None


def bows_many(epsilon: Array, ratio: Ratio, r: Array, blocks: Blocks) -> Bows:
    k = blocks.longer
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not len(k) or bool(np.greater_equal(*_turns(epsilon, r[k[:1]])).all()):
            return Bows(None, None)
        rows = np.append(k, k[-1] + 1)  # those of several positions follow each other
        turn, error = _turns(epsilon, r[rows])
        heads_before = np.maximum(k - 1, 0)
        bends = ratio.bends(blocks.at)
        bend, before = bends[rows, None], bends[heads_before, None]
        convex = (turn >= error)[:-1] | (turn[:-1] + np.minimum(bend[:-1], bend[1:]) >= error[:-1])
        concave = (turn[1:] + np.maximum(before, bend[1:]) * (1 + UNSURE) <= -error[1:]) & (k > 0)[:, None] & ~convex
        if not concave.any():
            return Bows(convex, None)
        surely = SURELY - _ROUNDING / UNSURE * _turns(epsilon, r[heads_before])[1]
    return Bows(convex, np.where(concave, surely, 0.0))


def _turns(epsilon: Array, r: Array) -> tuple[Array, Array]:
    """positions.turn_at for every r (rows)."""
    return turn_at(epsilon / np.maximum(r, LEAST_RATIO)[:, None], r[:, None] / 2)


def mean(logs: Array, blocks: Blocks, bows: Bows) -> Array:
    """log of the mean of e^logs down the rows, each as often as its block is long, from above; the first row is the
    largest."""
    top = np.maximum(logs[0], _LEAST)
    f = np.exp(np.maximum(logs - top, LEAST_HEIGHT))
    total = blocks.lengths @ f - _bowed(f, blocks, bows)
    found = top + np.log(total) - log(blocks.lengths.sum()) + 1e-15 * len(blocks.lengths) * (1 + np.abs(top))
    bound: Array = np.minimum(logs[0], found)
    return bound


def _bowed(f: Array, blocks: Blocks, bows: Bows) -> Any:
    """How much less than by first terms the sum surely is."""
    k = blocks.longer
    if not len(k):
        return 0.0
    half = (blocks.lengths[k] - 1) / 2
    falls = f[k] - f[k + 1]
    less: Array = half @ (falls if bows.convex is None else np.where(bows.convex, falls, 0.0))
    if bows.concave is not None:
        before = np.maximum(k - 1, 0)
        drop = np.maximum(f[before] * bows.concave - f[k], 0.0)
        less += (half * blocks.lengths[k] / blocks.lengths[before]) @ drop
    return less
