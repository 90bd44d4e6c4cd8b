"""Dominating pairs of mechanisms that run on a random batch: Poisson sampling, or sampling without replacement.

Throughout, q is the sampling rate, w a loss of the mechanism on a batch (the base), and log(1 − q + q e^w) the loss of
the mixture with weight q. """

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, expm1, inf, log, log1p
from typing import Self

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.pld.atoms import Atoms, approximate_dp, distinct
from dpcalc.pld.pair import BoundedRange, Gaussian, Laplace, Masses, Pair, log_q, mixture

Noise = Gaussian | Laplace | BoundedRange  # the symmetric pairs whose losses have a density

# Larger losses of a base are treated as infinite: their rounding errors are 1e-4, and they are far above any useful ε.
MAX_BASE_LOSS = 1e12


@dataclass(frozen=True, kw_only=True)
class RemovedOrAdded(Pair):
    """A pair (P, Q) where something is removed, and (Q, P) where it is added."""

    added: bool = False

    @property
    def reverse(self) -> Self:
        return replace(self, added=not self.added)

    def masses(self, edges: Array) -> Masses:
        if not self.added:
            return self.masses_removed(edges)
        return mirrored(self.masses_removed(np.nextafter(-edges[::-1], inf)))  # mirrored cells contain their upper end

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = self.edges_removed(log_tail, cells)
        return -edges[::-1] if self.added else edges

    def masses_removed(self, edges: Array) -> Masses:
        raise NotImplementedError

    def edges_removed(self, log_tail: float, cells: int) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class Poisson(RemovedOrAdded):
    """(1−q)Q + qP against Q where a record is removed, or Q against (1−q)Q + qP where a record is added (Zhu, Dong &
    Wang 2022, arXiv:2106.08567v4, Theorem 11). Attained where the base is, by data sets whose other records contribute
    nothing to the batch."""

    base: Noise
    rate: float

    @property
    def attained(self) -> bool:
        return self.base.attained

    @property
    def rounding_scale(self) -> float:
        return self.rate

    @property
    def largest_loss(self) -> tuple[float, float]:
        """The largest finite loss, and the log of its P-mass. With Gaussian noise it is ∞ where a record is removed,
        and −log(1 − q), of mass 0, where a record is added."""
        base_loss, log_p = self.base.largest_loss
        if self.added:  # the smallest loss of the base has as much mass under Q as the largest one has under P
            return (-log_mixture(self.rate, -base_loss), log_p) if base_loss < inf else (-log1p(-self.rate), -inf)
        loss = log_mixture(self.rate, base_loss) if base_loss < inf else inf
        return loss, log_p - base_loss + loss if base_loss < inf else -inf

    def masses_removed(self, edges: Array) -> Masses:
        masses = self.base.masses(unmixed(self.rate, edges))
        return np.logaddexp(log1p(-self.rate) + log_q(masses), log(self.rate) + masses[0]), _mixed(self.rate, masses[1])

    def edges_removed(self, log_tail: float, cells: int) -> Array:
        return distinct(_mixed(self.rate, self.base.pilot_edges_of_both(log_tail, cells)))


@dataclass(frozen=True)
class WithoutReplacement(Pair):
    """δ(ε) = q·δ_base(log(1 + (e^ε − 1)/q)) for ε >= 0, symmetric (Balle, Barthe & Gaboardi 2018, arXiv:1807.01647v2,
    Theorem 9): the positive losses of the Poisson pair, their mirror images, and the remaining mass at 0. It is not
    attained: at every ε it has the larger δ of both directions, while a single direction of a mechanism may have the
    larger δ at some ε only."""

    base: Noise
    rate: float
    attained = False

    @property
    def largest_loss(self) -> tuple[float, float]:
        return Poisson(self.base, self.rate).largest_loss

    @property
    def rounding_scale(self) -> float:
        return self.rate

    @cached_property
    def log_mass_at_zero(self) -> float:
        """The log of 1 − P(ℓ > 0) − Q(ℓ > 0) = (1 − q)(P(w > 0) − Q(w > 0)), as the base is symmetric."""
        log_p, loss = self.base.masses(np.array([0.0, inf]))
        share = -expm1(-float(loss[0]))  # 1 − Q(w > 0)/P(w > 0)
        return log1p(-self.rate) + float(log_p[0]) + log(share) if share > 0 else -inf

    def masses(self, edges: Array) -> Masses:
        removed = Poisson(self.base, self.rate)
        negative = mirrored(removed.masses(np.maximum(np.nextafter(-edges[::-1], inf), 0.0)))
        zero = np.where((edges[:-1] <= 0) & (edges[1:] > 0), self.log_mass_at_zero, -inf)
        return mixture([removed.masses(np.maximum(edges, 0.0)), negative, (zero, np.zeros(len(zero)))])

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = _mixed(self.rate, self.base.pilot_edges_of_both(log_tail, cells))
        edges = distinct(edges[edges > 0])
        return np.concatenate((-edges[::-1], [0.0], edges))


def poisson(base: Pair, rate: float) -> Pair:
    """The pair for a batch that contains each record independently with probability `rate`; the base is symmetric."""
    return _sampled(base, rate, Poisson, _poisson_atoms)


def without_replacement(base: Pair, rate: float) -> Pair:
    """The pair for a batch of fixed size, a share `rate` of all records, where neighbouring data sets differ in the
    value of one record; the base is symmetric."""
    return _sampled(base, rate, WithoutReplacement, _without_replacement_atoms)


def _sampled(base: Pair, rate: float, of_noise: Callable[[Noise, float], Pair],
             of_atoms: Callable[[Atoms, float], Atoms]) -> Pair:
    if rate == 1:
        return base
    typical_loss = base.mu * base.mu / 2 if isinstance(base, Gaussian) else base.largest_loss[0]
    if isinstance(base, Noise) and typical_loss > MAX_BASE_LOSS:
        base = approximate_dp(0.0, 0.0)  # an upper bound: a record that is in the batch is revealed
    if isinstance(base, Noise):
        return of_noise(base, rate)
    if not isinstance(base, Atoms):
        raise TypeError("a batch is sampled only once")
    return of_atoms(base, rate)


def _poisson_atoms(base: Atoms, rate: float) -> Atoms:
    loss, log_mass = base.sorted_atoms
    mixed = _mixed(rate, loss)
    losses, log_p = mixed.tolist(), (log_mass - loss + mixed).tolist()
    if base.log_infinite > -inf:  # outcomes without P-mass: by symmetry, Q has the mass that P has at ∞
        losses, log_p = [*losses, log1p(-rate)], [*log_p, base.log_infinite + log1p(-rate)]
    size = float(np.abs(loss).max())  # the logs above are differences of numbers of this size
    added = Atoms(tuple(-x for x in losses), tuple(y - x for x, y in zip(losses, log_p, strict=True)),
                  attained=base.attained, rounding_scale=size)
    removed = Atoms(tuple(losses), tuple(log_p), log(rate) + base.log_infinite, attained=base.attained,
                    rounding_scale=size)
    return replace(removed, reverse=added)


def _without_replacement_atoms(base: Atoms, rate: float) -> Atoms:
    loss, log_mass = base.sorted_atoms
    zero, (loss, log_mass) = log_mass[loss == 0], (loss[loss > 0], log_mass[loss > 0])
    mixed = _mixed(rate, loss)
    log_p = log_mass - loss + mixed
    difference = float((np.exp(log_mass) * -np.expm1(-loss)).sum())  # P(0 < w < ∞) − Q(0 < w < ∞)
    at_zero = float(np.exp(zero).sum()) + (1 - rate) * (difference + exp(base.log_infinite))
    losses = (*mixed.tolist(), *(-mixed).tolist(), 0.0)
    logs = (*log_p.tolist(), *(log_p - mixed).tolist(), log(at_zero) if at_zero > 0 else -inf)
    return Atoms(losses, logs, log(rate) + base.log_infinite, rounding_scale=float(loss.max(initial=0.0)))


def mirrored(masses: Masses) -> Masses:
    """The masses of the reversed pair (Q, P) in the cells of the negated losses."""
    return log_q(masses)[::-1], -masses[1][::-1]


def log_mixture(rate: float, loss: float) -> float:
    """log(1 − q + q e^w)."""
    return float(_mixed(rate, np.array([loss]))[0])


def _mixed(rate: float, loss: Array) -> Array:
    """log(1 − q + q e^w) of an array; below −0.5 by terms that do not cancel when the rate is close to 1."""
    with np.errstate(over="ignore", divide="ignore"):
        change = rate * np.expm1(np.minimum(loss, LARGEST_EXPONENT))
        low = np.log((1 - rate) + rate * np.exp(np.minimum(loss, 0.0)))
        return np.where(loss > LARGEST_EXPONENT, loss + log(rate),
                        np.where(change < -0.5, low, np.log1p(np.maximum(change, -0.5))))


def unmixed(rate: float, loss: Array) -> Array:
    """The w with log(1 − q + q e^w) = ℓ; −∞ where there is none."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        inside = np.log1p(np.maximum(np.expm1(np.minimum(loss, LARGEST_EXPONENT)) / rate, -0.5))
        low = np.log(np.maximum(np.exp(np.minimum(loss, 0.0)) - (1 - rate), 0.0) / rate)
        inside = np.where(np.expm1(np.minimum(loss, 0.0)) < -0.5 * rate, low, inside)
        large = loss - log(rate) + np.log1p(-(1 - rate) * np.exp(-loss))
        return np.where(loss > LARGEST_EXPONENT / 2, large, inside)
