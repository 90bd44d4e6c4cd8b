"""The largest of the batch sums of a shuffled epoch, in finitely many slices: a pair that an epoch dominates.

The record is in one of T batches, chosen uniformly, or with probability ρ in none. The sums of the batches are Gaussian
with σ = z, and mean 0 where the record is not; its own batch has mean 2 under P, and 1 under Q. Their maximum M has

    Pr[M <= c | mean m] = Φ((c − m)/z)·Φ(c/z)^{T−1},  and  Φ(c/z)^T without the record.

What is computed from the sums can only lose information about the record, so the masses that P and Q give to slices of
M show a lower bound on the privacy loss, wherever the slices are cut. The first mass is rounded down and the second one
up, in both directions of the pair: then P(A) − e^ε Q(A) is too small, if anything, for every set A of slices. """

from __future__ import annotations

from math import log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.numerics.tails_array import log_tails
from dpcalc.pld.atoms import Atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Bounds = tuple[Array, Array]  # a lower and an upper bound

OWN_SUM = (2.0, 1.0)  # the mean of the record's batch under P, and under Q
CUTS = 2000  # evenly spaced: ε is within 3e-4 of that of finer slices; with half as many, within 1.2e-3
REACH = 38.0  # in units of z: beyond it, tails of the normal distribution are below the smallest normal double
SMALLEST_LOG_MASS = -700.0  # a cut with less than that on one side, under P and under Q, is left out
# (a, b, c): log Φ(x) has a relative error of at most a + bx², with that of x itself, and an absolute one of c
PHI_ERROR = (5e-15, 1e-15, 1e-300)
SUM_ERROR = 2e-15  # relative to 1 and to a log: of a few operations with logs


def cuts(noise_multiplier: float, batches: int) -> Array:
    """Where M is cut. Any choice is valid: these are even, and outer slices of negligible mass are merged."""
    z = noise_multiplier
    c = np.linspace(OWN_SUM[1] - REACH * z, OWN_SUM[0] + REACH * z, CUTS)
    below, above = _log_cdf(c, z, batches, OWN_SUM[1])[1], _log_cdf(c, z, batches, OWN_SUM[0])[0]
    kept: Array = c[(below > SMALLEST_LOG_MASS) & (_log1mexp(above) > SMALLEST_LOG_MASS)]
    return kept


def slices(noise_multiplier: float, batches: int, dropped: float) -> Atoms:
    """The pair of the slices of M in one epoch, with its reverse. `dropped` is the probability ρ of no batch."""
    c = cuts(noise_multiplier, batches)
    in_p, in_q = (log_masses(c, noise_multiplier, batches, mean, dropped) for mean in OWN_SUM)
    added = Atoms(*_atoms(in_q[0], in_p[1]), attained=True)
    return Atoms(*_atoms(in_p[0], in_q[1]), attained=True, reverse=added)


def _atoms(log_p: Array, log_q: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The losses, rounded down, and the logs of the masses under P, where these are positive."""
    positive = log_p > -np.inf
    log_p, log_q = log_p[positive], log_q[positive]
    return tuple(np.nextafter(log_p - log_q, -np.inf).tolist()), tuple(log_p.tolist())


def log_masses(c: Array, z: float, batches: int, mean: float, dropped: float) -> Bounds:
    """The logs of the masses of all slices, the record being in no batch with probability ρ."""
    low, high = _between(_log_cdf(c, z, batches, mean))
    if dropped:
        without = _between(_log_cdf(c, z, batches, None))
        low, high = (np.logaddexp(x + log1p(-dropped), y + log(dropped))
                     for x, y in zip((low, high), without, strict=True))
    return low - SUM_ERROR * (1 - np.maximum(low, -1e300)), high + SUM_ERROR * (1 - high)


def _between(log_cdf: Bounds) -> Bounds:
    """The logs of the masses between the cuts, and outside of them: F(b) − F(a) = F(b)(1 − e^{log F(a) − log F(b)})."""
    (low, high), before = log_cdf, np.array([-np.inf])
    low_a, high_a = np.append(before, low), np.append(before, high)
    low_b, high_b = np.append(low, 0.0), np.append(high, 0.0)
    return low_b + _log1mexp(high_a - low_b), high_b + _log1mexp(low_a - high_b)


def _log1mexp(x: Array) -> Array:
    """log(1 − e^x); −∞ for x >= 0."""
    with np.errstate(divide="ignore"):
        found: Array = np.log(-np.expm1(np.minimum(x, 0.0)))
    return found


def _log_cdf(c: Array, z: float, batches: int, mean: float | None) -> Bounds:
    """log Pr[M <= c]. `mean` is that of the record's batch, or None where it is in none."""
    others = _log_phi(c / z)
    own = others if mean is None else _log_phi((c - mean) / z)
    low, high = ((batches - 1) * x + y for x, y in zip(others, own, strict=True))
    return low * (1 + SUM_ERROR), high * (1 - SUM_ERROR)


def _log_phi(x: Array) -> Bounds:
    """log Φ(x), at most 0. Near 0 its error is relative to the upper tail."""
    below, above = log_tails(x)
    relative, quadratic, absolute = PHI_ERROR
    error = (relative + quadratic * x * x) * np.exp(np.minimum(0.0, above - below)) + absolute
    return below - error, np.minimum(below + error, 0.0)
