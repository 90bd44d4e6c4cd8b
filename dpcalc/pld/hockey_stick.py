"""The hockey-stick divergence δ at ε, and its inverse, of composed estimates.

    δ(ε) = E_P[(1 − e^{ε−ℓ})₊] = M e^{−λε} Σ_{ℓ_k > ε} w_k e^{−λ(ℓ_k − ε)} (1 − e^{ε−ℓ_k}) + P(ℓ = ∞)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import exp, expm1, inf, log, log1p, nextafter, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.root import boundary
from dpcalc.pld.multiscale import MultiscalePmf
from dpcalc.pld.pair import LARGEST_EXPONENT
from dpcalc.pld.pilot import ROUNDING, log_peak, rounding_margin
from dpcalc.pld.pmf import Pmf

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

EPSILON_TOLERANCE = 1e-9  # relative: how closely an ε is solved for, well below the precision of any bracket


@dataclass(frozen=True)
class UpperProfile:
    """The privacy profile of a pessimistic estimate. The log of the sum of all weights may be too small by
    `log_error`."""

    estimate: MultiscalePmf
    tilt: float
    log_infinite: float
    log_error: float

    @cached_property
    def error(self) -> float:
        """An upper bound on what truncated weights and the errors of transforms contribute to the sum, at any ε."""
        peak = exp(log_peak(self.tilt))
        return sum(x.truncated * peak + x.fft_error * kernel_norm(x, self.tilt) for x in self.estimate.levels)

    @cached_property
    def _losses(self) -> list[Array]:
        return [x.losses for x in self.estimate.levels]

    def sum_above(self, epsilon: float) -> float:
        """The sum over ℓ_k > ε."""
        total = 0.0
        for x, losses in zip(self.estimate.levels, self._losses, strict=True):
            begin = max(x.index_of(epsilon) - 1, 0)
            above = np.maximum(losses[begin:] - epsilon, 0.0)
            total -= float(np.add.reduce(x.weight[begin:] * np.exp(-self.tilt * above) * np.expm1(-above)))
        return total

    def log_delta(self, epsilon: float) -> float:
        """An upper bound on log δ."""
        total = self.error + self.sum_above(epsilon)
        if not total < inf:
            return 0.0
        log_finite = -inf
        if total > 0:
            log_finite = log(total) + self.estimate.log_scale - self.tilt * epsilon + self.log_error + ROUNDING
        return min(0.0, log_add(log_finite, self.log_infinite + rounding_margin(self.log_infinite)))

    def rounding(self, epsilon: float) -> float:
        """How much of the upper bound on log δ is an allowance for rounding errors and for truncated weights."""
        total = self.sum_above(epsilon) if epsilon < inf else 0.0
        return log1p(self.error / total) + self.log_error if total > 0 else inf


@dataclass(frozen=True)
class LowerProfile:
    """The privacy profile of an optimistic estimate. Every set of cells is a test, which shows δ >= P − e^ε Q = Σ
    e^{−λx} (w(1 − e^{−x}) + d e^{−x}), for weights w and their excess d over those of Q, at a loss of ε + x.

    `above` has the logs of the P- and the Q-mass of finite losses above all cells. The log of the sum of all weights
    may be too large by `log_error`, and log(P/Q) of cells by `log_ratio_error`."""

    estimate: MultiscalePmf
    tilt: float
    above: tuple[float, float]
    log_error: float
    log_ratio_error: float

    def log_delta(self, epsilon: float) -> float:
        """A lower bound on log δ."""
        total = sum(max(0.0, self._best_test(x, epsilon)) for x in self.estimate.levels)
        log_cells = -inf
        if total > 0:
            log_cells = log(total) + self.estimate.log_scale - self.tilt * epsilon - self.log_error - ROUNDING
        in_p, in_q = self.above
        log_share = in_q + epsilon - in_p + ROUNDING if in_p > -inf else 0.0
        return log_add(log_cells, in_p - ROUNDING + log(-expm1(log_share)) if log_share < 0 else -inf)

    def _best_test(self, x: Pmf, epsilon: float) -> float:
        """The largest sum of gains over all cells from some cell on, less an upper bound on its error."""
        begin = x.index_of(epsilon - min(2 * x.step, LARGEST_EXPONENT / (2 + 2 * self.tilt)))
        above = x.losses[begin:] - epsilon
        if not len(above) or x.excess is None:
            return 0.0
        excess = x.excess[begin:] - self.log_ratio_error * x.weight[begin:]
        gain = np.exp(-self.tilt * above) * (-x.weight[begin:] * np.expm1(-above) + excess * np.exp(-above))
        sums = np.cumsum(gain[::-1])
        best = int(sums.argmax())
        return float(sums[best]) - self._fft_error(x, float(above[len(above) - 1 - best]), best + 1)

    def _fft_error(self, x: Pmf, edge: float, cells: int) -> float:
        """An upper bound on the errors of transforms in the sum over `cells` cells from the loss ε + edge on."""
        largest, root_of_cells = exp(min(-(self.tilt + 1) * edge, LARGEST_EXPONENT)), sqrt(cells)
        geometric = min(1 / sqrt(2 * self.tilt * x.step) + 1, root_of_cells)  # ℓ2 norm of e^{−λx} on the cells
        if edge >= 0:  # the kernel is at most e^{−λx}
            norm = min(kernel_norm(x, self.tilt), exp(-self.tilt * edge) * geometric)
        else:
            norm = largest * min(kernel_norm(x, self.tilt) + abs(edge) * root_of_cells, root_of_cells)
        return norm * x.fft_error + largest * geometric * x.excess_fft_error


def kernel_norm(x: Pmf, tilt: float) -> float:
    """The ℓ2 norm of e^{−λx}(1 − e^{−x}), x >= 0, on an infinite grid, as truncated weights have errors too: its square
    is at most the integral and one more term."""
    a, peak = 2 * tilt, exp(log_peak(tilt))
    return sqrt(2 / (a * (a + 1) * (a + 2) * x.step) + peak * peak)


def smallest_epsilon(log_delta: Callable[[float], float], target: float, largest: float) -> float:
    """An ε in [0, largest] at which an upper profile is at most δ, close to the smallest; inf where there is none."""
    residual = cache(lambda epsilon: log_delta(epsilon) - target)
    if residual(0.0) <= 0:
        return 0.0
    return boundary(residual, largest, 0.0, EPSILON_TOLERANCE) if residual(largest) <= 0 else inf


def largest_epsilon(log_delta: Callable[[float], float], target: float, upper: float, step: float = 0.0) -> float:
    """An ε below `upper` at which a lower profile is above δ, close to the largest; 0 where none is found.

    The search goes down from the upper bound, first by `step`, as the lower profile shows nothing at an ε well below
    the losses that the tilt makes typical. """
    above_target = nextafter(target, inf)
    residual = cache(lambda epsilon: above_target - log_delta(epsilon))
    distance, last = max(step, EPSILON_TOLERANCE * upper), upper
    while distance < upper:
        if residual(upper - distance) <= 0:
            return boundary(residual, upper - distance, last, EPSILON_TOLERANCE)
        distance, last = 3 * distance, upper - distance
    return 0.0
