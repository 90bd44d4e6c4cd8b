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
    between,
    cell_error,
    cells,
    density,
    entry_error,
    flush,
    means,
    moved_masses,
    places,
    push,
    unknown,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def law(pair: Pair, g: Grid, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps, by powers of one step."""
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    step_error = g.error + entry_error(pair, len(y))
    state, powers = _after_one_step(pair, g, pair.start), _powers(pair._replace(start=0.0), g, y)
    if steps <= 200:  # then products of a vector and a matrix are cheaper than squares of matrices
        for _ in range(steps - 2):
            state = powers[0].after(state)
        return _last_step(pair, Origin(y, state.mass, g.x, state.s * g.w), None, steps * step_error)
    from_wall, left, k = _after_one_step(pair, g, pair.half), steps - 2, 0
    while left:
        if k == len(powers):
            powers.append(powers[-1].squared)
        if left & 1:
            state = powers[k].after(state)
        left >>= 1
        if left == 0:
            break
        mixed = powers[k].after(from_wall)
        if _is_mixed(pair, mixed, 2**k * step_error):
            return _from_right_wall(pair, g, y, mixed, (2**k + 2) * step_error)
        k += 1
    return _last_step(pair, Origin(y, state.mass, g.x, state.s * g.w), None, steps * step_error)


def _sides(pair: Pair) -> tuple[bool, ...]:
    """The walks whose C is computed: P, and Q unless it is the mirror image of P."""
    return (True,) if pair.mirrored else (True, False)


class _State(NamedTuple):
    """What is computed step by step: the masses of Q, and S and C at the nodes."""

    mass: Array
    s: Array
    c: tuple[Array, ...]  # of P, and of Q unless mirrored


def _after_one_step(pair: Pair, g: Grid, y: float) -> _State:
    """The state after one step from y, with C after one step."""
    import numpy as np

    start, walls = np.array([y]), np.array([pair.pull * pair.half, -pair.pull * pair.half])
    c = []
    for up in _sides(pair):
        total = np.zeros(len(g.x))
        for m, share in means(pair, up):
            total += share * between(walls[1] + m - g.x, walls[0] + m - g.x)
        c.append(total)
    return _State(moved_masses(pair, g, start, up=False)[0], push(pair, start, g.x)[0], tuple(c))


class _Power(NamedTuple):
    """A power of the step [M B; 0 N] of walk.py."""

    m: Array
    b: Array
    n: tuple[Array, ...]  # of P, and of Q unless mirrored

    def after(self, state: _State) -> _State:
        """The state after these steps from `state`."""
        c = tuple(c @ n for c, n in zip(state.c, self.n, strict=True))
        return _State(state.mass @ self.m, state.s @ self.n[0] + state.mass @ self.b, c)

    @property
    def squared(self) -> _Power:
        """The square of this power."""
        return _Power(flush(self.m @ self.m), flush(self.m @ self.b + self.b @ self.n[0]),
                      tuple(flush(n @ n) for n in self.n))


@lru_cache(maxsize=4)
def _cached_powers(pair: Pair) -> list[_Power]:
    """The powers 1, 2, 4, … of a step that were needed so far; callers add to the list."""
    return []


def _powers(pair: Pair, g: Grid, y: Array) -> list[_Power]:
    """The cached powers of a step, at least the first one."""
    powers = _cached_powers(pair)
    if not powers:
        n = (density(pair, g.x, g.x, up) * (pair.pull * g.w)[:, None] for up in _sides(pair))
        powers.append(_Power(flush(moved_masses(pair, g, y, up=False)), flush(push(pair, y, g.x)),
                             tuple(map(flush, n))))
    return powers


def _is_mixed(pair: Pair, state: _State, error: float) -> bool:
    """Whether C is negligible against the error of the difference of the laws and against the tail of Q."""
    import numpy as np

    above = np.cumsum(state.mass[::-1])[::-1][1:-1]
    of_q = state.c[-1][:: -1 if pair.mirrored else 1]
    largest = max(float(c.max()) for c in state.c)
    return largest <= error * pair.rate * float(state.s.max()) and bool((of_q <= 1e-4 * above).all())


def _from_right_wall(pair: Pair, g: Grid, y: Array, state: _State, error: float) -> Law:
    """Bounds on the laws from any start and after any larger number of steps, from the laws that started at the right
    wall; C is computed for one more step, at the edges of the cells."""
    edges = places(pair)
    if not error < 1:
        return unknown(edges)
    factor = exp(min(1.0, error + cell_error(pair, edges)))  # above 1 `_last_step` returns `unknown`
    c = [(c * g.w * pair.pull) @ density(pair, g.x, edges, up) * factor + FLOOR
         for c, up in zip(state.c, (True, False), strict=False)]
    return _last_step(pair, Origin(y, state.mass, g.x, state.s * g.w), (c[0], c[-1][::-1] if pair.mirrored else c[-1]),
                      error)


def _last_step(pair: Pair, origin: Origin, c: tuple[Array, Array] | None, error: float) -> Law:
    """Bounds after one more step, cell by cell; `c` are C_P and C_Q at the edges of the cells, None for 0."""
    import numpy as np

    edges = places(pair)
    error += cell_error(pair, edges)
    if not error < 1:
        return unknown(edges)
    mass = cells(pair, origin, edges)
    s = origin.mass @ push(pair, origin.y, edges) + (origin.s * pair.pull) @ density(pair, origin.nodes, edges, up=True)
    difference, (c_p, c_q) = pair.rate * s, c or (0.0, 0.0)
    low = np.maximum(difference * exp(-error) - c_p - FLOOR, 0.0)  # P(w >= x) >= Q(w >= x), as up >= down
    high = difference * exp(error) + c_q + FLOOR
    at_least, at_most = np.concatenate([[0.0], low, [0.0]]), np.concatenate([[0.0], high, [0.0]])
    gain_low, gain_high = at_least[:-1] - at_most[1:], at_most[:-1] - at_least[1:]
    added = np.concatenate([np.broadcast_to(c_q, edges.shape), [0.0]])
    return Law(mass * exp(error) + added + FLOOR, np.where(gain_low > 0, gain_low, np.minimum(gain_high, 0.0)),
               np.cumsum(mass[::-1])[::-1][1:] * exp(error) + FLOOR, low)
