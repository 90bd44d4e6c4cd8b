"""The laws of a pair of walks with a >= 0, from the law of Q and the difference of the tails of P and Q (walk.py has
the proof)."""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import (
    FLOOR,
    Law,
    Origin,
    Pair,
    cell_error,
    cells,
    density,
    entry_error,
    flush,
    moved_masses,
    places,
    push,
    unknown,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def law(pair: Pair, g: Grid, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps from a point, by powers of one step."""
    import numpy as np

    y, start = np.concatenate([[-pair.half], g.x, [pair.half]]), np.array([pair.start])
    mass, s = moved_masses(pair, g, start, up=False)[0], push(pair, start, g.x)[0]
    powers, left = _powers(pair._replace(start=0.0), g, y), steps - 2
    if steps <= 200:  # then products of a vector and a matrix are cheaper than squares of matrices
        for _ in range(left):
            mass, s = powers[0].after(mass, s)
    else:
        for k in range(left.bit_length()):
            if k == len(powers):
                powers.append(powers[-1].squared)
            if left >> k & 1:
                mass, s = powers[k].after(mass, s)
    return last_step(pair, Origin(y, mass, g.x, s * g.w), steps * (g.error + entry_error(pair, len(y))))


class _Power(NamedTuple):
    """A power of the step [M B; 0 N] of walk.py."""

    m: Array
    b: Array
    n: Array

    def after(self, mass: Array, s: Array) -> tuple[Array, Array]:
        """The masses of Q and S at the nodes after these steps."""
        return mass @ self.m, s @ self.n + mass @ self.b

    @property
    def squared(self) -> _Power:
        """The square of this power."""
        return _Power(flush(self.m @ self.m), flush(self.m @ self.b + self.b @ self.n), flush(self.n @ self.n))


@lru_cache(maxsize=4)
def _cached_powers(pair: Pair) -> list[_Power]:
    """The powers 1, 2, 4, … of a step that were needed so far; callers add to the list."""
    return []


def _powers(pair: Pair, g: Grid, y: Array) -> list[_Power]:
    """The cached powers of a step, at least the first one."""
    powers = _cached_powers(pair)
    if not powers:
        powers.append(_Power(flush(moved_masses(pair, g, y, up=False)), flush(push(pair, y, g.x)),
                             flush(density(pair, g.x, g.x, up=True) * (pair.pull * g.w)[:, None])))
    return powers


def last_step(pair: Pair, origin: Origin, error: float, lost: Array | float = 0.0, c_q: Array | float = 0.0) -> Law:
    """Bounds after one more step, cell by cell. At the edges of the cells, P(w >= x) − Q(w >= x) is within `lost` of
    what the origin says, and Q(w >= x) within `c_q`, besides the relative error."""
    import numpy as np

    edges = places(pair)
    error += cell_error(pair, edges)
    if not error < 1:
        return unknown(edges)
    mass = cells(pair, origin, edges)
    s = origin.mass @ push(pair, origin.y, edges) + (origin.s * pair.pull) @ density(pair, origin.nodes, edges, up=True)
    # P(w >= x) >= Q(w >= x), as up >= down.
    low = np.maximum(pair.rate * s * exp(-error) - lost - FLOOR, 0.0)
    high = pair.rate * s * exp(error) + lost + FLOOR
    at_least, at_most = np.concatenate([[0.0], low, [0.0]]), np.concatenate([[0.0], high, [0.0]])
    gain_low, gain_high = at_least[:-1] - at_most[1:], at_most[:-1] - at_least[1:]
    at_edges = np.broadcast_to(c_q, edges.shape)
    added = np.concatenate([at_edges, [0.0]]) + np.concatenate([[0.0], at_edges])
    return Law(mass * exp(error) + added + FLOOR, np.where(gain_low > 0, gain_low, np.minimum(gain_high, 0.0)),
               np.cumsum(mass[::-1])[::-1][1:] * exp(error) + c_q + FLOOR, low)
