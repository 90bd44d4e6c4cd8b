"""Moments of a composition from coarse discretizations, the Rényi (Chernoff) bounds that they prove, and the
exponential tilt that suits a question.

A pilot is the pessimistic estimate of a pair on about a thousand cells that follow its shape. It is a dominating pair
with few losses, so every bound by its moments is proven. A tilt is the λ of the moment E_P[e^{λℓ}], the order of a
Rényi divergence less one. Any tilt is valid; that of the least Chernoff bound makes the losses that decide the answer
typical. """

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import exp, inf, isqrt, log, log1p, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pair import ROUNDING, Gaussian, Pair
from dpcalc.pld.pmf import log_moments, loss_error, split, tilted_mean_and_variance

TILTS = np.geomspace(1e-4, 1e9, 40)  # first scan of tilts, three a decade; it is refined around the best one

Parts = Sequence[tuple[Pair, int]]  # dominating pairs, and how often each is used


def log_peak(tilt: float) -> float:
    """log max_{x >= 0} e^{−λx}(1 − e^{−x}), the largest factor with which a tilted weight counts in δ."""
    return -tilt * log1p(1 / tilt) - log1p(tilt)


def log_probability_of_any(logs: Sequence[tuple[float, int]]) -> float:
    """log(1 − Π(1 − P_i)^{T_i}), the probability that at least one independent event happens, from (log P_i, T_i)."""
    if any(x >= 0 for x, _ in logs):
        return 0.0
    log_none = sum(count * log1mexp(x) for x, count in logs)
    if log_none < -1e-12:
        return log1mexp(log_none)
    total = -inf  # the sum of all probabilities, which is larger by at most 5e-13 of itself
    for x, count in logs:
        total = log_add(total, x + log(count))
    return total


def rounding_margin(log_p: float) -> float:
    """An upper bound on the rounding error of the log of such a probability."""
    return ROUNDING + 4 * ULP * abs(log_p) if log_p > -inf else 0.0


class Pilot:
    """The pessimistic estimate of one pair on coarse cells, not tilted. Losses above `cap` are split between it and
    ∞."""

    def __init__(self, pair: Pair, log_tail: float, cap: float, cells: int) -> None:
        if 1e100 < pair.largest_loss[0] < inf:  # squares of losses, and products with tilts, must be doubles
            raise TooLarge("too-large", "losses are too large for grids of doubles")
        edges = pair.pilot_edges(log_tail, cells)
        if cap < edges[-1]:
            edges = np.append(edges[edges < cap], cap)
        log_p, loss = pair.masses(np.concatenate(([-inf], edges, [inf])))
        loss[-1:] += loss_error(log_p[-1:], loss[-1:], pair.rounding_scale)  # of the mass that is split with infinity
        low, high = split(log_p[1:], loss[1:], np.append(edges, inf))
        logs = low
        logs[1:] = np.logaddexp(logs[1:], high[:-1])
        logs[0] = np.logaddexp(logs[0], log_p[0])
        has_mass = logs > -inf
        if not has_mass.any():
            raise TooLarge("too-large", "losses are so large that doubles do not tell them apart")
        self.loss, self.log_p = edges[has_mass], logs[has_mass]
        self.log_infinite = float(np.logaddexp(high[-1], pair.log_infinite))

    def log_moment(self, tilt: float) -> float:
        """log E_P[e^{λℓ}] over the finite losses, an upper bound for the pair."""
        return float(self.log_moments(np.array([tilt]))[0])

    def log_moments(self, tilts: Array) -> Array:
        """log E_P[e^{λℓ}] for several λ."""
        return log_moments(self.loss, self.log_p, tilts)

    def lowest_loss(self, tilt: float, share: float) -> float:
        """The largest loss to which all smaller ones can be raised while the moment grows by at most this share of
        itself."""
        cost = np.logaddexp.accumulate(self.log_p) + tilt * np.append(self.loss[1:], inf) - self.log_moment(tilt)
        return float(self.loss[int(np.searchsorted(cost, log(share)))])

    @property
    def square_below_zero(self) -> float:
        """E_P[min(ℓ, 0)²]."""
        return float((np.exp(self.log_p) * np.minimum(self.loss, 0.0) ** 2).sum())

    def mean_and_variance(self, tilt: float) -> tuple[float, float]:
        """The mean and the variance of the tilted loss."""
        return tilted_mean_and_variance(self.loss, self.log_p, tilt)


class Composition:
    """One direction of a composition, with a pilot for each pair. The P-mass outside of all pilots together is at most
    about e^log_tail.

    Losses above `cap` are split between it and ∞ so that their P-mass and their Q-mass are preserved. This changes
    nothing where the sum of all other losses is above ε − cap: there, every sum is above ε, and δ is the P-mass less
    e^ε times the Q-mass. It removes rare losses far above ε, which otherwise dominate the tilted distributions."""

    def __init__(self, parts: Parts, log_tail: float, cap: float = inf, pilots: list[Pilot] | None = None) -> None:
        if all(isinstance(base := getattr(pair, "base", pair), Gaussian) and base.mu < 1e-11 for pair, _ in parts):
            raise TooLarge("too-large", "with so much noise losses are smaller than the rounding errors of doubles")
        self.parts, self.cap = parts, cap
        self.log_tail = log_tail
        self.uses = sum(count for _, count in parts)
        cells = max(100, 1000 // isqrt(len(parts)))  # half as many give nearly the same tilts
        self.pilots = pilots or [Pilot(pair, log_tail - log(2 * self.uses), cap, cells) for pair, _ in parts]

    def with_count(self, count: int) -> Composition:
        """So many uses of the only pair, at most as many as here, with the same pilot."""
        ((pair, _),) = self.parts
        return Composition([(pair, count)], self.log_tail, self.cap, self.pilots)

    def _pilots_and_counts(self) -> Iterator[tuple[Pilot, int]]:
        return zip(self.pilots, (count for _, count in self.parts), strict=True)

    def capped_for(self, epsilon: float) -> Composition:
        """The composition with a cap so much larger than ε that its effect is negligible: by 12 standard deviations of
        the sum of the negative losses. With half as many, the sum of the other losses is below ε − cap so often that
        bounds become loose."""
        below = sum(count * pilot.square_below_zero for pilot, count in self._pilots_and_counts())
        cap = epsilon + 12 * sqrt(below)
        is_lower = any(cap < pilot.loss[-1] for pilot in self.pilots)
        return Composition(self.parts, self.log_tail, cap) if is_lower else self

    @cached_property
    def log_infinite(self) -> float:
        """log of the probability of an infinite loss."""
        return log_probability_of_any([(pair.log_infinite, count) for pair, count in self.parts])

    @cached_property
    def log_truncated(self) -> float:
        """log of the probability of a loss that is infinite in a pilot."""
        return log_probability_of_any([(pilot.log_infinite, count) for pilot, count in self._pilots_and_counts()])

    @cached_property
    def largest_sum(self) -> float:
        """The largest finite sum of losses of the pilots."""
        return sum(count * float(pilot.loss[-1]) for pilot, count in self._pilots_and_counts())

    @cached_property
    def tilts(self) -> Array:
        """The first scan of tilts: smaller ones where losses are large."""
        return TILTS / max(1.0, self.largest_sum / max(1, self.uses))

    def log_moments(self, tilts: Array) -> Array:
        """log E_P[e^{λ·sum}] at several tilts."""
        total: Array = np.sum([count * pilot.log_moments(tilts) for pilot, count in self._pilots_and_counts()], axis=0)
        return total

    @cached_property
    def _log_moments_of_tilts(self) -> Array:
        return self.log_moments(self.tilts)

    def log_moment(self, tilt: float) -> float:
        return sum(count * pilot.log_moment(tilt) for pilot, count in self._pilots_and_counts())

    def mean_and_variance(self, tilt: float) -> tuple[float, float]:
        """The mean and the variance of the tilted sum of all losses."""
        each = [(count, *pilot.mean_and_variance(tilt)) for pilot, count in self._pilots_and_counts()]
        return sum(count * mean for count, mean, _ in each), sum(count * variance for count, _, variance in each)

    def _upper_log_moment(self, tilt: float) -> float:
        """log E_P[e^{λ·sum}], rounded up. That of each use, the log of a number close to 1, has an error of a few units
        in the last place of 1."""
        moment = self.log_moment(tilt) + 4 * ULP * self.uses
        return moment + ROUNDING * abs(moment)

    def chernoff_log_delta(self, tilt: float, epsilon: float) -> float:
        """An upper bound on log δ at ε: K(λ) − λε + log max_x e^{−λx}(1 − e^{−x}), and the mass of infinite losses."""
        return self.chernoff_profile(tilt)(epsilon)

    def chernoff_profile(self, tilt: float) -> Callable[[float], float]:
        """This upper bound as a function of ε."""
        at_zero, log_truncated = self._upper_log_moment(tilt) + log_peak(tilt), self.log_truncated
        return lambda epsilon: min(0.0, log_add(at_zero - tilt * epsilon, log_truncated))

    def chernoff_epsilon(self, tilt: float, log_delta: float) -> float:
        """An upper bound on ε at δ; inf where more than δ is infinite."""
        if self.log_truncated >= log_delta:
            return inf
        log_finite_delta = log_delta + log1p(-exp(self.log_truncated - log_delta))
        return max(0.0, (self._upper_log_moment(tilt) + log_peak(tilt) - log_finite_delta) / tilt)

    def best_tilt(self, epsilon: float | None, log_delta: float | None) -> float:
        """The tilt with about the least Chernoff bound, on log δ if ε is given and on ε if log δ is: by a scan, and by
        two finer ones around the best one. Any tilt is valid."""

        def bounds(tilts: Array, moments: Array) -> Array:
            log_deltas: Array = moments - tilts * np.log1p(1 / tilts) - np.log1p(tilts)
            return (log_deltas - (log_delta or 0.0)) / tilts if epsilon is None else log_deltas - tilts * epsilon

        values = bounds(self.tilts, self._log_moments_of_tilts)
        best = int(np.argmin(values))
        if epsilon is None:
            # Close to the largest loss ε falls ever more slowly as tilts, whose grids become ever finer, grow.
            best = int(np.argmax(values <= values[best] + 1e-5 * abs(values[best])))
        low, high = float(self.tilts[max(best - 1, 0)]), float(self.tilts[min(best + 1, len(TILTS) - 1)])
        for _ in range(2):
            tilts = low * (high / low) ** np.linspace(0.0, 1.0, 11)
            best = int(np.argmin(bounds(tilts[1:-1], self.log_moments(tilts[1:-1]))))
            low, high = float(tilts[best]), float(tilts[best + 2])
        return sqrt(low * high)

    def tilt_at(self, epsilon: float, largest: float = inf) -> tuple[float, float]:
        """The tilt for an ε, at most `largest`, and the approximate rate at which log δ falls with ε there."""
        tilt = min(self.best_tilt(epsilon, None), largest)
        deviation = sqrt(smooth_variance(self.mean_and_variance(tilt)[1], tilt))
        tilt = max(tilt, 0.3 / deviation)  # a smaller one would not make the upper tail, on which δ depends, typical
        return tilt, tilt + 1 / deviation


def smooth_variance(variance: float, tilt: float) -> float:
    """The variance of a sum of losses, at least about the variance of the kernel e^{−λx}(1 − e^{−x}) with which δ
    averages over it."""
    return max(variance, 0.5 / (tilt * (1 + tilt)))
