"""The pair that dominates one epoch of shuffled batches, every step released.

Where r = wb >= 1 of the n records are left out of the t batches of b, the profile is at most E(w(1 − γ) + ΣD_j)₊/(t +
w) at γ = e^ε, for t independent copies D_j of D* (swapped_record.py), in both directions. Where all records are used it
is the bound of shuffled_used.py. The proofs are in dpcalc/bounds/sampling/shuffle_profile.py and
shuffle_profile_used.py.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, inf, log, sqrt
from typing import TYPE_CHECKING

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.rounding import ratio_down, ratio_up, up
from dpcalc.pld.pair import SMALLEST_NOISE, Gaussian
from dpcalc.pld.positive_sums import Question, mean_of_positive_part, mean_of_sum
from dpcalc.pld.profile_points import pair_of_directions
from dpcalc.pld.swapped_record import REPLACED, WITH, WITHOUT, Mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpcalc.pld.pair import Pair

LARGEST_NOISE = 1e10  # losses of a step with more noise are below 1e-9, and rounding errors nearly as large
LARGEST_EXPONENT = 300.0  # of values of D*, so that their products with masses are normal doubles
ROUNDING = 1e-8  # relative, for each batch: more than the errors of masses, of 1e-10, may change δ by
LIGHT = 1e-10  # relative, added to δ: more than the rounding errors of constants and of D*
SMALLEST = 1e-300  # of a mean: smaller ones are rounded up, so that they have a logarithm
GAPS = 2.0  # between the ε of a profile: chords change ε by less than 1e-3 of it
GAPS_USED = 4.0  # where each δ takes a tenth of a second: chords change ε by 4e-3 of it
UNIT = 2.0**-53


@lru_cache(maxsize=64)
def left_out(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, tail: float) -> Pair:
    """The pair of an epoch that leaves out `rest` records. About 10·`tail` of its P-mass is at an infinite loss."""
    w, last = ratio_down((float(rest),), (float(batch_size),)), dict[int, float]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        d, scale = mesh.difference(epsilon, direction), (steps + w) * exp(-epsilon)
        question = Question(steps, w * expm1(-epsilon), precision, scale * expected,
                            largest_step=1.02 * last.get(direction, inf))
        mean, last[direction] = mean_of_positive_part(*d, question)
        return log(max(mean, SMALLEST) / scale)

    return _pair(sigma, steps, replaced, tail, GAPS, log_delta)


@lru_cache(maxsize=64)
def all_used(sigma: float, n: int, batch_size: int, replaced: bool, radius: float, tail: float) -> Pair:
    """The pair of an epoch that uses all records, whose vectors are in a ball of this radius."""
    from dpcalc.pld.shuffled_used import Profile

    if n < 2 * batch_size:  # of two batches, the second one being smaller
        return without_amplification(sigma, replaced)
    profiles = dict[int, Profile]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        profile = profiles.setdefault(direction, Profile(mesh, direction, n, batch_size, radius))
        return profile.log_delta(epsilon, precision, expected) + ROUNDING * (n // batch_size)

    return _pair(sigma, n // batch_size, replaced, tail, GAPS_USED, log_delta)


@lru_cache(maxsize=64)
def one_order(sigma: float, steps: int, batch_size: int, rest: int, replaced: bool, epochs: int, tail: float) -> Pair:
    """The pair of all epochs together, which have the same order and leave out the same `rest` records."""
    from dpcalc.pld.one_order import OneOrder

    w, found = ratio_down((float(rest),), (float(batch_size),)), dict[str, OneOrder]()

    def log_delta(mesh: Mesh, direction: int, epsilon: float, precision: float, expected: float) -> float:
        law = found.setdefault("law", OneOrder(mesh, replaced))
        scale = (steps + w) * exp(-epsilon)
        mean, _ = mean_of_sum(law.summand(epsilon, direction),
                              Question(steps, w * expm1(-epsilon), precision, scale * expected))
        return log(max(mean, SMALLEST) / scale) + ROUNDING * steps

    return _pair(sigma / sqrt(epochs) * (1 - 4 * UNIT), steps, replaced, tail, GAPS, log_delta)


def without_amplification(sigma: float, replaced: bool) -> Gaussian:
    """One step on all records."""
    return Gaussian(up(ratio_up((2.0 if replaced else 1.0,), (sigma,)), 4 * UNIT))


def _pair(sigma: float, steps: int, replaced: bool, tail: float, gaps: float,
          log_delta: Callable[[Mesh, int, float, float, float], float]) -> Pair:
    """The pair of upper bounds of the profile, which is at most that of one step on all records, too."""
    if not SMALLEST_NOISE <= sigma <= LARGEST_NOISE:
        raise OutOfScope("out-of-range", f"shuffled batches are computed for noise multipliers from {SMALLEST_NOISE:g} "
                                         f"to {LARGEST_NOISE:g}", "--noise-multiplier")
    plain = without_amplification(sigma, replaced)
    mesh = Mesh(ratio_up((1.0,), (sigma,)), tail / 100)
    if mesh.largest_exponent > LARGEST_EXPONENT:
        return plain

    def at_most(direction: int, epsilon: float, precision: float, expected: float) -> float:
        found = log_delta(mesh, direction, epsilon, precision, expected)
        return min(found + LIGHT, log_theta(epsilon, plain.mu) * (1 - 3e-13) + LIGHT, 0.0)

    guess = exp(log_theta(0.0, plain.mu)) / sqrt(steps)
    return pair_of_directions(at_most, (REPLACED,) if replaced else (WITH, WITHOUT), guess, tail,
                              mesh.last_epsilon(plain.mu), gaps)
