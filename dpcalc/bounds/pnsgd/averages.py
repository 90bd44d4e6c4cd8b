"""positions.average_theta by arrays, a little above it: for the many values that a composition takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.pnsgd.positions import starts
from dpcalc.numerics.hockey_stick_many import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_LEAST = -1e300


@lru_cache(maxsize=8)
def _blocks(ratio: Callable[[int], float], n: int, fine: int) -> tuple[Array, Array]:
    """The ratio at the start of every block, and its length."""
    heads = starts(n, fine)
    return np.array([ratio(m) for m in heads]), np.diff([*heads, n])


def average_theta(epsilon: Array, ratio: Callable[[int], float], n: int, fine: int,
                  ways: dict[float, Any] | None = None) -> Array:
    """log of (1/n)Σ_m θ(ε, r_m) for every ε, in blocks from above, for r_m decreasing in m."""
    if ways is not None:
        ways |= dict.fromkeys(epsilon.tolist(), fine)
    ratios, lengths = _blocks(ratio, n, fine)
    return mean(log_theta(epsilon, ratios[:, None]), lengths)


def mean(logs: Array, lengths: Array) -> Array:
    """log of the mean of e^logs down the rows, each as often as its length says, from above; the first row is the largest."""
    top = np.maximum(logs[0], _LEAST)
    total = lengths @ np.exp(np.maximum(logs - top, -745.0))
    found = top + np.log(total) - log(lengths.sum()) + 1e-15 * len(lengths) * (1 + np.abs(top))
    bound: Array = np.minimum(logs[0], found)
    return bound
