"""Dominating pairs of one step on a Poisson-sampled batch in which records are replaced: both distributions are
mixtures with the same weights, and the second one is the first one reflected at 0. So the pair is symmetric, and the
loss is an odd and rising function of the outcome. """

from __future__ import annotations

from dataclasses import dataclass
from math import expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.rounding import ratio_up, up
from dpcalc.pld.atoms import Atoms, approximate_dp, distinct
from dpcalc.pld.grouped import BLOCK, NEGLIGIBLE, ROUNDING, BinomialMixture
from dpcalc.pld.pair import Gaussian, mixture, normal_masses
from dpcalc.pld.pmf import loss_error

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array
    from dpcalc.pld.pair import Masses, Pair

STEPS = 80  # of the root search, at most; eight to twelve are usual
TOLERANCE = 1e-13  # of a loss, relative: more than its rounding errors
SUM_ROUNDING = 1e-12  # relative: more than the rounding error of a sum of some thousand exponentials


@dataclass(frozen=True)
class PoissonReplaced(BinomialMixture):
    """Σ_j p_j N(jμ, 1) against Σ_j p_j N(−jμ, 1) with the binomial weights p_j of K records at the rate q < 1 (proof in
    bounds/sampling/poisson_replace_one_profile.py). With A(z) = Σ_j p_j e^{jμz − j²μ²/2} the loss at the outcome z is
    log A(z) − log A(−z). """

    attained: bool = True
    log_infinite = -inf
    largest_loss = (inf, -inf)
    reverse = None

    @property
    def rounding_scale(self) -> float:
        """At most the probability that a batch holds one of the records, where the losses of components are mixed."""
        return min(1.0, self.size * self.rate)

    @property
    def base(self) -> Gaussian:
        """The pair of the same step on all records."""
        return Gaussian(2 * self.mu * self.size, self.attained)

    def masses(self, edges: Array) -> Masses:
        z = self._outcomes(edges)
        parts = [self._cells(z[k : k + BLOCK + 1]) for k in range(0, len(z) - 1, BLOCK)]
        log_p, loss = (np.concatenate(each) for each in zip(*parts, strict=True))
        return log_p, loss

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        log_tail -= log(self.size + 1)  # a share for each component
        heights = self.log_weights - log_tail
        highest = float((self.shifts + np.sqrt(2 * np.maximum(heights, 0.0)))[heights > 0].max())
        reach = sqrt(-2 * log_tail)
        # Where the components are far apart, more cells are needed for them to be narrow relative to the noise.
        cells = int(min(cells * max(1.0, (highest - reach) / 10), 4 * cells))
        return distinct(self._losses(np.linspace(-reach, highest, cells + 1)))

    def _cells(self, z: Array) -> Masses:
        """The masses of the cells between neighbouring outcomes: each component j of one distribution with the same one
        of the other, whose ratio of densities is e^{2jμz}."""
        parts = []
        for j in self._components(z):
            r = self.shifts[j]
            in_p, in_q = normal_masses(z - r), normal_masses(z + r)
            with np.errstate(invalid="ignore"):
                loss = np.clip(in_p - in_q, 2 * r * z[:-1], 2 * r * z[1:]) if r else np.zeros(len(in_p))
            parts.append((self.log_weights[j] + in_p, np.where(in_p > -inf, loss, 0.0)))
        return mixture(parts)

    def _components(self, z: Array) -> list[int]:
        """The j whose densities matter under P or under Q at one of the outcomes."""
        ends = z[np.isfinite(z)]
        points = np.array([ends[0], ends[len(ends) // 2], ends[-1]]) if len(ends) else np.array([0.0])
        points = np.concatenate((points, np.linspace(points[0], points[-1], 5)))
        matters = np.zeros(self.size + 1, dtype=bool)
        for side in (+1, -1):
            terms = self._terms(side * points)
            matters |= (terms >= terms.max(axis=0) - NEGLIGIBLE).any(axis=1)
        if not np.isfinite(z).all():
            matters[:] = True
        return [int(j) for j in np.flatnonzero(matters)]

    def _terms(self, z: Array) -> Array:
        """The logs of the terms of A(z), in rows."""
        shift = self.shifts[:, None]
        return np.asarray(self.log_weights[:, None] + shift * (z - shift / 2))

    def _losses(self, z: Array) -> Array:
        """log A(z) − log A(−z)."""
        return self._losses_and_slopes(np.abs(z))[0] * np.sign(z)

    def _losses_and_slopes(self, z: Array) -> tuple[Array, Array]:
        """The losses at z >= 0, as log(1 + (A(z) − A(−z))/A(−z)) with a numerator of positive terms, and their
        derivatives."""
        up_, down = self._terms(z), self._terms(-z)
        above, below = np.logaddexp.reduce(up_), np.logaddexp.reduce(down)
        with np.errstate(divide="ignore"):
            excess = np.logaddexp.reduce(up_[1:] + np.log(-np.expm1(-2 * self.shifts[1:, None] * z)))
        shift = self.shifts[:, None]
        slopes = (np.exp(up_ - above) * shift).sum(axis=0) + (np.exp(down - below) * shift).sum(axis=0)
        return np.logaddexp(0.0, excess - below), slopes

    def _outcomes(self, losses: Array) -> Array:
        """The outcomes with these losses, by Newton's method inside of brackets that shrink."""
        target = np.abs(losses)
        finite = (target > 0) & (target < inf)
        z = np.where(target == inf, inf, 0.0)
        if finite.any():
            found = target[finite]
            z[finite] = np.concatenate([self._roots(found[k : k + BLOCK]) for k in range(0, len(found), BLOCK)])
        return np.sign(losses) * z

    def _roots(self, target: Array) -> Array:
        shift, log_p = self.shifts[1:, None], self.log_weights[1:, None]
        at_zero = float(np.logaddexp.reduce(self._terms(np.zeros(1)))[0])
        low = np.zeros(len(target))
        high = ((target + at_zero - log_p) / shift + shift / 2).min(axis=0)  # one term of A(z) is e^ℓ A(0)
        z = high
        for _ in range(STEPS):
            loss, slope = self._losses_and_slopes(z)
            residual = loss - target
            if (np.abs(residual) <= TOLERANCE * target).all():
                break
            low, high = np.where(residual < 0, z, low), np.where(residual < 0, high, z)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # where it fails, the middle is next
                newton = z - residual / slope
            z = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        return np.asarray(z)


@dataclass(frozen=True)
class LaplaceReplaced:
    """(1−q)L(0) + qL(r) against (1−q)L(0) + qL(−r), L(c) the Laplace distribution of scale 1 around c.

    With D = 1 − q + qe^{−r} the loss at an outcome 0 <= x <= r is log((1 − q + qe^{2x−r})/D), and beyond r it is that
    at r. Of a cell from a to b it is that at (a + b)/2. """

    ratio: float
    rate: float
    attained: bool = True
    log_infinite = -inf
    reverse = None

    @property
    def rounding_scale(self) -> float:
        return self.rate * min(self.ratio, 1.0)

    @property
    def largest_loss(self) -> tuple[float, float]:
        return float(self._losses(np.array([self.ratio]))[0]), self._log_tail(+1)

    def masses(self, edges: Array) -> Masses:
        end, r = self.largest_loss[0], self.ratio
        x = np.where(np.abs(edges) >= end, np.sign(edges) * r, self._outcomes(np.clip(edges, -end, end)))
        parts = [self._between(np.maximum(x, 0.0), +1), self._between(np.minimum(x, 0.0), -1)]
        for place, log_p in ((end, self._log_tail(+1)), (-end, self._log_tail(-1))):
            inside = (edges[:-1] <= place) & (place < edges[1:])
            parts.append((np.where(inside, log_p, -inf), np.full(len(inside), place)))
        return mixture(parts)

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        edges = distinct(self._losses(np.linspace(-self.ratio, self.ratio, cells + 1)))
        return np.append(edges, edges[-1] * (1 + 1e-11) + 1e-300)  # the last cell holds the atom

    def _log_tail(self, side: int) -> float:
        """log of the P-mass of the outcomes above r (side +1), or below −r."""
        r = self.ratio
        far = -r if side > 0 else -2 * r
        near = 0.0 if side > 0 else -r
        return float(np.logaddexp(log1p(-self.rate) - r, log(self.rate) + (near if side > 0 else far))) + log(0.5)

    def _between(self, x: Array, side: int) -> Masses:
        """The masses of the cells between neighbouring outcomes on one side of 0."""
        a, b = (x[:-1], x[1:]) if side > 0 else (-x[1:], -x[:-1])
        loss = self._losses((a + b) / 2)
        with np.errstate(divide="ignore"):
            log_q = log(0.5) - a + np.log(-np.expm1(a - b)) + log1p(self.rate * expm1(-self.ratio))
        return (log_q + loss, loss) if side > 0 else (log_q, -loss)

    def _losses(self, x: Array) -> Array:
        """The losses at −r <= x <= r: log(1 + qe^{−r}(e^{2x} − 1)/D) for x >= 0, and odd."""
        scale = log(self.rate) - self.ratio - log1p(self.rate * expm1(-self.ratio))
        with np.errstate(divide="ignore"):
            grown = 2 * np.abs(x) + np.log(-np.expm1(-2 * np.abs(x)))
        return np.asarray(np.sign(x) * np.logaddexp(0.0, scale + grown))

    def _outcomes(self, losses: Array) -> Array:
        """The outcomes with these losses: e^{2x} = 1 + (e^ℓ − 1)De^r/q."""
        scale = log1p(self.rate * expm1(-self.ratio)) + self.ratio - log(self.rate)
        with np.errstate(divide="ignore"):
            grown = np.abs(losses) + np.log(-np.expm1(-np.abs(losses)))
        x = np.minimum(np.logaddexp(0.0, scale + grown) / 2, self.ratio)
        return np.asarray(np.sign(losses) * x)


def integers_replaced(log_f: Array, rise: Array, fall: Array, rate: float, log_infinite: float = -inf) -> Atoms:
    """(1−q)F(0) + qF(s) against (1−q)F(0) + qF(−s) for noise F on the integers that is even and log-concave.

    For outcomes, or sets of outcomes with the same loss, in increasing order: the logs of their probabilities under
    F(0), and the logs of the ratios of those under F(s) and F(−s) to them. Outcomes that are left out have at most the
    probability e^log_infinite under the first distribution, and count as infinite losses. """
    log_q = np.logaddexp(log1p(-rate), log(rate) + fall)
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.abs(rise - fall) + np.log(-np.expm1(-np.abs(rise - fall))) + np.minimum(rise, fall)
    smaller = np.where(rise >= fall, log_q, np.logaddexp(log1p(-rate), log(rate) + rise))
    loss = np.where(rise >= fall, 1.0, -1.0) * np.logaddexp(0.0, log(rate) + excess - smaller)
    return Atoms(tuple(loss.tolist()), tuple((log_f + log_q + loss).tolist()), log_infinite, attained=True,
                 rounding_scale=rate)


def upper_log_delta(atoms: Atoms, epsilon: float) -> float:
    """log δ(ε) of one use of a pair with finitely many losses, rounded up."""
    loss, log_p = atoms.distinct_atoms
    distance = loss + loss_error(log_p, loss, atoms.rounding_scale) - epsilon
    above = distance > 0
    terms = log_p[above] + np.log(-np.expm1(-distance[above]))
    total = float(np.logaddexp.reduce(terms)) if above.any() else -inf
    total = float(np.logaddexp(total, atoms.log_infinite))
    return total if total == -inf else min(0.0, up(total, ROUNDING) + SUM_ROUNDING)


def poisson_replaced(mu: float, rate: float, size: int, attained: bool = True) -> Pair:
    """The pair for `size` records that are all replaced, each in the batch independently with probability `rate`, of
    which each moves the mean of the noise by at most μ standard deviations."""
    if rate == 1:
        return Gaussian(ratio_up((2 * mu, float(size))), attained)
    return PoissonReplaced(mu, rate, size, attained)


def revealed(rate: float, size: int) -> Pair:
    """An upper bound on that pair for hardly any noise: a batch with one of the records reveals it."""
    return approximate_dp(0.0, min(0.0, up(log(-expm1(size * log1p(-rate))), ROUNDING) if rate < 1 else 0.0))
