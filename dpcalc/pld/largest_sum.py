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

from dpcalc.pld.atoms import Atoms
from dpcalc.pld.merged_cells import SMALLEST_LOG_MASS, SUM_ERROR, log1mexp, log_differences, log_phi

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.merged_cells import Bounds

    Array = NDArray[Any]

OWN_SUM = (2.0, 1.0)  # the mean of the record's batch under P, and under Q
CUTS = 2000  # evenly spaced: ε is within 3e-4 of that of finer slices; with half as many, within 1.2e-3
REACH = 38.0  # in units of z: beyond it, tails of the normal distribution are below the smallest normal double


def cuts(noise_multiplier: float, batches: int) -> Array:
    """Where M is cut. Any choice is valid: these are even, and outer slices of negligible mass are merged."""
    z = noise_multiplier
    c = np.linspace(OWN_SUM[1] - REACH * z, OWN_SUM[0] + REACH * z, CUTS)
    below, above = _log_cdf(c, z, batches, OWN_SUM[1])[1], _log_cdf(c, z, batches, OWN_SUM[0])[0]
    kept: Array = c[(below > SMALLEST_LOG_MASS) & (log1mexp(above) > SMALLEST_LOG_MASS)]
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
    low, high = log_differences(_log_cdf(c, z, batches, mean))
    if dropped:
        without = log_differences(_log_cdf(c, z, batches, None))
        low, high = (np.logaddexp(x + log1p(-dropped), y + log(dropped))
                     for x, y in zip((low, high), without, strict=True))
    return low - SUM_ERROR * (1 - np.maximum(low, -1e300)), high + SUM_ERROR * (1 - high)


def _log_cdf(c: Array, z: float, batches: int, mean: float | None) -> Bounds:
    """log Pr[M <= c]. `mean` is that of the record's batch, or None where it is in none."""
    others = log_phi(c / z)
    own = others if mean is None else log_phi((c - mean) / z)
    low, high = ((batches - 1) * x + y for x, y in zip(others, own, strict=True))
    return low * (1 + SUM_ERROR), high * (1 - SUM_ERROR)
