"""Upper bounds on the privacy profiles of several numbers of uses of one pair, which are multiples of a unit.

All of them share a tilt and grids: the pair is discretized and composed once for the unit, and the larger multiples are
sums of two smaller ones. Any tilt and any grids are valid, so that every number is an upper bound. """

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import exp, expm1, inf

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.bracket import upper_profile
from dpcalc.pld.discretize import pessimistic, rounding_of_one_use
from dpcalc.pld.multiscale import MultiscalePmf, TooLarge, self_compose, sum_of_two
from dpcalc.pld.one_direction import PRECISION, Question, composition_of
from dpcalc.pld.pair import ROUNDING, Pair
from dpcalc.pld.pilot import Composition, log_peak, log_probability_of_any, rounding_margin
from dpcalc.pld.pmf import Pmf
from dpcalc.pld.profiles_on_grids import UpperProfile, grids_of_parts

LogDelta = Callable[[Array], Array]

# The tilt suits the largest multiple at this part of the largest ε. The grids of a tilt serve a δ down to about 1e-10
# of what this tilt alone proves: of the largest multiple at all ε, of a seventh of it where δ > 1e-12. A smaller δ is
# bounded by moments.
_TILT_AT = 0.5


def upper_profiles(pair: Pair, unit: int, multiples: Sequence[int], largest: float) -> list[LogDelta]:
    """For each of the multiples m, which rise, the function of an array of ε that gives upper bounds on log δ of m·unit
    uses of the pair, for 0 <= ε <= `largest`. It is of one direction; symmetric pairs have no other."""
    if isinstance(pair, Atoms):  # all sums of few losses may be listed
        return [_of_each(upper_profile([(pair, m * unit)], largest)) for m in multiples]
    most = multiples[-1] * unit
    c = composition_of(Question([(pair, most)], largest, None, PRECISION, False)).capped_for(largest)
    tilt, _ = c.tilt_at(largest * _TILT_AT)
    by_moments = [_by_moments(c.with_count(m * unit), tilt) for m in multiples]
    try:
        return list(map(_smaller, by_moments, map(_by_grids, _on_grids(c, unit, multiples, tilt))))
    except TooLarge:
        return by_moments


def _of_each(log_delta: Callable[[float], float]) -> LogDelta:
    return lambda epsilons: np.array([log_delta(epsilon) for epsilon in epsilons.tolist()])


def _smaller(f: LogDelta, g: LogDelta) -> LogDelta:
    return lambda epsilons: np.minimum(f(epsilons), g(epsilons))


def _by_moments(c: Composition, tilt: float) -> LogDelta:
    """The bound by moments, at this and at many other tilts; above all finite sums, the P-mass of infinite losses."""
    infinite = c.log_truncated + rounding_margin(c.log_truncated)
    largest_sum = c.largest_sum * (1 + ROUNDING) + ROUNDING
    tilts = np.append(c.tilts, tilt)
    moments = c.log_moments(tilts)
    at_zero = moments + 4 * ULP * c.uses + ROUNDING * np.abs(moments) + [log_peak(x) for x in tilts.tolist()]

    def log_delta(epsilons: Array) -> Array:
        finite = (at_zero - np.outer(epsilons, tilts)).min(axis=1)
        found = np.logaddexp(np.where(epsilons >= largest_sum, -inf, finite), infinite)
        return np.asarray(np.minimum(found, 0.0))

    return log_delta


def _by_grids(x: UpperProfile) -> LogDelta:
    infinite = x.log_infinite + rounding_margin(x.log_infinite)
    sums = [_sums_above(level, x.tilt) for level in x.estimate.levels]

    def log_delta(epsilons: Array) -> Array:
        total = x.error + sum(f(epsilons) for f in sums)
        with np.errstate(divide="ignore"):
            finite = np.log(total) + (x.estimate.log_scale + x.log_error + ROUNDING) - x.tilt * epsilons
        return np.minimum(np.logaddexp(np.where(total < inf, finite, 0.0), infinite), 0.0)

    return log_delta


def _sums_above(x: Pmf, tilt: float) -> Callable[[Array], Array]:
    """The sum of w_k e^{−λ(ℓ_k − ε)} (1 − e^{ε−ℓ_k}) over ℓ_k > ε, as a function of an array of ε.

    With d = ℓ_i − ε from the first of these losses it is e^{−λd}(C_i + (1 − e^{−d})B_i): B_i = Σ w_{i+j} e^{−(λ+1)jh},
    C_i = Σ w_{i+j} e^{−λjh}(1 − e^{−jh}), and C_i = (1 − e^{−h})e^{−λh}·A_{i+1} + e^{−(λ+1)h}·C_{i+1} with A_i = Σ
    w_{i+j} e^{−λjh}. All terms are positive. """
    losses, low, high = x.losses, tilt * x.step, (tilt + 1) * x.step
    b = np.append(_sums_from_each(x.weight, high), 0.0)
    a = np.append(_sums_from_each(x.weight, low)[1:], 0.0)
    c = np.append(_sums_from_each(-expm1(-x.step) * exp(-low) * a, high), 0.0)

    def sums(epsilons: Array) -> Array:
        i = np.searchsorted(losses, epsilons)
        d = np.where(i < len(losses), losses[np.minimum(i, len(losses) - 1)] - epsilons, 0.0)
        found: Array = np.exp(-tilt * d) * (c[i] - np.expm1(-d) * b[i])
        return found

    return sums


def _sums_from_each(terms: Array, fall: float) -> Array:
    """Σ_j terms_{i+j} e^{−j·fall} for every i, by doubling the number of terms."""
    total, k = terms.copy(), 1
    while k < len(terms):
        total[:-k] += exp(-k * fall) * total[k:]
        k *= 2
    return total


def _on_grids(c: Composition, unit: int, multiples: Sequence[int], tilt: float) -> list[UpperProfile]:
    """The profiles by the grids of the largest multiple. Of the change of its log δ that discretization may cause, half
    is for one use, a quarter for units, and a quarter for sums of units. Raises TooLarge."""
    (pair, _), most = c.parts[0], multiples[-1]
    (levels,), splitting = grids_of_parts(c, tilt, PRECISION)
    estimate, log_infinite = pessimistic(levels, tilt)
    splitting.budget = PRECISION / 4 / most
    one = self_compose(estimate, unit, splitting)
    splitting.budget = PRECISION / 4

    @cache
    def times(m: int) -> MultiscalePmf:
        return one if m == 1 else sum_of_two(times(m - m // 2), times(m // 2), splitting, most / m)

    of_one_use = rounding_of_one_use(pair, estimate, tilt)[0]

    def profile(m: int) -> UpperProfile:
        total, count = times(m), m * unit
        normalizing = 8 * ULP * (count + m * abs(one.log_scale) + abs(total.log_scale))
        infinite = log_probability_of_any([(log_add(log_infinite, pair.log_infinite), count)])
        return UpperProfile(total, tilt, infinite, count * of_one_use + normalizing + total.relative_error)

    return [profile(m) for m in multiples]
