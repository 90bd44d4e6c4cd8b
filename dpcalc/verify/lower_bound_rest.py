"""The distributions of the random walks of lower-bound that start at rest, in ball arithmetic: rigorous bounds of the
probabilities of half-lines and cells.

The masses μ that a step of Q nearly preserves, the difference S̃ of the tails of P and Q, and the vectors u that decay
slowly are computed in doubles. The factors by which a step changes them are bounded here in balls, and
dpcalc.bounds.noisy_sgd._engine.walk says what follows from these factors.
"""

from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, isfinite, log, sqrt
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.noisy_sgd._engine import walk_rest, walk_step
from dpcalc.bounds.noisy_sgd._engine.one_step import Pair
from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.verify import lower_bound_walks
from dpcalc.verify.arb.context import Context
from dpcalc.verify.lower_bound_walks import density, quadrature
from dpcalc.verify.unchecked import Unchecked

_POWERS = 8  # more than the fast path has, whose points are others, so that no bound is larger than its


class Rest(NamedTuple):
    """What is known before the last step: masses of Q at the positions, and what the differences of tails at the nodes
    are multiplied by in a sum. Both are correct up to a factor within e^{±error}. In `left` are, for each of P and Q,
    such sums' bounds of the absolute errors."""

    positions: Sequence[Any]
    mass: Sequence[Any]
    difference: Sequence[Any]
    error: Any
    left: tuple[tuple[bool, Sequence[Any], Any], ...]  # the walk that moves it, the bound, and its factor


def half_lines(c: Context, pair: Pair, steps: int, thresholds: Sequence[float]) -> list[tuple[Any, Any]]:
    """Return for each event w >= threshold an upper bound of Q(event), and a lower bound of P(event) − Q(event)."""
    with c.at_bits(_bits(c)):
        rest, (lead, lost, c_q) = _differences(c, pair, steps, thresholds)
    above = lower_bound_walks.tails(c, pair, rest.positions, rest.mass, thresholds, False)[0]
    return [(q * rest.error.exp() + slack, d * (-rest.error).exp() - off)
            for q, d, off, slack in zip(above, lead, lost, c_q, strict=True)]


def cells(c: Context, pair: Pair, steps: int, edges: Sequence[float]) -> list[tuple[Any, Any]]:
    """Return for the walls and for each cell between two edges an upper bound of Q(cell), and P(cell) − Q(cell) moved
    towards 0 by the bound on its error."""
    with c.at_bits(_bits(c)):
        rest, (lead, lost, c_q) = _differences(c, pair, steps, edges)
    zero = c.arb(0)
    factor = rest.error.exp()
    least = [zero, *(x if (x := d / factor - off) > 0 else zero for d, off in zip(lead, lost, strict=True)), zero]
    most = [zero, *(d * factor + off for d, off in zip(lead, lost, strict=True)), zero]
    mass = lower_bound_walks.masses_of_cells(*lower_bound_walks.tails(c, pair, rest.positions, rest.mass, edges, False))
    found = []
    for q, slacks, (low, low_next), (high, high_next) in zip(mass, pairwise([zero, *c_q, zero]), pairwise(least),
                                                             pairwise(most), strict=True):
        rise, fall = low - high_next, low_next - high
        found.append((q * factor + slacks[0] + slacks[1], rise if rise > 0 else -fall if fall > 0 else zero))
    return found


def _bits(c: Context) -> int:
    """Return the precision for the changes of a step, 80 bits of 128: the vectors that it changes are doubles."""
    return c.prec * 5 // 8


def _differences(c: Context, pair: Pair, steps: int, points: Sequence[float]) -> tuple[Rest, tuple[Any, Any, Any]]:
    """Return what is known before the last step; and at each point x, P(w >= x) − Q(w >= x) up to the factor
    e^{±error}, a bound of its absolute error, and one of that of Q(w >= x)."""
    rest = _before_last_step(c, pair, steps)
    at, inner, rate = [c.arb(x) for x in points], rest.positions[1:-1], c.arb(pair.rate)
    lead = [rate * (kicked + kept) for kicked, kept
            in zip(_sums(c, pair, rest.positions, [rest.mass], at, _kick(c, pair))[0],
                   _sums(c, pair, inner, [rest.difference], at, density(c, pair, True))[0], strict=True)]
    lost = [c.arb(walk_rest.UNCOUNTED)] * len(at)
    c_q = list(lost)
    for up, bound, factor in rest.left:
        moved = [factor * x for x in _sums(c, pair, inner, [bound], at, density(c, pair, up))[0]]
        lost = [a + b for a, b in zip(lost, moved, strict=True)]
        c_q = c_q if up else [a + b for a, b in zip(c_q, moved, strict=True)]
    return rest, (lead, lost, c_q)


@lru_cache(maxsize=4)
def _before_last_step(c: Context, pair: Pair, steps: int) -> Rest:
    """Solve for the vectors in doubles, and bound in balls by what factors a step changes them."""
    nodes, weights, step_error = quadrature(c, pair)
    positions = [c.arb(-pair.half), *nodes, c.arb(pair.half)]
    y = np.array([float(x) for x in positions])
    g = Grid(y[1:-1], np.array([float(w) for w in weights]), step_error)
    before, kept_p = walk_rest.steps_followed(pair, steps), walk_rest.Kept(pair, g, up=True)
    approximate = walk_rest.at_rest(pair, y, walk_step.moved_masses(pair, g, y, up=False))
    s = kept_p.solve(walk_step.push(pair, y, g.x).times(approximate))
    mass = [c.arb(m) for m in approximate.tolist()]
    total = sum(mass, c.arb(0))
    mass = [m / total for m in mass]

    def weighted(vector: Any) -> list[Any]:
        return [c.arb(pair.pull) * w * c.arb(v) for w, v in zip(weights, vector.tolist(), strict=True)]

    inner = [w * x for w, x in zip(weights, _sums(c, pair, positions, [mass], nodes, density(c, pair, False))[0],
                                   strict=True)]
    above, below = lower_bound_walks.tails(c, pair, positions, mass, [-pair.half, pair.half], False)
    source = _sums(c, pair, positions, [mass], nodes, _kick(c, pair))[0]
    slow = kept_p.slow(s, _POWERS)
    kept, *decayed = _sums(c, pair, nodes, [weighted(v) for v in (s, *slow)], nodes, density(c, pair, True))
    after = [x + b for x, b in zip(kept, source, strict=True)]
    changed = (_largest_change(mass, [below[0], *inner, above[1]])
               + _largest_change([c.arb(x) for x in s.tolist()], after))
    error = c.arb(before) * (step_error + changed)
    if not error < 0.5:
        raise Unchecked("the walk is not known to be at rest")

    def bound(start: Any, vectors: Any, images: Any) -> list[Any]:
        return weighted(_bound_after(c, before, start, vectors, images))

    factor, one = error.exp() * (1 + 1e-6), np.ones(len(s))
    left = [(True, bound(s, slow, decayed), c.arb(pair.rate) * factor)]
    if before < steps - 1:
        left.append((True, bound(one, slow, decayed), factor))
        slow = walk_rest.Kept(pair, g, up=False).slow(one, _POWERS)
        decayed = _sums(c, pair, nodes, [weighted(v) for v in slow], nodes, density(c, pair, False))
        left.append((False, bound(one, slow, decayed), factor))
    return Rest(positions, mass, weighted(s), error, tuple(left))


def _bound_after(c: Context, steps: int, start: Any, vectors: Any, images: Any) -> Any:
    """Return an upper bound of start·N^steps, from vectors and their images under N."""
    best = np.full(len(start), float(start.max()))
    for u, image in zip(vectors, images, strict=True):
        rate = max(_at_most(x / c.arb(v)) for x, v in zip(image, u.tolist(), strict=True))
        if rate < 1:
            best = np.minimum(best, u * float((start / u).max()) * exp(steps * log(rate)))
    return best * (1 + 1e-9)


def _largest_change(before: Sequence[Any], after: Sequence[Any]) -> float:
    """Return a bound of the largest |log(after/before)| of the values that count."""
    return max(_at_most(abs((b / a).log())) for a, b in zip(before, after, strict=True)
               if not a + b < walk_rest.SMALLEST)


def _at_most(x: Any) -> float:
    """Return a double that is at least x."""
    most = float(x.upper())
    return most + abs(most) * 1e-15 if isfinite(most) else inf


# --- one step --------------------------------------------------------------------------------------------------------


def _kick(c: Context, pair: Pair) -> Any:
    """Return Φ(start + up − x) − Φ(start + down − x), by whichever tails are smaller, against cancellation."""
    root, up, down = c.arb(2).sqrt(), c.arb(pair.up), c.arb(pair.down)

    def kick(x: Any, start: Any) -> Any:
        high, low = (start + up - x) / root, (start + down - x) / root
        return (low.erfc() - high.erfc() if high + low > 0 else (-high).erfc() - (-low).erfc()) / 2

    return kick


def _sums(c: Context, pair: Pair, positions: Sequence[Any], vectors: Sequence[Sequence[Any]], points: Sequence[Any],
          entry: Any) -> list[list[Any]]:
    """Return for each vector v, at each point x, Σ v·entry(x, a·position). Entries below the precision of the smallest
    number that counts are a ball."""
    starts = [c.arb(pair.pull) * y for y in positions]
    centres = [float(x) for x in starts]
    least = min((float(v) for vector in vectors for v in vector if v > walk_rest.SMALLEST), default=walk_rest.SMALLEST)
    reach = sqrt(2 * (c.prec * log(2) - log(least)))
    dropped = c.arb(0).union(c.arb(-reach * reach / 2).exp())
    left_out = [dropped * sum(vector, c.arb(0)) for vector in vectors]
    found: list[list[Any]] = [[] for _ in vectors]
    for x in points:
        near = slice(bisect(centres, float(x) - pair.reach - reach), bisect(centres, float(x) + pair.reach + reach))
        entries = [entry(x, start) for start in starts[near]]
        for sums, vector, rest in zip(found, vectors, left_out, strict=True):
            sums.append(sum(map(mul, vector[near], entries), rest))
    return found
