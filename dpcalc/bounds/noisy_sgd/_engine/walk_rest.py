"""The law of Q at rest, and what walks with a >= 0 keep of differences of tails (walk.py has the proof)."""

from math import inf, log

import numpy as np

from dpcalc.bounds.noisy_sgd._engine.banded import Banded, Elimination
from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import TINY, density, flush
from dpcalc.numerics.arrays import Array

SMALLEST = 1e-295  # the relative change of smaller values does not count:
UNCOUNTED = 1e-280  # what they add up to in at most 1e7 steps, 1e4 nodes and 1e5 summands of S is less than this


def steps_followed(pair: Pair, steps: int) -> int:
    """The steps before the last one that are followed. C falls at least by e^4.9 in (2h + 1.2)² steps, so that the
    others, which come first, change probabilities by less than e^−70."""
    return min(steps - 1, int(16 * (2 * pair.half + 1) ** 2))


def log_density(pair: Pair, x: Array, up: bool) -> Array:
    """log of a multiple of the density at rest of P or Q, were the steps Gaussian and the walls far."""
    kick, q, a = pair.up if up else pair.down, pair.rate, pair.pull
    mean, variance = (1 - q) * pair.drift + q * kick, 1 + q * (1 - q) * (kick - pair.drift) ** 2
    log_p = (1 + a) * (mean * x - (1 - a) * x * x / 2) / variance
    return np.asarray(log_p - log_p.max())


def at_rest(pair: Pair, y: Array, matrix: Banded) -> Array:
    """Masses at the points y that a step of Q, `matrix`, nearly preserves. They are solved for in units of a density
    like theirs, as they may differ by many orders of magnitude."""
    unit = np.exp(np.maximum(log_density(pair, y, up=False), log(TINY)))
    largest = int(unit.argmax())  # its mass is 1: there the balance follows from that elsewhere
    scaled = _in_units(matrix, unit)
    source = scaled.part(slice(largest, largest + 1), slice(0, len(y)))[0]
    others = (np.arange(len(y)) != largest).astype(float)
    mass = Elimination(_in_units(scaled, others, others)).solve(source * others)
    mass[largest] = 1.0
    mass = np.maximum(mass * unit, TINY)
    for _ in range(3):
        mass = np.maximum(matrix.times(mass), TINY)
    return np.asarray(mass / mass.sum())


def _in_units(matrix: Banded, rows: Array, columns: Array | None = None) -> Banded:
    """The matrix with its rows multiplied by these numbers, and its columns by those, or by the inverse of `rows`."""
    columns = 1 / rows if columns is None else columns
    return matrix.changed(lambda entries, r, c: rows[r, None] * entries * columns[c])


def largest_change(before: Array, after: Array) -> float:
    """The largest |log(after/before)|, rounded up, of the values that count."""
    change = float(np.where(before + after > SMALLEST, np.abs(after / before - 1), 0.0).max()) * (1 + 1e-9)
    return change / (1 - change) if change < 1 else inf


def kept_by_step(pair: Pair, g: Grid, up: bool) -> Banded:
    """N: what a step of P (`up`) or Q keeps of a difference of tails."""
    return density(pair, g.x, g.x, up).changed(lambda entries, rows, _: flush(entries * (pair.pull * g.w)[rows, None]))


class Kept:
    """N, with what its powers leave."""

    def __init__(self, pair: Pair, g: Grid, up: bool) -> None:
        self.up, self.matrix = up, kept_by_step(pair, g, up)
        shape = np.exp(log_density(pair, g.x, up)) * g.w
        self._unit = np.maximum(np.cumsum(shape[::-1])[::-1], TINY)  # like the tails of the law at rest
        self._system = Elimination(_in_units(self.matrix, self._unit))

    def solve(self, source: Array) -> Array:
        """A positive s with s = sN + source, nearly."""
        s = np.maximum(self._system.solve(source / self._unit) * self._unit, TINY)
        for _ in range(3):
            s = np.maximum(self.matrix.times(s) + source, TINY)
        return np.asarray(s)

    def slow(self, start: Array, powers: int = 4) -> list[Array]:
        """start·(1 − N)^−k for k up to `powers`, which approach what decays most slowly, and the same for 1 in place
        of `start`."""
        found = []
        for u in (start, np.ones(len(start))):
            for _ in range(powers):
                u = self.solve(u)
                u = u / u.max()
                found.append(u)
        return found

    def bound(self, start: Array, steps: int) -> Array:
        """An upper bound on start·N^steps: where uN <= λu, it is at most λ^steps·u·max(start/u)."""
        best = np.full(len(start), start.max())  # as 1·N <= 1
        for u in self.slow(start):
            rate = float((self.matrix.times(u) / u).max())
            if rate < 1:
                best = np.minimum(best, u * float((start / u).max()) * rate**steps)
        return best
