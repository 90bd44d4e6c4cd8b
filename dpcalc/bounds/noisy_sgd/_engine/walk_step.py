"""One step of a pair of clamped walks: its entries, its cells, and how wrong they may be (walk.py has the whole)."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.numerics import legendre, tails_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FLOOR = 1e-285  # all that underflow can lose: smaller entries are dropped, fewer than 1e12 of them
TINY = 1e-300
LEAST_PULL = 0.01  # a below is carried as if it were negative: N needs it relatively
_ULP = 2.0**-53
_LIBRARY = 200  # units of 2^-53 by which exp, and tails.tail at the argument as it is, may be wrong
_FARTHEST = 38.6  # φ(z) is 0 in doubles beyond
_CELLS, _FINEST, _NARROW = 200, 0.1, 0.05  # one cell where the walls have nearly everything
# e^{−zv − v²/2} over |v| <= 1/4, |z| <= 38.6, by the ellipse ρ = 4·20/9.65 of walk_grid's proof: wrong by 1e-18 of the
# integral.
_PUSH_NODES = 20


class Pair(NamedTuple):
    """Two walks in units of their noise per step."""

    half: float  # h
    pull: float  # a
    drift: float
    up: float  # where the differing record is used: P
    down: float  # Q
    rate: float  # q
    start: float

    @property
    def reach(self) -> float:
        return max(abs(self.drift), abs(self.up), abs(self.down))

    @property
    def mirrored(self) -> bool:
        """Q is P seen in a mirror."""
        return self.drift == 0 and self.up == -self.down


class Law(NamedTuple):
    """Of the cells from left to right, the walls first and last, and of the events w > −h, w >= each cut, w >= h."""

    mass: Array  # at least Q(cell)
    gain: Array  # P(cell) − Q(cell), moved towards 0 as far as it may be wrong
    above: Array  # at least Q(event)
    lead: Array  # at most P(event) − Q(event), or 0


class Origin(NamedTuple):
    """Where the last step starts from: places with masses of Q; nodes with S times their weights."""

    y: Array
    mass: Array
    nodes: Array
    s: Array


def means(pair: Pair, up: bool) -> tuple[tuple[float, float], ...]:
    kick = pair.up if up else pair.down
    return tuple((m, share) for m, share in ((pair.drift, 1 - pair.rate), (kick, pair.rate)) if share > 0)


def density(pair: Pair, y: Array, x: Array, up: bool) -> Array:
    """Row y, column x: the density of a step from y to x."""
    import numpy as np

    total = np.zeros((len(y), len(x)))
    for m, share in means(pair, up):
        z = x[None, :] - (pair.pull * y + m)[:, None]
        total += share / sqrt(2 * pi) * np.exp(-0.5 * z * z)
    return total


def _tail(z: Array) -> Array:
    """Q(z), any sign."""
    import numpy as np

    return _upper(tails_array.tail(np.abs(z)), z)


def between(low: Array, high: Array) -> Array:
    """Φ(high) − Φ(low) for high >= low, from the side on which the tails are small."""
    import numpy as np

    turn = low + high < 0
    a, b = np.where(turn, -high, low), np.where(turn, -low, high)
    return np.asarray(np.maximum(_tail(a) - _tail(b), 0.0))


def push(pair: Pair, y: Array, x: Array) -> Array:
    """Row y, column x: Φ(ay + up − x) − Φ(ay + down − x)."""
    import numpy as np

    z, half = (pair.pull * y + (pair.up + pair.down) / 2)[:, None] - x[None, :], (pair.up - pair.down) / 2
    if half >= 0.25:
        return between(z - half, z + half)
    t, w = legendre.rule(_PUSH_NODES)
    total = np.zeros(z.shape)
    for v, weight in zip((half * t).tolist(), (half * w).tolist(), strict=True):
        total += weight / sqrt(2 * pi) * np.exp(-0.5 * (z + v) ** 2)
    return total


def entry_error(pair: Pair, nodes: int) -> float:
    """Relative error of a step's entries, and of a sum over them."""
    moved = 8 * _ULP * (pair.half + pair.reach + 1) + legendre.ERROR  # of x, ends of panels, ay + m and differences
    # of the exponent: in an entry, and in the quadrature of rounded nodes
    slope = 1 + _FARTHEST + 2 * (4.5 + 1.62 * pair.reach + 13)
    entry = slope * moved + (3 * _FARTHEST**2 + _LIBRARY + 2 / LEAST_PULL) * _ULP
    # Differences of tails over 1/2 or more cancel by 2.3 at most, by 5.2 near 0, where tails are right to a few units.
    return (2.5 if pair.up - pair.down >= 0.5 else 1.01) * entry + (2 * nodes + 8) * _ULP + 5 * legendre.ERROR + 1e-16


def moved_masses(pair: Pair, g: Grid, y: Array, up: bool) -> Array:
    """Row y; columns: masses of the left wall, the nodes, the right wall."""
    import numpy as np

    left, right = np.zeros(len(y)), np.zeros(len(y))
    for m, share in means(pair, up):
        left += share * _tail(pair.half + (pair.pull * y + m))
        right += share * _tail(pair.half - (pair.pull * y + m))
    return np.concatenate([left[:, None], density(pair, y, g.x, up) * g.w, right[:, None]], axis=1)


def flush(matrix: Array) -> Array:
    """Without entries so small that products of them would leave the range of doubles."""
    matrix[matrix < TINY] = 0.0
    return matrix


def places(pair: Pair) -> Array:
    """Where cells meet: the thresholds."""
    import numpy as np

    count = min(_CELLS, max(8, int(2 * pair.half / _FINEST))) if 2 * pair.half > _NARROW else 1
    return np.linspace(-pair.half, pair.half, count + 1)


def unknown(cuts: Array) -> Law:
    """Where errors exceed the numbers."""
    import numpy as np

    return Law(np.ones(len(cuts) + 1), np.zeros(len(cuts) + 1), np.ones(len(cuts)), np.zeros(len(cuts)))


def cells(pair: Pair, origin: Origin, cuts: Array, up: bool = False) -> Array:
    """Masses of the cells after one more step of Q (or P)."""
    import numpy as np

    total = np.zeros(len(cuts) + 1)
    for m, share in means(pair, up):
        z = cuts[None, :] - (pair.pull * origin.y + m)[:, None]
        tail = tails_array.tail(np.abs(z))
        above, below = _upper(tail, z), _upper(tail, -z)
        inner = np.where(z[:, :-1] + z[:, 1:] >= 0, above[:, :-1] - above[:, 1:], below[:, 1:] - below[:, :-1])
        rows = np.concatenate([below[:, :1], np.maximum(inner, 0.0), above[:, -1:]], axis=1)
        total += share * (origin.mass @ rows)
    return total


def _upper(tail: Array, z: Array) -> Array:
    """Q(z) from Q(|z|)."""
    import numpy as np

    return np.where(z >= 0, tail, 1 - tail)


def cell_error(pair: Pair, cuts: Array) -> float:
    """Of the tails' differences over cells: they cancel by 2/(1 − Q(z + w)/Q(z)) <= 8/w + 2 at most, z >= −w/2."""
    width = 2 * pair.half / (len(cuts) - 1)
    moved = 8 * _ULP * (pair.half + pair.reach + 1)
    return (len(cuts) + 8) * _ULP + (8 / min(width, 1.0) + 2) * (moved * (_FARTHEST + 1) + (3 * _FARTHEST**2 + _LIBRARY)
                                                                 * _ULP)


