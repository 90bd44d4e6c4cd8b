"""The dominating pair of a privacy profile that is bounded from above in both directions at finitely many ε.

δ(γ) = E_γ(P‖Q), γ = e^ε, is convex in γ > 0, and E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P). So the lower convex hull of upper
bounds at γ >= 1, and of those that the other direction gives at γ < 1, is an upper bound too, even where the bounds are
not convex. It is the profile of the pair with atoms at the corners of the hull, whose Q-masses are the changes of slope
in γ there, and whose P-masses are those in 1/γ of the profile of (Q, P) (Doroshenko et al. 2022, arXiv:2207.04380v3,
Theorem 3.3). """

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, log
from typing import NamedTuple

from dpcalc.pld.atoms import SMALLEST_LOG_DELTA, Atoms, Point, approximate_dp
from dpcalc.pld.pair import LARGEST_EXPONENT

# Relative, added to every δ: more than the rounding errors of slopes and of their sums, which are a few units in the
# last place of δ, of its logarithm, and of the few terms of similar size where γ = 1 is crossed.
ROUNDING = 1e-12


class Corner(NamedTuple):
    """A point of the profile at γ = e^ε: E_γ(P‖Q), and E_{1/γ}(Q‖P)."""

    epsilon: float
    delta: float
    reverse_delta: float

    @property
    def mirrored(self) -> Corner:
        """The same point of the profile of (Q, P)."""
        return Corner(-self.epsilon, self.reverse_delta, self.delta)


def pair(epsilons: Sequence[float], log_deltas: Sequence[float], log_reverse: Sequence[float]) -> Atoms:
    """The pair (P, Q) of the convex minorant, with its reverse (Q, P). The ε increase from 0, where both
    directions have the same δ; upper bounds on the logs of δ of both are given at each."""
    return pair_of_points(list(zip(epsilons, log_deltas, strict=True)), list(zip(epsilons, log_reverse, strict=True)))


def pair_of_points(points: Sequence[Point], reverse: Sequence[Point]) -> Atoms:
    """The pair of the convex minorant from upper bounds log δ at increasing ε in each direction, the first ones at 0.
    There both directions have the same δ."""
    first = points[0][0], min(points[0][1], reverse[0][1])
    removed = [_corner(*x) for x in (first, *points[1:])]
    return pair_of_corners([*(_corner(*x).mirrored for x in reverse[:0:-1]), *removed])


def pair_of_corners(points: Sequence[Corner]) -> Atoms:
    """The pair (P, Q), with its reverse, whose profile is the convex minorant of points with increasing ε: linear
    before the first one, from 1 at γ = 0, and constant after the last one."""
    corners = hull(points)
    losses, log_p, log_q = list[float](), list[float](), list[float]()
    for before, corner, after in zip([None, *corners], corners, [*corners[1:], None], strict=False):
        e, mass = corner.epsilon, _mass(before, corner, after)
        if mass > 0:
            losses.append(e)
            log_p.append(log(mass) + min(e, 0.0))
            log_q.append(log(mass) - max(e, 0.0))
    if not losses:  # P and Q have nothing in common
        return approximate_dp(0.0, 0.0)
    # Rounding errors of the differences at all corners: masses add up to 1 within 3e-15.
    reverse = Atoms(tuple(-x for x in losses), tuple(log_q), _log(corners[0].reverse_delta), rounding_scale=1.0)
    return Atoms(tuple(losses), tuple(log_p), _log(corners[-1].delta), reverse=reverse, rounding_scale=1.0)


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def _corner(epsilon: float, log_delta: float) -> Corner:
    """The point at ε >= 0 from log δ, rounded up."""
    delta = min(exp(max(log_delta, SMALLEST_LOG_DELTA)) * (1 + ROUNDING), 1.0)
    return Corner(epsilon, delta, -expm1(-epsilon) + exp(-epsilon) * delta)


def hull(points: Sequence[Corner]) -> list[Corner]:
    """The corners of the lower convex hull, in γ, of points with increasing ε; of equal ε the smaller δ counts. Every
    subset of the points that is convex gives a valid pair, so rounding errors may decide between nearly equal ones."""
    corners = list[Corner]()
    for point in points:
        if corners and point.epsilon <= corners[-1].epsilon:
            if point.delta >= corners[-1].delta:
                continue
            corners.pop()
        while len(corners) > 1 and not _mass(corners[-2], corners[-1], point) > 0:
            corners.pop()
        corners.append(point)
    return corners


def _mass(before: Corner | None, corner: Corner, after: Corner | None) -> float:
    """The mass of the atom at a corner, under P where ε >= 0, else under Q: γ times the change of the slope of δ in γ.
    Only differences of ε enter, so ε may be of any size. Beyond the last corner δ is constant."""
    if corner.epsilon < 0:
        before, corner, after = after and after.mirrored, corner.mirrored, before and before.mirrored
    left = 1 - corner.delta  # before the first corner the profile is linear from 1 at γ = 0
    if before is not None:
        left = (before.delta - corner.delta) / -expm1(before.epsilon - corner.epsilon)
    if after is None or after.epsilon - corner.epsilon > LARGEST_EXPONENT:
        return left
    return left - (corner.delta - after.delta) / expm1(after.epsilon - corner.epsilon)
