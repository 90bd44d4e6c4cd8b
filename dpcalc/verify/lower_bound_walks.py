"""The laws of the walks of lower-bound after many steps, in ball arithmetic: certain bounds on the probabilities of
half-lines and cells.

Both laws are carried apart, as masses at the two walls and at the nodes of a quadrature whose relative error e on what
a step integrates is that of dpcalc.bounds.noisy_sgd._engine.walk_grid (the proof is there; here with more nodes, and up
to 14 deviations beyond a push, where e^{−98} of a tail is left). Everything is positive, so T steps are true within
e^{±Te}; entries and sums are balls. Many steps are powers of a matrix, by squaring; no more than t, where the laws from
any two starts have come within g(t) of each other (walk.py). A wide walk is at rest: a law π that a step changes by a
factor within 1 ± r at the nodes is, t steps later, π within e^{±t(r+e)}, and the walk within g(t) of that. """

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import erf, exp, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.noisy_sgd._engine import walk_grid
from dpcalc.bounds.noisy_sgd._engine.walk import WIDE
from dpcalc.bounds.noisy_sgd._engine.walk_step import Pair, means
from dpcalc.verify.unchecked import TooLong, Unchecked

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context

_GOAL, _BEYOND = 1e-22, 14.0
# nodes, widest half, and at the walls, tried
_PANELS = ((24, 6.0, 30.0), (48, 8.0, 60.0), (64, 8.0, 120.0), (96, 12.0, 120.0))
_FAR = 1e-40  # relative: what lies beyond that
_GONE = 1e-30  # of g(t): so near that more steps change nothing
_TINY = 20  # bits
_STEPWISE = 300  # so many steps are taken one by one
_MOST = 2e9  # of n³ over all products of n × n matrices: half a minute


class Laws(NamedTuple):
    """Where the last step starts from: places, and masses of P and Q there, true within e^{±error} and, in all,
    `left_open`."""

    places: Sequence[Any]
    p: Sequence[Any]
    q: Sequence[Any]
    error: Any
    left_open: Any


def events(c: Context, pair: Pair, steps: int, cuts: Sequence[float]) -> list[tuple[Any, Any]]:
    """Of the events w >= cut: at least Q(event), at most P(event) − Q(event)."""
    laws = _before_last(c, pair, steps)
    p, q = _tails(c, pair, laws, cuts, True)[0], _tails(c, pair, laws, cuts, False)[0]
    return [_apart(laws, x, y) for x, y in zip(p, q, strict=True)]


def cells(c: Context, pair: Pair, steps: int, cuts: Sequence[float]) -> list[tuple[Any, Any]]:
    """Of the walls and the cells between the cuts: at least Q(cell), and P(cell) − Q(cell) moved towards 0 as far as it
    may be wrong."""
    laws, found = _before_last(c, pair, steps), []
    p, q = (_masses(*_tails(c, pair, laws, cuts, up)) for up in (True, False))
    for x, y in zip(p, q, strict=True):
        sign = 1 if x > y else -1
        most, least = _apart(laws, x, y, sign)
        found.append((most, sign * least if least > 0 else c.arb(0)))
    return found


def _masses(above: Sequence[Any], below: Sequence[Any]) -> list[Any]:
    inner = [a - b if a < 0.5 else y - x for (a, b), (x, y) in zip(pairwise(above), pairwise(below), strict=True)]
    return [below[0], *inner, above[-1]]


def _apart(laws: Laws, p: Any, q: Any, sign: int = 1) -> tuple[Any, Any]:
    wrong = laws.error.expm1()
    return q * (1 + wrong) + laws.left_open, sign * (p - q) - wrong * (p + q) - 2 * laws.left_open


def _tails(c: Context, pair: Pair, laws: Laws, cuts: Sequence[float], up: bool) -> tuple[list[Any], list[Any]]:
    """P(w >= cut) and P(w < cut) after the last step."""
    root, one, mass = c.arb(2).sqrt(), c.arb(1), laws.p if up else laws.q
    starts = [(_at(c, pair, y), m) for y, m in zip(laws.places, mass, strict=True)]
    above, below = [], []
    for cut in cuts:
        high, low = c.arb(0), c.arb(0)
        for push, share in _means(c, pair, up):
            for start, m in starts:
                z = cut - start - push
                small = (abs(z) / root).erfc() / 2
                a, b = (small, one - small) if z > 0 else (one - small, small) if z < 0 else ((z / root).erfc() / 2,
                                                                                              (-z / root).erfc() / 2)
                high, low = high + share * m * a, low + share * m * b
        above.append(high)
        below.append(low)
    return above, below


# --- the laws --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _before_last(c: Context, pair: Pair, steps: int) -> Laws:
    nodes, weights, each = _quadrature(c, pair)
    places = [c.arb(-pair.half), *nodes, c.arb(pair.half)]
    if pair.half > WIDE:
        return _resting(c, pair, places, weights, each, steps)
    steps = min(steps, _enough(pair))
    mirrored = pair.mirrored and pair.start == 0
    q = _carried(c, pair, places, weights, steps, False)
    p = q[::-1] if mirrored else _carried(c, pair, places, weights, steps, True)
    return Laws(places, p, q, c.arb(steps * each), c.arb(_gap(pair, steps) if steps == _enough(pair) else 0.0))


def _carried(c: Context, pair: Pair, places: Sequence[Any], weights: Sequence[Any], steps: int, up: bool) -> list[Any]:
    """The masses after all steps but the last."""
    squarings = steps.bit_length() if steps > _STEPWISE else 0
    if squarings * len(places) ** 3 > _MOST:
        raise TooLong(f"its walks take {squarings} products of matrices with {len(places)} rows, which would be minutes")
    matrix = _without_tiny(c, c.flint.arb_mat([_row(c, pair, y, places, weights, up) for y in places]))
    law, left = c.flint.arb_mat([_row(c, pair, c.arb(pair.start), places, weights, up)]), steps - 2
    if left <= _STEPWISE:
        for _ in range(left):
            law = law * matrix
        left = 0
    while left:
        if left & 1:
            law = law * matrix
        left >>= 1
        if left:
            matrix = _without_tiny(c, matrix * matrix)
    return list(law.entries())


def _without_tiny(c: Context, matrix: Any) -> Any:
    """Entries far below the precision as balls around 0: products of numbers of very different sizes take long. More
    bits keep more."""
    least = c.arb(2) ** -(c.prec + _TINY)
    ball = (-least).union(least)
    return c.flint.arb_mat([[ball if x < least else x for x in row] for row in matrix.tolist()])


def _row(c: Context, pair: Pair, y: Any, places: Sequence[Any], weights: Sequence[Any], up: bool) -> list[Any]:
    """From y: the masses of the left wall, the nodes, the right wall."""
    root, start, even = c.arb(2).sqrt(), _at(c, pair, y), 1 / (2 * c.arb.pi()).sqrt()
    pushed = [(start + push, share) for push, share in _means(c, pair, up)]
    walls = [sum((share * ((c.arb(pair.half) + side * m) / root).erfc() / 2 for m, share in pushed), c.arb(0))
             for side in (1, -1)]
    inner = []
    for x, w in zip(places[1:-1], weights, strict=True):
        inner.append(w * even * sum((share * (-(x - m) * (x - m) / 2).exp() for m, share in pushed), c.arb(0)))
    return [walls[0], *inner, walls[1]]


def _at(c: Context, pair: Pair, y: Any) -> Any:
    return c.arb(pair.pull) * y


def _means(c: Context, pair: Pair, up: bool) -> list[tuple[Any, Any]]:
    """The pushes and their probabilities, which are 1 − q and q."""
    rate = c.arb(pair.rate)
    found = means(pair, up)
    return [(c.arb(m), c.arb(1) if len(found) == 1 else rate if k else 1 - rate) for k, (m, _) in enumerate(found)]


def _resting(c: Context, pair: Pair, places: Sequence[Any], weights: Sequence[Any], each: float, steps: int) -> Laws:
    import numpy as np

    if not (pair.mirrored and pair.start == 0):
        raise Unchecked("a wide walk that is not its own mirror image")
    matrix = c.flint.arb_mat([_row(c, pair, y, places, weights, False) for y in places])
    rough = np.array([float(x) for x in matrix.entries()]).reshape(len(places), len(places))
    system = rough.T - np.eye(len(places))
    system[-1] = 1.0
    mass = np.maximum(np.linalg.solve(system, np.eye(len(places))[-1]), 1e-300)
    for _ in range(3):
        mass = np.maximum(mass @ rough, 1e-300)
    mass /= mass.sum()
    law = c.flint.arb_mat([[c.arb(float(x)) for x in mass]])
    change = max(float((abs(y / x - 1)).upper()) for x,
                 y in zip(law.entries(), (law * matrix).entries(), strict=True)) * (1 + 1e-9)
    total = sum(law.entries(), c.arb(0))
    q = [x / total for x in law.entries()]
    each += change / (1 - change)
    once = int(4 * pair.half**2)
    t = min((k * once for k in range(1, 61) if k * once < steps), key=lambda t: _gap(pair, t) + t * each, default=0)
    if not t or t * each > 0.5:
        raise Unchecked("the walk is not known to be at rest")
    return Laws(places, q[::-1], q, c.arb((t + 1) * each), c.arb(_gap(pair, t)))


def _gap(pair: Pair, steps: int) -> float:
    """g(t), from above."""
    width = 2 * pair.half
    nearer = width * exp(max(-700.0, steps * log(abs(pair.pull)))) if pair.pull else 0.0
    block = max(1, round(0.9 * width * width))
    meet = exp(max(-700.0, steps // block * log(erf((1 + 1e-9) * width / sqrt(2 * block))))) if pair.pull == 1 else 1.0
    return min(1.0, nearer, meet) * (1 + 1e-6)


def _enough(pair: Pair) -> int:
    """Steps after which the start no longer shows."""
    steps = 64
    while _gap(pair, steps) > _GONE and steps < 2**60:
        steps *= 2
    return steps


# --- the quadrature --------------------------------------------------------------------------------------------------


def _quadrature(c: Context, pair: Pair) -> tuple[list[Any], list[Any], float]:
    """Nodes, weights, and the relative error of a step."""
    count, edges, error = min((_panels(pair, *panels) for panels in _PANELS), key=lambda x: x[0] * len(x[1]))
    rule = [c.arb.legendre_p_root(count, k, weight=True) for k in reversed(range(count))]
    nodes, weights = [], []
    for a, b in pairwise(edges):
        centre, half = (c.arb(a) + c.arb(b)) / 2, (c.arb(b) - c.arb(a)) / 2
        nodes += [centre + half * x for x, _ in rule]
        weights += [half * w for _, w in rule]
    return nodes, weights, error * 1.001 + _FAR


def _panels(pair: Pair, nodes: int, widest: float, near_wall: float) -> tuple[int, list[float], float]:
    """With so many nodes each: their ends, and the error. Raises Unchecked."""
    import numpy as np

    beyond, kappa, shrink = _BEYOND / 2 + 1.62 * pair.reach, 1 + pair.pull * pair.pull, 1.0
    while shrink > 0.05:
        edges = _edges(pair.half, shrink * widest, shrink * near_wall / (1 + beyond))
        centres, halves = np.array([(a + b) / 2 for a, b in pairwise(edges)]), np.array([(b - a) / 2 for a,
                                                                                         b in pairwise(edges)])
        error = walk_grid.relative_error(centres, halves, pair.half, beyond, kappa, nodes)
        if error < _GOAL:
            return nodes, edges, error
        shrink *= 0.85
    raise Unchecked("no quadrature is near enough")


def _edges(half: float, widest: float, least: float) -> list[float]:
    """Of panels, narrow at the walls; a mirror image of themselves."""
    left, width = [-half], min(2 * widest, 2 * least)
    while left[-1] + 1.5 * width < 0 and width < 2 * widest:
        left.append(left[-1] + width)
        width = min(2 * width, 2 * widest)
    count = max(1, int(-left[-1] / width + 0.999))
    inner = [left[-1] * (count - k) / count for k in range(1, count)]
    left += [x for x in inner if left[-1] < x < 0]
    return [*left, 0.0, *(-x for x in reversed(left))]
