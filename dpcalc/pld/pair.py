"""Dominating pairs of noise mechanisms.

A mechanism is dominated by a pair of distributions (P, Q) if the hockey-stick divergences between its outputs on
neighbouring data sets are at most those of P from Q. The privacy loss is ℓ = log dP/dQ. The rest of this package needs
only the masses that P and Q give to an interval of losses. The Q-mass is represented by the privacy loss of the
interval, log(P-mass/Q-mass), which stays accurate where both masses are nearly equal. """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, log, sqrt
from typing import Any, Protocol

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.elementary_array import difference
from dpcalc.numerics.rounding import ratio_down
from dpcalc.numerics.tails_array import log_tails

Masses = tuple[Array, Array]  # of each cell: log of its P-mass, and log(P-mass/Q-mass)
# Of a noise multiplier: of less noise, losses are above 1e19, where doubles are few; of more, those of a step are below
# 1e-9, and rounding errors nearly as large.
SMALLEST_NOISE, LARGEST_NOISE = 1e-10, 1e10
LARGEST_LOG_RATIO = 300.0  # of a likelihood ratio on a grid, so that its products with masses are normal doubles
ROUNDING = 1e-12  # relative: more than the rounding error of a sum of a few thousand exponentials, and of its logarithm


class Pair(Protocol):
    """A dominating pair.

    `attained` is true if P and Q are the outputs of the mechanism on two neighbouring data sets, or follow from them by
    post-processing. Then lower bounds for the pair are lower bounds for the mechanism. """

    @property
    def attained(self) -> bool: ...
    @property
    def log_infinite(self) -> float:
        """log P(ℓ = ∞)."""
        return -inf
    @property
    def largest_loss(self) -> tuple[float, float]:
        """The largest finite loss (∞ if there is none), and the log of its P-mass."""

    @property
    def rounding_scale(self) -> float:
        """The losses of cells have rounding errors of a few units in the last place of this number and of
        themselves."""

    @property
    def reverse(self) -> Pair | None:
        """The pair of the other direction of adjacency (add instead of remove); None if it is the same pair."""
        return None
    def masses(self, edges: Array) -> Masses:
        """The masses of the cells edges[i] <= ℓ < edges[i+1]. Edges increase and may be infinite at both ends; infinite
        losses belong to no cell."""

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        """The edges of about `cells` cells, narrow where P and its tilted versions have their mass; the P-mass outside
        of them is at most about e^log_tail."""


def not_attained(pair: Any) -> Any:
    """The same pair as an upper bound only, so that no lower end is computed from it."""
    if not pair.attained:
        return pair
    if "attained" in pair.__dataclass_fields__:
        return replace(pair, attained=False)
    return replace(pair, base=not_attained(pair.base))  # of a sampled pair, which is attained where its base is


def log_q(masses: Masses) -> Array:
    """The log of the Q-mass of each cell."""
    log_p, loss = masses
    with np.errstate(invalid="ignore"):
        return np.where(log_p > -inf, log_p - loss, -inf)


def mixture(parts: Sequence[Masses]) -> Masses:
    """The masses of the same cells under a mixture, from those of its parts (weights included)."""
    log_p = np.logaddexp.reduce([p for p, _ in parts])
    each_q = [log_q(x) for x in parts]
    all_q = np.logaddexp.reduce(each_q)
    with np.errstate(invalid="ignore"):
        excess = sum(difference(p - all_q, q - all_q, loss) for (p, loss), q in zip(parts, each_q, strict=True))
        log_ratio = log_p - all_q
        cancels = np.abs(log_ratio) < 0.5
    return log_p, np.where(cancels, np.log1p(np.where(cancels, excess, 0.0)), log_ratio)


def log_difference(a: Array, b: Array) -> Array:
    """log(e^a − e^b) for a >= b; −∞ where they are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > -inf, a + np.log(-np.expm1(np.minimum(b - a, 0.0))), -inf)


@dataclass(frozen=True)
class Gaussian(Pair):
    """N(0, 1) against N(−μ, 1), which dominates every μ-GDP mechanism. The loss is normal with variance μ², and with
    mean μ²/2 under P and −μ²/2 under Q (Dong, Roth & Su 2022, arXiv:1905.02383v3)."""

    mu: float
    attained: bool = True
    largest_loss = (inf, -inf)
    rounding_scale = 1.0

    def masses(self, edges: Array) -> Masses:
        half = self.mu / 2
        log_p = normal_masses(edges / self.mu - half)
        with np.errstate(invalid="ignore"):
            return log_p, np.clip(log_p - normal_masses(edges / self.mu + half), edges[:-1], edges[1:])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        return self._edges(log_tail, self.mu / 2, cells)

    def pilot_edges_of_both(self, log_tail: float, cells: int) -> Array:
        """Edges of cells that cover Q, too."""
        return self._edges(log_tail, -self.mu / 2, cells)

    def _edges(self, log_tail: float, lowest_mean: float, cells: int) -> Array:
        reach = sqrt(-2 * log_tail)
        # Where μ is large, more cells are needed for them to be narrow relative to the noise.
        cells = int(min(cells * max(1.0, self.mu / 10), 4 * cells))
        return self.mu * np.linspace(lowest_mean - reach, self.mu / 2 + reach, cells + 1)


def gaussian_from_below(noise_multiplier: float) -> Gaussian:
    """A pair that the Gaussian mechanism with this noise multiplier z dominates: 1/z is rounded down, by one more unit
    in the last place as z may itself be rounded down from σ/s."""
    return Gaussian(ratio_down((1.0,), (max(noise_multiplier, SMALLEST_NOISE),)) * (1 - 2**-52))


def check_noise(noise_multiplier: float, what: str) -> None:
    """Raise OutOfScope for a noise multiplier with which no pair is computed."""
    if not SMALLEST_NOISE <= noise_multiplier <= LARGEST_NOISE:
        raise OutOfScope("out-of-range", f"{what} computed for noise multipliers from {SMALLEST_NOISE:g} to "
                                         f"{LARGEST_NOISE:g}", "--noise-multiplier")


def normal_masses(z: Array) -> Array:
    """log(Φ(z[i+1]) − Φ(z[i])) along the last axis, computed from the nearer tail."""
    below, above = log_tails(z)
    is_left = z[..., :-1] < -z[..., 1:]
    return log_difference(np.where(is_left, below[..., 1:], above[..., :-1]),
                          np.where(is_left, below[..., :-1], above[..., 1:]))


@dataclass(frozen=True)
class Laplace(Pair):
    """Laplace noise with ratio r = sensitivity/scale: the loss has atoms at ±r, and between them the density
    e^{(ℓ−r)/2}/4 under P."""

    ratio: float
    attained: bool = True

    @property
    def largest_loss(self) -> tuple[float, float]:
        return self.ratio, log(0.5)

    @property
    def rounding_scale(self) -> float:
        return self.ratio

    def masses(self, edges: Array) -> Masses:
        r = self.ratio
        inside = _exponential_masses(edges, r, log(0.5) - r / 2)
        return mixture([inside, of_atom(edges, r, log(0.5)), of_atom(edges, -r, log(0.5) - r)])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        return _edges_between(self.ratio, cells)

    pilot_edges_of_both = pilot_edges


@dataclass(frozen=True)
class BoundedRange(Pair):
    """The pair that dominates every mechanism whose privacy loss has a range of length η: the loss has the density
    e^{ℓ/2}·e^{η/2}/(2(e^η − 1)) on [−η, η] under P (see bounds/mechanisms/exponential.py). It is not attained: at
    every ε it has the δ of another mechanism."""

    eta: float
    attained = False

    @property
    def largest_loss(self) -> tuple[float, float]:
        return self.eta, -inf

    @property
    def rounding_scale(self) -> float:
        return self.eta

    def masses(self, edges: Array) -> Masses:
        return _exponential_masses(edges, self.eta, -self.eta / 2 - log1mexp(-self.eta))

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        return _edges_between(self.eta, cells)

    pilot_edges_of_both = pilot_edges


def of_atom(edges: Array, loss: float, log_p: float) -> Masses:
    """The masses of the cells where all losses are equal."""
    inside = (edges[:-1] <= loss) & (loss < edges[1:])
    return np.where(inside, log_p, -inf), np.full(len(inside), loss)


def _exponential_masses(edges: Array, end: float, log_factor: float) -> Masses:
    """The masses of the cells under the density e^{ℓ/2}·c/2 of the losses under P on [−end, end], log c given."""
    a, b = np.clip(edges[:-1], -end, end), np.clip(edges[1:], -end, end)
    with np.errstate(divide="ignore"):
        return log_factor + b / 2 + np.log(-np.expm1((a - b) / 2)), (a + b) / 2


def _edges_between(end: float, cells: int) -> Array:
    """Edges of equal cells that cover [−end, end], in which atoms at both ends lie however they are rounded."""
    end = end * (1 + 1e-11) + 1e-300
    return np.linspace(-end, end, cells + 1)
