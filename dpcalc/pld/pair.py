"""Dominating pairs of noise mechanisms.

A mechanism is dominated by a pair of distributions (P, Q) if its hockey-stick divergences between neighbouring data
sets are at most those of P from Q. The privacy loss is ℓ = log dP/dQ. All that the engine asks of a pair is the masses
that P and Q have between given losses. The second one is said as the loss of the cell, which keeps its digits where
both masses are nearly equal. """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dpcalc.numerics.normal_array import log_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Masses = tuple[Array, Array]  # of each cell the log of its P-mass, and its loss: log of its P-mass over its Q-mass

LARGEST_EXPONENT = 700.0  # of a double


class Pair(Protocol):
    """A dominating pair.

    `attained` says that P and Q are the outputs of the mechanism on two neighbouring data sets, so that what is shown
    of the pair from below is true of the mechanism. """

    @property
    def attained(self) -> bool: ...
    @property
    def log_infinite(self) -> float:
        """log P(ℓ = ∞)."""
    @property
    def largest(self) -> tuple[float, float]:
        """The largest finite loss, or ∞, and the log of its P-mass."""
    @property
    def scale(self) -> float:
        """Losses of cells have errors of a few units in the last place of this, and of themselves."""
    @property
    def twin(self) -> Pair | None:
        """The pair of the other direction (a record added for a record removed); None where it is the same."""
    def masses(self, edges: Array) -> Masses:
        """Of each cell edges[i] <= ℓ < edges[i+1]. Edges rise and may be infinite at both ends; infinite losses are in
        no cell."""
    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        """Edges of about so many cells, narrow where P and its tilted laws have their mass; at most about e^log_tail of
        P is outside."""


def log_q(masses: Masses) -> Array:
    """The log of the Q-mass of each cell."""
    log_p, loss = masses
    with np.errstate(invalid="ignore"):
        return np.where(log_p > -inf, log_p - loss, -inf)


def combined(parts: Sequence[Masses]) -> Masses:
    """The masses of the same cells in a mixture of these parts."""
    log_p = np.logaddexp.reduce([p for p, _ in parts])
    with np.errstate(invalid="ignore", over="ignore"):
        each_q = [log_q(x) for x in parts]
        all_q = np.logaddexp.reduce(each_q)
        gains = [np.expm1(np.minimum(loss, LARGEST_EXPONENT)) for _, loss in parts]
        excess = sum(np.where(q > -inf, np.exp(q - all_q) * gain, 0.0) for q, gain in zip(each_q, gains, strict=True))
        far = log_p - all_q
        near = np.abs(far) < 0.5
    return log_p, np.where(near, np.log1p(np.where(near, excess, 0.0)), far)


def log_difference(a: Array, b: Array) -> Array:
    """log(e^a − e^b) for a >= b; −∞ where they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > -inf, a + np.log(-np.expm1(np.minimum(b - a, 0.0))), -inf)


@dataclass(frozen=True)
class Gaussian:
    """N(0, 1) against N(−μ, 1), which dominates every μ-GDP mechanism. The loss is normal with mean μ²/2 under P, −μ²/2
    under Q, and variance μ² (Dong, Roth & Su 2022, arXiv:1905.02383v3)."""

    mu: float
    attained: bool = True
    log_infinite = -inf
    largest = (inf, -inf)
    scale = 1.0
    twin = None

    def masses(self, edges: Array) -> Masses:
        half = self.mu / 2
        log_p = _normal_masses(edges / self.mu - half)
        with np.errstate(invalid="ignore"):
            return log_p, np.clip(log_p - _normal_masses(edges / self.mu + half), edges[:-1], edges[1:])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        return self._edges(log_tail, self.mu / 2, cells)

    def edges_of_both(self, log_tail: float, cells: int) -> Array:
        """The same for P and Q."""
        return self._edges(log_tail, -self.mu / 2, cells)

    def _edges(self, log_tail: float, lowest_mean: float, cells: int) -> Array:
        reach = sqrt(-2 * log_tail)
        cells = int(min(cells * max(1.0, self.mu / 10), 4 * cells))  # as narrow cells where μ is large
        return self.mu * np.linspace(lowest_mean - reach, self.mu / 2 + reach, cells + 1)


def _normal_masses(z: Array) -> Array:
    """log(Φ(b) − Φ(a)) of neighbours, each from the tail on its side."""
    below, above = log_tails(z)
    is_left = z[:-1] + z[1:] < 0
    is_left |= np.isneginf(z[:-1]) & (z[1:] < 0)
    return np.where(is_left, log_difference(below[1:], below[:-1]), log_difference(above[:-1], above[1:]))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise, r = sensitivity/scale: atoms at ±r, and the density e^{(ℓ−r)/2}/4 under P between them."""

    ratio: float
    attained: bool = True
    log_infinite = -inf
    twin = None

    @property
    def largest(self) -> tuple[float, float]:
        return self.ratio, log(0.5)

    @property
    def scale(self) -> float:
        return self.ratio

    def masses(self, edges: Array) -> Masses:
        r = self.ratio
        a, b = np.clip(edges[:-1], -r, r), np.clip(edges[1:], -r, r)
        with np.errstate(divide="ignore"):
            parts = [(log(0.5) + (b - r) / 2 + np.log(-np.expm1((a - b) / 2)), (a + b) / 2)]
        for place, log_p in ((r, log(0.5)), (-r, log(0.5) - r)):
            inside = (edges[:-1] <= place) & (place < edges[1:])
            parts.append((np.where(inside, log_p, -inf), np.full(len(a), place)))
        return combined(parts)

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        end = self.ratio * (1 + 1e-11) + 1e-300  # both atoms are inside, however places are rounded
        return np.linspace(-end, end, cells + 1)

    def edges_of_both(self, log_tail: float, cells: int) -> Array:
        """The same for P and Q."""
        return self.pilot_edges(log_tail, cells)
