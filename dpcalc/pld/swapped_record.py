"""The difference of likelihood ratios of one step, when a record takes the place of another one in its batch.

In units of the clipping norm let a step add N(0, σ²I), and let φ_u be the density of N(u, σ²I). A record with the
vector x, or 0 or x′ on the other data set, takes the place of a record with the vector y, all in the unit ball. With
γ = e^ε and the outputs drawn from φ_y the ratios have the difference D = (φ_x − γφ_0)/φ_y (with the record against
without), (φ_0 − γφ_x)/φ_y (without against with), or (φ_x − γφ_x′)/φ_y (replaced). The variable D* has the largest
E(D − k)₊ at every k (Lemma in dpcalc/bounds/sampling/shuffle_profile.py). It is attained on a line with |x| = 1, by one
y for k >= 0, and by another one for k < 0. Let m = 1/σ, and let s > 0 be the distance, in units of σ, from the point at
which D is 0. Then D* has the value v(s) or more with probability Φ(−(c + s)), where

    with, y = −x:      v = γ²e^{m²}(e^{2ms} − e^{ms}),  c = ε/m + 3m/2
    without, y = x:    v = γ(e^{ms} − 1),               c = ε/m + m/2
    replaced, y = x′:  v = γ(e^{2ms} − 1),              c = ε/2m + m

Its negative values are −γ times the positive values of the opposite direction at −ε, as −D/γ is the difference of that
direction at 1/γ; the opposite of "replaced" is "replaced". Otherwise D* is 0. """

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics import normal
from dpcalc.numerics.arrays import Array
from dpcalc.pld.positive_sums import cell_excesses

WITH, WITHOUT, REPLACED = 1, -1, 0  # the direction of a hockey-stick divergence


class Difference(NamedTuple):
    """D* at increasing points k, with E(D* − k)₊ and E(k − D*)₊ to a relative error of 1e-12; the last of the former
    is an upper bound, and the latter are for D* raised to the first point."""

    points: Array
    call: Array
    put: Array


@dataclass(frozen=True)
class Mesh:
    """A grid of distances s, up to those beyond which hockey-stick divergences are about `tail`."""

    m: float
    tail: float
    cells_per_deviation: int = 64

    @cached_property
    def width(self) -> float:
        return 2.0 ** -min(max(ceil(log2(self.m)), 0), 3) / self.cells_per_deviation

    @cached_property
    def reach(self) -> float:
        return sqrt(-2 * log(self.tail))

    @property
    def largest_exponent(self) -> float:
        """About the largest log of a value of D*."""
        return 2 * self.m * (self.reach + 2 * self.m) + self.m * self.m

    def last_epsilon(self, distance: float) -> float:
        """The ε from which on the divergence of normal distributions at this distance is below the tail."""
        return distance * (self.reach + distance)

    def difference(self, epsilon: float, direction: int) -> Difference:
        """D* of this direction at γ = e^ε, as multiples of γ."""
        above = self._side(epsilon, direction)
        below = self._side(-epsilon, -direction)
        scale = exp(-epsilon)
        points = np.concatenate((-below.values[:0:-1], above.values * scale))
        call = np.concatenate((above.tails[0] * scale + below.rests[:0:-1], above.tails * scale))
        put = np.concatenate((below.tails[:0:-1] - below.tails[-1], below.tails[0] + above.rests * scale))
        return Difference(points, call, put)

    def _side(self, epsilon: float, direction: int) -> _Side:
        """The positive part of D*."""
        m = self.m
        rate, shift, log_scale, is_double = {
            WITH: (m, 1.5 * m + epsilon / m, 2 * epsilon + m * m, True),
            WITHOUT: (m, 0.5 * m + epsilon / m, epsilon, False),
            REPLACED: (2 * m, m + epsilon / (2 * m), epsilon, False)}[direction]
        drift = rate * (2 if is_double else 1)  # of the normal variable, under the density that the values grow with
        cells = max(ceil((self.reach + drift - shift) / self.width), 1)
        s = self.width * np.arange(cells + 1)
        scale = exp(log_scale)

        def slope(s: Array) -> Array:
            growth = np.exp(rate * s)
            return np.asarray(rate * scale * growth * (2 * growth - 1 if is_double else 1.0))

        over, under = cell_excesses(s, slope, shift)
        beyond = exp(log_scale + drift * drift / 2 - drift * shift + normal.log_tail(shift + float(s[-1]) - drift))
        values = scale * np.expm1(rate * s) * (np.exp(rate * s) if is_double else 1.0)
        return _Side(values, np.cumsum(np.append(over, beyond)[::-1])[::-1], np.append(0.0, np.cumsum(under)))


class _Side(NamedTuple):
    """Values v from 0 on, the integral of the probability of more over all values from v on, and that of the
    probability of less over those from 0 to v."""

    values: Array
    tails: Array
    rests: Array
