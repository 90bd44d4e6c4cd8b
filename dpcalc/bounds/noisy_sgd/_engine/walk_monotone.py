"""Walks with a >= 0 that remember their order: the law of Q, and what P is ahead of it (walk.py has the proof)."""

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

_STEPWISE = 200  # so many steps are taken one by one


def law(pair: Pair, g: Grid, steps: int) -> Law:
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    each = g.error + entry_error(pair, len(y))
    state, powers = _first(pair, g, pair.start), _powers(pair._replace(start=0.0), g, y)
    if steps - 2 <= _STEPWISE:
        for _ in range(steps - 2):
            state = powers[0].after(state)
        return _read(pair, Origin(y, state.mass, g.x, state.s * g.w), None, steps * each)
    wall, left, k = _first(pair, g, pair.half), steps - 2, 0
    while left:
        if k == len(powers):
            powers.append(powers[-1].squared)
        if left & 1:
            state = powers[k].after(state)
        left >>= 1
        if left == 0:
            break
        end = powers[k].after(wall)
        if _mixed(pair, end, 2**k * each):
            return _from_wall(pair, g, y, end, (2**k + 2) * each)
        k += 1
    return _read(pair, Origin(y, state.mass, g.x, state.s * g.w), None, steps * each)


def _sides(pair: Pair) -> tuple[bool, ...]:
    """Whose C is carried: of P, and of Q unless it is P's mirrored."""
    return (True,) if pair.mirrored else (True, False)


class _State(NamedTuple):
    mass: Array
    s: Array  # at the nodes
    c: tuple[Array, ...]  # C of P, and of Q unless mirrored


def _first(pair: Pair, g: Grid, y: float) -> _State:
    """One step from y, and C after one step."""
    import numpy as np

    at, walls = np.array([y]), np.array([pair.pull * pair.half, -pair.pull * pair.half])
    c = []
    for up in _sides(pair):
        total = np.zeros(len(g.x))
        for m, share in means(pair, up):
            total += share * between(walls[1] + m - g.x, walls[0] + m - g.x)
        c.append(total)
    return _State(moved_masses(pair, g, at, up=False)[0], push(pair, at, g.x)[0], tuple(c))


class _Power(NamedTuple):
    m: Array
    b: Array
    n: tuple[Array, ...]  # of P, and of Q unless mirrored

    def after(self, state: _State) -> _State:
        c = tuple(c @ n for c, n in zip(state.c, self.n, strict=True))
        return _State(state.mass @ self.m, state.s @ self.n[0] + state.mass @ self.b, c)

    @property
    def squared(self) -> _Power:
        return _Power(flush(self.m @ self.m), flush(self.m @ self.b + self.b @ self.n[0]),
                      tuple(flush(n @ n) for n in self.n))


@lru_cache(maxsize=4)
def _powers_of(pair: Pair) -> list[_Power]:
    """Powers 1, 2, 4, …, as far as they have been needed."""
    return []


def _powers(pair: Pair, g: Grid, y: Array) -> list[_Power]:
    known = _powers_of(pair)
    if not known:
        n = (density(pair, g.x, g.x, up) * (pair.pull * g.w)[:, None] for up in _sides(pair))
        known.append(_Power(flush(moved_masses(pair, g, y, up=False)), flush(push(pair, y, g.x)), tuple(map(flush, n))))
    return known


def _mixed(pair: Pair, end: _State, error: float) -> bool:
    """C no longer matters: to the difference of the laws, and to Q's tail."""
    import numpy as np

    above = np.cumsum(end.mass[::-1])[::-1][1:-1]
    of_q = end.c[-1][:: -1 if pair.mirrored else 1]
    return max(float(c.max())
               for c in end.c) <= error * pair.rate * float(end.s.max()) and bool((of_q <= 1e-4 * above).all())


def _from_wall(pair: Pair, g: Grid, y: Array, end: _State, error: float) -> Law:
    """The laws of any start and any larger number of steps, C carried one step further to the cuts."""
    cuts = places(pair)
    if not error < 1:
        return unknown(cuts)
    more = exp(min(1.0, error + cell_error(pair, cuts)))  # beyond, nothing will be read
    apart = [(c * g.w * pair.pull) @ density(pair, g.x, cuts, up) * more + FLOOR for c,
             up in zip(end.c, (True, False), strict=False)]
    return _read(pair, Origin(y, end.mass, g.x, end.s * g.w),
                 (apart[0], apart[-1][::-1] if pair.mirrored else apart[-1]), error)


def _read(pair: Pair, origin: Origin, apart: tuple[Array, Array] | None, error: float) -> Law:
    """One more step of the monotone case, cell by cell. `apart`: C_P and C_Q at the cuts."""
    import numpy as np

    cuts = places(pair)
    error += cell_error(pair, cuts)
    if not error < 1:
        return unknown(cuts)
    mass = cells(pair, origin, cuts)
    s = origin.mass @ push(pair, origin.y, cuts) + (origin.s * pair.pull) @ density(pair, origin.nodes, cuts, up=True)
    lead, (c_p, c_q) = pair.rate * s, apart or (0.0, 0.0)
    low = np.maximum(lead * exp(-error) - c_p - FLOOR, 0.0)  # P's events are the likelier: up >= down
    high = lead * exp(error) + c_q + FLOOR
    at_least, at_most = np.concatenate([[0.0], low, [0.0]]), np.concatenate([[0.0], high, [0.0]])
    gain_low, gain_high = at_least[:-1] - at_most[1:], at_most[:-1] - at_least[1:]
    more = np.concatenate([np.broadcast_to(c_q, cuts.shape), [0.0]])
    return Law(mass * exp(error) + more + FLOOR, np.where(gain_low > 0, gain_low, np.minimum(gain_high, 0.0)),
               np.cumsum(mass[::-1])[::-1][1:] * exp(error) + FLOOR, low)


