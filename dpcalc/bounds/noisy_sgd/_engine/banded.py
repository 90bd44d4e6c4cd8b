"""Matrices whose entries lie near the diagonal, stored by blocks of rows, and linear systems with them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from dpcalc.numerics.arrays import Array

ROWS = 32  # of a block
SHARE = 1e-22  # of the largest entry: smaller entries hardly change a solution, which need not be exact
_LEAST_CUT = 64  # rows that are eliminated at a time, at least; smaller blocks take longer

Block = tuple[slice, slice, Array]  # rows, columns, entries


class Banded:
    """A matrix by blocks that do not overlap; other entries are 0."""

    def __init__(self, shape: tuple[int, int], blocks: list[Block]) -> None:
        self.shape, self.blocks = shape, blocks

    def times(self, x: Array) -> Array:
        """The product x·M."""
        total = np.zeros(self.shape[1])
        for rows, columns, entries in self.blocks:
            total[columns] += x[rows] @ entries
        return total

    def changed(self, change: Callable[[Array, slice, slice], Array]) -> Banded:
        """The matrix with `change` applied to the entries of every block, with its rows and columns."""
        return Banded(self.shape, [(r, c, change(entries, r, c)) for r, c, entries in self.blocks])

    def part(self, rows: slice, columns: slice) -> Array:
        """The entries of a range of rows and columns."""
        found = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
        for r, c, entries in self.blocks:
            top, bottom = max(rows.start, r.start), min(rows.stop, r.stop)
            left, right = max(columns.start, c.start), min(columns.stop, c.stop)
            if top < bottom and left < right:
                found[top - rows.start : bottom - rows.start, left - columns.start : right - columns.start] = entries[
                    top - r.start : bottom - r.start, left - c.start : right - c.start]
        return found

    @property
    def dense(self) -> Array:
        return self.part(slice(0, self.shape[0]), slice(0, self.shape[1]))

    @property
    def width(self) -> int:
        """The largest distance from the diagonal of an entry that counts."""
        least = SHARE * max(float(entries.max(initial=0.0)) for _, _, entries in self.blocks)
        found = 0
        for r, c, entries in self.blocks:
            i, j = (entries > least).nonzero()
            found = max(found, int(np.abs(i + r.start - j - c.start).max(initial=0)))
        return found


class Elimination:
    """Solves x = xM + source, nearly, by elimination of the blocks of M along its diagonal."""

    def __init__(self, matrix: Banded) -> None:
        n, width = matrix.shape[0], max(matrix.width, _LEAST_CUT)
        # With so few blocks a single one takes less time.
        ends = [*range(0, n, width), n] if n > 3 * width else [0, n]
        self._cuts = [slice(a, b) for a, b in pairwise(ends)]
        self._pivots, self._left, self._right = list[Array](), list[Array](), list[Array]()
        for k, cut in enumerate(self._cuts):
            pivot = np.eye(cut.stop - cut.start) - matrix.part(cut, cut)
            if k:
                before = self._cuts[k - 1]
                self._right.append(matrix.part(before, cut))
                self._left.append(matrix.part(cut, before) @ self._pivots[-1])
                pivot -= self._left[-1] @ self._right[-1]
            self._pivots.append(np.linalg.inv(pivot))

    def solve(self, source: Array) -> Array:
        found = list[Array]()
        for k, (cut, pivot) in enumerate(zip(self._cuts, self._pivots, strict=True)):
            found.append((source[cut] + (found[-1] @ self._right[k - 1] if k else 0.0)) @ pivot)
        for k in range(len(found) - 2, -1, -1):
            found[k] = found[k] + found[k + 1] @ self._left[k]
        return np.concatenate(found)
