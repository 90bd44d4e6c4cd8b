"""The distributions of the random walks of lower-bound after many steps, in ball arithmetic: rigorous bounds of the
probabilities of half-lines and cells.

The distributions P and Q are propagated separately, as masses at the two walls and at the nodes of a quadrature, whose
relative error in one step is e (walk_grid.py has the proof). All masses are positive, so after T steps they are correct
up to a factor within e^{±Te}; matrix entries and sums are balls. Many steps are powers of a matrix, by repeated
squaring. At most t steps are computed, where t is so large that the distributions from any two starts differ by at most
g(t) in total variation (walk.py). Walks that start at rest are bounded in lower_bound_rest.py.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, log
from typing import Any, NamedTuple

from dpcalc.bounds.noisy_sgd._engine import walk_grid
from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.bounds.noisy_sgd._engine.walk_step import means
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.verify.arb.context import Context
from dpcalc.verify.unchecked import TooLong, Unchecked

_MAX_ERROR = 1e-22  # relative error of the rule in one step: that of a million steps is then 1e-16
# Standard deviations beyond the mean of a step up to which integrals are accurate, and the relative error of what is
# beyond: of a tail only e^{−98} = 3e-43 is left there.
_TAIL_DEVIATIONS, _TAIL_ERROR = 14.0, 1e-40
# The rules that are tried: (nodes of a panel, largest half-width of a panel, half-width at the walls). The rule that
# needs the fewest nodes in all is taken.
_PANELS = ((24, 6.0, 30.0), (48, 8.0, 60.0), (64, 8.0, 120.0), (96, 12.0, 120.0))


class Laws(NamedTuple):
    """The distributions before the last step: positions with the masses of P and Q. Each mass is correct up to a factor
    within e^{±error}, and each probability moreover up to the absolute error `left_open`."""

    positions: Sequence[Any]
    p: Sequence[Any]
    q: Sequence[Any]
    error: Any
    left_open: Any  # bound on the effect of steps that are not computed


def half_lines(c: Context, pair: Pair, steps: int, thresholds: Sequence[float]) -> list[tuple[Any, Any]]:
    """Return for each event w >= threshold an upper bound of Q(event), and a lower bound of P(event) − Q(event)."""
    laws = _before_last_step(c, pair, steps)
    p, q = (tails(c, pair, laws.positions, mass, thresholds, up)[0]
            for mass, up in ((laws.p, True), (laws.q, False)))
    return [_safe_difference(laws, x, y) for x, y in zip(p, q, strict=True)]


def cells(c: Context, pair: Pair, steps: int, edges: Sequence[float]) -> list[tuple[Any, Any]]:
    """Return for the walls and for each cell between two edges an upper bound of Q(cell), and P(cell) − Q(cell) moved
    towards 0 by the bound on its error."""
    laws, found = _before_last_step(c, pair, steps), []
    p, q = (masses_of_cells(*tails(c, pair, laws.positions, mass, edges, up))
            for mass, up in ((laws.p, True), (laws.q, False)))
    for x, y in zip(p, q, strict=True):
        sign = 1 if x > y else -1
        q_mass, difference = _safe_difference(laws, x, y, sign)
        found.append((q_mass, sign * difference if difference > 0 else c.arb(0)))
    return found


def masses_of_cells(above: Sequence[Any], below: Sequence[Any]) -> list[Any]:
    """Return the masses of the walls and the cells, as differences of whichever tail is smaller, against
    cancellation."""
    inner = [a - b if a < 0.5 else y - x for (a, b), (x, y) in zip(pairwise(above), pairwise(below), strict=True)]
    return [below[0], *inner, above[-1]]


def _safe_difference(laws: Laws, p: Any, q: Any, sign: int = 1) -> tuple[Any, Any]:
    """Return an upper bound of the mass q, and a lower bound of sign·(p − q), from computed masses p and q."""
    relative = laws.error.expm1()
    return q * (1 + relative) + laws.left_open, sign * (p - q) - relative * (p + q) - 2 * laws.left_open


def tails(c: Context, pair: Pair, positions: Sequence[Any], mass: Sequence[Any], thresholds: Sequence[float],
          up: bool) -> tuple[list[Any], list[Any]]:
    """Return P(w >= t) and P(w < t) after the last step for each threshold t, from the masses at the positions; with
    `up` false, those of Q."""
    root, one = c.arb(2).sqrt(), c.arb(1)
    starts = [(c.arb(pair.pull) * y, m) for y, m in zip(positions, mass, strict=True)]
    above, below = [], []
    for threshold in thresholds:
        high, low = c.arb(0), c.arb(0)
        for push, share in pushes(c, pair, up):
            for start, m in starts:
                z = threshold - start - push
                small = (abs(z) / root).erfc() / 2
                if z > 0:
                    a, b = small, one - small
                elif z < 0:
                    a, b = one - small, small
                else:
                    a, b = (z / root).erfc() / 2, (-z / root).erfc() / 2
                high, low = high + share * m * a, low + share * m * b
        above.append(high)
        below.append(low)
    return above, below


# --- the distributions before the last step --------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _before_last_step(c: Context, pair: Pair, steps: int) -> Laws:
    """Return the distributions of both walks after all steps but the last one."""
    nodes, weights, error = quadrature(c, pair)
    positions = [c.arb(-pair.half), *nodes, c.arb(pair.half)]
    enough = 64  # steps after which the start changes no probability by more than 1e-30
    while _distance_of_starts(pair, enough) > 1e-30 and enough < 2**60:
        enough *= 2
    omitted = _distance_of_starts(pair, enough) if steps >= enough else 0.0
    steps = min(steps, enough)
    q = _propagate(c, pair, positions, weights, steps, False)
    is_mirrored = pair.mirrored and pair.start == 0
    p = q[::-1] if is_mirrored else _propagate(c, pair, positions, weights, steps, True)
    return Laws(positions, p, q, c.arb(steps * error), c.arb(omitted))


def _propagate(c: Context, pair: Pair, positions: Sequence[Any], weights: Sequence[Any], steps: int,
               up: bool) -> list[Any]:
    """Return the masses after all steps but the last one. The steps are computed one by one, or, if there are more
    steps than positions, by powers of the matrix of a step."""
    left, size = steps - 2, len(positions)
    by_squaring = left > size
    operations = left.bit_length() * size**3 if by_squaring else left * size**2
    if operations > 2e9:
        raise TooLong(f"its walks take {operations:.1g} multiplications with {size} positions, which would be minutes")
    matrix = _drop_tiny(c, c.flint.arb_mat([_row(c, pair, y, positions, weights, up) for y in positions]))
    masses = c.flint.arb_mat([_row(c, pair, c.arb(pair.start), positions, weights, up)])
    if not by_squaring:
        for _ in range(left):
            masses = masses * matrix
        return list(masses.entries())
    while left:
        if left & 1:
            masses = masses * matrix
        left >>= 1
        if left:
            matrix = _drop_tiny(c, matrix * matrix)
    return list(masses.entries())


def _drop_tiny(c: Context, matrix: Any) -> Any:
    """Replace entries far below the precision by a ball around 0, because products of numbers of very different sizes
    are slow. A higher precision replaces fewer of them."""
    tiny = c.arb(2) ** -(c.prec + 20)
    ball = (-tiny).union(tiny)
    return c.flint.arb_mat([[ball if x < tiny else x for x in row] for row in matrix.tolist()])


def _row(c: Context, pair: Pair, y: Any, positions: Sequence[Any], weights: Sequence[Any], up: bool) -> list[Any]:
    """Return the masses after one step from y: at the left wall, at the nodes, and at the right wall."""
    root, start, at = c.arb(2).sqrt(), c.arb(pair.pull) * y, density(c, pair, up)
    left, right = (sum((share * ((c.arb(pair.half) + side * (start + m)) / root).erfc() / 2
                        for m, share in pushes(c, pair, up)), c.arb(0)) for side in (1, -1))
    return [left, *(w * at(x, start) for x, w in zip(positions[1:-1], weights, strict=True)), right]


def density(c: Context, pair: Pair, up: bool) -> Callable[[Any, Any], Any]:
    """Return the density of a step of P (`up`) or Q as a function of the place and the place before times a."""
    pushed, at_0 = pushes(c, pair, up), 1 / (2 * c.arb.pi()).sqrt()

    def at(x: Any, start: Any) -> Any:
        z = x - start
        total = c.arb(0)
        for m, share in pushed:
            y = z - m
            total += share * (y * y * -0.5).exp()
        return at_0 * total

    return at


def pushes(c: Context, pair: Pair, up: bool) -> list[tuple[Any, Any]]:
    """Return the means of a step without and with the record, and their probabilities 1 − q and q."""
    rate = c.arb(pair.rate)
    found = means(pair, up)
    return [(c.arb(m), c.arb(1) if len(found) == 1 else rate if k else 1 - rate) for k, (m, _) in enumerate(found)]


def _distance_of_starts(pair: Pair, steps: int) -> float:
    """Return g(t) for t = `steps`, rounded up: a bound on the total variation distance after t steps from two
    starts."""
    contracted = 2 * pair.half * exp(max(-LARGEST_EXPONENT, steps * log(abs(pair.pull)))) if pair.pull else 0.0
    return min(1.0, contracted) * (1 + 1e-6)


# --- Gauss–Legendre rules on panels, with a proven error --------------------------------------------------------------


def quadrature(c: Context, pair: Pair) -> tuple[list[Any], list[Any], float]:
    """Return nodes and weights, and the relative error of a step. Raises Unchecked where no rule is accurate
    enough."""
    count, edges, error = min((_panels(pair, *panels) for panels in _PANELS), key=lambda x: x[0] * len(x[1]))
    rule = [c.arb.legendre_p_root(count, k, weight=True) for k in reversed(range(count))]
    nodes, weights = [], []
    for a, b in pairwise(edges):
        centre, half = (c.arb(a) + c.arb(b)) / 2, (c.arb(b) - c.arb(a)) / 2
        nodes += [centre + half * x for x, _ in rule]
        weights += [half * w for _, w in rule]
    return nodes, weights, error * 1.001 + _TAIL_ERROR


def _panels(pair: Pair, nodes: int, widest: float, near_wall: float) -> tuple[int, list[float], float]:
    """Shrink the panels until the rule with this number of nodes in each is accurate enough. Return the number, the
    edges of the panels, and the relative error. Any panels that cover the interval are valid."""
    # walk_grid.py derives d = beyond, the distance outside of the interval of the centres of Gaussians, and 1.62.
    beyond, kappa, shrink = _TAIL_DEVIATIONS / 2 + 1.62 * pair.reach, 1 + pair.pull * pair.pull, 1.0
    while shrink > 0.05:
        edges, centres, halves = walk_grid.panels(pair.half, shrink * widest, shrink * near_wall / (1 + beyond))
        error = walk_grid.relative_error(centres, halves, pair.half, beyond, kappa, nodes)
        if error < _MAX_ERROR:
            assert edges[-1] == -edges[0] == pair.half
            return nodes, edges.tolist(), error
        shrink *= 0.85
    raise Unchecked("no quadrature is near enough")
