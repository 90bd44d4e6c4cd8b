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


def average_theta(epsilon: float, ratio: Callable[[int], float], n: int, fine: int) -> float:
    """log of (1/n)Σ_m θ(ε, r_m), in blocks from above, for r_m decreasing in m."""
    ratios, lengths = _blocks(ratio, n, fine)
    logs = log_theta(np.array(epsilon), ratios)
    first = float(logs[0])
    top = max(first, _LEAST)
    total = float(np.exp(np.maximum(logs - top, -745.0)) @ lengths)
    return min(first, top + log(total) - log(n) + 1e-15 * len(lengths) * (1 + abs(top)))
