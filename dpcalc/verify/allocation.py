"""One epoch of random allocation as privacy loss distributions from above and from below, without the code of the
calculator in doubles.

The ratio dP/dQ is S = (w_1 + … + w_t)/t with independent log-normal w_i of mean 1 under Q. A law stands for the means
of all convex φ >= 0. From above, atoms are split between two points of a grid, with their mass and mean; mass may also
be split between 0 and infinity. From below, the atoms of a cell are merged at their mean.

The masses of one w come from closed forms in balls, rounded outwards to doubles. Sums are computed in doubles. All
terms are positive, so that masses have a relative error that is known beforehand: a product of a few units, and one
unit for each term of a sum. What underflows is less than UNDERFLOW in all sums together, which is added from above.

The points of a grid are multiples of its step, which doubles from part to part of the grid. They are exact as doubles,
and so are sums of points of one part. A point moves to twice the step, alone or before it is added to a coarser part,
by halves to both of its neighbours there: that keeps mass and mean. Steps are half as large as those of the calculator,
and parts end at the same points. """

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from math import ceil, exp, expm1, floor, frexp, inf, ldexp, log, log2, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from dpcalc.bounds.sampling._engine.repeated_draws import normal_cells
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.verify.arb.context import is_ball_context
from dpcalc.verify.composition_atoms import Atoms, atomic_pair
from dpcalc.verify.loss_distributions import LossPair, gaussian

RESOLUTION = 0.00625  # step over the spread of the sum: half the calculator's
POINTS_ABOVE = 24.0  # between the mean of a sum and the end of a part of its grid, per unit of −log(tail)
END = 1.4  # of the part of the last grid with the mean, over the mean
TAIL = 0.01  # part of the calculator's tails that is cut off here
LEAST = 1e-270  # cells with a smaller mass, which underflow may change, are left out from below
UNDERFLOW = 2.0**-955  # more than what underflows in 2^70 products of masses, each of which stands for many
LIGHT = 1e-9  # relative allowance for the masses at 0 and infinity, which are negligible
DIGITS = 60  # of the arithmetic for one ratio, where differences of neighbouring tails lose twenty


class Part(NamedTuple):
    """Cells at the points step·(first + i) of a grid: from above one row, their masses p; from below also one of their
    mean parts m."""

    step: float
    first: int
    rows: Array

    @property
    def x(self) -> Array:
        return np.asarray(self.step * (self.first + np.arange(len(self.rows[0]))))


class Law(NamedTuple):
    """The law of a sum of ratios, by parts with increasing steps. `zero` and `infinite` are the mass at 0 and the mean
    part at infinity, from above."""

    number: int  # of ratios
    parts: tuple[Part, ...]
    zero: float
    infinite: float
    error: float  # relative, of masses and mean parts

    @property
    def x(self) -> Array:
        return np.concatenate([part.x for part in self.parts])

    @property
    def rows(self) -> Array:
        return np.concatenate([part.rows for part in self.parts], axis=1)


def from_above(noise_multiplier: float, steps: int, tail: float) -> LossPair:
    """Return a pair that dominates one epoch, with its reverse."""
    if steps == 1:
        return gaussian(lambda mp: 1 / mp.mpf(noise_multiplier))

    def law(mp: Any) -> Law:
        return _law(Epoch(noise_multiplier, steps, tail, mp), True)

    def atoms(mp: Any, added: bool) -> Atoms:
        found, more = law(mp), mp.mpf(1 + law(mp).error)
        q = [more * mp.mpf(p + UNDERFLOW) for p in found.rows[0].tolist()]
        both = [(log(x / steps), mass * mp.mpf(x) / steps, mass) for x, mass in zip(found.x.tolist(), q, strict=True)]
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
        cells = [(p, m) for p, m in law.rows.T.tolist() if min(p, m) > LEAST]
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


class Widths(NamedTuple):
    """How large the steps of a grid may be: so many times the points, or the distance from the mean over `above`."""

    relative: float
    above: float

    def last_index(self, step: float, number: int) -> int:
        """Return the last index of a part of the grid for the sum of so many ratios."""
        return floor(min(1 / self.relative, number / step + self.above))


@lru_cache(maxsize=16)
def _law(epoch: Epoch, above: bool) -> Law:
    """Return the law of the sum of all ratios, by the binary digits of their number."""
    mu, steps, tail = 1 / epoch.sigma, epoch.steps, TAIL * epoch.tail
    spread = RESOLUTION * min(mu, 1.2)
    last = min(spread, RESOLUTION * sqrt(expm1(mu * mu) / (2 * steps)))

    def widths(number: int) -> Widths:
        return Widths(float(min(spread, last * (steps / number) ** 0.35)), -POINTS_ABOVE * log(epoch.tail))

    mantissa, exponent = frexp(END * last * steps)
    law = one = _one(epoch, ldexp(floor(16 * mantissa), exponent - 4), widths(1), above)
    for digit in bin(steps)[3:]:
        law = _sum(law, law)
        if digit == "1":
            law = _sum(law, one)
        law = _cut(_moved_up(law, widths(law.number)), tail * law.number / steps, tail, above)
    return law


def _one(epoch: Epoch, step: float, widths: Widths, above: bool) -> Law:
    """Return the law of one ratio on a grid whose steps are powers of 2 times this one."""
    mp, mu, tail = epoch.mp, 1 / epoch.sigma, TAIL * epoch.tail
    low, high = exp(-mu * (sqrt(-2 * log(tail / epoch.steps)) + mu / 2)), exp(mu * (sqrt(-2 * log(tail)) + mu / 2))
    step *= 2.0 ** (floor(log2(low * widths.relative / step)) + 1)
    ranges, begin = list[tuple[float, int, int]](), floor(low / step)  # without the last point, which is the next one
    while not ranges or ranges[-1][0] * ranges[-1][2] < high:
        end = max(widths.last_index(step, 1) // 2 * 2, begin + begin % 2)
        ranges.append((step, begin, max(min(end, ceil(high / step)), begin)))
        step, begin = 2 * step, end // 2
    x = np.array([h * i for h, first, last in ranges for i in range(first, last)] + [ranges[-1][0] * ranges[-1][2]])
    rows, zero, infinite = _cells_of_one(mp, epoch.sigma, x, above)
    parts, begin = list[Part](), 0
    for k, (h, first, last) in enumerate(ranges):
        end = begin + last - first + (k == len(ranges) - 1)
        parts += [Part(h, first, rows[:, begin:end])] if end > begin else []
        begin = end
    return Law(1, tuple(parts), zero, infinite, 4 * UNIT)


def _cells_of_one(mp: Any, sigma_as_double: float, x: Array, above: bool) -> tuple[Array, float, float]:
    """Return the masses of one ratio at the points x, from below with mean parts, its mass at 0, and its mean part at
    infinity: from above, that of an interval between points is split between them, and from below, it is merged in the
    cells around points."""
    with mp.workdps(DIGITS):
        edges = x.tolist() if above else [(a + b) / 2 for a, b in pairwise(x.tolist())]
        sigma = mp.mpf(sigma_as_double)
        z = [mp.log(mp.mpf(e)) * sigma + 1 / (2 * sigma) for e in edges]
        in_q, in_p = (normal_cells(mp, z, 1, mean) for mean in (0, 1 / sigma))  # below, between and above the edges
        if not above:
            return np.array([[double_outwards(mp, mass, -1) for mass in masses] for masses in (in_q, in_p)]), 0.0, 0.0
        left, right = np.zeros(len(x)), np.zeros(len(x))
        for k, (mass, mean) in enumerate(zip(in_q[1:-1], in_p[1:-1], strict=True)):
            a, b = mp.mpf(edges[k]), mp.mpf(edges[k + 1])
            share = (mean - a * mass) / (b - a)
            left[k], right[k + 1] = double_outwards(mp, mass - share, 1), double_outwards(mp, share, 1)
        right[0], left[-1] = double_outwards(mp, in_p[0] / mp.mpf(edges[0]), 1), double_outwards(mp, in_q[-1], 1)
        return (left + right)[None], double_outwards(mp, in_q[0], 1), double_outwards(mp, in_p[-1], 1)


def double_outwards(mp: Any, x: Any, direction: int) -> float:
    """Return a double that is not below x (direction +1), or not above it, and not below 0."""
    low, high = x.real.endpoints() if is_ball_context(mp) else (nextafter(float(x), d * exp(700)) for d in (-1, 1))
    return max(float(high if direction > 0 else low), 0.0)


def _twice_the_step(part: Part) -> Part:
    """Return the cells on a grid of twice the step, halves of those at odd points moving to both neighbours."""
    odd = part.first % 2
    count = len(part.rows[0]) + odd
    rows = np.zeros((len(part.rows), count + 1 - count % 2))
    rows[:, odd:count] = part.rows
    even = rows[:, ::2].copy()
    even[:, 1:] += rows[:, 1::2] / 2
    even[:, :-1] += rows[:, 1::2] / 2
    return Part(2 * part.step, (part.first - odd) // 2, even)


def _added(parts: Iterable[Part | None], step: float) -> Part | None:
    """Return the cells of all these parts on a grid with this step."""
    moved = list[Part]()
    for part in parts:
        while part and part.step < step:
            part = _twice_the_step(part)
        moved += [part] if part else []
    if len(moved) < 2:
        return moved[0] if moved else None
    first = min(part.first for part in moved)
    rows = np.zeros((len(moved[0].rows), max(part.first + len(part.rows[0]) for part in moved) - first))
    for part in moved:
        rows[:, part.first - first : part.first - first + len(part.rows[0])] += part.rows
    return Part(step, first, rows)


def _sums_of_points(a: Part | None, b: Part | None) -> Part | None:
    """Return the cells of the sums of two cells on the same grid."""
    if not a or not b:
        return None
    rows = [np.convolve(a.rows[0], b.rows[0])]
    if len(a.rows) > 1:
        rows.append(np.convolve(a.rows[0], b.rows[1]) + np.convolve(a.rows[1], b.rows[0]))
    return Part(a.step, a.first + b.first, np.array(rows))


def _sum(a: Law, b: Law) -> Law:
    """Return the law of the sum of two independent sums. Two points are added on the coarser one of both grids."""
    of_a, of_b = ({part.step: part for part in law.parts} for law in (a, b))
    steps, found, terms, finer_a, finer_b = sorted({*of_a, *of_b}), list[Part](), 0, None, None
    for step in steps:
        up_to_b = _added((finer_b, of_b.get(step)), step)
        finer_a = _added((finer_a,), step)
        pairs = (of_a.get(step), up_to_b), (finer_a, of_b.get(step))
        if part := _added((_sums_of_points(x, y) for x, y in pairs), step):
            found.append(part)
        terms = max(terms, *(min(len(x.rows[0]), len(y.rows[0])) if x and y else 0 for x, y in pairs))
        finer_a, finer_b = _added((finer_a, of_a.get(step)), step), up_to_b
    zero, infinite = a.zero * b.zero, 0.0
    for one, other in ((a, b), (b, a)):  # 0 + y is split between 0 and infinity
        mass, mean = float(other.rows[0].sum()), float((other.rows[0] * other.x).sum())
        zero += one.zero * mass * (1 + LIGHT)
        infinite += (one.infinite * (mass + other.zero) + one.zero * mean) * (1 + LIGHT)
    error = a.error + b.error + (terms + 10 * log2(steps[-1] / steps[0]) + 20) * UNIT
    return Law(a.number + b.number, tuple(found), zero, infinite, error)


def _moved_up(law: Law, widths: Widths) -> Law:
    """Return the law with all cells beyond the end of their part moved to twice its step."""
    of_step, found = {part.step: part for part in law.parts}, list[Part]()
    step, moved, moves = law.parts[0].step, None, 0
    while of_step or moved:
        if part := _added((moved, of_step.pop(step, None)), step):
            moved = None
            cells = max(widths.last_index(step, law.number) + 1 - part.first, 0)
            if cells:
                found.append(part._replace(rows=part.rows[:, :cells]))
            if cells < len(part.rows[0]):
                moved = _twice_the_step(Part(step, part.first + cells, part.rows[:, cells:]))
        step, moves = 2 * step, moves + 1
    return law._replace(parts=tuple(found), error=law.error + 3 * moves * UNIT)


def _cut(law: Law, low_tail: float, high_tail: float, above: bool) -> Law:
    """Return the law without its light ends: from above they are split between the last point left and 0 or infinity,
    from below they are merged into the last cell left."""
    order = np.argsort(law.x, kind="stable")
    x, rows = law.x[order], law.rows[:, order]
    i = min(int(np.searchsorted(np.cumsum(rows[0]), low_tail)), len(x) - 1)
    j = max(len(x) - int(np.searchsorted(np.cumsum((rows[0] * x)[::-1]) / law.number, high_tail)), i + 1)
    at_low, zero, infinite = rows[:, :i].sum(axis=1), law.zero, law.infinite
    if above:
        at_low = (rows[:, :i] * (x[:i] / x[i])).sum(axis=1)
        zero += float((rows[0, :i] * ((x[i] - x[:i]) / x[i])).sum()) * (1 + LIGHT)
        infinite += float((rows[0, j:] * (x[j:] - x[j - 1])).sum()) * (1 + LIGHT)
    rows[:, i] += at_low
    rows[:, j - 1] += rows[:, j:].sum(axis=1)
    left, parts, begin = np.full_like(rows, -1.0), list[Part](), 0
    left[:, order[i:j]] = rows[:, i:j]
    for part in law.parts:  # of each part, adjacent cells are left
        cells = left[:, begin : begin + len(part.rows[0])]
        begin += len(part.rows[0])
        if len(which := np.flatnonzero(cells[0] >= 0)):
            parts.append(Part(part.step, part.first + int(which[0]), cells[:, which[0] : which[-1] + 1]))
    error = law.error + (max(i, len(x) - j) + 20) * UNIT
    return law._replace(parts=tuple(parts), zero=zero, infinite=infinite, error=error)
