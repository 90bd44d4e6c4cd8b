"""The law of Q at rest, and what walks with a >= 0 keep of differences of tails (walk.py has the proof)."""

from math import inf, log

import numpy as np

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


def at_rest(pair: Pair, y: Array, matrix: Array) -> Array:
    """Masses at the points y that a step of Q, `matrix`, nearly preserves. They are solved for in units of a density
    like theirs, as they may differ by many orders of magnitude."""
    unit = np.exp(np.maximum(log_density(pair, y, up=False), log(TINY)))
    system = (unit[:, None] * matrix / unit).T - np.eye(len(y))
    largest = int(unit.argmax())  # there the balance follows from that elsewhere, with the least relative error
    system[largest] = 1.0
    mass = np.maximum(np.linalg.solve(system, np.eye(len(y))[largest]) * unit, TINY)
    for _ in range(3):
        mass = np.maximum(mass @ matrix, TINY)
    return np.asarray(mass / mass.sum())


def largest_change(before: Array, after: Array) -> float:
    """The largest |log(after/before)|, rounded up, of the values that count."""
    change = float(np.where(before + after > SMALLEST, np.abs(after / before - 1), 0.0).max()) * (1 + 1e-9)
    return change / (1 - change) if change < 1 else inf


def kept_by_step(pair: Pair, g: Grid, up: bool) -> Array:
    """N: what a step of P (`up`) or Q keeps of a difference of tails."""
    return flush(density(pair, g.x, g.x, up) * (pair.pull * g.w)[:, None])


class Kept:
    """N, with what its powers leave."""

    def __init__(self, pair: Pair, g: Grid, up: bool) -> None:
        self.up, self.matrix = up, kept_by_step(pair, g, up)
        shape = np.exp(log_density(pair, g.x, up)) * g.w
        self._unit = np.maximum(np.cumsum(shape[::-1])[::-1], TINY)  # like the tails of the law at rest
        self._inverse = np.linalg.inv(np.eye(len(g.x)) - self._unit[:, None] * self.matrix / self._unit)

    def solve(self, source: Array) -> Array:
        """A positive s with s = sN + source, nearly."""
        s = np.maximum((source / self._unit) @ self._inverse * self._unit, TINY)
        for _ in range(3):
            s = np.maximum(s @ self.matrix + source, TINY)
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
            rate = float((u @ self.matrix / u).max())
            if rate < 1:
                best = np.minimum(best, u * float((start / u).max()) * rate**steps)
        return best
