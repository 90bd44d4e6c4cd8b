"""The dominating pair of a Gaussian mechanism on a Poisson-sampled batch where a group of K records is added or
removed: the mixture Σ_j p_j N(jμ, 1) against N(0, 1), in units of the noise, with the binomial weights p_j of the
number of records of the group in the batch (proof in bounds/sampling/poisson_group_profile.py).

Throughout, z is an outcome and L(z) = log Σ_j p_j e^{x_j} with x_j = jμ(z − jμ/2) is its loss, which rises in z. """

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.binomial import log_binomial_weights
from dpcalc.numerics.rounding import ratio_up, up
from dpcalc.pld.atoms import approximate_dp, distinct
from dpcalc.pld.pair import LARGEST_EXPONENT, Gaussian, normal_masses
from dpcalc.pld.sampled import mirrored, poisson

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array
    from dpcalc.pld.pair import Masses, Pair

# Terms this far (in logs) below the largest one are left out of a sum: together they are below 1e-22 of it.
NEGLIGIBLE = 60.0
ROUNDING = 1e-15  # relative: more than the rounding errors of a few operations
BLOCK = 512  # outcomes of which one range of j is taken; with twice as many the ranges become wider than they save
NEWTON_STEPS = 60  # at most; the method needs four to eight
NEWTON_TOLERANCE = 1e-8  # of log R: the next step of Newton's method squares it


@dataclass(frozen=True)
class BinomialMixture:
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


@dataclass(frozen=True)
class PoissonGroup(BinomialMixture):
    """The mixture against N(0, 1) where the group is removed, or N(0, 1) against the mixture where it is added. It is
    attained by records whose clipped gradients are one and the same unit vector."""

    added: bool = False
    attained: bool = True
    log_infinite = -inf
    rounding_scale = 1.0  # masses add up to 1 within 5e-15

    @property
    def reverse(self) -> PoissonGroup:
        return replace(self, added=not self.added)

    @property
    def largest_loss(self) -> tuple[float, float]:
        return (-float(self.log_weights[0]) if self.added else inf), -inf

    def masses(self, edges: Array) -> Masses:
        if not self.added:
            return self._masses_removed(edges)
        return mirrored(self._masses_removed(np.nextafter(-edges[::-1], inf)))  # mirrored cells contain their upper end

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        log_tail -= log(self.size + 1)  # a share for each component
        reach = sqrt(-2 * log_tail)
        heights = self.log_weights - log_tail
        counted = heights > 0
        highest = float((self.shifts[counted] + np.sqrt(2 * heights[counted])).max())
        # Where the components are far apart, more cells are needed for them to be narrow relative to the noise.
        cells = int(min(cells * max(1.0, (highest - reach) / 10), 4 * cells))
        edges = distinct(np.concatenate([self._losses(z) for z in _blocks(np.linspace(-reach, highest, cells + 1))]))
        return -edges[::-1] if self.added else edges

    def _masses_removed(self, edges: Array) -> Masses:
        z = np.concatenate([self._outcomes(part) for part in _blocks(edges)])
        parts = [self._cells(z[k : k + BLOCK + 1]) for k in range(0, len(z) - 1, BLOCK)]
        log_p, loss = (np.concatenate(each) for each in zip(*parts, strict=True))
        return log_p, loss

    def _cells(self, z: Array) -> Masses:
        """The masses of the cells between neighbouring outcomes. The loss of a cell is log Σ p_j e^{ℓ_j}, where ℓ_j is
        the log of the ratio of the masses under N(jμ, 1) and N(0, 1), which lies between x_j at both ends."""
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
        """L(z)."""
        shift = self.shifts[1:, None]
        return self._mixed(self.log_weights[1:, None], shift * (z - shift / 2), 0.0)

    def _mixed(self, log_p: Array, losses: Array, outside: float) -> Array:
        """log(p_0 + Σ p_j e^{ℓ_j}) along the first axis, near 0 by terms p_j(e^{ℓ_j} − 1), which do not cancel there.
        The components that are left out have the weight `outside`, and e^ℓ = 0."""
        direct = np.logaddexp(self.log_weights[0], np.logaddexp.reduce(log_p + losses))
        change = (np.exp(log_p) * np.expm1(np.minimum(losses, LARGEST_EXPONENT))).sum(axis=0) - outside
        near = np.abs(direct) < 0.5
        mixed: Array = np.where(near, np.log1p(np.where(near, change, 0.0)), direct)
        return mixed

    def _outcomes(self, losses: Array) -> Array:
        """The outcomes z with these losses, in increasing order; −∞ for losses that no outcome has.

        R(z) = Σ_{j>=1} p_j e^{x_j} = e^ℓ − p_0. log R is convex and rises, so Newton's method falls to the root from
        any z above it, as from the least z at which a single term is e^ℓ − p_0. """
        above = losses - self.log_weights[0]
        has_outcome = (above > 0) & (losses < inf)
        z = np.where(losses == inf, inf, -inf)
        if has_outcome.any():
            target = losses[has_outcome] + np.log(-np.expm1(-above[has_outcome]))
            z[has_outcome] = self._roots(target)
        return z

    def _roots(self, target: Array) -> Array:
        """The z with log R(z) = target."""
        log_p, shift = self.log_weights[1:, None], self.shifts[1:, None]
        z: Array = ((target - log_p) / shift + shift / 2).min(axis=0)
        for _ in range(NEWTON_STEPS):
            window = self._window(z.min(), z.max())
            shift = self.shifts[window, None]
            terms = self.log_weights[window, None] + shift * (z - shift / 2)
            top = terms.max(axis=0)
            shares = np.exp(terms - top)
            total = shares.sum(axis=0)
            excess = top + np.log(total) - target
            z = z - excess * total / (shift * shares).sum(axis=0)
            if np.abs(excess).max() < NEWTON_TOLERANCE:
                break
        return z

    def _window(self, lowest: float, highest: float) -> slice:
        """The range of j >= 1 whose terms matter at some z from `lowest` to `highest`. The terms are log-concave in j,
        and larger z prefer larger j; so the range begins with that at `lowest`, and ends with that at `highest`."""
        begin, end = 1, self.size + 1
        if lowest > -inf:
            begin = 1 + int(self._matters(lowest).argmax())
        if highest < inf:
            end = self.size + 1 - int(self._matters(highest)[::-1].argmax())
        return slice(begin, max(end, begin + 1))

    def _matters(self, z: float) -> Array:
        """Whether the term of each j >= 1 is not negligible at z."""
        terms = self.log_weights[1:] + self.shifts[1:] * (z - self.shifts[1:] / 2)
        matters: Array = terms >= terms.max() - NEGLIGIBLE
        return matters


def _blocks(x: Array) -> list[Array]:
    return [x[k : k + BLOCK] for k in range(0, len(x), BLOCK)]


def poisson_group(mu: float, rate: float, size: int) -> Pair:
    """The pair for a group of `size` records, each in the batch independently with probability `rate`, of which each
    moves the mean of the noise by at most μ standard deviations."""
    return Gaussian(ratio_up((mu, float(size)))) if rate == 1 else PoissonGroup(mu, rate, size)


def revealed(rate: float, size: int) -> Pair:
    """An upper bound on that pair for hardly any noise: a batch with a record of the group reveals it."""
    return poisson(approximate_dp(0.0, 0.0), min(1.0, up(-expm1(size * log1p(-rate)), ROUNDING)))
