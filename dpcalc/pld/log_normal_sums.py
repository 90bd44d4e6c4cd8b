"""Laws of sums of independent log-normal ratios that are above or below the true law in convex order.

The ratios w = exp(μz − μ²/2), z ~ N(0, 1), have mean 1. A law stands for E φ(S) of every convex φ >= 0.

Upper law. An atom between two grid points is split between them such that its mass and its mean stay the same. This
raises E φ for every convex φ. A law has a mass c "at infinity", which adds c·lim φ(x)/x, and a mass at zero. Without
rounding, each step can be read as one that keeps mass and mean (beyond the last point, c less x_last times the mass),
so P-masses add to 1 and the mass at infinity of a composition is 1 − Π(1 − c_i). As φ >= 0, larger masses and a larger
c only raise E φ, so both may be rounded up. Where atoms are only known up to a factor (1 ± s), an increasing φ is
bounded with atoms (1 + s)x, and a decreasing one with atoms (1 − s)x.

Lower law. All atoms of a cell are merged at their mean, which lowers E φ by Jensen's inequality. The cells are stored
by their mass p and their mean part m = p·x, so the atom is m/p; both have relative errors.

Both laws approach that of S with the square of the step of the grid x_i = e^{hi}. A sum x_j + x_{j−d} is at
h·j + log(1 + e^{−hd}), so that its cell and its shares depend on d only, and the sum of two equal laws takes one vector
operation for each d. All terms are positive: masses have small relative errors far into the tails. """

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, exp, expm1, floor, log, log1p, pi, sqrt
from typing import ClassVar, Self

import numpy as np

from dpcalc.numerics import legendre, normal
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT

NODES = 16  # of the Gauss–Legendre rule in a cell, whose width is at most 0.5 deviations
LIGHT = 1e-9  # relative allowance for errors of masses at 0 and at infinity, which are too light for more care


@dataclass(frozen=True)
class Law:
    """The law of a sum of `count` ratios under Q: the masses p of cells at log-ratios step·(first + i), and for a lower
    law their mean parts. `error` is a bound on |log(computed/true)| of masses and of mean parts, and `shift` on the
    relative error of the atoms of an upper law."""

    count: int
    step: float
    first: int
    p: Array
    error: float
    rounding: ClassVar[float]  # of the place of a sum in its cell: 0.0 down, 0.5 to the nearest point

    @property
    def index(self) -> Array:
        return self.first + np.arange(len(self.p))

    @property
    def log_ratio(self) -> Array:
        """log of the mean of the ratios at each grid point; step·index is exact, as steps have four bits."""
        return np.asarray(self.step * self.index - log(self.count))

    def mean_parts(self) -> Array:
        return np.asarray(self.p * np.exp(self.log_ratio))

    def doubled(self, step: float) -> Self:
        """The law of the sum of two such sums on a grid with this step, which divides its own."""
        ratio, n = round(self.step / step), len(self.p)
        rest, cell = self._cells_of_sums(self.step * np.arange(n), step)
        shares, begins = self._shares(rest, step), ratio * np.arange(n) + cell
        first = int(begins.min())
        out = np.zeros((2, ratio * (n - 1) + int(cell[0]) - first + 1))
        for d, begin in enumerate((begins - first).tolist()):
            rows = self._products(slice(d, None), self, slice(n - d), shares[:, d : d + 1])
            out[:, begin : begin + ratio * (n - 1 - d) + 1 : ratio] += 2 * rows if d else rows
        return self._sum(self, step, ratio * self.first + first, out, n)

    def plus(self, other: Self) -> Self:
        """The law of the sum with another one, on this grid, whose step divides the other one's. The longest chain of
        additions to one mass has as many terms as both laws have masses."""
        places, n = (round(other.step / self.step) * other.index).tolist(), len(self.p)
        low, high = (max(i, j) + int(log1p(exp(-self.step * abs(i - j))) / self.step)
                     for i, j in ((self.first, places[0]), (self.first + n - 1, places[-1])))
        out = np.zeros((2, high - low + 4))
        for k, place in enumerate(places):
            rest, cell = self._cells_of_sums(self.step * np.abs(self.index - place), self.step)
            cell += np.maximum(self.index, place) - low + 1
            begin = int(cell.min())
            rows = self._products(slice(None), other, slice(k, k + 1), self._shares(rest, self.step))
            for row, masses in zip(out, rows, strict=True):
                sums = np.bincount(cell - begin, masses)
                row[begin : begin + len(sums)] += sums
        return self._sum(other, self.step, low - 1, out, n + len(other.p))

    def _cells_of_sums(self, distance: Array, step: float) -> tuple[Array, Array]:
        """Where x + y is, as a log, relative to the larger one of both: the rest within its cell, and the cell."""
        up = np.log1p(np.exp(-distance))
        cell = np.floor(up / step + self.rounding).astype(np.intp)
        return up - cell * step, cell

    def _shares(self, rest: Array, step: float) -> Array:
        """The shares of the left and of the right end of a cell for an atom at log-distance `rest` from the left end,
        each with a relative error of a few units in the last place; without meaning where cells have no ends."""
        return np.broadcast_to(1.0, (2, len(rest)))

    def _products(self, i: slice, other: Self, j: slice, shares: Array) -> Array:
        """Two rows of what pairs of atoms add to the cell of their sum, or to its left and its right end."""
        raise NotImplementedError

    def _sum(self, other: Self, step: float, first: int, out: Array, terms: int) -> Self:
        """The law of the sum from these rows of all pairs of atoms, with so many terms for a mass."""
        raise NotImplementedError

    def ends(self, tail: float, steps: int) -> tuple[int, int]:
        """The cells outside of which there is at most `tail` P-mass above, and below at most so much Q-mass that all
        laws of a sum of so many steps together have `tail`."""
        low = int(np.searchsorted(np.cumsum(self.p), tail * self.count / steps))
        high = len(self.p) - 1 - int(np.searchsorted(np.cumsum(self.mean_parts()[::-1]), tail))
        low = min(low, len(self.p) - 1)
        return low, max(low, high)


@dataclass(frozen=True)
class Upper(Law):
    rounding = 0.0
    zero: float  # mass at ratio 0
    infinite: float  # mean part at infinity, of a sum of mean `count`
    shift: float = 0.0

    @classmethod
    def one(cls, mu: float, step: float, tail: float, steps: int) -> Upper:
        """The law of one ratio: the mass of each cell is split between its ends by integrals of positive functions."""
        first, last = _range(mu, step, tail, steps)
        nodes, weights = _nodes()
        z = step / mu * (np.arange(first, last)[:, None] + nodes) + mu / 2
        density = np.exp(-z * z / 2) * weights * (step / mu / sqrt(2 * pi))
        right = (density * (np.expm1(step * nodes) / expm1(step))).sum(axis=1)
        left = (density * (np.exp(step * nodes) * np.expm1(step * (1 - nodes)) / expm1(step))).sum(axis=1)
        p = np.append(left, 0.0) + np.append(0.0, right)
        low, high = step / mu * first + mu / 2, step / mu * last + mu / 2
        below, above = normal.log_tail(-low), normal.log_tail(high)
        p[0] += (at_first := exp(normal.log_tail(mu - low) - step * first))  # the rest of the mass is moved to 0
        p[-1] += exp(above)  # with all of the mean part above at infinity
        zero = max(0.0, exp(below) - at_first) + LIGHT * exp(below)
        return cls(1, step, first, p, _error_of_one(low, high, mu, step / mu), zero, exp(normal.log_tail(high - mu)))

    def _shares(self, rest: Array, step: float) -> Array:
        rest, whole = np.clip(rest, 0.0, step), expm1(step)
        return np.stack((np.exp(rest) * (np.expm1(step - rest) / whole), np.expm1(rest) / whole))

    def _products(self, i: slice, other: Self, j: slice, shares: Array) -> Array:
        return np.asarray(shares * (self.p[i] * other.p[j]))

    def _sum(self, other: Self, step: float, first: int, out: Array, terms: int) -> Self:
        p = np.append(out[0], 0.0) + np.append(0.0, out[1]) + terms * 2.0**-1021  # for products that underflow
        # A sum 0 + x is split between 0 and infinity, too, as φ(x) <= φ(0) + x·lim φ(y)/y for convex φ.
        zero, infinite = self.zero * other.zero, 0.0
        for x, y in ((self, other), (other, self)):
            mass, mean = float(y.p.sum()), y.count * float(y.mean_parts().sum()) * (1 + LIGHT)
            zero += x.zero * mass
            infinite += x.infinite * (mass + y.zero) + x.zero * mean
        return replace(self, count=self.count + other.count, step=step, first=first, p=p, zero=zero, infinite=infinite,
                       error=self.error + other.error + (2 * terms + 20) * UNIT,
                       shift=max(self.shift, other.shift) + 4 * UNIT)

    def truncated(self, tail: float, steps: int) -> Upper:
        """The same law with light ends split between an end of the rest and zero, or infinity."""
        low, high = self.ends(tail, steps)
        p, x = self.p[low : high + 1].copy(), self.step * self.index
        below, above = x[:low] - x[low], x[high + 1 :] - x[high]
        p[0] += (self.p[:low] * np.exp(below)).sum()
        p[-1] += self.p[high + 1 :].sum()
        zero = self.zero - float((self.p[:low] * np.expm1(below)).sum())
        infinite = self.infinite + float((self.p[high + 1 :] * np.expm1(above)).sum()) * exp(float(x[high]))
        return replace(self, first=self.first + low, p=p, zero=zero, infinite=infinite,
                       error=self.error + (len(self.p) + 20) * UNIT)


@dataclass(frozen=True)
class Lower(Law):
    rounding = 0.5
    m: Array  # mean parts, of a sum of mean `count`

    @classmethod
    def one(cls, mu: float, step: float, tail: float, steps: int) -> Lower:
        """The law of one ratio, merged in the cells around the grid points; the outermost cells are unbounded."""
        first, last = _range(mu, step, tail, steps)
        nodes, weights = _nodes()
        z = step / mu * (np.arange(first, last + 1)[:, None] - 0.5 + nodes) + mu / 2
        weights = weights * (step / mu / sqrt(2 * pi))
        p, m = ((np.exp(-x * x / 2) * weights).sum(axis=1) for x in (z, z - mu))
        low, high = step / mu * (first - 0.5) + mu / 2, step / mu * (last + 0.5) + mu / 2
        for masses, a, b in ((p, low, high), (m, low - mu, high - mu)):
            masses[0] += exp(normal.log_tail(-a))
            masses[-1] += exp(normal.log_tail(b))
        return cls(1, step, first, p, _error_of_one(low, high, mu, step / mu), m)

    def mean_parts(self) -> Array:
        return self.m / self.count

    @cached_property
    def _rows(self) -> Array:
        return np.stack((self.p, self.m))

    def _products(self, i: slice, other: Self, j: slice, shares: Array) -> Array:
        found: Array = self._rows[:, i] * other.p[j]
        found[1] += self.p[i] * other.m[j]
        return found

    def _sum(self, other: Self, step: float, first: int, out: Array, terms: int) -> Self:
        return replace(self, count=self.count + other.count, step=step, first=first, p=out[0], m=out[1],
                       error=self.error + other.error + (terms + 20) * UNIT)

    def truncated(self, tail: float, steps: int) -> Lower:
        """The same law with light ends merged into the outermost cells of the rest."""
        low, high = self.ends(tail, steps)
        rows = []
        for masses in (self.p, self.m):
            row = masses[low : high + 1].copy()
            row[0] += masses[:low].sum()
            row[-1] += masses[high + 1 :].sum()
            rows.append(row)
        return replace(self, first=self.first + low, p=rows[0], m=rows[1],
                       error=self.error + (len(self.p) + 20) * UNIT)


def _range(mu: float, step: float, tail: float, steps: int) -> tuple[int, int]:
    """The first and the last grid point for one ratio: beyond them there is at most `tail` P-mass above, and below at
    most a share 1/steps of it of Q-mass."""
    low, high = sqrt(-2 * log(tail / steps)), sqrt(-2 * log(tail))
    return floor(-mu * (low + mu / 2) / step), ceil(mu * (high + mu / 2) / step)


def _nodes() -> tuple[Array, Array]:
    """The Gauss–Legendre rule on [0, 1]."""
    nodes, weights = legendre.rule(NODES)
    return (1 + nodes) / 2, weights / 2


def _error_of_one(low: float, high: float, mu: float, width: float) -> float:
    """The relative error of the integrals over cells of some width, up to the largest |z|.

    φ(z) has that of z²/2, of |z| times 3 roundings of z; μ is 1/σ rounded to the nearest double, which changes φ(z) by
    a factor of 1 ± |z||z−μ|·2^−53. A Gauss–Legendre rule with N nodes has the error 5Mρ^{−2N}, ρ >= 2.62, for an
    integrand of modulus at most M on an ellipse with semi-axes up to (ρ + 1/ρ)·width/4 (Trefethen 2008, SIAM Review 50,
    Theorem 4.5); here ρ is such that these are below a = 2N/(|z|+μ). There φ grows by at most e^{|z|a + a²/2}, and the
    shares |(e^{hu}−1)/(e^h−1)| reach |u|e^{μa} with |u| <= ρ/4 + 1. The factor is 10, as a share may be small in its
    cell. """
    largest = max(abs(low), abs(high), 8.0) + mu
    reach = 2 * NODES / largest
    ellipse = 4 * reach / width - 1  # ρ
    quadrature = 10 * (ellipse / 4 + 1) * exp(reach * reach / 2) * (exp(1) / ellipse) ** (2 * NODES)
    return 8 * (largest * largest + 10) * UNIT + quadrature
