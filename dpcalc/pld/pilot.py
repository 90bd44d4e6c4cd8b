"""The moments of a composition by coarse laws, the Rényi (Chernoff) bounds that they prove, and the tilt for a
question.

A pilot law is the pessimistic law of a pair on a few thousand cells that follow its shape: a dominating pair with few
losses, so every bound by its moments is proven. Any tilt is valid; the order of the least Chernoff bound makes the
losses that decide the answer typical. """

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import exp, expm1, inf, isqrt, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pmf import ULP, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Pair

    Array = NDArray[Any]

# of a coarse law: of one part, and at least; half as many choose nearly the same tilts
PILOT_CELLS, LEAST_CELLS = 1000, 100
TILTS = np.geomspace(1e-4, 1e9, 66)  # five a decade, the best of them is where the search begins
FLAT = 1e-5  # of ε: what a steeper tilt gains at least, as next to the largest loss ever steeper ones gain ever less
SLIGHTEST = 0.3  # of the tilt times the deviation of the sum, so that a sum is not read far from its middle
CAP_DEVIATIONS = 12.0  # of the sum of all losses below 0, above ε: all larger losses count alike
ROUNDING = 1e-12  # relative, of a sum of a few thousand exponentials and of its logarithm

Parts = Sequence[tuple["Pair", int]]


def log_add(a: float, b: float) -> float:
    top, low = max(a, b), min(a, b)
    return top if low == -inf else top + log1p(exp(low - top))


def log_peak(tilt: float) -> float:
    """log max_{x >= 0} e^{−λx}(1 − e^{−x}), which a weight counts in δ at most."""
    return -tilt * log1p(1 / tilt) - log1p(tilt)


def log_any(logs: Sequence[tuple[float, int]]) -> float:
    """log(1 − Π(1 − P_i)^{T_i}), the probability of at least one event, for (log P_i, T_i)."""
    if any(x >= 0 for x, _ in logs):
        return 0.0
    total = sum(count * (log(-expm1(x)) if x > -1 else log1p(-exp(x))) for x, count in logs)
    if total < -1e-12:
        return log(-expm1(total))
    found = -inf  # the sum of all, which is larger by at most 5e-13 of itself
    for x, count in logs:
        found = log_add(found, x + log(count))
    return found


def margin(log_p: float) -> float:
    """What the log of such a probability may be off by."""
    return ROUNDING + 4 * ULP * abs(log_p) if log_p > -inf else 0.0


class Pilot:
    """The pessimistic law of one pair on coarse cells, untilted. Losses above `cap` are split between it and ∞
    (capped_at)."""

    def __init__(self, pair: Pair, log_tail: float, cap: float, cells: int) -> None:
        edges = pair.pilot_edges(log_tail, cells)
        if cap < edges[-1]:
            edges = np.append(edges[edges < cap], cap)
        log_p, loss = pair.masses(np.concatenate(([-inf], edges, [inf])))
        low, high = split(log_p[1:], loss[1:], np.append(edges, inf))
        logs = low
        logs[1:] = np.logaddexp(logs[1:], high[:-1])
        logs[0] = np.logaddexp(logs[0], log_p[0])
        held = logs > -inf
        if not held.any():
            raise TooLarge("too-large", "losses are so large that doubles do not tell them apart")
        self.loss, self.log_p = edges[held], logs[held]
        self.log_infinite = float(np.logaddexp(high[-1], pair.log_infinite))

    def log_moment(self, tilt: float) -> float:
        """log E_P[e^{λℓ}] of the finite losses, from above."""
        x = self.log_p + tilt * self.loss
        top = float(x.max())
        return top + log(float(np.exp(x - top).sum()))

    def lowest(self, tilt: float, little: float) -> float:
        """The largest loss to which all smaller ones can be moved up while the moment M grows by at most the part
        `little` of it."""
        cost = np.logaddexp.accumulate(self.log_p) + tilt * np.append(self.loss[1:], inf) - self.log_moment(tilt)
        return float(self.loss[int(np.searchsorted(cost, log(little)))])

    @property
    def square_below_zero(self) -> float:
        """E_P[min(ℓ, 0)²]."""
        return float((np.exp(self.log_p) * np.minimum(self.loss, 0.0) ** 2).sum())

    def log_moments(self, tilts: Array) -> Array:
        x = self.log_p + tilts[:, None] * self.loss
        top = x.max(axis=1)
        found: Array = top + np.log(np.exp(x - top[:, None]).sum(axis=1))
        return found

    def mean_and_variance(self, tilt: float) -> tuple[float, float]:
        weight = np.exp(self.log_p + tilt * self.loss - self.log_moment(tilt))
        mean = float((weight * self.loss).sum())
        return mean, float((weight * (self.loss - mean) ** 2).sum())


class Composition:
    """One direction of a composition. Of all uses together, at most e^log_tail of P is outside of the pilot laws.

    Losses above `cap` are split between it and ∞ so that their P-mass and their Q-mass stay. Where all other losses
    together are above ε − cap this changes nothing, as δ is the P-mass less e^ε times the Q-mass of all sums above ε
    then. It takes rare losses, far larger than ε, out of the tilted laws, in which they would be all that counts."""

    def __init__(self, parts: Parts, log_tail: float, cap: float = inf) -> None:
        self.parts, self.cap = parts, cap
        self.log_tail = log_tail
        each = log_tail - log(2 * sum(count for _, count in parts))
        cells = max(LEAST_CELLS, PILOT_CELLS // isqrt(len(parts)))
        self.pilots = [Pilot(pair, each, cap, cells) for pair, _ in parts]

    def capped_for(self, epsilon: float) -> Composition:
        """With a cap above ε by as much as all other losses are below 0, but for next to nothing."""
        below = sum(count * pilot.square_below_zero for pilot, (_, count) in zip(self.pilots, self.parts, strict=True))
        cap = epsilon + CAP_DEVIATIONS * sqrt(below)
        return Composition(self.parts, self.log_tail, cap) if any(cap < pilot.loss[-1]
                                                                  for pilot in self.pilots) else self

    @cached_property
    def log_infinite(self) -> float:
        """log of the probability of an infinite loss, of the pairs themselves."""
        return log_any([(pair.log_infinite, count) for pair, count in self.parts])

    @cached_property
    def log_truncated(self) -> float:
        """The same with what the pilot laws truncate."""
        return log_any([(pilot.log_infinite, count) for pilot, (_, count) in zip(self.pilots, self.parts, strict=True)])

    @cached_property
    def largest(self) -> float:
        """The largest sum of losses that are not truncated."""
        return sum(count * float(pilot.loss[-1]) for pilot, (_, count) in zip(self.pilots, self.parts, strict=True))

    @cached_property
    def tilts(self) -> Array:
        """The tilts that are tried: smaller ones where losses are large."""
        return TILTS / max(1.0, self.largest / max(1, sum(count for _, count in self.parts)))

    @cached_property
    def log_moments(self) -> Array:
        each = [count * pilot.log_moments(self.tilts) for pilot,
                (_, count) in zip(self.pilots, self.parts, strict=True)]
        found: Array = np.sum(each, axis=0)
        return found

    def log_moment(self, tilt: float) -> float:
        return sum(count * pilot.log_moment(tilt) for pilot, (_, count) in zip(self.pilots, self.parts, strict=True))

    def mean_and_variance(self, tilt: float) -> tuple[float, float]:
        """Of the sum of all losses under the tilted law."""
        each = [(count, *pilot.mean_and_variance(tilt)) for pilot,
                (_, count) in zip(self.pilots, self.parts, strict=True)]
        return sum(count * mean for count, mean, _ in each), sum(count * variance for count, _, variance in each)

    @property
    def rounding(self) -> float:
        """Of the log of a moment: that of each use, of numbers next to 1, is off by a few units in the last place of
        1."""
        return 4 * ULP * sum(count for _, count in self.parts)

    def chernoff_log_delta(self, tilt: float, epsilon: float) -> float:
        """log δ at ε is at most this: K(λ) − λε + log max_x e^{−λx}(1 − e^{−x}), and what is infinite."""
        moment = self.log_moment(tilt) + self.rounding
        return min(0.0, log_add(moment + ROUNDING * abs(moment) - tilt * epsilon + log_peak(tilt), self.log_truncated))

    def chernoff_epsilon(self, tilt: float, log_delta: float) -> float:
        """ε at δ is at most this; inf where more than δ is infinite."""
        if self.log_truncated >= log_delta:
            return inf
        moment, left = self.log_moment(tilt) + self.rounding, log_delta + log1p(-exp(self.log_truncated - log_delta))
        return max(0.0, (moment + ROUNDING * abs(moment) + log_peak(tilt) - left) / tilt)

    def best_tilt(self, epsilon: float | None, log_delta: float | None) -> float:
        """The tilt of about the least Chernoff bound for a question: by a scan, then by golden sections."""

        def bound(tilt: float, moment: float) -> float:
            if epsilon is None:
                return (moment + log_peak(tilt) - (log_delta or 0.0)) / tilt
            return moment - tilt * epsilon + log_peak(tilt)

        values = np.array([bound(x, k) for x, k in zip(self.tilts.tolist(), self.log_moments.tolist(), strict=True)])
        best = int(np.argmin(values))
        if epsilon is None:
            best = int(np.argmax(values <= values[best] + FLAT * abs(values[best])))
        low, high = log(self.tilts[max(best - 1, 0)]), log(self.tilts[min(best + 1, len(TILTS) - 1)])
        for _ in range(8):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            if bound(exp(a), self.log_moment(exp(a))) <= bound(exp(b), self.log_moment(exp(b))):
                high = b
            else:
                low = a
        return exp((low + high) / 2)

    def tilt_at(self, epsilon: float, steepest: float = inf) -> tuple[float, float]:
        """The tilt for an ε, and about how steeply log δ falls there."""
        tilt = min(self.best_tilt(epsilon, None), steepest)
        deviation = sqrt(smooth_variance(self.mean_and_variance(tilt)[1], tilt))
        tilt = max(tilt, SLIGHTEST / deviation)
        return tilt, tilt + 1 / deviation


def smooth_variance(variance: float, tilt: float) -> float:
    """That of a sum; where it hardly varies, what e^{−λx}(1 − e^{−x}) smooths δ by."""
    return max(variance, 0.5 / (tilt * (1 + tilt)))
