"""A composition discretized with a given tilt and a given error budget: an upper and a lower privacy profile."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from typing import Any

from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import ULP
from dpcalc.pld import multiscale
from dpcalc.pld.discretize import Level, nested_levels, optimistic, pessimistic, power_of_two, rounding_of_one_use
from dpcalc.pld.hockey_stick import LowerProfile, UpperProfile
from dpcalc.pld.multiscale import Merging, Splitting, TooLarge, self_compose
from dpcalc.pld.pilot import Composition, log_probability_of_any, smooth_variance


@dataclass(frozen=True)
class Profiles:
    """Both profiles (the lower one only on request, and if it fits in memory), the free choices that were made, and
    `work`, a measure of the time taken: the sum over all pairs of grid points times squarings."""

    upper: UpperProfile
    lower: LowerProfile | None
    witness: dict[str, Any]
    work: int


def compose_on_grids(c: Composition, tilt: float, budget: float, with_lower: bool) -> Profiles:
    """The profiles of a composition. `budget` is the change of log δ, from the lower to the upper profile, that
    discretization may cause: half of it is for one use of each pair, a quarter for the self-composition of the pairs,
    and a quarter for their composition with each other. Raises TooLarge."""
    counts, number = [count for _, count in c.parts], len(c.parts)
    variance = smooth_variance(c.mean_and_variance(tilt)[1], tilt)
    curvature = tilt * (1 + tilt) + 1 / variance  # twice the change of log δ per unit of variance of the sum
    levels = _levels_of_parts(c, tilt, budget, curvature)
    finest_last = max(each[-1].step for each in levels)
    coarsest = max(power_of_two(sqrt(4 * budget / (curvature * number))), finest_last)
    splitting = Splitting(tilt, curvature, coarsest)
    estimates, log_infinite = zip(*(pessimistic(each, tilt) for each in levels), strict=True)
    sums = []
    for estimate, count in zip(estimates, counts, strict=True):
        splitting.budget += budget / 4 / number
        sums.append(self_compose(estimate, count, splitting))
    splitting.budget += budget / 4
    total = multiscale.compose(sums, splitting)

    errors = [rounding_of_one_use(pair, x, tilt) for x, (pair, _) in zip(estimates, c.parts, strict=True)]
    normalizing = 8 * ULP * (c.uses + sum(abs(x.log_scale) for x in sums) + abs(total.log_scale))
    log_error = sum(n * error for n, (error, _) in zip(counts, errors, strict=True)) + normalizing
    log_ratio_error = sum(n * error for n, (_, error) in zip(counts, errors, strict=True))
    infinite = log_probability_of_any([(log_add(x, pair.log_infinite), count)
                                       for x, (pair, count) in zip(log_infinite, c.parts, strict=True)])
    upper = UpperProfile(total, tilt, infinite, log_error + total.relative_error)
    witness = {"tilt": tilt, "grids": [[[x.step, x.first, x.last] for x in each] for each in levels],
               "windows": [list(x) for x in splitting.choices.windows], "steps": splitting.choices.steps}
    lower = None
    if with_lower:
        with suppress(TooLarge):  # the upper profile is an answer without it
            lower = _lower_profile(c, Merging(tilt, splitting.choices), levels, log_error, log_ratio_error)
    work = sum(count.bit_length() * (x.last - x.first)
               for count, each in zip(counts, levels, strict=True) for x in each)
    return Profiles(upper, lower, witness, work)


def _levels_of_parts(c: Composition, tilt: float, budget: float, curvature: float) -> list[list[Level]]:
    """The grids of one use of each pair."""
    number = len(c.parts)
    levels = []
    for (pair, count), pilot in zip(c.parts, c.pilots, strict=True):
        weight = count * curvature / (tilt * (1 + tilt))  # change of log δ per relative change of the moment of one use
        low = pilot.lowest_loss(tilt, budget / 1000 / number / weight)
        # A coarser grid would be too coarse for rare large losses, which move to it at each squaring.
        coarsest = sqrt(budget / (curvature * number * count.bit_length()))
        levels.append(nested_levels(pair, tilt, low, float(pilot.loss[-1]), pilot.log_moment(tilt), weight,
                                    budget / 2 / number, coarsest))
    return levels


def _lower_profile(c: Composition, merging: Merging, levels: list[list[Level]], log_error: float,
                   log_ratio_error: float) -> LowerProfile:
    """The lower profile by the grids and the choices of the upper one, which also bounds its rounding errors."""
    counts = [count for _, count in c.parts]
    estimates, above = zip(*(optimistic(each, merging.tilt) for each in levels), strict=True)
    total = multiscale.compose([self_compose(estimate, count, merging)
                                for estimate, count in zip(estimates, counts, strict=True)], merging)
    in_p = log_probability_of_any([(log_add(p, pair.log_infinite), count)
                                   for (p, _), (pair, count) in zip(above, c.parts, strict=True)])
    in_q = log_probability_of_any([(q, count) for (_, q), count in zip(above, counts, strict=True)])
    return LowerProfile(total, merging.tilt, (in_p, in_q), log_error + total.relative_error, log_ratio_error)
