"""Two clamped random walks told apart after T steps: proven bounds on the probabilities of intervals under both.

w ← clamp(a·w + m + N(0, 1), ±h), m = drift, or with probability q (`rate`) up in the walk P and down in the walk Q. Laws are an atom at
each wall and a density. All errors below are relative and all quantities positive, so errors of a step multiply and tails keep theirs.

a >= 0 (`_monotone`). Carried along are the law of Q, and S(x) = (P(w >= x) − Q(w >= x))/q, which has no cancellation: by parts,
    S_{t+1}(x) = ∫ S_t(y) a·k_P(x − ay) dy + ∫ Q_t(dy)·(Φ(ay + up − x) − Φ(ay + down − x)),  k_P the density of P's noise with its m.
Integrals over y become sums over the nodes of walk_grid.py: Q's density, S and the integrands are mixtures of the Gaussians for which
its relative error is proven. So T steps, carried out as repeated squarings of [M B; 0 N] (M moves Q, N moves S, B is the second
integral), are true within exp(±E), E = T·(quadrature + entries + sums): an entry is wrong by its argument |z| <= 38.6 through
rounded nodes and means, by exp and erfc, and by the weights; a sum of N positive products by N·2^-53 in any order. What underflows
is below FLOOR in all. After the last step the walk is read off in intervals (cells), by the same sums.

Many steps. a >= 0 makes w_{t+1} increase in w_t, so P_T(w >= x) for a start anywhere and T >= t lies between its values after t steps from
the left and from the right wall, and so does Q's: they differ by C(x), C_0 = 1, C_{t+1}(x) = ∫ C_t(y) a·k(x − ay) dy. From the right wall,
    Q_T ∈ [Q_t − C_Q, Q_t],  P_T − Q_T ∈ [q·S_t − C_P, q·S_t + C_Q],
so that T beyond mixing costs no more than t, a power of two for which C is below what rounding leaves open.

a < 0, or nearly, and wide walks (`_plain`, `_resting`). The laws of P and Q are carried apart, and their difference has the error
E·(P + Q). Let two copies have the same noise. They come nearer by |a| each step, the last of which blurs what is left; and for a = 1
they meet when the noise of m steps adds up to 2h or more either way, as one hits a wall where the other is. So the laws from any two
starts differ in total variation after t steps by at most g(t) = min(2h|a|^t, erf(2h/√(2m))^⌊t/m⌋): T may be cut to t < T at this price.
A wide walk's law π of rest is solved for: if π(1 − r) <= πM <= π(1 + r) at the nodes, the law t steps after π is π within e^{±tE′},
E′ = r + E/T, and that of the walk within g(t) of it.
"""

from __future__ import annotations

from functools import lru_cache
from math import erf, erfc, exp, pi, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.noisy_sgd.walk_grid import LEGENDRE_ERROR, Grid, grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FLOOR = 1e-285  # all that underflow can lose: smaller entries are dropped, fewer than 1e12 of them
_TINY = 1e-300
_ULP = 2.0**-53
_FARTHEST = 38.6  # φ(z) is 0 in doubles beyond
_CELLS, _FINEST = 200, 0.1
_STEPWISE = 200  # so many steps are taken one by one
WIDE = 45.0  # half-widths beyond are not squared
_LEAST_PULL = 0.01  # a below is carried as if it were negative: N needs it relatively
_LIBRARY = 60  # units of 2^-53 by which exp and erfc may be wrong (they are wrong by less than four)
_SQRT_HALF = sqrt(0.5)


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
    lead: Array  # at most P(event) − Q(event)


@lru_cache(maxsize=64)
def law(pair: Pair, steps: int) -> Law:
    """The two laws after T >= 2 steps."""
    g = grid(pair.half, abs(pair.pull), pair.reach)
    if pair.half > WIDE:
        return _resting(pair, g, steps)
    return (_monotone if pair.pull >= _LEAST_PULL else _plain)(pair, g, steps)


class _Origin(NamedTuple):
    """Where the last step starts from: places with masses of Q; nodes with S times their weights."""

    y: Array
    mass: Array
    nodes: Array
    s: Array


# --- one step: the entries ------------------------------------------------------------------------------------------


def _means(pair: Pair, up: bool) -> tuple[tuple[float, float], ...]:
    kick = pair.up if up else pair.down
    return tuple((m, share) for m, share in ((pair.drift, 1 - pair.rate), (kick, pair.rate)) if share > 0)


def _density(pair: Pair, y: Array, x: Array, up: bool) -> Array:
    """Row y, column x: the density of a step from y to x."""
    import numpy as np

    total = np.zeros((len(y), len(x)))
    for m, share in _means(pair, up):
        z = x[None, :] - (pair.pull * y + m)[:, None]
        total += share / sqrt(2 * pi) * np.exp(-0.5 * z * z)
    return total


def _tail(z: Array) -> Array:
    """Q(z), entry by entry."""
    import numpy as np

    return np.array([0.5 * erfc(v * _SQRT_HALF) for v in z.ravel().tolist()]).reshape(z.shape)


def _between(low: Array, high: Array) -> Array:
    """Φ(high) − Φ(low) for high >= low, from the side on which the tails are small."""
    import numpy as np

    turn = low + high < 0
    a, b = np.where(turn, -high, low), np.where(turn, -low, high)
    return np.maximum(_tail(a) - _tail(b), 0.0)


def _push(pair: Pair, y: Array, x: Array) -> Array:
    """Row y, column x: Φ(ay + up − x) − Φ(ay + down − x)."""
    import numpy as np

    z, half = (pair.pull * y + (pair.up + pair.down) / 2)[:, None] - x[None, :], (pair.up - pair.down) / 2
    if half >= 0.25:
        return _between(z - half, z + half)
    t, w = np.polynomial.legendre.leggauss(_PUSH_NODES)
    total = np.zeros(z.shape)
    for v, weight in zip((half * t).tolist(), (half * w).tolist(), strict=True):
        total += weight / sqrt(2 * pi) * np.exp(-0.5 * (z + v) ** 2)
    return total


# e^{−zv − v²/2} over |v| <= 1/4, |z| <= 38.6, by the ellipse ρ = 4·20/9.65 of walk_grid's proof: wrong by 1e-18 of the integral.
_PUSH_NODES = 20


def _entry_error(pair: Pair, nodes: int) -> float:
    """Relative error of a step's entries, and of a sum over them."""
    moved = 8 * _ULP * (pair.half + pair.reach + 1) + LEGENDRE_ERROR  # of x, ay + m and their difference
    slope = 1 + _FARTHEST + 2 * (4.5 + 1.62 * pair.reach + 13)  # of the exponent: in an entry, and in the quadrature of rounded nodes
    entry = slope * moved + (3 * _FARTHEST**2 + _LIBRARY + 2 / _LEAST_PULL) * _ULP
    return (2.5 if pair.up - pair.down >= 0.5 else 1.01) * entry + (2 * nodes + 8) * _ULP + 5 * LEGENDRE_ERROR + 1e-16


# --- reading off ----------------------------------------------------------------------------------------------------


def _cuts(pair: Pair) -> Array:
    import numpy as np

    count = min(_CELLS, max(8, int(2 * pair.half / _FINEST)))
    return np.linspace(-pair.half, pair.half, count + 1)


def _cells(pair: Pair, origin: _Origin, cuts: Array, up: bool = False) -> Array:
    """Masses of the cells after one more step of Q (or P)."""
    import numpy as np

    total = np.zeros(len(cuts) + 1)
    for m, share in _means(pair, up):
        z = cuts[None, :] - (pair.pull * origin.y + m)[:, None]
        tail = _tail(np.abs(z))
        inner = np.where(z[:, :-1] + z[:, 1:] >= 0, _upper(tail, z)[:, :-1] - _upper(tail, z)[:, 1:], _upper(tail, -z)[:, 1:] - _upper(tail, -z)[:, :-1])
        rows = np.concatenate([_upper(tail, -z)[:, :1], np.maximum(inner, 0.0), _upper(tail, z)[:, -1:]], axis=1)
        total += share * (origin.mass @ rows)
    return total


def _upper(tail: Array, z: Array) -> Array:
    """Q(z) from Q(|z|)."""
    import numpy as np

    return np.where(z >= 0, tail, 1 - tail)


def _read(pair: Pair, origin: _Origin, apart: tuple[Array, Array] | None, error: float) -> Law:
    """One more step of the monotone case, cell by cell. `apart`: C_P and C_Q at the cuts."""
    import numpy as np

    cuts = _cuts(pair)
    error += _cell_error(pair, cuts)
    mass = _cells(pair, origin, cuts)
    s = origin.mass @ _push(pair, origin.y, cuts) + (origin.s * pair.pull) @ _density(pair, origin.nodes, cuts, up=True)
    lead, (c_p, c_q) = pair.rate * s, apart or (0.0, 0.0)
    low = np.maximum(lead * exp(-error) - c_p - FLOOR, 0.0)  # P's events are the likelier: up >= down
    high = lead * exp(error) + c_q + FLOOR
    at_least, at_most = np.concatenate([[0.0], low, [0.0]]), np.concatenate([[0.0], high, [0.0]])
    gain_low, gain_high = at_least[:-1] - at_most[1:], at_most[:-1] - at_least[1:]
    more = np.concatenate([np.broadcast_to(c_q, cuts.shape), [0.0]])
    return Law(mass * exp(error) + more + FLOOR, np.where(gain_low > 0, gain_low, np.minimum(gain_high, 0.0)),
               np.cumsum(mass[::-1])[::-1][1:] * exp(error) + FLOOR, low)


def _cell_error(pair: Pair, cuts: Array) -> float:
    """Of the tails' differences over cells: they cancel by 2/(1 − Q(z + w)/Q(z)) <= 8/w + 2 at most, z >= −w/2."""
    width = 2 * pair.half / (len(cuts) - 1)
    moved = 8 * _ULP * (pair.half + pair.reach + 1)
    return (len(cuts) + 8) * _ULP + (8 / min(width, 1.0) + 2) * (moved * (_FARTHEST + 1) + (3 * _FARTHEST**2 + _LIBRARY) * _ULP)


# --- a >= 0 ---------------------------------------------------------------------------------------------------------


class _State(NamedTuple):
    mass: Array
    s: Array  # at the nodes
    c: tuple[Array, ...]  # C of P, and of Q unless mirrored


def _first(pair: Pair, g: Grid, y: float) -> _State:
    """One step from y, and C after one step."""
    import numpy as np

    at, walls = np.array([y]), np.array([pair.pull * pair.half, -pair.pull * pair.half])
    c = []
    for up in (True, False)[: 1 if pair.mirrored else 2]:
        c.append(sum(share * _between(walls[1] + m - g.x, walls[0] + m - g.x) for m, share in _means(pair, up)))
    return _State(_moved(pair, g, at, up=False)[0], _push(pair, at, g.x)[0], tuple(c))


def _moved(pair: Pair, g: Grid, y: Array, up: bool) -> Array:
    """Row y; columns: masses of the left wall, the nodes, the right wall."""
    import numpy as np

    walls = [sum(share * _tail(pair.half + side * (pair.pull * y + m)) for m, share in _means(pair, up)) for side in (1, -1)]
    return np.concatenate([walls[0][:, None], _density(pair, y, g.x, up) * g.w, walls[1][:, None]], axis=1)


def _flush(matrix: Array) -> Array:
    matrix[matrix < _TINY] = 0.0
    return matrix


class _Power(NamedTuple):
    m: Array
    b: Array
    n: tuple[Array, ...]  # of P, and of Q unless mirrored

    def after(self, state: _State) -> _State:
        return _State(state.mass @ self.m, state.s @ self.n[0] + state.mass @ self.b, tuple(c @ n for c, n in zip(state.c, self.n, strict=True)))

    @property
    def squared(self) -> _Power:
        return _Power(_flush(self.m @ self.m), _flush(self.m @ self.b + self.b @ self.n[0]), tuple(_flush(n @ n) for n in self.n))


def _monotone(pair: Pair, g: Grid, steps: int) -> Law:
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    each = g.error + _entry_error(pair, len(y))
    state, powers = _first(pair, g, pair.start), _powers(pair._replace(start=0.0), g, y)
    if steps - 2 <= _STEPWISE:
        for _ in range(steps - 2):
            state = powers[0].after(state)
        return _read(pair, _Origin(y, state.mass, g.x, state.s * g.w), None, steps * each)
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
    return _read(pair, _Origin(y, state.mass, g.x, state.s * g.w), None, steps * each)


@lru_cache(maxsize=4)
def _powers_of(pair: Pair) -> list[_Power]:
    """Powers 1, 2, 4, …, as far as they have been needed."""
    return []


def _powers(pair: Pair, g: Grid, y: Array) -> list[_Power]:
    known = _powers_of(pair)
    if not known:
        n = (_density(pair, g.x, g.x, up) * (pair.pull * g.w)[:, None] for up in (True, False)[: 1 if pair.mirrored else 2])
        known.append(_Power(_flush(_moved(pair, g, y, up=False)), _flush(_push(pair, y, g.x)), tuple(map(_flush, n))))
    return known


def _mixed(pair: Pair, end: _State, error: float) -> bool:
    """C no longer matters: to the difference of the laws, and to Q's tail."""
    import numpy as np

    above = np.cumsum(end.mass[::-1])[::-1][1:-1]
    return bool(max(float(c.max()) for c in end.c) <= error * pair.rate * float(end.s.max()) and (end.c[-1] <= 1e-4 * above[:: -1 if pair.mirrored else 1]).all())


def _from_wall(pair: Pair, g: Grid, y: Array, end: _State, error: float) -> Law:
    """The laws of any start and any larger number of steps, C carried one step further to the cuts."""
    cuts = _cuts(pair)
    more = exp(error + _cell_error(pair, cuts))
    apart = [(c * g.w * pair.pull) @ _density(pair, g.x, cuts, up) * more + FLOOR for c, up in zip(end.c, (True, False), strict=False)]
    return _read(pair, _Origin(y, end.mass, g.x, end.s * g.w), (apart[0], apart[-1][::-1] if pair.mirrored else apart[-1]), error)


# --- a < 0.01 -------------------------------------------------------------------------------------------------------


def _plain(pair: Pair, g: Grid, steps: int) -> Law:
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    each = g.error + _entry_error(pair, len(y))
    sides = (True, False)
    masses = [_moved(pair, g, np.array([pair.start]), up)[0] for up in sides]
    powers = [_flush(_moved(pair, g, y, up)) for up in sides]
    left, done = steps - 2, 1
    while left:
        reached = [mass @ power for mass, power in zip(masses, powers, strict=True)]
        if left > 1 and _gap(pair, done + 2) <= 1e-9 * min(float(mass[mass > 0].min()) for mass in reached):
            return _apart(pair, g, y, reached, (done + 2) * each, _gap(pair, done + 2))
        if left & 1:
            masses = reached
        left >>= 1
        if left:
            powers, done = [_flush(power @ power) for power in powers], 2 * done
    return _apart(pair, g, y, masses, steps * each, 0.0)


def _gap(pair: Pair, steps: int) -> float:
    """g(t)."""
    nearer = 2 * pair.half * abs(pair.pull) ** min(steps, 2**50)
    block = max(1, round(0.9 * (2 * pair.half) ** 2))
    return min(1.0, nearer, erf(2 * pair.half / sqrt(2 * block)) ** (steps // block) if pair.pull == 1 else 1.0) * (1 + 1e-6)


def _resting(pair: Pair, g: Grid, steps: int) -> Law:
    """A wide walk, mirrored, after so many steps that it rests."""
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    matrix = _moved(pair, g, y, up=False)
    system = matrix.T - np.eye(len(y))
    system[-1] = 1.0
    mass = np.maximum(np.linalg.solve(system, np.eye(len(y))[-1]), _TINY)
    for _ in range(3):
        mass = mass @ matrix
    after = mass @ matrix
    each = g.error + _entry_error(pair, len(y)) + float(np.abs(after / mass - 1).max()) * (1 + 1e-9)
    mass /= mass.sum()
    count = min((k for k in range(1, 61) if k * pair.half**2 * 4 < steps), key=lambda k: _gap(pair, int(k * pair.half**2 * 4)) + k * pair.half**2 * 4 * each)
    t = int(count * pair.half**2 * 4)
    return _apart(pair, g, y, [mass[::-1], mass], (t + 1) * each, _gap(pair, t))


def _apart(pair: Pair, g: Grid, y: Array, masses: list[Array], error: float, left_open: float) -> Law:
    """One more step of two laws, each true within exp(±error) and, in total variation, `left_open`."""
    import numpy as np

    cuts = _cuts(pair)
    p, q = (_cells(pair, _Origin(y, m, g.x, g.x), cuts, up) for m, up in zip(masses, (True, False), strict=True))
    error += _cell_error(pair, cuts)
    off = np.expm1(error)
    gain, (above_p, above_q) = p - q, (np.cumsum(x[::-1])[::-1][1:] for x in (p, q))
    wrong = off * (p + q) + 2 * left_open + FLOOR
    return Law(q * (1 + off) + left_open + FLOOR, np.sign(gain) * np.maximum(np.abs(gain) - wrong, 0.0), above_q * (1 + off) + left_open + FLOOR,
               np.maximum(above_p - above_q - off * (above_p + above_q) - 2 * left_open - FLOOR, 0.0))
