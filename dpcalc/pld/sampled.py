"""Dominating pairs of sampled batches: each record independently (Poisson), or a batch of fixed size (without
replacement)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld.atoms import Atoms, approximate_dp, distinct
from dpcalc.pld.pair import LARGEST_EXPONENT, Gaussian, Laplace, combined, log_q

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Masses, Pair

    Array = NDArray[Any]

LARGEST_LOSS = 1e12  # of a base: beyond, the units in the last place of a loss show


@dataclass(frozen=True)
class Poisson:
    """(1−q)Q + qP against Q, a record removed, or Q against (1−q)Q + qP, a record added (Zhu, Dong & Wang 2022,
    arXiv:2106.08567v4, Theorem 11). Attained where the base is, by data sets whose other records add nothing to the
    batch."""

    base: Gaussian | Laplace
    rate: float
    added: bool = False
    log_infinite = -inf

    @property
    def attained(self) -> bool:
        return self.base.attained

    @property
    def scale(self) -> float:
        return self.rate

    @property
    def twin(self) -> Poisson:
        return replace(self, added=not self.added)

    @property
    def largest(self) -> tuple[float, float]:
        """The largest finite loss, and the log of its P-mass. Of Gaussian noise ∞, or −log(1 − q) where a record is
        added, of mass 0."""
        most, log_p = self.base.largest
        if self.added:  # the least loss of the base, which has as much mass under Q as the largest one has under P
            return (-log_mixture(self.rate, -most), log_p) if most < inf else (-log1p(-self.rate), -inf)
        loss = log_mixture(self.rate, most) if most < inf else inf
        return loss, log_p - most + loss if most < inf else -inf

    def masses(self, edges: Array) -> Masses:
        if not self.added:
            return self._masses_removed(edges)
        return mirrored(self._masses_removed(np.nextafter(-edges[::-1], inf)))  # cells are closed at their other end

    def _masses_removed(self, edges: Array) -> Masses:
        masses = self.base.masses(unmixed(self.rate, edges))
        return np.logaddexp(log1p(-self.rate) + log_q(masses), log(self.rate) + masses[0]), _mixed(self.rate, masses[1])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = distinct(_mixed(self.rate, self.base.edges_of_both(log_tail, cells)))
        return -edges[::-1] if self.added else edges


@dataclass(frozen=True)
class WithoutReplacement:
    """δ(ε) = q·δ_base(log(1 + (e^ε − 1)/q)) for ε >= 0, symmetric (Balle, Barthe & Gaboardi 2018, arXiv:1807.01647v2,
    Theorem 9): the positive losses of the Poisson pair, their mirror images, and the rest of the mass at 0. It has the
    larger δ of both directions at every ε, which neither direction of a mechanism needs to have, so it is not
    attained."""

    base: Gaussian | Laplace
    rate: float
    attained = False
    log_infinite = -inf
    twin = None

    @property
    def largest(self) -> tuple[float, float]:
        return Poisson(self.base, self.rate).largest

    @property
    def scale(self) -> float:
        return self.rate

    @cached_property
    def log_rest(self) -> float:
        """Of the mass at 0: 1 − P(ℓ > 0) − Q(ℓ > 0) = (1 − q)(P(w > 0) − Q(w > 0)) for the losses w of the base, which
        is symmetric."""
        log_p, loss = self.base.masses(np.array([0.0, inf]))
        gap = -expm1(-float(loss[0]))
        return log1p(-self.rate) + float(log_p[0]) + log(gap) if gap > 0 else -inf

    def masses(self, edges: Array) -> Masses:
        removed = Poisson(self.base, self.rate)
        negative = mirrored(removed.masses(np.maximum(np.nextafter(-edges[::-1], inf), 0.0)))
        zero = np.where((edges[:-1] <= 0) & (edges[1:] > 0), self.log_rest, -inf)
        return combined([removed.masses(np.maximum(edges, 0.0)), negative, (zero, np.zeros(len(zero)))])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = _mixed(self.rate, self.base.edges_of_both(log_tail, cells))
        edges = distinct(edges[edges > 0])
        return np.concatenate((-edges[::-1], [0.0], edges))


def poisson(base: Pair, rate: float) -> Pair:
    """A batch in which each record takes part independently with probability `rate`; the base is symmetric."""
    if rate == 1:
        return base
    base = _or_separated(base)
    if isinstance(base, Gaussian | Laplace):
        return Poisson(base, rate)
    assert isinstance(base, Atoms), "a batch is sampled once"
    loss, mass = base.in_order
    mixed = _mixed(rate, loss)
    losses, log_p = mixed.tolist(), (mass - loss + mixed).tolist()
    if base.log_infinite > -inf:  # where P has no mass: by symmetry, Q has there what P has at the infinite loss
        losses, log_p = [*losses, log1p(-rate)], [*log_p, base.log_infinite + log1p(-rate)]
    size = float(np.abs(loss).max())  # the logs above are differences of numbers of this size
    added = Atoms(tuple(-x for x in losses), tuple(y - x for x, y in zip(losses, log_p, strict=True)),
                  attained=base.attained, scale=size)
    removed = Atoms(tuple(losses), tuple(log_p), log(rate) + base.log_infinite, attained=base.attained, scale=size)
    return replace(removed, twin=added)


def without_replacement(base: Pair, rate: float) -> Pair:
    """A batch of fixed size, a share `rate` of all records, of which neighbours replace one; the base is symmetric."""
    if rate == 1:
        return base
    base = _or_separated(base)
    if isinstance(base, Gaussian | Laplace):
        return WithoutReplacement(base, rate)
    assert isinstance(base, Atoms), "a batch is sampled once"
    loss, mass = base.in_order
    zero, (loss, mass) = mass[loss == 0], (loss[loss > 0], mass[loss > 0])
    gain = _mixed(rate, loss)
    log_p = mass - loss + gain
    larger = float((np.exp(mass) * -np.expm1(-loss)).sum())  # P(w > 0) − Q(w > 0)
    rest = float(np.exp(zero).sum()) + (1 - rate) * (larger + exp(base.log_infinite))
    log_rest = log(rest) if rest > 0 else -inf
    infinite = log(rate) + base.log_infinite
    losses, logs = (*gain.tolist(), *(-gain).tolist(), 0.0), (*log_p.tolist(), *(log_p - gain).tolist(), log_rest)
    return Atoms(losses, logs, infinite, scale=float(loss.max(initial=0.0)))


def _or_separated(base: Pair) -> Pair:
    """Where nearly all losses are beyond what doubles tell apart, a record that is in the batch counts as seen."""
    size = base.mu**2 / 2 if isinstance(base, Gaussian) and base.mu < 1e150 else base.ratio if isinstance(base,
                                                                                                          Laplace) else 0.0
    return approximate_dp(0.0, 0.0) if size > LARGEST_LOSS or (isinstance(base, Gaussian)
                                                               and base.mu >= 1e150) else base


def mirrored(masses: Masses) -> Masses:
    """The masses of the pair (Q, P) in the cells with the opposite losses."""
    return log_q(masses)[::-1], -masses[1][::-1]


def log_mixture(rate: float, loss: float) -> float:
    """log(1 − q + q e^w)."""
    return float(_mixed(rate, np.array([loss]))[0])


def _mixed(rate: float, loss: Array) -> Array:
    """The same for arrays; where it is far below 0, by terms that do not cancel at a rate next to 1."""
    with np.errstate(over="ignore", divide="ignore"):
        near = rate * np.expm1(np.minimum(loss, LARGEST_EXPONENT))
        low = np.log((1 - rate) + rate * np.exp(np.minimum(loss, 0.0)))
        return np.where(loss > LARGEST_EXPONENT, loss + log(rate),
                        np.where(near < -0.5, low, np.log1p(np.maximum(near, -0.5))))


def unmixed(rate: float, loss: Array) -> Array:
    """The w with log(1 − q + q e^w) = ℓ; −∞ where there is none."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inside = np.log1p(np.maximum(np.expm1(np.minimum(loss, LARGEST_EXPONENT)) / rate, -0.5))
        low = np.log(np.maximum(np.exp(np.minimum(loss, 0.0)) - (1 - rate), 0.0) / rate)
        inside = np.where(np.expm1(np.minimum(loss, 0.0)) < -0.5 * rate, low, inside)
        far = loss - log(rate) + np.log1p(-(1 - rate) * np.exp(-loss))
        return np.where(loss > LARGEST_EXPONENT / 2, far, inside)
