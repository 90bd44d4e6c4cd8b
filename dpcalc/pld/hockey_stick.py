"""δ at ε and ε at δ of composed laws.

    δ(ε) = E_P[(1 − e^{ε−ℓ})₊] = M e^{−λε} Σ_{ℓ_k > ε} w_k e^{−λ(ℓ_k − ε)} (1 − e^{ε−ℓ_k}) + P(ℓ = ∞)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, inf, log, log1p, sqrt

import numpy as np

from dpcalc.pld.multiscale import Law
from dpcalc.pld.pair import LARGEST_EXPONENT
from dpcalc.pld.pilot import ROUNDING, log_add, log_peak, margin
from dpcalc.pld.pmf import Pmf

READING = 2e-13  # relative: of a sum of ten thousand products with exponentials
SOLVED = 1e-9  # relative: how near to its safe side an ε is solved


@dataclass(frozen=True)
class Upper:
    """The profile of a pessimistic law. `slack` is what the log of the sum of all weights may be too small by."""

    law: Law
    tilt: float
    log_infinite: float
    slack: float

    @cached_property
    def error(self) -> float:
        """What cropped weights and the errors of transforms may make of the sum above, at any ε."""
        peak = exp(log_peak(self.tilt))
        return sum(x.cropped * peak + x.noise * kernel_norm_of(x, self.tilt) for x in self.law.levels)

    def sum_above(self, epsilon: float) -> float:
        total = 0.0
        for x in self.law.levels:
            losses = x.losses[max(x.index_of(epsilon) - 1, 0) :] - epsilon
            above = np.maximum(losses, 0.0)
            total += float((x.weight[len(x.weight) - len(above) :] * np.exp(-self.tilt * above)
                            * -np.expm1(-above)).sum())
        return total

    def log_delta(self, epsilon: float) -> float:
        total = self.error + self.sum_above(epsilon)
        if not total < inf:
            return 0.0
        finite = log(total) + self.law.log_scale - self.tilt * epsilon + self.slack + READING if total > 0 else -inf
        return min(0.0, log_add(finite, self.log_infinite + margin(self.log_infinite)))

    def rounding(self, epsilon: float) -> float:
        """How much of log δ errors of rounding may be."""
        found = self.sum_above(epsilon) if epsilon < inf else 0.0
        return log1p(self.error / found) + self.slack if found > 0 else inf


@dataclass(frozen=True)
class Lower:
    """The profile of the numbers of cells: every set of them is a test, which shows δ >= P − e^ε Q = Σ e^{−λx} (w(1 −
    e^{−x}) + d e^{−x}), for weights w and their excess d over those of Q, at a loss of ε + x.

    `slack` is what the log of the sum of all weights may be too large by, `slack_of_losses` what log(P/Q) may be."""

    law: Law
    tilt: float
    above: tuple[float, float]
    slack: float
    slack_of_losses: float

    def log_delta(self, epsilon: float) -> float:
        total = sum(max(0.0, self._best_test(x, epsilon)) for x in self.law.levels)
        finite = log(total) + self.law.log_scale - self.tilt * epsilon - self.slack - READING if total > 0 else -inf
        in_p, in_q = self.above
        share = in_q + epsilon - in_p + ROUNDING if in_p > -inf else 0.0
        return log_add(finite, in_p - ROUNDING + log(-expm1(share)) if share < 0 else -inf)

    def _best_test(self, x: Pmf, epsilon: float) -> float:
        """Of all sets of cells from some number on, what the best one shows, less the most that errors may have
        added."""
        begin = x.index_of(epsilon - min(2 * x.step, LARGEST_EXPONENT / (2 + 2 * self.tilt)))
        above = x.losses[begin:] - epsilon
        if not len(above) or x.excess is None:
            return 0.0
        excess = x.excess[begin:] - self.slack_of_losses * x.weight[begin:]
        gain = np.exp(-self.tilt * above) * (-x.weight[begin:] * np.expm1(-above) + excess * np.exp(-above))
        sums = np.cumsum(gain[::-1])
        best = int(sums.argmax())
        edge = float(above[len(above) - 1 - best])
        decay, some = exp(min(-(self.tilt + 1) * edge, LARGEST_EXPONENT)), sqrt(best + 1)
        if edge >= 0:  # the kernel is at most e^{−λx}
            kernel_norm = min(kernel_norm_of(x, self.tilt), exp(-self.tilt * edge)
                              * min(1 / sqrt(2 * self.tilt * x.step) + 1, some))
        else:
            kernel_norm = decay * min(kernel_norm_of(x, self.tilt) + abs(edge) * some, some)
        return float(sums[best]) - kernel_norm * x.noise - decay * min(1 / sqrt(2 * self.tilt * x.step) + 1,
                                                                       some) * x.excess_noise


def kernel_norm_of(x: Pmf, tilt: float) -> float:
    """ℓ2 norm of e^{−λx}(1 − e^{−x}), x >= 0, on an endless grid, as errors of transforms are also where weights were
    cut off: its square is at most the integral and one more term."""
    a, peak = 2 * tilt, exp(log_peak(tilt))
    return sqrt(2 / (a * (a + 1) * (a + 2) * x.step) + peak * peak)


def least_epsilon(log_delta: Callable[[float], float], target: float, most: float) -> float:
    """An ε in [0, most] where an upper profile is at most δ, next to the least one; inf where there is none."""
    if log_delta(0.0) <= target:
        return 0.0
    return _bracket(log_delta, target, 0.0, most)[1] if log_delta(most) <= target else inf


def largest_epsilon(log_delta: Callable[[float], float], target: float, upper: float) -> float:
    """An ε below `upper` where a lower profile is above δ, next to the largest one; 0 where none is found. The search
    goes downwards from the upper answer, as far below what the tilt makes typical errors are all that is left."""
    gap, last = SOLVED * upper, upper
    while gap < upper:
        if log_delta(upper - gap) > target:
            return _bracket(log_delta, target, upper - gap, last)[0]
        gap, last = 3 * gap, upper - gap
    return 0.0


def _bracket(log_delta: Callable[[float], float], target: float, low: float, high: float) -> tuple[float, float]:
    """Nearer ends with log δ above the target at the first one and not at the second one: log δ is nearly linear in
    ε."""
    at_low, at_high = log_delta(low) - target, log_delta(high) - target
    for k in range(200):
        if high - low <= SOLVED * high:
            break
        middle = (low + high) / 2
        if k % 3 and at_high > -inf:
            middle = low + min(max(at_low / (at_low - at_high), 1e-3), 1 - 1e-3) * (high - low)
        found = log_delta(middle) - target
        low, high, at_low, at_high = (middle, high, found, at_high) if found > 0 else (low, middle, at_low, found)
    return low, high
