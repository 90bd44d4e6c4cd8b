"""Compositions of pairs with finitely many losses whose distinct sums are few enough to be enumerated: exact up to
rounding."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.pilot import Parts, log_probability_of_any, rounding_margin

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

MAX_SUMS = 100_000  # they are enumerated in about 20 ms


@dataclass(frozen=True)
class Sums:
    """All sums of losses with the logs of their P-masses, and upper bounds on the rounding errors of a sum and of a
    log."""

    loss: Array
    log_p: Array
    log_infinite: float
    loss_error: float
    log_error: float

    def upper_log_delta(self, epsilon: float) -> float:
        log_infinite = self.log_infinite + rounding_margin(self.log_infinite)
        return min(0.0, log_add(self._log_sum(epsilon, self.loss_error) + self.log_error, log_infinite))

    def lower_log_delta(self, epsilon: float) -> float:
        log_infinite = self.log_infinite - rounding_margin(self.log_infinite)
        return min(0.0, log_add(self._log_sum(epsilon, -self.loss_error) - self.log_error, log_infinite))

    def _log_sum(self, epsilon: float, shift: float) -> float:
        """log E_P[(1 − e^{ε−ℓ})₊] over the finite losses, each of them increased by `shift`."""
        distance = self.loss - epsilon + shift
        above = distance > 0
        with np.errstate(divide="ignore"):
            terms = self.log_p[above] + np.log(-np.expm1(-distance[above]))
        top = float(terms.max()) if above.any() else -inf
        return top + log(float(np.exp(terms - top).sum())) if top > -inf else -inf


def enumerate_sums(parts: Parts) -> Sums | None:
    """All sums of a composition; None where a pair has a density, or where there are more than MAX_SUMS."""
    atoms = [(pair.distinct_atoms, pair, count) for pair, count in parts if isinstance(pair, Atoms)]
    number = 1
    for (loss, _), _, count in atoms:
        if len(loss) > MAX_SUMS or count > MAX_SUMS:
            return None
        number *= comb(count + len(loss) - 1, count)
    if len(atoms) < len(parts) or not 0 < number <= MAX_SUMS:
        return None
    loss, log_p = np.zeros(1), np.zeros(1)
    loss_size, log_size = 0.0, 1.0  # what rounding errors are relative to; 1 is for the sum of exponentials
    for (one_loss, one_log_p), pair, count in atoms:
        part_loss, part_log_p = _sums_of_one_part(one_loss, one_log_p, count)
        loss, log_p = np.add.outer(loss, part_loss).ravel(), np.add.outer(log_p, part_log_p).ravel()
        loss_size += count * (float(np.abs(one_loss).max()) + pair.rounding_scale)
        log_size += count * (float(np.abs(one_log_p).max()) + pair.rounding_scale) + 4 * lgamma(count + 1)
    additions = 8 + sum(len(each) for (each, _), _, _ in atoms)  # rounded operations for each sum
    log_infinite = log_probability_of_any([(pair.log_infinite, count) for _, pair, count in atoms])
    return Sums(loss, log_p, log_infinite, additions * ULP * loss_size, additions * ULP * log_size)


def _sums_of_one_part(loss: Array, log_p: Array, count: int) -> tuple[Array, Array]:
    """The sums of `count` uses of one pair, one for each way to distribute them over its losses, and the logs of their
    multinomial probabilities."""
    log_factorials = np.array([lgamma(k + 1) for k in range(count + 1)])
    left, sums, logs = np.array([count]), np.zeros(1), np.array([log_factorials[count]])  # left: uses not yet assigned
    all_sums, all_logs = [], []
    for k, (one, log_mass) in enumerate(zip(loss, log_p, strict=True)):
        if k + 1 < len(loss):
            row = np.repeat(np.arange(len(left)), left + 1)
            uses = np.arange(len(row)) - np.repeat(np.cumsum(left + 1) - left - 1, left + 1)
        else:
            row, uses = np.arange(len(left)), left
        left, sums, logs = left[row] - uses, sums[row] + uses * one, logs[row] + uses * log_mass - log_factorials[uses]
        finished = left == 0
        all_sums.append(sums[finished])
        all_logs.append(logs[finished])
        left, sums, logs = left[~finished], sums[~finished], logs[~finished]
    return np.concatenate(all_sums), np.concatenate(all_logs)
