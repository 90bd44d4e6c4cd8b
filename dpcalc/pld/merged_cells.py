"""Two mixtures of normal distributions with variance 1, in finitely many cells of their outcomes: a pair that is
dominated by that of the mixtures.

Looking only at the cell that an outcome is in cannot raise a hockey-stick divergence, wherever the cells are cut. A
test A has P(A) − e^ε Q(A) = Σ P(cell)(1 − e^{ε−ℓ}), so masses and losses ℓ are rounded down. What both mixtures have in
common is given by itself, for then small losses keep their relative accuracy: ℓ = log(1 + (p − q)/(c + q)). """

from math import inf
from typing import NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import ULP
from dpcalc.numerics.tails_array import log_tails
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.pair import log_difference

Bounds = tuple[Array, Array]  # a lower and an upper bound
SUM_ERROR = 2e-15  # relative to 1 and to a log: of a few operations with logs


class Mixture(NamedTuple):
    """A part of a mixture: the logs of weights with bounds on their errors, the means, and log of the weight of further
    components, whose means may be any."""

    log_weights: Array
    errors: Array
    means: Array
    log_rest: float = -inf


def pair_of_cells(cuts: Array, common: Mixture, p: Mixture, q: Mixture) -> Atoms:
    """The pair of common + p and common + q in the cells between the cuts and outside of them, with its reverse."""
    c, in_p, in_q = (log_masses(cuts, x) for x in (common, p, q))
    return Atoms(*_atoms(c, in_p, in_q), attained=True, reverse=Atoms(*_atoms(c, in_q, in_p), attained=True))


def cuts_with_mass(cuts: Array, *mixtures: tuple[Mixture, ...]) -> Array:
    """The cuts that have enough mass on both sides under one of the mixtures, each of which is the sum of its parts."""
    is_kept = np.zeros(len(cuts), bool)
    for parts in mixtures:
        logs, means = (np.concatenate(x)[:, None] for x in zip(*((y.log_weights, y.means) for y in parts), strict=True))
        below, above = (np.logaddexp.reduce(logs + tail) for tail in log_tails(cuts - means))
        is_kept |= (below > -LARGEST_EXPONENT) & (above > -LARGEST_EXPONENT)
    return cuts[is_kept]


def _atoms(common: Bounds, p: Bounds, q: Bounds) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The losses of common + p against common + q and the logs of the masses under the former, both rounded down, where
    masses are positive."""
    (c_low, c_high), log_p, log_q = common, p[0], q[1]
    mass, least, most = np.logaddexp(c_low, log_p), np.logaddexp(c_low, log_q), np.logaddexp(c_high, log_q)
    with np.errstate(invalid="ignore"):
        base = np.where(log_p > log_q, most, least)  # c + q, rounded such that (p − q)/(c + q) is rounded down
        gain, fall = (np.exp(np.minimum(x - base, LARGEST_EXPONENT)) for x in (log_p, log_q))
        sizes = sum(np.where(x > -inf, np.abs(x), 0.0) for x in (base, log_p, log_q))
        excess = gain - fall - SUM_ERROR * (2 + sizes) * (gain + fall)
        direct = mass - most - SUM_ERROR * (1 + np.abs(mass) + np.abs(most))
        loss = np.where(np.abs(excess) < 0.5, np.log1p(np.clip(excess, -0.5, 0.5)), direct)
    mass = mass - SUM_ERROR * (1 + np.abs(mass))
    is_positive = (mass > -inf) & (loss > -inf)
    return tuple(loss[is_positive].tolist()), tuple(mass[is_positive].tolist())


def log_masses(cuts: Array, x: Mixture) -> Bounds:
    """The logs of the masses of all cells."""
    low, high = np.full(len(cuts) + 1, -inf), np.full(len(cuts) + 1, x.log_rest)
    for log_weight, error, mean in zip(x.log_weights, x.errors, x.means, strict=True):
        rounding = 2 * ULP * (np.abs(cuts) + mean)  # of a mean kμ, and of its difference from a cut
        below, above = log_differences(log_phi(cuts - mean, rounding))
        low, high = np.logaddexp(low, below + (log_weight - error)), np.logaddexp(high, above + (log_weight + error))
    low_error, high_error = (len(x.means) * SUM_ERROR * (1 + np.minimum(np.abs(y), 1e300)) for y in (low, high))
    return low - low_error, high + high_error


def log_differences(log_cdf: Bounds) -> Bounds:
    """The logs of the masses between the cuts, and outside of them."""
    (low, high), before = log_cdf, np.array([-inf])
    low_a, high_a = np.append(before, low), np.append(before, high)
    low_b, high_b = np.append(low, 0.0), np.append(high, 0.0)
    return log_difference(low_b, high_a), log_difference(high_b, low_a)


def log_phi(x: Array, argument_error: Array | float = 0.0) -> Bounds:
    """log Φ(x), at most 0. Near 0 its error, of at most 5e-15 + 1e-15x², is relative to the upper tail. An error of x
    is multiplied by at most |x| + 1, the slope of the log of the smaller tail."""
    below, above = log_tails(x)
    error = 5e-15 + 1e-15 * x * x + (np.abs(x) + 1) * argument_error
    error = error * np.exp(np.minimum(0.0, above - below)) + 1e-300
    return below - error, np.minimum(below + error, 0.0)
