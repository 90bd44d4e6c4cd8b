"""The privacy profile of an epoch of shuffled batches that uses all n records, by the theorem in
dpcalc/bounds/sampling/shuffle_profile_used.py.

With T = n/b batches, N = n − b records after the first batch, and any α(d) = a_0 + Σ_i s_i (d − d_i)₊, Tδ is at most
a_0 + Σ_i s_i E(D* − d_i)₊ + Σ_l c_l C_l if s_i, c_l >= 0, Σ s_i >= 1 and, for all nodes d_i and numbers of records k,
α(d_i) + Σ_l c_l L_l(k) >= h(d_i, k). By lists L_l = min(1, k_l/k) and C_l = G(k_l/N); by the largest likelihood ratio
L_l = (N/(k + 1) − z_l)₊, and C_l = N·H(g) + g·H(z_l/g) for any g. As neither side increases in k, it is enough to
compare the left side at each level to an upper bound of h at the next lower one. The best a_0, s and c for given nodes
and levels solve a linear program. Its solution need not be exact: it is multiplied by what satisfies all conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, expm1, floor, inf, log, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta
from dpcalc.numerics.rounding import UNIT, up
from dpcalc.pld.many_sums import Summands, means_of_sums
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.poisson_numbers import mean_number, poisson_nodes
from dpcalc.pld.positive_sums import Question, Summand, choose_grid, spread
from dpcalc.pld.swapped_record import Difference, Mesh
from dpcalc.pld.tilted_sums import Grid

LEAST_POINTS, MOST_POINTS = 160, 1024  # of the window of a sum; for more batches than (MOST_POINTS/POINTS_OF_ROOT)² it
POINTS_OF_ROOT, LARGEST_WINDOW = 20, 8192  # has as many points as 20 times the root of their number, up to 8,192
RATIO = 1.4  # of levels: 1.2 would lower ε by up to 3 % in 1.6 times the time, and 2 would raise it by up to 7 %
GROUP = 4  # grids on which sums are computed at once: arrays for many grids take more time than several shorter ones
FEW = 32  # batches up to which h differs much from node to node
SIMILAR = 2.5  # the grid of a level is good enough for levels up to so many times as large
NEGLIGIBLE = 1e-4  # relative, of the change of Tδ by points of laws that are left out
TINY = 1e-5  # relative: conditions of a linear program that cost so little may be made stricter
SMALLEST_COST = 1e-100  # relative, in a linear program: a smaller one is raised to it, as it may be 0 in doubles


class Profile:
    """log δ of an epoch in one direction.

    The bound holds for any nodes, levels, grids and points of laws; more of them would lower ε by a few percent, and
    take longer."""

    def __init__(self, mesh: Mesh, direction: int, n: int, batch_size: int, radius: float) -> None:
        self.m, self.direction, self.later = mesh.m, direction, n - batch_size
        self.reach = up(radius * mesh.m, 2 * UNIT)  # in standard deviations of the noise
        self.coarse = Mesh(mesh.m, mesh.tail, cells_per_deviation=8)
        self.full, rest = divmod(self.later, batch_size)
        self.last = rest / batch_size
        self.batches = self.later / batch_size
        self.total = n / batch_size
        count = floor(log(self.later) / log(RATIO))
        self.levels = sorted({1, *(round(self.later / RATIO**i) for i in range(1, count + 1))})
        self.grids: dict[int, Grid] = {}  # of the last sums of each level

    def log_delta(self, epsilon: float, precision: float, expected: float) -> float:
        """log of an upper bound of δ(ε), which is expected to be about `expected`."""
        about = self.total * expected * exp(-epsilon)
        law = self.law(epsilon, about)
        least = inf
        for _ in range(2):  # again at the nodes for the δ that was found, where that is much larger than expected
            nodes = self.nodes(law, epsilon, about)
            least = min(least, self._least(law, nodes, self.table(law, nodes, precision, about), about))
            if not 1.3 * about < least < inf:
                break
            about = least
        return log(least / self.total) + epsilon

    def law(self, epsilon: float, about: float) -> Law:
        """D*/γ on few points, without those at its ends that matter little where Tδ is about this number."""
        points, call, put = self.coarse.difference(epsilon, self.direction)
        negligible = NEGLIGIBLE * about / self.batches
        begin = max(int(np.searchsorted(put, negligible)) - 1, 0)
        end = len(points) - max(int(np.searchsorted(call[::-1], negligible)) - 1, 0)
        return Law(Difference(points[begin:end], call[begin:end], put[begin:end] - put[begin]))

    def nodes(self, law: Law, epsilon: float, about: float) -> Array:
        """The mean of D*, 2.5 deviations of a likelihood ratio below it, 0, where h begins to rise if D* is seldom
        positive, and where E(D* − d)₊ is such a share of Tδ."""
        mean, one = expm1(-epsilon), sqrt(expm1(self.m * self.m))
        shares = (1.0, 0.1, 0.01) if self.batches > FEW else (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.002)
        return np.array(sorted({mean - 2.5 * one, mean, 0.0, *(law.point_of_call(x * about) for x in shares)}))

    def table(self, law: Law, nodes: Array, precision: float, about: float) -> Array:
        """Upper bounds of h at the nodes (columns) for at least as many records as the levels (rows)."""
        first = self.batches * law.call(-nodes / self.batches)
        rows = [self._means(law, self.levels[1:], nodes, precision, about)] if len(self.levels) > 1 else []
        return np.minimum.accumulate(np.vstack((first, *rows)))

    def _in_the_list(self, shares: Array) -> Array:
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(ndtri(shares) + self.reach))

    def _means(self, law: Law, levels: list[int], nodes: Array, precision: float, about: float) -> Array:
        """Upper bounds of h at the nodes (columns) and levels (rows) by numbers of records with independent Poisson
        laws."""
        from scipy.special import pdtr

        shifts = nodes / self.batches
        rates = {level: mean_number(level) / self.batches for level in levels}
        copies = {level: law.times_poisson(rate, rate, shifts) for level, rate in rates.items()}
        others = {level: law.times_poisson(rate * self.last, rate, shifts)
                  for level, rate in rates.items() if self.last}
        grids = self._grids(copies, precision, about)
        found = self._sums(list(grids.values()), list(copies.values()), list(others.values()))
        below = np.array([float(pdtr(level - 1, mean_number(level))) for level in levels])
        return found / (below * (1 - ROUNDING))[:, None]  # scipy's error is smaller

    def _sums(self, grids: Sequence[Grid], copies: Sequence[Summands], others: Sequence[Summands]) -> Array:
        """Upper bounds of E(ΣD)₊ on the grids of the levels."""
        groups = [slice(begin, begin + GROUP) for begin in range(0, len(grids), GROUP)]
        return np.concatenate([means_of_sums(grids[group], copies[group], self.full, others[group] or None)
                               for group in groups])

    def _grids(self, copies: Mapping[int, Summands], precision: float, about: float) -> dict[int, Grid]:
        """Grids for all levels, by the sums at one node; one grid for similar levels."""
        most = min(max(MOST_POINTS, round(POINTS_OF_ROOT * sqrt(self.batches))), LARGEST_WINDOW)
        found, last = dict[int, Grid](), 0
        for level in sorted(copies):
            question = Question(self.full, 0.0, precision, about, most_points=most, least_points=LEAST_POINTS,
                                in_blocks=False)
            points, masses, excess = copies[level].each()[len(copies[level].points) // 2]
            if not last or level > SIMILAR * last:
                last, grid = level, choose_grid(points, masses, question, excess)
            found[level] = grid
        self.grids.update(found)
        return {level: found[level] for level in copies}

    def _least(self, law: Law, nodes: Array, values: Array, about: float) -> float:
        """The least bound of Tδ for these nodes, in units of e^ε, by lists or by the largest ratio."""
        shares, values = np.array(self.levels[::-1]) / self.later, values[::-1]
        begins = np.append(1.0, shares[:-1])  # the share k/N up to which a row of the table is needed: the next level
        by_lists = self._in_the_list(shares[:-1]), np.minimum(1.0, shares[:-1] / begins[:, None])
        ratios = 1 / shares
        excess, _ = excess_of_largest_ratio(self.later, self.reach, ratios[:-1])
        by_ratio = excess, np.maximum(1 / begins[:, None] - ratios[:-1], 0.0)
        return min(_solved(law, nodes, values, about, *way) for way in (by_lists, by_ratio))


def excess_of_largest_ratio(later: int, reach: float, ratios: Array) -> tuple[Array, Array]:
    """Upper bounds of E(z − z_l)₊ for the largest likelihood ratio z of N later records, whose vectors are in a ball of
    the radius `reach`, in deviations of the noise: the least N·H(g) + g·H(z_l/g) of some g; and these log g. The 150
    numbers g are the slopes of G at a range of quantiles."""
    from scipy.special import ndtri

    least = max(-float(ndtri(1 / later)) - 1, 0.0)
    log_g = np.maximum(reach * np.linspace(least, least + 14, 150) - reach**2 / 2, 0.0)
    log_z, distance = np.log(ratios)[:, None], np.array(reach)
    profile = np.exp(np.minimum(log_z, log_g) + log_theta(np.abs(log_z - log_g), distance))
    second = profile + np.where(log_z < log_g, np.exp(log_g) - np.exp(log_z), 0.0)
    found = later * np.exp(log_theta(log_g, distance)) + second
    return found.min(axis=1), log_g[found.argmin(axis=1)]


def _solved(law: Law, nodes: Array, values: Array, about: float, costs: Array, layers: Array) -> float:
    """About the least a_0 + Σ s_i E(D* − d_i)₊ + Σ c_l·cost_l for which the left side is at least h, and never less."""
    costs = np.concatenate(([1.0], law.call(nodes), costs))
    left, right = constraints(nodes, values, layers)
    x = near_the_least(costs, left, right, about)
    rounding = (len(x) + 4) * UNIT  # relative, of products with |x|
    at = left @ x - rounding * (left @ np.abs(x))
    if not (at > 0).all():
        return inf
    return float((right / at).max() * (costs @ x + rounding * (costs @ np.abs(x))))


def constraints(nodes: Array, values: Array, layers: Array) -> tuple[Array, Array]:
    """A matrix and a right side >= 0: the theorem's conditions on x = (a_0, s, c) are matrix @ x >= right side, s >= 0
    and c >= 0, which a multiple of x satisfies if matrix @ x > 0."""
    hats = np.maximum(nodes[:, None] - nodes, 0.0)
    rows = [np.hstack((np.ones((len(nodes), 1)), hats, np.tile(layer, (len(nodes), 1)))) for layer in layers]
    slopes = np.concatenate(([0.0], np.ones(len(nodes)), np.zeros(layers.shape[1])))
    return np.vstack((*rows, slopes)), np.append(values.ravel(), 1.0)


def near_the_least(costs: Array, left: Array, right: Array, about: float) -> Array:
    """About the x for which costs @ x, which is about the given number, is least and left @ x >= right; only x_0, whose
    cost is 1, may be negative. x = 0 where none is found.

    The unknowns of the linear program are shares of these costs, and all right sides are 1: a multiple of its solution,
    which is hardly larger, satisfies all conditions. Where one condition alone costs more than was expected, that is
    the unit of costs. Coefficients are capped, as a small share then satisfies the condition."""
    from scipy.optimize import linprog

    positive = np.maximum(costs, SMALLEST_COST * about)
    about = max(about, float((right / (left / positive).max(axis=1)).max()))
    unit = about / positive
    matrix = np.minimum(left * unit / np.maximum(right, TINY * about)[:, None], 1 / TINY)
    found = linprog(costs * unit / about, -matrix, -np.ones(len(matrix)), method="highs", options={"presolve": False},
                    bounds=[(None, None)] + [(0.0, None)] * (len(costs) - 1))
    return np.zeros(len(costs)) if found.x is None else np.append(found.x[0], np.maximum(found.x[1:], 0.0)) * unit


class Law:
    """D*/γ as masses at points."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference
        self.summand = Summand(difference.points, *spread(*difference))

    def call(self, k: Array) -> Array:
        """E(D*/γ − k)₊, rounded up: it is convex."""
        points, call, _ = self.difference
        return np.asarray(np.interp(k, points, call) + np.maximum(points[0] - k, 0.0))

    def point_of_call(self, call: float) -> float:
        """About the point k with this E(D*/γ − k)₊."""
        return float(np.interp(-call, -self.difference.call, self.difference.points))

    def times_poisson(self, rate: float, unit: float, shifts: Array) -> Summands:
        """(B/unit)·(D*/γ + shift) for a Poisson number B with this rate, and for all shifts."""
        counts, weights, beyond = poisson_nodes(rate)
        points, masses, excess = self.summand
        values = np.multiply.outer(shifts[:, None] + points, counts / unit)
        excesses = beyond / unit * self.call(-shifts) + rate / unit * excess
        return Summands(values.reshape(len(shifts), -1), np.outer(masses, weights).ravel(), excesses)
