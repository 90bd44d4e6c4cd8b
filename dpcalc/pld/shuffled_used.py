"""The privacy profile of an epoch of shuffled batches that uses all n records, by the theorem in
dpcalc/bounds/sampling/shuffle_profile_used.py.

With T = n/b batches, N = n − b records after the first batch, and any α(d) = a_0 + Σ_i s_i (d − d_i)₊, Tδ is at most
a_0 + Σ_i s_i E(D* − d_i)₊ + Σ_l c_l C_l if s_i, c_l >= 0, Σ s_i >= 1 and, for all nodes d_i and numbers of records k,
α(d_i) + Σ_l c_l L_l(k) >= h(d_i, k). By lists L_l = min(1, k_l/k) and C_l = G(k_l/N); by the largest likelihood ratio
L_l = (N/(k + 1) − z_l)₊, and C_l = N·H(g) + g·H(z_l/g) for any g. As neither side increases in k, it is enough to
compare the left side at each level to an upper bound of h at the next lower one. The best a_0, s and c for given nodes
and levels solve a linear program. Its solution need not be exact: the largest violation is added to a_0. """

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from math import ceil, exp, expm1, floor, inf, log, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta
from dpcalc.numerics.rounding import UNIT, up
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.positive_sums import Question, Summand, mean_of_sum, spread
from dpcalc.pld.swapped_record import Difference, Mesh
from dpcalc.pld.tilted_sums import Grid

# Of the least value: whichever solution is found, the bound is then nearly the same.
NEAR = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Profile:
    """log δ of an epoch in one direction, at one ε after the other: grids of sums are chosen again where they must.

    The bound holds for any nodes, levels, grids and points of laws; more of them would lower ε by a percent or so, and
    take longer."""

    def __init__(self, mesh: Mesh, direction: int, n: int, batch_size: int, radius: float) -> None:
        self.m, self.direction, self.later = mesh.m, direction, n - batch_size
        self.reach = up(radius * mesh.m, 2 * UNIT)  # in standard deviations of the noise
        self.coarse = Mesh(mesh.m, mesh.tail, cells_per_deviation=8)
        self.full, rest = divmod(self.later, batch_size)
        self.last = rest / batch_size
        self.batches = self.later / batch_size
        self.total = n / batch_size
        self.by_lists = True  # rather than by the largest ratio, at the last ε
        self.grids: dict[tuple[int, int], tuple[Grid | None, float]] = {}
        self.means: dict[tuple[int, int], float] = {}

    def log_delta(self, epsilon: float, precision: float, expected: float) -> float:
        """log of an upper bound of δ(ε), which is expected to be about `expected`."""
        law = Law(self.coarse.difference(epsilon, self.direction))
        about = self.total * expected * exp(-epsilon)
        least = inf
        for _ in range(2):  # again at the nodes for the δ that was found, where that is much larger than expected
            nodes = self.nodes(law, epsilon, about)
            levels, values = self.table(law, nodes, precision, about)
            least = min(least, self._least(law, nodes, levels, values, about))
            if not 1.3 * about < least < inf:
                break
            about = least
        return log(least / self.total) + epsilon

    def nodes(self, law: Law, epsilon: float, about: float) -> Array:
        """The mean of D*, 2.5 deviations of a likelihood ratio below it, and where E(D* − d)₊ is such a share of Tδ."""
        mean, one = expm1(-epsilon), sqrt(expm1(self.m * self.m))
        shares = (1.0, 0.2, 0.04, 0.005) if self.batches > 32 else (3.0, 1.0, 0.5, 0.2, 0.08, 0.03, 0.01, 0.002)
        return np.array(sorted({mean - 2.5 * one, mean, *(law.point_of_call(x * about) for x in shares)}))

    def table(self, law: Law, nodes: Array, precision: float, about: float) -> tuple[list[int], Array]:
        """Levels, and upper bounds of h at the nodes (columns) for at least as many records (rows). A level is put into
        the gap in which it may lower the bound by the most; fewer records matter only where h is below 0.9 of its most.
        """
        most = np.array([self.batches * law.call(-d / self.batches) for d in nodes])
        levels, rows = [1], [most]

        def add(level: int) -> None:
            at = bisect_left(levels, level)
            above = rows[at] if at < len(rows) else np.zeros(len(nodes))
            means = [self._mean(law, level, k, node, precision, most[k]) if above[k] < 0.9 * most[k] else inf
                     for k, node in enumerate(nodes)]
            levels.insert(at, level)
            rows.insert(at, np.minimum(most, means))

        add(max(floor(0.7 * self.later), 1))
        k = 0
        while k + 1 < len(levels):
            gain = float(np.max(rows[k] - rows[k + 1])) * self._share_between(*levels[k : k + 2])
            middle = round(sqrt(levels[k] * levels[k + 1]))
            enough = (0.015 if self.by_lists else 0.002) * about
            if gain > enough and levels[k + 1] > 2.4 * levels[k] and middle > levels[k]:
                add(middle)
            else:
                k += 1
        return levels[::-1], np.minimum.accumulate(np.array(rows))[::-1]

    def _share_between(self, low: int, high: int) -> float:
        """About the share of layers with so many records, or the probability of so large a ratio: as the last bound."""
        if self.by_lists:
            below, above = self._in_the_list(np.array([low, high]) / self.later)
            return float(above - below)
        ratios = self.later / np.array([high, low])
        below, above = excess_of_largest_ratio(self.later, self.reach, ratios)[0]
        width = ratios[1] - ratios[0]
        return float((below - above) / width) if width > 0 else 0.0

    def _in_the_list(self, shares: Array) -> Array:
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(ndtri(shares) + self.reach))

    def _mean(self, law: Law, level: int, k: int, node: float, precision: float, most: float) -> float:
        """An upper bound of h(node, level) by numbers of records with independent Poisson laws."""
        from scipy.special import pdtr

        key = level, k
        mean = level - (3.1 * sqrt(level) if level > 80 else 2 * sqrt(level) if level > 20 else level / 2)
        rate = mean / self.batches
        copy = law.times_poisson(rate, rate, node / self.batches)
        other = law.times_poisson(rate * self.last, rate, node / self.batches) if self.last else None
        expected = self.means.get(key, max(node, 0.3 * most))
        grid, at = self.grids.get(key, (None, inf))
        if not 1 / 3 < expected / at < 3:  # similar means may have the same grid
            grid = None
        question = Question(self.full, 0.0, precision * (4 if level > 64 else 32), expected, most_points=1 << 13)
        value, found = mean_of_sum(copy, question, other, grid)
        self.grids[key] = found, value if grid is None else at
        self.means[key] = value
        return value / (float(pdtr(level - 1, mean)) * (1 - ROUNDING))  # scipy's error is smaller

    def _least(self, law: Law, nodes: Array, levels: list[int], values: Array, about: float) -> float:
        """The least bound of Tδ for these nodes and levels, in units of e^ε, by lists or by the largest ratio."""
        shares = np.array(levels) / self.later
        begins = np.append(1.0, shares[:-1])  # the largest share k/N for which a row of the table is needed
        by_lists = self._in_the_list(shares[:-1]), np.minimum(1.0, shares[:-1] / begins[:, None])
        ratios = 1 / shares
        excess, _ = excess_of_largest_ratio(self.later, self.reach, ratios[:-1])
        by_ratio = excess, np.maximum(1 / begins[:, None] - ratios[:-1], 0.0)
        found = [_solved(law, nodes, values, about, *x) for x in (by_lists, by_ratio)]
        self.by_lists = found[0] <= found[1]
        return min(found)


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
    """The least a_0 + Σ s_i E(D* − d_i)₊ + Σ c_l·cost_l for which the left side is at least h."""
    from scipy.optimize import linprog

    costs = np.concatenate(([1.0], [law.call(d) for d in nodes], costs))
    hats = np.maximum(nodes[:, None] - nodes, 0.0)
    left = np.concatenate([np.hstack((np.ones((len(nodes), 1)), hats, np.tile(layer, (len(nodes), 1))))
                           for layer in layers])
    slopes = np.concatenate(([0.0], np.ones(len(nodes)), np.zeros(layers.shape[1])))
    right, unit = values.ravel(), about
    found = linprog(costs, -np.vstack((left, slopes)), -np.append(right / unit, 1 / unit),
                    bounds=[(None, None)] + [(0.0, None)] * (len(costs) - 1), method="highs", options=NEAR)
    if found.x is None:
        return inf
    x = np.append(found.x[0], np.maximum(found.x[1:], 0.0)) * unit
    x[len(nodes)] += max(1 - float(x[1:len(nodes) + 1].sum()), 0.0)
    rounding = (len(x) + 4) * UNIT * (right + left @ np.abs(x))
    x[0] += max(float((right - left @ x + rounding).max()), 0.0)
    return float(costs @ x)


class Law:
    """D*/γ as masses at points."""

    def __init__(self, difference: Difference) -> None:
        self.difference = difference
        self.summand = Summand(difference.points, *spread(*difference))

    def call(self, k: float) -> float:
        """E(D*/γ − k)₊, rounded up: it is convex."""
        points, call, _ = self.difference
        if k < points[0]:
            return float(call[0] + points[0] - k)
        return float(np.interp(k, points, call))

    def point_of_call(self, call: float) -> float:
        """About the point k with this E(D*/γ − k)₊."""
        return float(np.interp(-call, -self.difference.call, self.difference.points))

    def times_poisson(self, rate: float, unit: float, shift: float) -> Summand:
        """(B/unit)·(D*/γ + shift) for a Poisson number B with this rate."""
        counts, weights, beyond = poisson_nodes(rate)
        points, masses, excess = self.summand
        values = np.outer(counts / unit, points + shift).ravel()
        share = rate / unit
        return Summand(values, np.outer(weights, masses).ravel(), beyond / unit * self.call(-shift) + share * excess)


@lru_cache(maxsize=1024)
def poisson_nodes(rate: float) -> tuple[Array, Array, float]:
    """Few numbers and their masses that dominate min(B, last number), B Poisson, in convex order, and E(B − last)₊."""
    from scipy.special import gammaln

    last = ceil(rate + 7.5 * sqrt(rate) + 12)
    k = np.arange(last + 200.0)
    masses = np.exp(k * log(rate) - rate - gammaln(k + 1))
    if last <= 14:
        nodes = k[: last + 1]
    else:
        first = max(1.0, floor(rate - 6.5 * sqrt(rate)))
        nodes = np.unique(np.append(0.0, np.round(np.linspace(first, last, 8))))
    at = nodes.astype(int)
    above = np.cumsum(masses[::-1])[::-1]
    call = np.cumsum(np.append(above[1:], 0.0)[::-1])[::-1][at]
    put = np.append(0.0, np.cumsum(np.cumsum(masses)))[at]
    return nodes, *spread(nodes, call, put)
