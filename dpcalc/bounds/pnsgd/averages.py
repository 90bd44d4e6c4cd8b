"""positions.average_theta by arrays, a little above it: for the many values that a composition takes."""

from __future__ import annotations

from functools import lru_cache
from math import expm1, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.pnsgd.positions import FINE, LEAST_RATIO, LOWEST, NEARLY_NONE, SURELY, UNSURE, Ratio, heads, suited
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LEAST = -1e300


class Blocks(NamedTuple):
    """Where blocks begin, the positions from each to the next one (from the last one: to the end), and which are of several positions."""

    at: Array
    lengths: Array
    longer: Array


@lru_cache(maxsize=8)
def blocks_of(at: tuple[int, ...], n: int) -> Blocks:
    lengths = np.diff([*at, n])
    return Blocks(np.array(at), lengths, (lengths[:-1] > 1).nonzero()[0])


def average_theta(epsilon: Array, ratio: Ratio, n: int, fine: int,
                  ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m) for every ε, in blocks from above, for r_m decreasing in m; in those of `value` where `fine` is FINE."""
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
    return mean(logs, blocks.lengths, less=bowed(epsilon, ratio, r, blocks, logs))


def bowed(epsilon: Array, ratio: Ratio, r: Array, blocks: Blocks, logs: Array, straight: Array | None = None) -> Array:
    """How much less Σ θ(ε, r_m) is surely than by first terms, in units of the first, by positions.bows; `straight` as in block_sums."""
    k = blocks.longer
    if not len(k):
        return np.zeros(len(epsilon))
    f = np.exp(np.maximum(logs - np.maximum(logs[0], _LEAST), LOWEST))
    bend = np.array([ratio.bend(m) for m in blocks.at.tolist()])[:, None]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        x, y = (epsilon / np.maximum(r, 1e-300)[:, None]) ** 2, (r[:, None] / 2) ** 2
        turn, error = 1 + x - y, UNSURE * (1 + x + y)
        before, length, gap = np.maximum(k - 1, 0), blocks.lengths[k, None], blocks.lengths[np.maximum(k - 1, 0), None]
        convex = turn[k] + np.minimum(bend[k], bend[k + 1]) >= error[k]
        concave = turn[k + 1] + np.maximum(bend[before], bend[k + 1]) * (1 + UNSURE) <= -error[k + 1]
    concave &= ~convex & (k > 0)[:, None]
    if straight is not None:
        convex &= straight[k] & straight[k + 1]
        concave &= straight[k] & straight[before]
    by_chord = (f[k] - f[k + 1]) * ((length - 1) / 2)
    prolonged = np.maximum(f[before] * SURELY - f[k], 0.0) * (length * ((length - 1) / (2 * gap)))
    less: Array = np.where(convex, by_chord, np.where(concave, prolonged, 0.0)).sum(axis=0)
    return less


def log_shares(log_c: float, m: Array) -> Array:
    """positions.log_share of an array."""
    if log_c == 0:
        return -np.log(m + 1.0)
    if log_c == -inf:
        return np.where(m == 0, 0.0, -inf)
    falls: Array = np.log(expm1(-2 * abs(log_c)) / np.expm1(-2 * (m + 1.0) * abs(log_c)))
    return falls + 2 * m * log_c if log_c < 0 else falls


def scaled_many(first: float, log_square: Array) -> Array:
    """positions.scaled of an array, from above; below 1e-300 that."""
    half = np.maximum(log_square / 2, NEARLY_NONE)
    root = np.exp(half / 2)
    found: Array = first * root * root * (1 + 4e-15 * (2 + np.abs(half)))
    return np.where(log_square == -inf, 0.0, np.maximum(LEAST_RATIO, found))


def mean(logs: Array, lengths: Array, less: Any = 0.0) -> Array:
    """log of the mean of e^logs down the rows, each as often as its length says, from above; the first row is the largest. `less`, in its
    units, is what their sum surely is less."""
    top = np.maximum(logs[0], _LEAST)
    total = lengths @ np.exp(np.maximum(logs - top, LOWEST)) - less
    found = top + np.log(total) - log(lengths.sum()) + 1e-15 * len(lengths) * (1 + np.abs(top))
    bound: Array = np.minimum(logs[0], found)
    return bound
