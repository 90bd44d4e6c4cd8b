"""The type of numpy's arrays of any numbers, and long arrays by blocks. Modules that need no numpy otherwise import it
for type checkers only."""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# Numbers, of 64 kB: the few arrays of a formula stay in the cache of a processor. Arrays of twice this size are taken
# from the operating system each time, which makes formulas four times as slow.
BLOCK = 1 << 13


def blocks(n: int) -> list[slice]:
    """The indices from 0 to n − 1, by blocks."""
    return [slice(first, min(first + BLOCK, n)) for first in range(0, n, BLOCK)]


def by_index(x: Array, formula: Callable[[Array, Array], Array]) -> Array:
    """The array itself with formula(x_k, k) in place of each x_k. It takes no more memory, as the formula is given
    parts of x."""
    for part in blocks(len(x)):
        x[part] = formula(x[part], np.arange(part.start, part.stop))
    return x


def weighted_squares(x: Array, weight: Callable[[Array], Any] = lambda k: 1.0) -> float:
    """Σ_k weight(k)·x_k², by pairwise sums of blocks and of their sums."""
    return float(np.array([(x[part] * x[part] * weight(np.arange(part.start, part.stop))).sum()
                           for part in blocks(len(x))]).sum())
