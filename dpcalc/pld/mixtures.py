"""The dominating pairs of a Gaussian mechanism on a Poisson-sampled batch, for a group of K records: the mixture
Σ_j p_j N(jμ, 1), in units of the noise, with the binomial weights p_j of the number of records of the group in the
batch, against N(0, 1) where the group is added or removed (proof in bounds/sampling/poisson_group_profile.py), or
against its own reflection where each record is replaced (poisson_replace_one_profile.py).

Throughout, z is an outcome, whose loss L(z) rises in z, and A(z) = Σ_j p_j e^{x_j} with x_j = jμ(z − jμ/2). """

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import expm1, inf, log, log1p, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.binomial import log_binomial_weights
from dpcalc.numerics.elementary_array import difference
from dpcalc.numerics.rounding import ratio_up, up
from dpcalc.pld.atoms import approximate_dp, distinct
from dpcalc.pld.pair import Gaussian, Masses, Pair, mixture, normal_masses
from dpcalc.pld.sampled import RemovedOrAdded, poisson

BLOCK = 512  # outcomes of which one range of j is taken; with twice as many the ranges become wider than they save


@dataclass(frozen=True)
class BinomialMixture(Pair):
    """Normal distributions N(jμ, 1) with the binomial weights p_j of K records at the rate q."""

    mu: float
    rate: float
    size: int = 1

    @cached_property
    def log_weights(self) -> Array:
        """log p_j for j = 0..K."""
        return np.array(log_binomial_weights(self.size, self.rate))

    @cached_property
    def shifts(self) -> Array:
        """jμ for j = 0..K."""
        return self.mu * np.arange(self.size + 1)

    def masses(self, edges: Array) -> Masses:
        """The masses of the cells between losses, by blocks of the outcomes with these losses."""
        z = np.concatenate([self._outcomes(edges[k : k + BLOCK]) for k in range(0, len(edges), BLOCK)])
        parts = [self._cells(z[k : k + BLOCK + 1]) for k in range(0, len(z) - 1, BLOCK)]
        log_p, loss = (np.concatenate(each) for each in zip(*parts, strict=True))
        return log_p, loss

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        log_tail -= log(self.size + 1)  # a share for each component
        reach, heights = sqrt(-2 * log_tail), self.log_weights - log_tail
        highest = float((self.shifts + np.sqrt(2 * np.maximum(heights, 0.0)))[heights > 0].max())
        # Where the components are far apart, more cells are needed for them to be narrow relative to the noise.
        z = np.linspace(-reach, highest, int(min(cells * max(1.0, (highest - reach) / 10), 4 * cells)) + 1)
        return distinct(np.concatenate([self._losses(z[k : k + BLOCK]) for k in range(0, len(z), BLOCK)]))

    def _outcomes(self, losses: Array) -> Array:
        """The outcomes with these losses, in increasing order."""
        raise NotImplementedError

    def _losses(self, z: Array) -> Array:
        """L(z)."""
        raise NotImplementedError

    def _cells(self, z: Array) -> Masses:
        """The masses of the cells between neighbouring outcomes."""
        raise NotImplementedError

    def _terms(self, z: Array, window: slice = slice(None)) -> Array:
        """The logs of the terms of A(z), in rows."""
        shift = self.shifts[window, None]
        return np.asarray(self.log_weights[window, None] + shift * (z - shift / 2))

    def _window(self, lowest: float, highest: float) -> slice:
        """The range of j >= 1 whose terms matter at some z from `lowest` to `highest`: terms below e^-60 of the largest
        one are together below 1e-22 of it. They are log-concave in j, and larger z prefer larger j; so the range begins
        with that at `lowest`, and ends with that at `highest`."""
        def matters(z: float) -> Array:
            terms = self._terms(np.array([z]), slice(1, None))[:, 0]
            return np.asarray(terms >= terms.max() - 60)

        begin = 1 + int(matters(lowest).argmax()) if lowest > -inf else 1
        end = self.size + 1 - (int(matters(highest)[::-1].argmax()) if highest < inf else 0)
        return slice(begin, max(end, begin + 1))


def _roots(value_and_slope: Callable[[Array], tuple[Array, Array]], target: Array, low: Array, high: Array,
           tolerance: Array | float) -> Array:
    """The z between both ends at which a rising function has these values, by Newton's method from above inside of
    brackets that shrink. The last step follows when all residuals are below the tolerance, and squares them."""
    z = high
    for _ in range(80):  # four to twelve are usual
        value, slope = value_and_slope(z)
        residual = value - target
        low, high = np.where(residual < 0, z, low), np.where(residual < 0, high, z)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # where it fails, the middle is next
            newton = z - residual / slope
        z = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
        if (np.abs(residual) <= tolerance).all():
            break
    return z


@dataclass(frozen=True)
class PoissonGroup(RemovedOrAdded, BinomialMixture):
    """The mixture against N(0, 1) where the group is removed, or N(0, 1) against the mixture where it is added. It is
    attained by records whose clipped gradients are one and the same unit vector. The loss is log A(z)."""

    attained: bool = True
    rounding_scale = 1.0  # masses add up to 1 within 5e-15
    masses_removed, edges_removed = BinomialMixture.masses, BinomialMixture.pilot_edges

    @property
    def largest_loss(self) -> tuple[float, float]:
        return (-float(self.log_weights[0]) if self.added else inf), -inf

    def _cells(self, z: Array) -> Masses:
        """The loss of a cell is log Σ p_j e^{ℓ_j}, where ℓ_j is the log of the ratio of the masses under N(jμ, 1) and
        N(0, 1), which lies between x_j at both ends."""
        log_q = normal_masses(z)
        window = self._window(z[0], z[-1])
        log_p, shift = self.log_weights[window, None], self.shifts[window, None]
        with np.errstate(invalid="ignore"):
            of_each = normal_masses(z - shift)
            x = shift * (z - shift / 2)
            losses = np.where(log_q > -inf, np.clip(of_each - log_q, x[:, :-1], x[:, 1:]), -inf)
        outside = np.exp(np.delete(self.log_weights[1:], np.arange(window.start - 1, window.stop - 1))).sum()
        in_p = np.logaddexp(self.log_weights[0] + log_q, np.logaddexp.reduce(log_p + of_each))
        return in_p, np.where(log_q > -inf, self._mixed(log_p, losses, outside), 0.0)

    def _losses(self, z: Array) -> Array:
        shift = self.shifts[1:, None]
        return self._mixed(self.log_weights[1:, None], shift * (z - shift / 2), 0.0)

    def _mixed(self, log_p: Array, losses: Array, outside: float) -> Array:
        """log(p_0 + Σ p_j e^{ℓ_j}) along the first axis, near 0 by terms p_j(e^{ℓ_j} − 1), which do not cancel there.
        The components that are left out have the weight `outside`, and e^ℓ = 0."""
        direct = np.logaddexp(self.log_weights[0], np.logaddexp.reduce(log_p + losses))
        change = difference(log_p + losses, log_p + np.zeros_like(losses), losses).sum(axis=0) - outside
        near = np.abs(direct) < 0.5
        mixed: Array = np.where(near, np.log1p(np.where(near, change, 0.0)), direct)
        return mixed

    def _outcomes(self, losses: Array) -> Array:
        """−∞ for losses that no outcome has. log Σ_{j>=1} p_j e^{x_j} = log(e^ℓ − p_0) at the others: no more than at
        the least z at which a single term is as large, and no less than where each of the K terms is at most a K-th."""
        above = losses - self.log_weights[0]
        has_outcome = (above > 0) & (losses < inf)
        z = np.where(losses == inf, inf, -inf)
        if has_outcome.any():
            target = losses[has_outcome] + np.log(-np.expm1(-above[has_outcome]))
            log_p, shift = self.log_weights[1:, None], self.shifts[1:, None]
            low, high = (((x - log_p) / shift + shift / 2).min(axis=0) for x in (target - log(self.size), target))
            z[has_outcome] = _roots(self._log_ratio_and_slope, target, low, high, 1e-8)
        return z

    def _log_ratio_and_slope(self, z: Array) -> tuple[Array, Array]:
        window = self._window(z.min(), z.max())
        terms = self._terms(z, window)
        top = terms.max(axis=0)
        shares = np.exp(terms - top)
        total = shares.sum(axis=0)
        return top + np.log(total), (self.shifts[window, None] * shares).sum(axis=0) / total


@dataclass(frozen=True)
class PoissonReplaced(BinomialMixture):
    """Σ_j p_j N(jμ, 1) against Σ_j p_j N(−jμ, 1), for q < 1. The loss at the outcome z is log A(z) − log A(−z): it is
    odd, and the pair symmetric."""

    attained: bool = True
    largest_loss = (inf, -inf)

    @property
    def rounding_scale(self) -> float:
        """At most the probability that a batch holds one of the records, where the losses of components are mixed."""
        return min(1.0, self.size * self.rate)

    @property
    def base(self) -> Gaussian:
        """The pair of the same step on all records."""
        return Gaussian(2 * self.mu * self.size, self.attained)

    def _cells(self, z: Array) -> Masses:
        """Each component j of one distribution goes with the same one of the other: their ratio of densities is
        e^{2jμz}. Those count that matter under one of both."""
        windows = self._window(z[0], z[-1]), self._window(-z[-1], -z[0])
        parts = []
        for j in sorted({0, *(j for x in windows for j in range(x.start, x.stop))}):
            r = self.shifts[j]
            in_p, in_q = normal_masses(z - r), normal_masses(z + r)
            with np.errstate(invalid="ignore"):
                loss = np.clip(in_p - in_q, 2 * r * z[:-1], 2 * r * z[1:]) if r else np.zeros(len(in_p))
            parts.append((self.log_weights[j] + in_p, np.where(in_p > -inf, loss, 0.0)))
        return mixture(parts)

    def _losses(self, z: Array) -> Array:
        return self._losses_and_slopes(np.abs(z))[0] * np.sign(z)

    def _losses_and_slopes(self, z: Array) -> tuple[Array, Array]:
        """The losses at z >= 0, as log(1 + (A(z) − A(−z))/A(−z)) with a numerator of positive terms, and their
        derivatives."""
        ahead, back = self._terms(z), self._terms(-z)
        above, below = np.logaddexp.reduce(ahead), np.logaddexp.reduce(back)
        with np.errstate(divide="ignore"):
            excess = np.logaddexp.reduce(ahead[1:] + np.log(-np.expm1(-2 * self.shifts[1:, None] * z)))
        slopes = ((np.exp(ahead - above) + np.exp(back - below)) * self.shifts[:, None]).sum(axis=0)
        return np.logaddexp(0.0, excess - below), slopes

    def _outcomes(self, losses: Array) -> Array:
        """They are at most the z at which a single term of A(z) is e^ℓ A(0)."""
        size = np.abs(losses)
        finite = (size > 0) & (size < inf)
        z = np.where(size == inf, inf, 0.0)
        if finite.any():
            target, shift = size[finite], self.shifts[1:, None]
            at_zero = float(np.logaddexp.reduce(self._terms(np.zeros(1)))[0])
            high = ((target + at_zero - self.log_weights[1:, None]) / shift + shift / 2).min(axis=0)
            z[finite] = _roots(self._losses_and_slopes, target, np.zeros(len(target)), high, 1e-13 * target)
        return np.sign(losses) * z


def poisson_group(mu: float, rate: float, size: int) -> Pair:
    """The pair for a group of `size` records, each in the batch independently with probability `rate`, of which each
    moves the mean of the noise by at most μ standard deviations."""
    return Gaussian(ratio_up((mu, float(size)))) if rate == 1 else PoissonGroup(mu, rate, size)


def poisson_replaced(mu: float, rate: float, size: int, attained: bool = True) -> Pair:
    """The same where all of them are replaced."""
    if rate == 1:
        return Gaussian(ratio_up((2 * mu, float(size))), attained)
    return PoissonReplaced(mu, rate, size, attained)


def revealed(rate: float, size: int, replaced: bool = False) -> Pair:
    """An upper bound on both pairs for hardly any noise and q < 1: a batch with a record of the group reveals it."""
    drawn = min(1.0, up(-expm1(size * log1p(-rate)), 1e-15))
    return approximate_dp(0.0, min(0.0, up(log(drawn)))) if replaced else poisson(approximate_dp(0.0, 0.0), drawn)
