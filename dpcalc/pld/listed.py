"""Compositions of pairs with finitely many losses, where all different sums are few enough to be listed: exact but for
rounding."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf, lgamma, log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.pld.atoms import Atoms
from dpcalc.pld.pilot import Parts, log_add, log_any, margin
from dpcalc.pld.pmf import ULP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

MOST_SUMS = 100_000  # they are listed in about 20 ms


@dataclass(frozen=True)
class Sums:
    """All sums of losses with the logs of their P-masses; how far a sum may be from its exact value, and likewise such
    a log."""

    loss: Array
    log_p: Array
    log_infinite: float
    error_of_losses: float
    error_of_logs: float

    def upper_log_delta(self, epsilon: float) -> float:
        infinite = self.log_infinite + margin(self.log_infinite)
        return min(0.0, log_add(self._log_sum(epsilon, self.error_of_losses) + self.error_of_logs, infinite))

    def lower_log_delta(self, epsilon: float) -> float:
        infinite = self.log_infinite - margin(self.log_infinite)
        return min(0.0, log_add(self._log_sum(epsilon, -self.error_of_losses) - self.error_of_logs, infinite))

    def _log_sum(self, epsilon: float, more: float) -> float:
        """log E_P[(1 − e^{ε−ℓ})₊] of the finite losses, each of them being larger by `more`."""
        gap = self.loss - epsilon + more
        above = gap > 0
        with np.errstate(divide="ignore"):
            terms = self.log_p[above] + np.log(-np.expm1(-gap[above]))
        top = float(terms.max()) if above.any() else -inf
        return top + log(float(np.exp(terms - top).sum())) if top > -inf else -inf


def listed(parts: Parts) -> Sums | None:
    """None where a pair has a density, or where there are more sums than MOST_SUMS."""
    atoms = [(pair.different, pair, count) for pair, count in parts if isinstance(pair, Atoms)]
    number = 1
    for (loss, _), _, count in atoms:
        if len(loss) > MOST_SUMS or count > MOST_SUMS:
            return None
        number *= comb(count + len(loss) - 1, count)
    if len(atoms) < len(parts) or not 0 < number <= MOST_SUMS:
        return None
    # in units in the last place; 1 for the sum of exponentials
    loss, log_p, off_loss, off_log = np.zeros(1), np.zeros(1), 0.0, 1.0
    for (each_loss, each_log_p), pair, count in atoms:
        more_loss, more_log_p = _of_one_part(each_loss, each_log_p, count)
        loss, log_p = np.add.outer(loss, more_loss).ravel(), np.add.outer(log_p, more_log_p).ravel()
        off_loss += count * (float(np.abs(each_loss).max()) + pair.scale)
        off_log += count * (float(np.abs(each_log_p).max()) + pair.scale) + 4 * lgamma(count + 1)
    additions = 8 + sum(len(each) for (each, _), _, _ in atoms)  # of rounded numbers, for each sum
    infinite = log_any([(pair.log_infinite, count) for _, pair, count in atoms])
    return Sums(loss, log_p, infinite, additions * ULP * off_loss, additions * ULP * off_log)


def _of_one_part(loss: Array, log_p: Array, count: int) -> tuple[Array, Array]:
    """The sums of `count` uses: of each way to share them among the losses, the sum and the log of the multinomial
    probability."""
    log_factorials = np.array([lgamma(k + 1) for k in range(count + 1)])
    left, sums, logs = np.array([count]), np.zeros(1), np.array([log_factorials[count]])
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
