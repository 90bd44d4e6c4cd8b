"""Laws of sums of independent log-normal ratios that are above or below the true law in convex order.

The ratios w = exp(μz − μ²/2), z ~ N(0, 1), have mean 1. A law stands for E φ(S) of every convex φ >= 0. It consists of
cells, each with a point x of a grid, a mass p under Q and a mean part m, and is read in two ways.

From below, a cell is an atom at m/p. All that happens to cells is that shares of them, the same ones of p and of m, are
merged with other cells: this is a conditional mean, and lowers E φ by Jensen's inequality.

From above, a cell is an atom at x. Where the two points to which an atom is divided have it as their mean, mass and
mean stay the same and E φ rises for every convex φ. A law also has a mass c "at infinity", which adds c·lim φ(x)/x, and
a mass at zero. Without rounding, each step can be read as one that keeps mass and mean (beyond the last point, c less
x_last times the mass), so P-masses add to 1 and the mass at infinity of a composition is 1 − Π(1 − c_i). As φ >= 0,
larger masses and a larger c only raise E φ, so both may be rounded up.

The grids are arithmetic and consist of parts whose step doubles from part to part: a geometric grid for the few ratios
whose sum is widely spread, and hardly more than one arithmetic grid for many. Sums of points of one part are points
again, and are computed by a convolution of positive terms, whose masses have small relative errors even where they are
tiny. What is below a part moves to its step before it is added. Moving a cell to twice the step is all that changes a
law: it divides cells at odd points equally between their neighbours. Points are products of an index below 2^49 and a
step of four bits, which are exact. """

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, exp, floor, log, log2, pi, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics import legendre, normal
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT

NODES = 16  # of the Gauss–Legendre rule in a cell, whose width is at most a tenth of its ratios
LIGHT = 1e-9  # relative allowance for errors of masses at 0 and at infinity, which are too light for more care
# More than what masses and mean parts lose by underflow in all sums together, for up to 1e7 ratios: less than 2^70
# products, each of which misses at most 2^-1074 and stands for at most as many as the square of the number of ratios.
UNDERFLOW = 2.0**-955


class Part(NamedTuple):
    """Cells at the points step·(first + i): the rows of their masses p under Q and of their mean parts m."""

    step: float
    first: int
    rows: Array

    @property
    def points(self) -> Array:
        return np.asarray(self.step * (self.first + np.arange(self.cells)))

    @property
    def cells(self) -> int:
        return int(self.rows.shape[1])

    @property
    def end(self) -> int:
        return self.first + self.cells

    def split(self, cells: int) -> tuple[Part | None, Part | None]:
        """The first cells, and the others."""
        return (self._replace(rows=self.rows[:, :cells]) if cells else None,
                Part(self.step, self.first + cells, self.rows[:, cells:]) if self.first + cells < self.end else None)

    def coarser(self) -> Part:
        """The cells on a grid of twice the step, those at odd points being divided equally between their
        neighbours."""
        first, last = self.first // 2, self.end // 2
        padded = np.zeros((2, 2 * (last - first) + 1))
        padded[:, self.first - 2 * first : self.end - 2 * first] = self.rows
        rows, halves = padded[:, ::2].copy(), padded[:, 1::2] / 2
        rows[:, :-1] += halves
        rows[:, 1:] += halves
        return Part(2 * self.step, first, rows)


def _on_step(part: Part | None, step: float) -> Part | None:
    """The cells on a grid of this step, a power of 2 times their own."""
    while part and part.step < step:
        part = part.coarser()
    return part


def _together(a: Part | None, b: Part | None) -> Part | None:
    """The cells of two parts on the same grid."""
    if not a or not b:
        return a or b
    first = min(a.first, b.first)
    rows = np.zeros((2, max(a.end, b.end) - first))
    for part in (a, b):
        rows[:, part.first - first : part.end - first] += part.rows
    return Part(a.step, first, rows)


def _sums(a: Part | None, b: Part | None) -> Part | None:
    """The cells of all sums of two points."""
    if not a or not b:
        return None
    (p, m), (q, n) = a.rows, b.rows
    return Part(a.step, a.first + b.first, np.stack((np.convolve(p, q), np.convolve(p, n) + np.convolve(m, q))))


class Steps(NamedTuple):
    """How large the steps of a grid may be: `relative` times the points, or the distance from the mean divided by
    `above`."""

    relative: float
    above: float

    def last_index(self, step: float, count: int) -> int:
        """The index of the last point of a part with this step, for a sum of `count` ratios."""
        return floor(min(1 / self.relative, count / step + self.above))


@dataclass(frozen=True)
class Law:
    """The law of a sum of `count` ratios, by parts of increasing steps. `error` is a bound on |log(computed/true)| of
    the masses and the mean parts of cells, up to UNDERFLOW. From above, `zero` is the mass at ratio 0, and `infinite`
    the mean part at infinity, of a sum of mean `count`; the masses of cells may be larger than in the law that is read
    from above."""

    count: int
    parts: tuple[Part, ...]
    zero: float
    infinite: float
    error: float

    @classmethod
    def one(cls, mu: float, step: float, steps: Steps, tail: float, number: int) -> Law:
        """The law of one ratio: in each interval between two points, the mass and the mean part are divided by the
        distances to both. Steps are powers of 2 times `step`. Beyond the grid there is at most `tail` P-mass above, and
        below at most a share 1/number of it of Q-mass."""
        low, high = sqrt(-2 * log(tail / number)), sqrt(-2 * log(tail))
        grids = _grids(step, steps, exp(-mu * (low + mu / 2)), exp(mu * (high + mu / 2)))
        step, _, end = grids[-1]
        points = np.concatenate([h * np.arange(i, j) for h, i, j in grids] + [np.array([step * end])])
        width = np.diff(points)
        nodes, weights = legendre.rule(NODES)
        nodes, inside = (1 + nodes) / 2, points[:-1, None] + width[:, None] * (1 + nodes) / 2
        z = _deviations(inside, (points[:-1] - 1)[:, None] + width[:, None] * nodes, mu)
        p = np.exp(-z * z / 2) * (width[:, None] / inside * weights / (2 * mu * sqrt(2 * pi)))
        left, right = (np.stack(((p * share).sum(axis=1), (p * inside * share).sum(axis=1)))
                       for share in (1 - nodes, nodes))
        parts, begin = list[Part](), 0
        for h, i, j in grids:
            rows, here = np.zeros((2, j - i + 1)), slice(begin, begin + j - i)
            rows[:, :-1] += left[:, here]
            rows[:, 1:] += right[:, here]
            parts.append(Part(h, i, rows))
            begin += j - i
        low, high = _deviations(points[[0, -1]], points[[0, -1]] - 1, mu).tolist()
        zero, infinite = exp(normal.log_tail(-low)), exp(normal.log_tail(high - mu))
        parts[0].rows[:, 0] += zero, exp(normal.log_tail(mu - low))
        parts[-1].rows[:, -1] += exp(normal.log_tail(high)), infinite
        return cls(1, tuple(parts), zero * (1 + LIGHT), infinite * (1 + LIGHT),
                   _error_of_one(low, high, mu, float((width / points[:-1]).max())))

    @property
    def mass_and_mean(self) -> tuple[float, float]:
        """The mass and the mean of the finite part, from above."""
        return (sum(float(part.rows[0].sum()) for part in self.parts) * (1 + LIGHT),
                sum(float((part.rows[0] * part.points).sum()) for part in self.parts) * (1 + LIGHT))

    def plus(self, other: Law) -> Law:
        """The law of the sum with another one, whose steps are powers of 2 times its own ones."""
        x, y = ({part.step: part for part in law.parts} for law in (self, other))
        below_x, below_y, found, terms, steps = None, None, list[Part](), 0, sorted({*x, *y})
        for step in steps:
            of_x, of_y = x.get(step), y.get(step)
            below_x, below_y = _on_step(below_x, step), _on_step(below_y, step)
            to_y = _together(below_y, of_y)
            products = (of_x, to_y), (below_x, of_y)
            terms = max(terms, *(min(a.cells, b.cells) if a and b else 0 for a, b in products))
            if sums := _together(*(_sums(a, b) for a, b in products)):
                found.append(sums)
            below_x, below_y = _together(below_x, of_x), to_y
        # A sum 0 + x is split between 0 and infinity, too, as φ(x) <= φ(0) + x·lim φ(y)/y for convex φ.
        zero, infinite = self.zero * other.zero, 0.0
        for a, b in ((self, other), (other, self)):
            mass, mean = b.mass_and_mean
            zero += a.zero * mass
            infinite += a.infinite * (mass + b.zero) + a.zero * mean
        error = self.error + other.error + (terms + 10 * log2(steps[-1] / steps[0]) + 20) * UNIT
        return Law(self.count + other.count, tuple(found), zero, infinite, error)

    def settled(self, steps: Steps) -> Law:
        """The same law with the cells of each part that are beyond its last point moved to twice its step."""
        rest, parts = {part.step: part for part in self.parts}, list[Part]()
        step, moved, moves = self.parts[0].step, None, 0
        while rest or moved:
            if part := _together(moved, rest.pop(step, None)):
                cells = max(steps.last_index(step, self.count) + 1 - part.first, 0)
                kept, moved = part.split(cells)
                parts += [kept] if kept else []
                moved = moved and moved.coarser()
            step, moves = 2 * step, moves + 1
        return replace(self, parts=tuple(parts), error=self.error + 3 * moves * UNIT)

    def truncated(self, tail: float, number: int) -> Law:
        """The same law with light ends merged into the outermost cells of the rest: at most `tail` P-mass above, and
        below at most so much Q-mass that all laws of a sum of so many ratios together have `tail`. From above, they are
        split between these cells and zero, or infinity."""
        points, rows = (np.concatenate(x, axis=-1) for x in (
            [part.points for part in self.parts], [part.rows for part in self.parts]))
        order = np.argsort(points, kind="stable")
        x, p = points[order], rows[0, order]
        low = min(int(np.searchsorted(np.cumsum(p), tail * self.count / number)), len(p) - 1)
        high = max(len(p) - 1 - int(np.searchsorted(np.cumsum((p * x)[::-1]), tail * self.count)), low)
        below, above = order[:low], order[high + 1 :]
        rows[:, order[low]] += rows[:, below].sum(axis=1)
        rows[:, order[high]] += rows[:, above].sum(axis=1)
        zero = self.zero + float((p[:low] * ((x[low] - x[:low]) / x[low])).sum()) * (1 + LIGHT)
        infinite = self.infinite + float((p[high + 1 :] * (x[high + 1 :] - x[high])).sum()) * (1 + LIGHT)
        is_kept = np.zeros(len(p), bool)
        is_kept[order[low : high + 1]] = True
        parts, begin = list[Part](), 0
        for part in self.parts:
            here = begin + np.flatnonzero(is_kept[begin : begin + part.cells])
            if len(here):  # points increase, so that these cells are adjacent
                parts.append(Part(part.step, part.first + int(here[0]) - begin, rows[:, here[0] : here[-1] + 1]))
            begin += part.cells
        return replace(self, parts=tuple(parts), zero=zero, infinite=infinite,
                       error=self.error + (max(len(below), len(above)) + 20) * UNIT)


def _grids(step: float, steps: Steps, low: float, high: float) -> list[tuple[float, int, int]]:
    """The parts of the grid of one ratio from `low` to `high`: step, and the indices of the first and the last
    point, which is the first one of the next part."""
    step *= 2.0 ** (floor(log2(low * steps.relative / step)) + 1)  # the smallest one whose part goes beyond `low`
    grids, begin = list[tuple[float, int, int]](), floor(low / step)
    while (end := max(steps.last_index(step, 1) // 2 * 2, begin + begin % 2)) * step < high:
        if end > begin:
            grids.append((step, begin, end))
        step, begin = 2 * step, end // 2
    return [*grids, (step, begin, max(ceil(high / step), begin + 1))]


def _deviations(x: Array, difference: Array, mu: float) -> Array:
    """The z at which the ratio is x, by the logarithm that is accurate there; `difference` is x − 1."""
    return np.asarray(np.where(x > 0.5, np.log1p(np.maximum(difference, -0.5)), np.log(x)) / mu + mu / 2)


def _error_of_one(low: float, high: float, mu: float, width: float) -> float:
    """The relative error of the integrals over cells of at most this width, relative to their ratios, up to the
    largest |z|.

    φ(z) has that of z²/2, of |z| times 3 roundings of z; μ is 1/σ rounded to the nearest double, which changes φ(z) by
    a factor of 1 ± |z||z−μ|·2^−53. A Gauss–Legendre rule with N nodes has the error 5Mρ^{−2N} for an integrand of
    modulus at most M on an ellipse with semi-axes up to (ρ + 1/ρ)·width/4 around the middle of the cell (Trefethen
    2008, SIAM Review 50, Theorem 4.5); the integrand is φ(z)/x times a share. Here ρ is such that these are below half
    of x, where 1/x at most doubles, and such that z changes by less than a = 2N/(|z|+μ), as |log(1 + q)| <= 1.4·|q| for
    |q| <= 1/2. There φ grows by at most e^{|z|a + a²/2}, and the share by ρ/4 + 1. The factor is 100, as the integral
    may be a tenth of that of φ(z)/x at the middle of the cell. """
    largest = max(abs(low), abs(high), 8.0) + mu
    reach = 2 * NODES / largest
    ellipse = 4 * min(0.5, reach * mu / 1.4) / width - 1  # ρ
    quadrature = 100 * (ellipse / 4 + 1) * exp(reach * reach / 2) * (exp(1) / ellipse) ** (2 * NODES)
    return 8 * (largest * largest + 10) * UNIT + quadrature
