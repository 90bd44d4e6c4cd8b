"""Pairs whose profile is an upper bound of a privacy profile that is bounded from above at finitely many ε, or a lower
bound of one that is bounded from below by events; and the ε at which a profile is computed for that.

δ(γ) = E_γ(P‖Q), γ = e^ε, is convex in γ > 0, and E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P). So the lower convex hull of upper
bounds at γ >= 1, and of those that the other direction gives at γ < 1, is an upper bound too, even where the bounds are
not convex. It is the profile of the pair with atoms at the corners of the hull, whose Q-masses are the changes of slope
in γ there, and whose P-masses are those in 1/γ of the profile of (Q, P) (Doroshenko et al. 2022, arXiv:2207.04380v3,
Theorem 3.3).

An event R has a probability under P and under Q. At γ its advantage is v = P(R) − γQ(R), at least, and so the profile
is at least v − q(γ′ − γ) at every γ′, for an unknown q from q_low to q_high. This is at least the concave function
v − q_high·(γ′ − γ)₊ + q_low·(γ − γ′)₊. Two neighbours meet between their γ: chords between these points are below the
concave functions, and so below the profile. The complement of an event for (Q, P) is one for (P, Q). """

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, expm1, inf, log, log1p, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA, Atoms, Point, approximate_dp
from dpcalc.pld.pair import ROUNDING

if TYPE_CHECKING:
    from dpcalc.pld.sum_events import Event

PRECISION = 1.2e-4  # relative change of δ(0) by grids; that of δ(ε) may be 1 + log(δ(0)/δ(ε)) times as large
STEP_GROWTH = 2  # the largest ratio of steps of grids at neighbouring ε: finer grids than needed take more time
LIGHT = 1e-10  # relative, of δ: more than the rounding errors of the masses of pairs, which are differences


class Corner(NamedTuple):
    """A point of the profile at γ = e^ε: E_γ(P‖Q), and E_{1/γ}(Q‖P)."""

    epsilon: float
    delta: float
    reverse_delta: float

    @classmethod
    def of(cls, epsilon: float, delta: float) -> Corner:
        return cls(epsilon, delta, -expm1(-epsilon) + exp(-epsilon) * delta)

    @property
    def mirrored(self) -> Corner:
        """The same point of the profile of (Q, P)."""
        return Corner(-self.epsilon, self.reverse_delta, self.delta)


def pair(epsilons: Sequence[float], log_deltas: Sequence[float], log_reverse: Sequence[float]) -> Atoms:
    """The pair (P, Q) of the convex minorant from upper bounds log δ of both directions at the same ε."""
    return pair_of_points(list(zip(epsilons, log_deltas, strict=True)), list(zip(epsilons, log_reverse, strict=True)))


def pair_of_points(points: Sequence[Point], reverse: Sequence[Point]) -> Atoms:
    """The pair of the convex minorant, with its reverse, from upper bounds log δ at increasing ε in each direction, the
    first ones at 0. There both directions have the same δ. ROUNDING is more than the rounding errors of slopes and of
    their sums: a few units in the last place of δ, of its logarithm, and of the few terms of similar size at γ = 1."""
    first = points[0][0], min(points[0][1], reverse[0][1])
    removed, added = ([Corner.of(e, min(exp(max(log_delta, SMALLEST_LOG_DELTA)) * (1 + ROUNDING), 1.0))
                       for e, log_delta in (first, *side[1:])] for side in (points, reverse))
    return _pair_of_corners([*(x.mirrored for x in added[:0:-1]), *removed])


def _pair_of_corners(points: Sequence[Corner]) -> Atoms:
    """The pair (P, Q), with its reverse, whose profile is the convex minorant of points with increasing ε: linear
    before the first one, from 1 at γ = 0, and constant after the last one."""
    corners = _hull(points)
    losses, log_p, log_q = list[float](), list[float](), list[float]()
    for before, corner, after in zip([None, *corners], corners, [*corners[1:], None], strict=False):
        e, mass = corner.epsilon, _mass(before, corner, after)
        if mass > 0:
            losses.append(e)
            log_p.append(log(mass) + min(e, 0.0))
            log_q.append(log(mass) - max(e, 0.0))
    if not losses:  # P and Q have nothing in common
        return approximate_dp(0.0, 0.0)
    infinite = [log(x) if x > 0 else -inf for x in (corners[-1].delta, corners[0].reverse_delta)]
    reverse = Atoms(tuple(-x for x in losses), tuple(log_q), infinite[1], rounding_scale=1.0)
    # The rounding scale is 1, as masses are differences of numbers up to 1; they add up to 1 within 3e-15.
    return Atoms(tuple(losses), tuple(log_p), infinite[0], reverse=reverse, rounding_scale=1.0)


def _hull(points: Sequence[Corner]) -> list[Corner]:
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


# --- events, from below ----------------------------------------------------------------------------------------------


class EventAt(NamedTuple):
    """An event which is nearly the best one at this γ = e^ε, and the step of its grid."""

    epsilon: float
    event: Event
    step: float


def walk_of_events(event_at: Callable[[float, float, float, float], tuple[Event, float]], guess: float, tail: float,
                   last_epsilon: float, coarse: float = 1.0) -> list[EventAt]:
    """Events with a positive advantage at the ε of a walk, by event_at(ε, precision, about δ, largest step), which
    returns the step of its grid, too."""
    found, step = list[EventAt](), inf

    def log_delta(epsilon: float, precision: float, expected: float) -> float:
        nonlocal step
        event, step = event_at(epsilon, precision, expected, STEP_GROWTH * step)
        advantage = event.advantage - 4 * UNIT * exp(epsilon) * event.q_high  # of the rounding of e^ε
        if advantage <= 0:
            return SMALLEST_LOG_DELTA
        found.append(EventAt(epsilon, event._replace(advantage=advantage), step))
        return log(advantage)

    walk(log_delta, guess, tail, last_epsilon, coarse)
    return found


def pair_of_events(events: Sequence[EventAt], reverse: Sequence[EventAt]) -> Atoms:
    """A pair whose profile is at most that of (P, Q), and of (Q, P) in the reverse, from events for both with a
    positive advantage at increasing ε, the first one at ε = 0. Without events it is that of no loss."""
    if not events or not reverse:
        return Atoms((0.0,), (0.0,), attained=True)
    first = events[0].event
    complement = first._replace(q_low=max(1 - first.p_high, 0.0), q_high=1 - first.advantage - first.q_low)
    meetings = _meetings(events)
    mirrored = _meetings((EventAt(0.0, complement, events[0].step), *(e for e in reverse if e.epsilon > 0)))
    found = _pair_of_corners([*(x.mirrored for x in reversed(mirrored)), *meetings])
    assert found.reverse is not None
    return replace(found, reverse=replace(found.reverse, attained=True), attained=True)


def _meetings(events: Sequence[EventAt]) -> list[Corner]:
    """Lower bounds of δ at the ε > 0 at which the concave functions of neighbours meet; the last δ is 0."""
    found = list[Corner]()
    for (left, event, _), (right, after, _) in pairwise(events):
        gap = expm1(right - left)  # of the γ, in units of γ on the left
        slope = exp(left) * (event.q_high - after.q_low)
        shift = (event.advantage - after.advantage - exp(left) * after.q_low * gap) / slope if slope > 0 else 0.0
        shift = min(max(shift, 0.0), gap)
        least = min(event.advantage - exp(left) * event.q_high * shift,
                    after.advantage + exp(left) * after.q_low * (gap - shift))
        found.append(Corner.of(left + log1p(shift), max(least, 0.0) * (1 - LIGHT)))
    end, event, _ = events[-1]
    return [*found, Corner.of(end + log1p(event.advantage / event.q_high * exp(-end)), 0.0)]


# --- where a profile is computed --------------------------------------------------------------------------------------


def walk(log_delta: Callable[[float, float, float], float], guess: float, tail: float, last_epsilon: float,
         coarse: float = 1.0) -> None:
    """Compute log_delta(ε, precision, about δ) at ε = 0 and at larger ε until δ is about the tail, or ε the last one.
    Any ε are valid. With gaps that are `coarse` times as wide, all errors are about the square of that as large."""
    square, least = coarse * coarse, log(10 * tail)
    first = log_delta(0.0, PRECISION * square, guess)
    if first <= least:
        return
    deviation = 2 * NormalDist().inv_cdf((1 + min(exp(first), 1 - 1e-9)) / 2)  # of the Gaussian pair with this δ(0)
    epsilon, last, slope = 0.0, first, 1 / deviation
    for _ in range(1000):
        # Chords of 1/24 of the deviation change ε by 2e-4 of it. At small δ they may change ε by a relative 1e-3/8, and
        # nowhere by more than 3e-3/8 of the loss. Gaps grow where δ is below e^-25 of δ(0): for rare questions only.
        gap = max(coarse / 24 * deviation, sqrt(1e-3 * square * epsilon / slope)) * max(1.0, (first - last) / 25)
        gap = min(gap, sqrt(3e-3 * square * (epsilon + deviation * deviation / 2)), last_epsilon - epsilon)
        if gap <= 0:
            return
        epsilon += gap
        precision = PRECISION * square * (1 + first - last)
        found = min(log_delta(epsilon, precision, exp(last - min(slope * gap, 1.0))), last)
        if found <= least:
            return
        slope = max((last - found) / gap / max(-expm1(found), 1e-9), 0.1 / (epsilon + deviation))  # of log δ/(1 − δ)
        last = found


def pair_of_directions(log_delta: Callable[[int, float, float, float], float], directions: Sequence[int], guess: float,
                       tail: float, last_epsilon: float, coarse: float) -> Atoms:
    """The pair of upper bounds log_delta(direction, ε, precision, about δ) in one direction, or in both. Its profile is
    their convex minorant. A direction with less than half of the other δ is computed at every second ε only, and one
    with less than a twentieth at every fourth ε."""
    found: dict[int, list[Point]] = {direction: [] for direction in directions}
    passed = dict.fromkeys(directions, 0)  # ε since the last one

    def largest(epsilon: float, precision: float, expected: float) -> float:
        top = max((past[-1][1] for past in found.values() if past), default=0.0)
        for direction, past in found.items():
            last, about = past[-1][1] if past else inf, expected
            passed[direction] += 1
            every = 1 if last > top - 0.7 else 2 if last > top - 3.0 else 4
            if past and (last <= log(tail) or passed[direction] < every):
                continue
            passed[direction] = 0
            if len(past) > 1:
                slope = (last - past[-2][1]) / (past[-1][0] - past[-2][0])
                about = exp(last + max(slope * (epsilon - past[-1][0]), -1.0))
            past.append((epsilon, min(log_delta(direction, epsilon, precision, about), last)))
        return max(past[-1][1] for past in found.values())

    walk(largest, guess, tail, last_epsilon, coarse)
    return pair_of_points(found[directions[0]], found[directions[-1]])
