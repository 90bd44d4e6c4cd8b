"""A composition discretized with a given tilt and a given error budget: an upper and a lower privacy profile, and the
inverse of both.

    δ(ε) = E_P[(1 − e^{ε−ℓ})₊] = M e^{−λε} Σ_{ℓ_k > ε} w_k e^{−λ(ℓ_k − ε)} (1 − e^{ε−ℓ_k}) + P(ℓ = ∞)
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from math import exp, expm1, inf, log, log1p, nextafter, sqrt
from typing import Any

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log_add
from dpcalc.numerics.root import boundary
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.discretize import Level, nested_levels, optimistic, pessimistic, power_of_two, rounding_of_one_use
from dpcalc.pld.multiscale import Merging, MultiscalePmf, Splitting, TooLarge, self_compose, sum_of_two
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.pilot import Composition, log_peak, log_probability_of_any, rounding_margin, smooth_variance
from dpcalc.pld.pmf import Pmf

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


# --- one composition --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Profiles:
    """Both profiles (the lower one only on request, and if it fits in memory), the free choices that were made, and
    `work`, a measure of the time taken: the sum over all pairs of grid points times squarings."""

    upper: UpperProfile
    lower: LowerProfile | None
    witness: dict[str, Any]
    work: int


def grids_of_parts(c: Composition, tilt: float, budget: float) -> tuple[list[list[Level]], Splitting]:
    """The grids of one use of each pair, whose change of log δ is half of the budget, and how sums move to coarser
    ones."""
    number = len(c.parts)
    variance = smooth_variance(c.mean_and_variance(tilt)[1], tilt)
    curvature = tilt * (1 + tilt) + 1 / variance  # twice the change of log δ per unit of variance of the sum
    levels = []
    for (pair, count), pilot in zip(c.parts, c.pilots, strict=True):
        weight = count * curvature / (tilt * (1 + tilt))  # change of log δ per relative change of the moment of one use
        low = pilot.lowest_loss(tilt, budget / 1000 / number / weight)
        # A coarser grid would be too coarse for rare large losses, which move to it at each squaring.
        coarsest = sqrt(budget / (curvature * number * count.bit_length()))
        levels.append(nested_levels(pair, tilt, low, float(pilot.loss[-1]), pilot.log_moment(tilt), weight,
                                    budget / 2 / number, coarsest))
    coarsest = max(power_of_two(sqrt(4 * budget / (curvature * number))), *(each[-1].step for each in levels))
    return levels, Splitting(tilt, curvature, coarsest)


def compose_on_grids(c: Composition, tilt: float, budget: float, with_lower: bool) -> Profiles:
    """The profiles of a composition. `budget` is the change of log δ, from the lower to the upper profile, that
    discretization may cause: half of it is for one use of each pair, a quarter for the self-composition of the pairs,
    and a quarter for their composition with each other. A single pair has 3/8 for its self-composition: with 1/2, more
    brackets are too wide at first. Raises TooLarge."""
    counts, number = [count for _, count in c.parts], len(c.parts)
    levels, splitting = grids_of_parts(c, tilt, budget)
    estimates, log_infinite = zip(*(pessimistic(each, tilt) for each in levels), strict=True)
    sums = []
    for estimate, count in zip(estimates, counts, strict=True):
        splitting.budget += budget * (0.375 if number == 1 else 0.25 / number)
        sums.append(self_compose(estimate, count, splitting))
    splitting.budget += budget / 4
    total = _sum_of_all(sums, splitting)
    errors = [rounding_of_one_use(pair, x, tilt) for x, (pair, _) in zip(estimates, c.parts, strict=True)]
    log_error, log_ratio_error = (sum(n * each[k] for n, each in zip(counts, errors, strict=True)) for k in (0, 1))
    log_error += 8 * ULP * (c.uses + sum(abs(x.log_scale) for x in sums) + abs(total.log_scale))  # of normalizing
    infinite = log_probability_of_any([(log_add(x, pair.log_infinite), count)
                                       for x, (pair, count) in zip(log_infinite, c.parts, strict=True)])
    upper = UpperProfile(total, tilt, infinite, log_error + total.relative_error)
    witness = {"tilt": tilt, "grids": [[[x.step, x.first, x.last] for x in each] for each in levels],
               "windows": [list(x) for x in splitting.windows], "steps": splitting.steps,
               "digits": splitting.digits}
    lower = None
    if with_lower:
        with suppress(TooLarge):  # the upper profile is an answer without it
            merging = Merging(tilt, iter(splitting.windows), iter(splitting.steps), iter(splitting.digits))
            lower = _lower_profile(c, merging, levels, log_error, log_ratio_error)
    work = sum(count.bit_length() * (x.last - x.first)
               for count, each in zip(counts, levels, strict=True) for x in each)
    return Profiles(upper, lower, witness, work)


def _sum_of_all(sums: Sequence[MultiscalePmf], grid: Splitting | Merging) -> MultiscalePmf:
    """The distribution of the sum of different losses, those on finer grids being added first, two at a time."""
    rest = sorted(sums, key=lambda x: x.steps)
    while len(rest) > 1:
        larger, remaining = list[MultiscalePmf](), len(rest) / 2
        for a, b in zip(rest[::2], rest[1::2], strict=False):
            larger.append(sum_of_two(a, b, grid, remaining))
        rest = sorted(larger + rest[len(rest) // 2 * 2 :], key=lambda x: x.steps)
    return rest[0]


def _lower_profile(c: Composition, merging: Merging, levels: list[list[Level]], log_error: float,
                   log_ratio_error: float) -> LowerProfile:
    """The lower profile by the grids and the choices of the upper one, which also bounds its rounding errors."""
    counts = [count for _, count in c.parts]
    estimates, above = zip(*(optimistic(each, merging.tilt) for each in levels), strict=True)
    sums = [self_compose(estimate, count, merging) for estimate, count in zip(estimates, counts, strict=True)]
    total = _sum_of_all(sums, merging)
    in_p = log_probability_of_any([(log_add(p, pair.log_infinite), count)
                                   for (p, _), (pair, count) in zip(above, c.parts, strict=True)])
    in_q = log_probability_of_any([(q, count) for (_, q), count in zip(above, counts, strict=True)])
    return LowerProfile(total, merging.tilt, (in_p, in_q), log_error + total.relative_error, log_ratio_error)
