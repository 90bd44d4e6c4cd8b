"""The difference of likelihood ratios of a batch, where all epochs have the same order (see
dpcalc/bounds/sampling/shuffle_profile_one_order.py): W(X − γ), W(1 − γX), or W(X − γX′) with independent log-normal W,
X and X′ of mean 1.

The mean of the positive part of a sum of such variables is convex in each W, X and X′, the others being given. So it
does not fall where these are put on few points with their means kept; 0 is one of the points. Beyond the last point W
and X are capped. Where the mean falls in one of them, that raises it; where it rises, E(X − last)₊ is added, and E(W −
last)₊ times the mean of the positive part of the other factor. """

from __future__ import annotations

from functools import cached_property
from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics import legendre, normal
from dpcalc.numerics.rounding import UNIT, up
from dpcalc.numerics.tails_array import above
from dpcalc.pld.positive_sums import Summand, spread
from dpcalc.pld.swapped_record import REPLACED, WITH, Mesh

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

OUTER, INNER, JOINT = 48, 96, 200  # points of W, of X, and of X − γX′
NODES = 8  # of the Gauss–Legendre rule between two points


class OneOrder:
    """The variable at every ε, for noise of 1/m in all epochs together."""

    def __init__(self, mesh: Mesh, replaced: bool) -> None:
        squares = axes(mesh.m, replaced)
        self.outer_mu, self.inner_mu = (up(sqrt(square) * mesh.m, 8 * UNIT) for square in squares)
        self.reach = mesh.reach

    @cached_property
    def outer(self) -> Summand:
        return self._log_normal(self.outer_mu, OUTER)

    @cached_property
    def inner(self) -> Summand:
        return self._log_normal(self.inner_mu, INNER)

    def _log_normal(self, mu: float, points: int) -> Summand:
        """exp(μG − μ²/2) on few points: E(X − k)₊ is the integral of P(X > v) from k on, E(k − X)₊ that of P(X < v)."""
        z = np.linspace(-self.reach, self.reach + mu, points)
        nodes, weights = legendre.rule(NODES)
        inner = z[:-1, None] + (1 + nodes) / 2 * (z[1] - z[0])
        slope = mu * np.exp(mu * inner - mu * mu / 2) * (weights * (z[1] - z[0]) / 2)
        x = np.append(0.0, np.exp(mu * z - mu * mu / 2))
        beyond = _above(z[-1] - mu) - float(x[-1]) * _above(z[-1]) + UNIT
        below = max(float(x[1]) * _above(-z[0]) - _above(mu - z[0]), 0.0)
        call = np.cumsum(np.append((slope * above(inner)).sum(axis=1), beyond)[::-1])[::-1]
        put = np.append(0.0, np.cumsum(np.append(below, (slope * above(-inner)).sum(axis=1))))
        return Summand(x, *spread(x, np.append(1.0, call), put))

    def summand(self, epsilon: float, direction: int) -> Summand:
        """The variable in this direction, as multiples of γ."""
        x, masses, beyond = self.inner
        factor, w = exp(-epsilon), self.outer
        if direction == REPLACED:
            values, masses = _merged(np.subtract.outer(factor * x, x).ravel(), np.outer(masses, masses).ravel())
            excess = factor * beyond
        elif direction == WITH:
            values, excess = factor * x - 1, factor * beyond
        else:
            values, excess = factor - x, 0.0
        mean = float(masses @ np.maximum(values, 0.0)) + excess
        products, weights = np.outer(w.points, values).ravel(), np.outer(w.masses, masses).ravel()
        order = np.argsort(products)
        return Summand(products[order], weights[order], w.excess * mean + excess)


def _above(z: float) -> float:
    """P(N(0,1) > z)."""
    return exp(normal.log_tail(float(z)))


def axes(m: float, replaced: bool) -> tuple[float, float]:
    """The squares q² and p² of the theorem. Those that it allows are all valid; these are nearly the best for ε."""
    if not replaced:
        p2 = 1 + m + m * m
        return p2 / (p2 - 1), p2
    p2 = min(2 + 1.2 * m, 3.0)
    return max(p2 * (4 - p2) / (2 * (p2 - 2)), 4 - p2 / 2), p2


def _merged(values: Array, masses: Array) -> tuple[Array, Array]:
    """About as many values as JOINT, the mean of every mass being kept."""
    order = np.argsort(values)
    values, masses = values[order], masses[order]
    nodes = values[np.linspace(0, len(values) - 1, JOINT).astype(int)]
    nodes = nodes[np.append(True, nodes[1:] > nodes[:-1])]
    cell = np.minimum(np.searchsorted(nodes, values, "right") - 1, len(nodes) - 2)
    share = (values - nodes[cell]) / (nodes[cell + 1] - nodes[cell])
    found = np.bincount(cell, masses * (1 - share), len(nodes)) + np.bincount(cell + 1, masses * share, len(nodes))
    return nodes, found
