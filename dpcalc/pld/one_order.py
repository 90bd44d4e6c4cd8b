"""The difference of likelihood ratios of a batch, where all epochs have the same order (see
dpcalc/bounds/sampling/shuffle_profile_one_order.py): W(X − γ), W(1 − γX), or W(X − γX′) with independent log-normal W,
X and X′ of mean 1.

A convex function of a sum of such variables is convex in each W, X and X′. So its mean does not fall where these are
put on few points with their means kept; 0 is one of the points. Beyond the last point W and X are capped, and what that
takes from the mean is added. """

from __future__ import annotations

from functools import cached_property
from math import exp, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.numerics.rounding import up
from dpcalc.pld.positive_sums import Summand, spread
from dpcalc.pld.swapped_record import REPLACED, WITH, Mesh
from dpcalc.pld.tilted_sums import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

OUTER, INNER, JOINT = 48, 96, 200  # points of W, of X, and of X − γX′
PER_AXIS = {True: 3.0, False: 2.0}  # the square of the distance of a point from the origin, by `replaced`


class OneOrder:
    """The variable at every ε, for noise of 1/m in all epochs together."""

    def __init__(self, mesh: Mesh, replaced: bool) -> None:
        self.mu, self.reach = up(sqrt(PER_AXIS[replaced]) * mesh.m, 4 * UNIT), mesh.reach

    @cached_property
    def outer(self) -> Summand:
        return self._log_normal(OUTER)

    @cached_property
    def inner(self) -> Summand:
        return self._log_normal(INNER)

    def _log_normal(self, points: int) -> Summand:
        from scipy.special import ndtr

        mu = self.mu
        z = np.linspace(-self.reach, self.reach + mu, points)
        x = np.append(0.0, np.exp(mu * z - mu * mu / 2))
        call = np.append(1.0, ndtr(mu - z) - x[1:] * ndtr(-z))
        put = np.append(0.0, x[1:] * ndtr(z) - ndtr(z - mu))
        return Summand(x, *spread(x, np.maximum(call, 0.0), np.maximum(put, 0.0)))

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
