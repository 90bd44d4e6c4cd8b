"""Dominating pairs with finitely many losses: randomised response, (ε, δ), finite laws, and profiles that are known at
points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, expm1, fsum, inf, log, log1p, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.numerics.elementary import log_ratio
from dpcalc.pld.pair import LARGEST_EXPONENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

LEAST_LOG_DELTA = -690.0  # a smaller δ of a profile at points is rounded up to this, next to the least double


@dataclass(frozen=True)
class Atoms:
    """Finite losses with their log P-masses, and log P(ℓ = ∞). The logs, too, have errors of a few units in the last
    place of `scale`."""

    losses: tuple[float, ...]
    log_p: tuple[float, ...]
    log_infinite: float = -inf
    twin: Atoms | None = None
    attained: bool = False
    scale: float = 0.0

    @cached_property
    def in_order(self) -> tuple[Array, Array]:
        loss, log_p = np.array(self.losses, float), np.array(self.log_p, float)
        order = np.argsort(loss)
        return loss[order], log_p[order]

    @cached_property
    def different(self) -> tuple[Array, Array]:
        """The losses that have any P-mass, each of them once."""
        loss, log_p = self.in_order
        held = log_p > -inf
        once = distinct(loss[held])
        return once, _log_sums(np.searchsorted(once, loss[held]), log_p[held], len(once))

    @cached_property
    def largest(self) -> tuple[float, float]:
        loss, log_p = self.in_order
        return float(loss[-1]), float(np.logaddexp.reduce(log_p[loss == loss[-1]]))

    def masses(self, edges: Array) -> tuple[Array, Array]:
        loss, log_p = self.in_order
        cell, cells = np.searchsorted(edges, loss, "right") - 1, len(edges) - 1
        inside = (cell >= 0) & (cell < cells) & (log_p > -inf)
        cell, loss, log_p = cell[inside], loss[inside], log_p[inside]
        all_p, all_q = _log_sums(cell, log_p, cells), _log_sums(cell, log_p - loss, cells)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            small = np.log1p(np.bincount(cell, np.exp(log_p - loss - all_q[cell])
                                         * np.expm1(np.minimum(loss, LARGEST_EXPONENT)), cells))
            far = all_p - all_q
            return all_p, np.where(np.abs(far) < 0.5, small, far)

    def pilot_edges(self, log_tail: float, cells: int) -> Array:
        loss = distinct(self.in_order[0])
        return np.append(loss, nextafter(loss[-1], inf))


def distinct(x: Array) -> Array:
    """The different ones of rising numbers. (numpy.unique takes long to import.)"""
    return x[np.append(True, x[1:] > x[:-1])] if len(x) else x


def _log_sums(cell: Array, logs: Array, cells: int) -> Array:
    """log Σ e^x of the numbers in each cell."""
    top = np.full(cells, -inf)
    np.maximum.at(top, cell, logs)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = np.log(np.bincount(cell, np.exp(logs - top[cell]), cells)) + top
    return found


def approximate_dp(epsilon: float, log_delta: float = -inf) -> Atoms:
    """The pair that dominates every (ε, δ)-DP mechanism (Kairouz, Oh & Viswanath 2015, Theorem 3.1); at δ = 0 it is
    randomised response."""
    if log_delta >= 0:
        return Atoms((0.0,), (-inf,), 0.0)
    finite = log1p(-exp(log_delta))
    high = finite - log1p(exp(-epsilon))
    if epsilon == 0:
        return Atoms((0.0,), (finite,), log_delta, attained=log_delta == -inf)
    return Atoms((epsilon, -epsilon), (high, high - epsilon), log_delta, attained=log_delta == -inf)


def outcomes(p: Sequence[float], q: Sequence[float]) -> Atoms:
    """Two distributions on the same finite set, which are the outputs themselves."""
    return replace(_outcomes(p, q), twin=_outcomes(q, p))


def _outcomes(p: Sequence[float], q: Sequence[float]) -> Atoms:
    """One direction. Where probabilities add up to 1 only about, P is not taken to be smaller than they are divided by
    their sum, nor Q larger: the worse of both readings."""
    least, most = min(1.0, fsum(p)), max(1.0, fsum(q))
    both = [(log_ratio(a, b) - log(least) + log(most), log(a) - log(least)) for a,
            b in zip(p, q, strict=True) if a > 0 and b > 0]
    infinite = fsum(a for a, b in zip(p, q, strict=True) if b == 0)
    losses, log_p = zip(*both, strict=True) if both else ((0.0,), (-inf,))
    return Atoms(losses, log_p, min(0.0, nextafter(log(infinite) - log(least), inf)) if infinite > 0 else -inf,
                 attained=most - least <= 1e-15 * len(p))  # but for the rounding of the probabilities


def profile_at_points(epsilons: Sequence[float], log_deltas: Sequence[float]) -> Atoms:
    """A pair whose profile is at least every symmetric profile with δ(ε_i) <= δ_i, ε_i >= 0.

    A profile is convex in γ = e^ε, never rises, and has δ(−ε) = 1 − e^{−ε}(1 − δ(ε)). So the lower convex hull of the
    points and their mirror images is an upper bound. It is the profile of the pair with atoms at its corners, whose
    Q-masses are the bends of the hull (Doroshenko et al. 2022, arXiv:2207.04380v3, Theorem 3.3). """
    corners = hull(epsilons, log_deltas)
    losses, log_p = list[float](), list[float]()
    for before, corner, after in zip([None, *corners], corners, [*corners[1:], None], strict=False):
        if corner[0] > 0 and (bend := _bend(before, corner, after)) > 0:
            losses += [corner[0], -corner[0]]
            log_p += [log(bend), log(bend) - corner[0]]
    infinite = corners[-1][1]
    rest = -expm1(infinite) - fsum(map(exp, log_p)) if infinite < 0 else 0.0
    if (corners[0][0] == 0 and rest > 0) or not losses:
        losses, log_p = [*losses, 0.0], [*log_p, log(rest) if rest > 0 else -inf]
    return Atoms(tuple(losses), tuple(log_p), infinite)


Point = tuple[float, float]  # ε, log δ


def hull(epsilons: Sequence[float], log_deltas: Sequence[float]) -> list[Point]:
    """The corners at ε >= 0 of the lower convex hull, in γ = e^ε, of the points and their mirror images."""
    found: list[Point] = []
    for point in [(e, max(d, LEAST_LOG_DELTA)) for e, d in sorted(zip(epsilons, log_deltas, strict=True))]:
        if found and point[1] >= found[-1][1]:
            continue
        while found and not (point[0] > found[-1][0] and _bend(found[-2] if len(found) > 1 else None, found[-1], point)
                             > 0):
            found.pop()
        found.append(point)
    return found


def _bend(before: Point | None, corner: Point, after: Point | None) -> float:
    """γ times how much steeper δ falls in γ before a corner than after it: the P-mass of the corner. Before the first
    corner is its own mirror image, after the last one a flat line. Only differences of ε enter, so they may be of any
    size."""
    epsilon, log_delta = corner
    if before is None:
        left = -expm1(log_delta) / (1 + exp(-epsilon))
    else:
        left = exp(before[1]) * expm1(log_delta - before[1]) / expm1(before[0] - epsilon)
    if after is None or after[0] - epsilon > LARGEST_EXPONENT:
        return left
    return left + exp(log_delta) * expm1(after[1] - log_delta) / expm1(after[0] - epsilon)
