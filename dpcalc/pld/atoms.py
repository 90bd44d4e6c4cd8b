"""Dominating pairs with finitely many losses: randomised response, (ε, δ)-DP, finite distributions, and privacy
profiles that are known at finitely many points. Their compositions, where the distinct sums of losses are few enough to
be enumerated: exact up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb, exp, expm1, fsum, inf, lgamma, log, log1p, nextafter

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log_add, log_ratio
from dpcalc.numerics.elementary_array import difference
from dpcalc.numerics.rounding import ULP, up
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.pilot import Parts, log_probability_of_any, rounding_margin
from dpcalc.pld.pmf import loss_error

MAX_SUMS = 100_000  # they are enumerated in about 20 ms
SMALLEST_LOG_DELTA = -690.0  # e^-690 is a normal double; smaller δ of a profile at points are rounded up to it


@dataclass(frozen=True)
class Atoms:
    """Finite losses with the logs of their P-masses, and log P(ℓ = ∞). Losses and logs have rounding errors of a few
    units in the last place of `rounding_scale` and of themselves."""

    losses: tuple[float, ...]
    log_p: tuple[float, ...]
    log_infinite: float = -inf
    reverse: Atoms | None = None
    attained: bool = False
    rounding_scale: float = 0.0

    @cached_property
    def sorted_atoms(self) -> tuple[Array, Array]:
        """The losses in increasing order, and the logs of their masses."""
        loss, log_p = np.array(self.losses, float), np.array(self.log_p, float)
        order = np.argsort(loss)
        return loss[order], log_p[order]

    @cached_property
    def distinct_atoms(self) -> tuple[Array, Array]:
        """The losses that have positive P-mass, equal ones merged, and the logs of their masses."""
        loss, log_p = self.sorted_atoms
        has_mass = log_p > -inf
        different = distinct(loss[has_mass])
        return different, _log_sums(np.searchsorted(different, loss[has_mass]), log_p[has_mass], len(different))

    @cached_property
    def largest_loss(self) -> tuple[float, float]:
        loss, log_p = self.sorted_atoms
        return float(loss[-1]), float(np.logaddexp.reduce(log_p[loss == loss[-1]]))

    def masses(self, edges: Array) -> tuple[Array, Array]:
        loss, log_p = self.sorted_atoms
        cell, cells = np.searchsorted(edges, loss, "right") - 1, len(edges) - 1
        inside = (cell >= 0) & (cell < cells) & (log_p > -inf)
        cell, loss, log_p = cell[inside], loss[inside], log_p[inside]
        all_p, all_q = _log_sums(cell, log_p, cells), _log_sums(cell, log_p - loss, cells)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            # log(P-mass/Q-mass) as log(1 + Σ q(e^ℓ − 1)/Σ q), which does not cancel where both masses are nearly equal
            excess = difference(log_p - all_q[cell], log_p - loss - all_q[cell], loss)
            ratio = all_p - all_q
            return all_p, np.where(np.abs(ratio) < 0.5, np.log1p(np.bincount(cell, excess, cells)), ratio)

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        loss = distinct(self.sorted_atoms[0])
        return np.append(loss, nextafter(loss[-1], inf))


def distinct(x: Array) -> Array:
    """Sorted numbers without repetitions. (numpy.unique takes long to import.)"""
    return x[np.append(True, x[1:] > x[:-1])] if len(x) else x


def _log_sums(cell: Array, logs: Array, cells: int) -> Array:
    """log Σ e^x over the x in each cell."""
    top = np.full(cells, -inf)
    np.maximum.at(top, cell, logs)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums: Array = np.log(np.bincount(cell, np.exp(logs - top[cell]), cells)) + top
    return sums


def approximate_dp(epsilon: float, log_delta: float = -inf) -> Atoms:
    """The pair that dominates every (ε, δ)-DP mechanism (Kairouz, Oh & Viswanath 2015, Theorem 3.1); with δ = 0 it is
    randomised response."""
    if log_delta >= 0:
        return Atoms((0.0,), (-inf,), 0.0)
    finite = log1p(-exp(log_delta))
    high = finite - log1p(exp(-epsilon))
    if epsilon == 0:
        return Atoms((0.0,), (finite,), log_delta, attained=log_delta == -inf)
    return Atoms((epsilon, -epsilon), (high, high - epsilon), log_delta, attained=log_delta == -inf)


def outcomes(p: Sequence[float], q: Sequence[float]) -> Atoms:
    """The pair of a mechanism with finitely many outcomes, from their probabilities on two neighbouring data sets."""
    return replace(_outcomes(p, q), reverse=_outcomes(q, p))


def _outcomes(p: Sequence[float], q: Sequence[float]) -> Atoms:
    """The pair of one direction. Where the probabilities add up to 1 only approximately, the losses are upper bounds
    both for the probabilities as given and for normalized ones: P is divided by its sum if that is below 1, and Q if
    that is above 1."""
    sum_p, sum_q = min(1.0, fsum(p)), max(1.0, fsum(q))
    both = [(log_ratio(a, b) - log(sum_p) + log(sum_q), log(a) - log(sum_p))
            for a, b in zip(p, q, strict=True) if a > 0 and b > 0]
    infinite = fsum(a for a, b in zip(p, q, strict=True) if b == 0)
    losses, log_p = zip(*both, strict=True) if both else ((0.0,), (-inf,))
    return Atoms(losses, log_p, min(0.0, nextafter(log(infinite) - log(sum_p), inf)) if infinite > 0 else -inf,
                 attained=sum_q - sum_p <= 1e-15 * len(p))  # up to the rounding of the probabilities


def outcomes_in_either_order(p: Sequence[float], q: Sequence[float]) -> Atoms:
    """A symmetric pair that dominates (P, Q) and (Q, P), for a mechanism of which it is not known which of its two
    distributions belongs to which data set of another pair. Its profile is the larger one of both at every ε."""
    epsilons = either_order_points(p, q)
    deltas = [max(_excess(p, q, e), _excess(q, p, e)) for e in epsilons]
    return profile_at_points(epsilons, [min(0.0, nextafter(log(x), inf)) if x > 0 else -inf for x in deltas])


def either_order_points(p: Sequence[float], q: Sequence[float]) -> list[float]:
    """Every ε >= 0 at which the slope in e^ε of the larger profile of both orders may change: at the losses, and where
    the two profiles cross."""
    epsilons = sorted({0.0, *(abs(log_ratio(a, b)) for a, b in zip(p, q, strict=True) if a > 0 and b > 0)})
    ahead = [_excess(p, q, e) - _excess(q, p, e) for e in epsilons]
    crossings = [log(exp(low) + (exp(high) - exp(low)) * a / (a - b)) for (low, a), (high, b) in
                 pairwise(zip(epsilons, ahead, strict=True)) if a * b < 0 and high < LARGEST_EXPONENT]
    return sorted({*epsilons, *crossings})


def _excess(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    """Σ (p/Σp − e^ε q/Σq)₊, each term rounded up; Σp counts as at most 1 and Σq as at least 1, as in `outcomes`."""
    sum_p, sum_q, factor = min(1.0, fsum(p)), max(1.0, fsum(q)), exp(min(epsilon, LARGEST_EXPONENT))
    error = 1e-15  # relative: more than the rounding errors of a quotient and of e^ε
    return fsum(max(0.0, a / sum_p * (1 + error) - factor * b / sum_q * (1 - error)) for a, b in zip(p, q, strict=True))


def profile_at_points(epsilons: Sequence[float], log_deltas: Sequence[float]) -> Atoms:
    """A pair whose profile is at least every symmetric profile with δ(ε_i) <= δ_i, ε_i >= 0.

    A profile is convex and non-increasing in γ = e^ε, and δ(−ε) = 1 − e^{−ε}(1 − δ(ε)) where it is symmetric. So the
    lower convex hull of the points and their mirror images is an upper bound. It is the profile of the pair with atoms
    at the corners of the hull, whose Q-masses are the changes of slope there (Doroshenko et al. 2022,
    arXiv:2207.04380v3, Theorem 3.3). """
    corners = hull(epsilons, log_deltas)
    losses, log_p = list[float](), list[float]()
    for before, corner, after in zip([None, *corners], corners, [*corners[1:], None], strict=False):
        if corner[0] > 0 and (mass := _corner_mass(before, corner, after)) > 0:
            losses += [corner[0], -corner[0]]
            log_p += [log(mass), log(mass) - corner[0]]
    infinite = corners[-1][1]
    at_zero = -expm1(infinite) - fsum(map(exp, log_p)) if infinite < 0 else 0.0
    if (corners[0][0] == 0 and at_zero > 0) or not losses:
        losses, log_p = [*losses, 0.0], [*log_p, log(at_zero) if at_zero > 0 else -inf]
    return Atoms(tuple(losses), tuple(log_p), infinite)


Point = tuple[float, float]  # ε, log δ


def hull(epsilons: Sequence[float], log_deltas: Sequence[float]) -> list[Point]:
    """The corners with ε >= 0 of the lower convex hull, in γ = e^ε, of the points and their mirror images."""
    corners: list[Point] = []
    for epsilon, log_delta in sorted(zip(epsilons, log_deltas, strict=True)):
        point = epsilon, max(log_delta, SMALLEST_LOG_DELTA)
        if corners and point[1] >= corners[-1][1]:
            continue
        while corners and not (point[0] > corners[-1][0] and _corner_mass(
                corners[-2] if len(corners) > 1 else None, corners[-1], point) > 0):
            corners.pop()
        corners.append(point)
    return corners


def _corner_mass(before: Point | None, corner: Point, after: Point | None) -> float:
    """The P-mass at a corner: γ times the change of the slope of δ in γ. The neighbour of the first corner is its own
    mirror image; after the last corner δ is constant. Only differences of ε enter, so ε may be of any size."""
    epsilon, log_delta = corner
    if before is None:
        left = -expm1(log_delta) / (1 + exp(-epsilon))
    else:
        left = exp(before[1]) * expm1(log_delta - before[1]) / expm1(before[0] - epsilon)
    if after is None or after[0] - epsilon > LARGEST_EXPONENT:
        return left
    return left + exp(log_delta) * expm1(after[1] - log_delta) / expm1(after[0] - epsilon)


# --- exact sums ------------------------------------------------------------------------------------------------------


def log_hockey_stick(loss: Array, log_p: Array, epsilon: float) -> float:
    """log E_P[(1 − e^{ε−ℓ})₊] over finitely many losses."""
    above = loss > epsilon
    if not above.any():
        return -inf
    with np.errstate(divide="ignore"):
        terms = log_p[above] + np.log(-np.expm1(epsilon - loss[above]))
    top = float(terms.max())
    return top + log(float(np.exp(terms - top).sum())) if top > -inf else -inf


def upper_log_delta(atoms: Atoms, epsilon: float) -> float:
    """log δ(ε) of one use of a pair with finitely many losses, rounded up."""
    loss, log_p = atoms.distinct_atoms
    of_losses = log_hockey_stick(loss + loss_error(log_p, loss, atoms.rounding_scale), log_p, epsilon)
    total = log_add(of_losses, atoms.log_infinite)
    return total if total == -inf else min(0.0, up(total, 1e-15) + ROUNDING)


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
        of_sums = log_hockey_stick(self.loss + self.loss_error, self.log_p, epsilon) + self.log_error
        return min(0.0, log_add(of_sums, self.log_infinite + rounding_margin(self.log_infinite)))

    def lower_log_delta(self, epsilon: float) -> float:
        of_sums = log_hockey_stick(self.loss - self.loss_error, self.log_p, epsilon) - self.log_error
        return min(0.0, log_add(of_sums, self.log_infinite - rounding_margin(self.log_infinite)))


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
    if count == 1:
        return loss, log_p
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
