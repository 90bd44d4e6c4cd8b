"""positions.average_theta by arrays, a little above it: for the many values that a composition takes."""

from __future__ import annotations

from functools import lru_cache
from math import expm1, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.pnsgd.positions import LEAST_RATIO, NEARLY_NONE, Ratio, starts
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LEAST = -1e300


@lru_cache(maxsize=8)
def _blocks(n: int, fine: int) -> tuple[Array, Array]:
    """Where every block begins, and its length."""
    heads = starts(n, fine)
    return np.array(heads), np.diff([*heads, n])


def average_theta(epsilon: Array, ratio: Ratio, n: int, fine: int,
                  ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m) for every ε, in blocks from above, for r_m decreasing in m."""
    if ways is not None:
        ways |= dict.fromkeys(epsilon.tolist(), fine)
    heads, lengths = _blocks(n, fine)
    return mean(log_theta(epsilon, ratio.many(heads)[:, None]), lengths)


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


def mean(logs: Array, lengths: Array) -> Array:
    """log of the mean of e^logs down the rows, each as often as its length says, from above; the first row is the largest."""
    top = np.maximum(logs[0], _LEAST)
    total = lengths @ np.exp(np.maximum(logs - top, -745.0))
    found = top + np.log(total) - log(lengths.sum()) + 1e-15 * len(lengths) * (1 + np.abs(top))
    bound: Array = np.minimum(logs[0], found)
    return bound
