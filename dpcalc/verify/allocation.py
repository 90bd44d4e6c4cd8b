"""One epoch of random allocation as privacy loss distributions from above and from below, without the code of the
calculator in doubles.

The ratio dP/dQ is S = (w_1 + … + w_t)/t with independent log-normal w_i of mean 1 under Q. A law stands for the means
of all convex φ >= 0. From above, atoms are split between two points of a grid, with their mass and mean; mass may also
be split between 0 and infinity. From below, the atoms of a cell are merged at their mean.

The masses of one w come from closed forms in balls, rounded outwards to doubles. Sums are computed in doubles. All
terms are positive, so that masses have a relative error that is known beforehand: a product or a share of a few units,
and one unit for each term of a sum.

The points of a grid are the numbers e^{step·k}. A sum e^{step·m} + e^{step·n} is e^{step·m}V with
V = 1 + e^{step·(n−m)}, and is split between e^{step·m}L and e^{step·m}R for the neighbours L and R of V. As doubles,
L and R have a relative error of 3 units and V one of 4. The shares (R − V)/(R − L) and (V − L)/(R − L) preserve the
mean of these doubles up to the relative error of masses, and so that of the exact points up to 8 units. From above,
atoms are therefore known up to a factor (1 ± shift). An increasing φ is bounded with the atoms (1 + shift)x, and a
decreasing one with (1 − shift)x, which are the φ of a record removed and of one added.

The steps of the grids are smaller than those of the calculator.
"""

from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from math import ceil, exp, expm1, floor, inf, log, log2, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.sampling._engine.repeated_draws import normal_cells
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.verify.arb.context import is_ball_context
from dpcalc.verify.composition_atoms import Atoms, atomic_pair
from dpcalc.verify.directed_array import UNDERFLOW
from dpcalc.verify.loss_distributions import LossPair, gaussian

RESOLUTION = 0.025  # step over the spread of log S; at 0.032 the least accurate numbers of those tried are not proven
TAIL = 0.01  # part of the calculator's tails that is cut off here
POINT_ERROR = 4 * UNIT  # relative, of a point as a double
SUM_ERROR = 8 * UNIT  # relative, of the point that stands for a sum
LIGHT = 1e-9  # relative allowance for the masses at 0 and infinity, which are negligible
DIGITS = 60  # of the arithmetic for one ratio, where differences of neighbouring tails lose twenty


class Law(NamedTuple):
    """The law of a sum of ratios: the points x = e^{step(first + k)}, their masses p and mean parts m, which from above
    are p·x. `zero` and `infinite` are the mass at 0 and the mean part at infinity, from above."""

    number: int  # of ratios
    step: float
    first: int
    x: Array
    p: Array
    m: Array
    zero: float
    infinite: float
    error: float  # relative, of masses and mean parts
    shift: float  # relative, of points


def from_above(noise_multiplier: float, steps: int, tail: float) -> LossPair:
    """Return a pair that dominates one epoch, with its reverse."""
    if steps == 1:
        return gaussian(lambda mp: 1 / mp.mpf(noise_multiplier))

    def law(mp: Any) -> Law:
        return _law(Epoch(noise_multiplier, steps, tail, mp), True)

    def atoms(mp: Any, added: bool) -> Atoms:
        found, more = law(mp), mp.mpf(1 + law(mp).error)
        shift = found.shift + POINT_ERROR
        moved = mp.mpf(1 - shift if added else 1 + shift) / steps
        both = [(log(x / steps), more * mp.mpf(p) * mp.mpf(x) * moved, more * mp.mpf(p))
                for x, p in zip(found.x.tolist(), found.p.tolist(), strict=True) if p > 0]
        return [(-loss, q, p) for loss, p, q in both] if added else both

    def infinite(mp: Any, added: bool) -> Any:
        return mp.mpf(1 + law(mp).error) * mp.mpf(law(mp).zero if added else law(mp).infinite / steps)

    removed, reverse = (atomic_pair(partial(atoms, added=added), partial(infinite, added=added), inf)
                        for added in (False, True))
    return removed._replace(reverse=reverse)


def from_below(noise_multiplier: float, steps: int, tail: float) -> LossPair:
    """Return a pair that one epoch dominates, with its reverse: its masses under the first distribution are rounded
    down, and those under the second one up."""
    if steps == 1:
        return gaussian(lambda mp: 1 / mp.mpf(noise_multiplier))

    def atoms(mp: Any, added: bool) -> Atoms:
        law = _law(Epoch(noise_multiplier, steps, tail, mp), False)
        down, up = mp.mpf(1 - law.error), mp.mpf(1 + law.error)
        cells = [(p, m) for p, m in zip(law.p.tolist(), law.m.tolist(), strict=True) if min(p, m) > 1e-290]
        if added:
            return [(log(p / m * steps), down * mp.mpf(p), up * mp.mpf(m) / steps) for p, m in cells]
        return [(log(m / p / steps), down * mp.mpf(m) / steps, up * mp.mpf(p)) for p, m in cells]

    removed, reverse = (atomic_pair(partial(atoms, added=added), limit=inf) for added in (False, True))
    return removed._replace(reverse=reverse)


@dataclass(frozen=True)
class Epoch:
    """What laws and cells depend on. The context `mp` is only what they are computed with: they are doubles."""

    sigma: float
    steps: int
    tail: float
    mp: Any = field(compare=False)


@lru_cache(maxsize=16)
def _law(epoch: Epoch, above: bool) -> Law:
    """Return the law of the sum of all ratios, by the binary digits of their number."""
    mu, steps, tail = 1 / epoch.sigma, epoch.steps, TAIL * epoch.tail
    spread = RESOLUTION * min(mu, 1.0)
    last = min(spread, RESOLUTION * sqrt(expm1(mu * mu) / (2 * steps)))

    def step_at(number: int) -> float:
        # Grids whose steps differ by powers of 2 share points: large ratios stay at them when small ones are added.
        return spread / float(2 ** max(0, ceil(log2(spread / last) - 0.4 * log2(steps / number))))

    one = {k: _one(epoch, k * step_at(1), above) for k in (1, 4, 16)}
    law = one[1]
    for digit in bin(steps)[3:]:
        step = step_at(2 * law.number)
        law = _cut(_sum(epoch.mp, law, law, step, above), tail * law.number / steps, tail, above)
        if digit == "1":  # a ratio among k may be on a grid that is √k times as coarse
            other = one[1 if law.number < 16 else 4 if law.number < 256 else 16]
            law = _cut(_sum(epoch.mp, law, other, step, above), tail * law.number / steps, tail, above)
    return law


def _one(epoch: Epoch, step: float, above: bool) -> Law:
    """Return the law of one ratio on a geometric grid."""
    mp, mu, tail = epoch.mp, 1 / epoch.sigma, TAIL * epoch.tail
    low, high = -mu * (sqrt(-2 * log(tail / epoch.steps)) + mu / 2), mu * (sqrt(-2 * log(tail)) + mu / 2)
    first = floor(low / step)
    x = _points(mp, step, first, ceil(high / step) + 1 - first)
    with mp.workdps(DIGITS):
        edges = x.tolist() if above else [sqrt(a * b) for a, b in pairwise(x.tolist())]
        sigma = mp.mpf(epoch.sigma)
        z = [mp.log(mp.mpf(e)) * sigma + 1 / (2 * sigma) for e in edges]
        in_q, in_p = (normal_cells(mp, z, 1, mean) for mean in (0, 1 / sigma))  # below, between and above the edges
        if not above:
            rows = [[double_outwards(mp, mass, -1) for mass in masses] for masses in (in_q, in_p)]
            return Law(1, step, first, x, np.array(rows[0]), np.array(rows[1]), 0.0, 0.0, 4 * UNIT, 0.0)
        left, right = np.zeros(len(x)), np.zeros(len(x))
        for k, (mass, mean) in enumerate(zip(in_q[1:-1], in_p[1:-1], strict=True)):
            a, b = mp.mpf(edges[k]), mp.mpf(edges[k + 1])
            share = (mean - a * mass) / (b - a)
            left[k], right[k + 1] = double_outwards(mp, mass - share, 1), double_outwards(mp, share, 1)
        right[0], left[-1] = double_outwards(mp, in_p[0] / mp.mpf(edges[0]), 1), double_outwards(mp, in_q[-1], 1)
        zero, infinite = double_outwards(mp, in_q[0], 1), double_outwards(mp, in_p[-1], 1)
    p = left + right
    return Law(1, step, first, x, p, p * x, zero, infinite, 4 * UNIT, POINT_ERROR)


def double_outwards(mp: Any, x: Any, direction: int) -> float:
    """Return a double that is not below x (direction +1), or not above it, and not below 0."""
    low, high = x.real.endpoints() if is_ball_context(mp) else (nextafter(float(x), d * exp(700)) for d in (-1, 1))
    return max(float(high if direction > 0 else low), 0.0)


def _points(mp: Any, step: float, first: int, count: int) -> Array:
    """Return e^{step·k} for `count` numbers k, to a relative error of 3 units: a product of two of fewer powers."""
    k = first + np.arange(count)
    block = max(1, round(sqrt(count)))
    small = [float(mp.exp(mp.mpf(step) * j)) for j in range(block)]
    large = [float(mp.exp(mp.mpf(step) * (j * block))) for j in range(first // block, int(k[-1]) // block + 1)]
    points: Array = np.array(small)[k % block] * np.array(large)[k // block - first // block]
    return points


def _splits(mp: Any, step: float, first: int, count: int) -> tuple[Array, Array, Array]:
    """Return for V = 1 + e^{step·k}, with `count` numbers k, the index of its lower neighbour in the grid, and its
    shares at both neighbours."""
    v = 1 + _points(mp, step, first, count)
    cell = np.floor(np.log(v) / step).astype(int)  # up to rounding
    lowest = max(int(cell[0]) - 1, -1)
    x = _points(mp, step, lowest, int(cell[-1]) + 4 - lowest)
    cell -= v < x[cell - lowest]
    cell += v >= x[cell + 1 - lowest]
    left, right = x[cell - lowest], x[cell + 1 - lowest]
    return cell, (right - v) / (right - left), (v - left) / (right - left)


def _sum(mp: Any, a: Law, b: Law, step: float, above: bool) -> Law:
    """Return the law of the sum of two independent sums on a geometric grid with this step, of which both have
    multiples."""
    strides = [round(law.step / step) for law in (a, b)]
    if any(law.step != stride * step for law, stride in zip((a, b), strides, strict=True)):
        raise ValueError("the step of a sum does not divide those of its terms")
    i, j = (stride * (law.first + np.arange(len(law.x))) for law, stride in zip((a, b), strides, strict=True))
    least = int(j[0] - i[-1])
    cells, at_left, at_right = _splits(mp, step, least, int(j[-1] - i[0]) - least + 1)
    first = int(i[0] + cells[j[0] - i[0] - least]) - 1  # a cell to spare at either end, for rounding
    out = np.zeros((2, int(i[-1] + cells[j[-1] - i[-1] - least]) - first + 3))
    for k, (index, p, m) in enumerate(zip(j.tolist(), b.p.tolist(), b.m.tolist(), strict=True)):
        begin, factor = (k, 2.0) if a is b else (0, 1.0)  # of two equal laws, each pair is taken once
        of_split = slice(int(index - i[begin] - least), None, -strides[0])
        cell = i[begin:] - first + cells[of_split][: len(i) - begin]
        masses = factor * p * a.p[begin:]
        if factor == 2.0:
            masses[0] /= 2
        if above:
            rows = masses * at_left[of_split][: len(masses)], masses * at_right[of_split][: len(masses)]
        else:
            rows = masses, factor * (p * a.m[begin:] + m * a.p[begin:])
            if factor == 2.0:
                rows[1][0] /= 2
        lowest = int(cell.min())
        for row, values in zip(out, rows, strict=True):
            sums = np.bincount(cell - lowest, values)
            row[lowest : lowest + len(sums)] += sums
    error = a.error + b.error + (2 * (len(a.x) + len(b.x)) + 20) * UNIT
    x = _points(mp, step, first, out.shape[1])
    if not above:
        return Law(a.number + b.number, step, first, x, out[0], out[1], 0.0, 0.0, error, 0.0)
    p = out[0] + np.append(0.0, out[1][:-1]) + (len(a.x) + len(b.x)) * UNDERFLOW
    zero, infinite = a.zero * b.zero, 0.0
    for one, other in ((a, b), (b, a)):  # 0 + y is split between 0 and infinity
        mass, mean = float(other.p.sum()), float(other.m.sum())
        zero += one.zero * mass * (1 + LIGHT)
        infinite += (one.infinite * (mass + other.zero) + one.zero * mean) * (1 + LIGHT)
    return Law(a.number + b.number, step, first, x, p, p * x, zero, infinite, error, max(a.shift, b.shift) + SUM_ERROR)


def _cut(law: Law, low_tail: float, high_tail: float, above: bool) -> Law:
    """Return the law without its light ends: from above they are split between the last point left and 0 or infinity,
    from below they are merged into the last cell left."""
    i = int(np.searchsorted(np.cumsum(law.p), low_tail))
    j = len(law.p) - int(np.searchsorted(np.cumsum(law.m[::-1]) / law.number, high_tail))
    i, j = min(i, len(law.p) - 1), max(j, min(i, len(law.p) - 1) + 1)
    x, p, m = law.x[i:j], law.p[i:j].copy(), law.m[i:j].copy()
    error = law.error + (len(law.p) + 20) * UNIT
    if not above:
        for row, whole in ((p, law.p), (m, law.m)):
            row[0] += whole[:i].sum()
            row[-1] += whole[j:].sum()
        return law._replace(first=law.first + i, x=x, p=p, m=m, error=error)
    p[0] += float((law.p[:i] * (law.x[:i] / x[0])).sum())
    p[-1] += float(law.p[j:].sum())
    zero = law.zero + float((law.p[:i] * ((x[0] - law.x[:i]) / x[0])).sum())
    infinite = law.infinite + float((law.p[j:] * (law.x[j:] - x[-1])).sum())
    return law._replace(first=law.first + i, x=x, p=p, m=p * x, zero=zero, infinite=infinite, error=error)
