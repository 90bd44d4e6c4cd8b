"""Close upper bounds on ε of the first k parts of a composition, for every k.

Prefixes with similar moments share a tilt and grids: each of their parts is discretized once, and added to the sum of
those before it. Any tilt and any grids are valid, so that every number is an upper bound. """

from collections.abc import Iterator
from dataclasses import replace
from math import exp, inf, log1p

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.discretize import pessimistic, rounding_of_one_use
from dpcalc.pld.multiscale import MultiscalePmf, self_compose, sum_of_two
from dpcalc.pld.one_direction import PRECISION, Question, composition_of
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.pilot import Composition, Parts, log_peak, log_probability_of_any
from dpcalc.pld.profiles_on_grids import UpperProfile, grids_of_parts, smallest_epsilon

# By how much discretization may raise ε of the largest prefix that shares grids, relative; of others at most about 3
# times this. Half of it takes 1.2 times as long.
EXCESS = PRECISION / 4
MAX_EPSILON = 1e100  # an infinite one would make products with tilts undefined
SHARE_OF_MOMENTS = 0.9  # about ε over its bound by moments; a tilt for an ε that is 10 % off is nearly as good
MISMATCH = 2.0  # in log δ: how much a prefix may lose by the tilt that it shares, if bounded by moments


def epsilons(parts: Parts, log_delta: float) -> list[float]:
    """An upper bound on ε at δ of the first k parts, for k = 1, 2, …; ∞ where none is found that is close."""
    question = Question(parts, None, log_delta, PRECISION, False)
    found = _in_one_direction(question, np.zeros(len(parts)))
    if any(pair.reverse for pair, _ in parts):
        found = _in_one_direction(question.reversed, found)
    return [float(epsilon) for epsilon in found]


class _Moments:
    """Bounds on the first k parts by their moments, for every k, at several tilts."""

    def __init__(self, c: Composition, tilts: Array) -> None:
        counts = [count for _, count in c.parts]
        moments = np.cumsum([n * pilot.log_moments(tilts) for n, pilot in zip(counts, c.pilots, strict=True)], axis=0)
        rounding = 4 * ULP * (np.cumsum(counts)[:, None] + np.cumsum(np.abs(moments), axis=0))
        peaks = [log_peak(tilt) for tilt in tilts.tolist()]
        self.tilts, self.log_at_zero = tilts, moments + rounding + ROUNDING * np.abs(moments) + peaks

    def log_deltas(self, epsilons: Array) -> Array:
        """log δ at an ε of each of the first prefixes by the best tilt, without infinite losses."""
        found: Array = (self.log_at_zero[: len(epsilons)] - np.outer(epsilons, self.tilts)).min(axis=1)
        return found

    def epsilons(self, log_delta: float) -> Array:
        """ε at δ of each prefix by the best tilt, without infinite losses."""
        found: Array = ((self.log_at_zero - log_delta) / self.tilts).min(axis=1)
        return found.clip(0.0)


def _in_one_direction(question: Question, least: Array) -> Array:
    """An ε of at least `least` for every prefix, in one direction; ∞ where none is found."""
    found, log_delta = np.full(len(least), inf), question.log_delta or 0.0
    try:
        c = composition_of(question)
        between = np.sqrt(c.tilts[1:] * c.tilts[:-1])  # as the tilts of prefixes are not refined
        moments = _Moments(c, np.concatenate((c.tilts, between)))
        share = c.log_truncated - log_delta + ROUNDING  # log of the share of δ that infinite losses have at most
        log_finite = log_delta * (1 + ROUNDING) + log1p(-exp(share)) if share < 0 else -inf
        found[moments.log_deltas(np.minimum(least, MAX_EPSILON)) <= log_finite] = 0.0  # no more than `least`
        guesses = SHARE_OF_MOMENTS * moments.epsilons(log_delta)
        k = len(found)
        while k := int(np.nonzero(found[:k])[0].max(initial=-1)) + 1:
            k = _share_grids(replace(question, parts=question.parts[:k]), guesses[:k], moments, found)
    except (OutOfScope, ArithmeticError):  # grids do not fit into memory, or losses into doubles
        pass
    larger: Array = np.maximum(found, least)
    return larger


def _share_grids(question: Question, guesses: Array, moments: _Moments, found: Array) -> int:
    """Puts ε of the last of these prefixes, and of those before it with similar moments, into `found`. Returns the
    number of the other ones. Raises OutOfScope where grids do not fit into memory."""
    log_delta, number, largest = question.log_delta or 0.0, len(guesses), float(guesses[-1])
    c = composition_of(question).capped_for(largest)
    tilt, slope = c.tilt_at(largest)
    lost = _Moments(c, np.array([tilt])).log_deltas(guesses) - moments.log_deltas(guesses)
    begin = int(np.nonzero(lost[:-1] > MISMATCH)[0].max(initial=-1)) + 1
    for k, profile in enumerate(_profiles(c, tilt, min(EXCESS * largest * slope, 1.0))):
        if k >= begin and found[k] > 0:
            epsilon = smallest_epsilon(profile.log_delta, log_delta, float(guesses[k]) / SHARE_OF_MOMENTS)
            is_close = epsilon < inf and profile.rounding(epsilon) <= EXCESS * slope * epsilon
            found[k] = epsilon if is_close else inf
    return min(begin, number - 1)


def _profiles(c: Composition, tilt: float, budget: float) -> Iterator[UpperProfile]:
    """The profiles of the first, of the first two, … and of all parts, with these error budgets for all of them."""
    levels, splitting = grids_of_parts(c, tilt, budget)
    total: MultiscalePmf | None = None
    log_error, infinite, remaining = 0.0, list[tuple[float, int]](), len(levels)
    for each, (pair, count) in zip(levels, c.parts, strict=True):
        splitting.budget += budget / 2 / len(levels)
        estimate, log_infinite = pessimistic(each, tilt)
        one = self_compose(estimate, count, splitting)
        total = sum_of_two(total, one, splitting, remaining) if total else one
        normalizing = 8 * ULP * (count + abs(one.log_scale) + abs(total.log_scale))
        log_error += count * rounding_of_one_use(pair, estimate, tilt)[0] + normalizing
        infinite.append((log_add(log_infinite, pair.log_infinite), count))
        remaining -= 1
        yield UpperProfile(total, tilt, log_probability_of_any(infinite), log_error + total.relative_error)
