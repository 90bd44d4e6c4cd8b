"""A pair that is dominated by a mechanism, from events that tell its two laws apart.

An event R has a probability under P and under Q. At γ = e^ε its advantage is v = P(R) − γQ(R), at least, and so the
profile is at least v − q(γ′ − γ) at every γ′, for an unknown q from q_low to q_high. This is at least the concave
function v − q_high·(γ′ − γ)₊ + q_low·(γ − γ′)₊. Two neighbours meet between their γ: chords between these points are
below the concave functions, and so below the profile. The complement of an event for (Q, P) is one for (P, Q). """

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, expm1, log1p
from typing import TYPE_CHECKING, NamedTuple

from dpcalc.pld.convex_minorant import Corner, pair_of_corners

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms
    from dpcalc.pld.sum_events import Event

LIGHT = 1e-10  # relative, subtracted from δ: more than rounding errors of the pair's masses, which are differences


class EventAt(NamedTuple):
    """An event which is nearly the best one at this γ = e^ε, and the step of its grid."""

    epsilon: float
    event: Event
    step: float


def pair_of_events(events: Sequence[EventAt], reverse: Sequence[EventAt]) -> Atoms:
    """A pair whose profile is at most that of (P, Q), and of (Q, P) in the reverse, from events for both with a
    positive advantage at increasing ε; the first one is at ε = 0."""
    first = events[0].event
    complement = first._replace(q_low=max(1 - first.p_high, 0.0), q_high=1 - first.advantage - first.q_low)
    meetings = _meetings(events)
    mirrored = _meetings((EventAt(0.0, complement, events[0].step), *(e for e in reverse if e.epsilon > 0)))
    found = pair_of_corners([*(_corner(*x).mirrored for x in reversed(mirrored)), *(_corner(*x) for x in meetings)])
    assert found.reverse is not None
    return replace(found, reverse=replace(found.reverse, attained=True), attained=True)


def _meetings(events: Sequence[EventAt]) -> list[tuple[float, float]]:
    """The ε > 0 at which the concave functions of neighbours meet, and lower bounds of δ; the last δ is 0."""
    found = list[tuple[float, float]]()
    for (left, event, _), (right, after, _) in pairwise(events):
        gap = expm1(right - left)  # of the γ, in units of γ on the left
        slope = exp(left) * (event.q_high - after.q_low)
        shift = (event.advantage - after.advantage - exp(left) * after.q_low * gap) / slope if slope > 0 else 0.0
        shift = min(max(shift, 0.0), gap)
        least = min(event.advantage - exp(left) * event.q_high * shift,
                    after.advantage + exp(left) * after.q_low * (gap - shift))
        found.append((left + log1p(shift), max(least, 0.0) * (1 - LIGHT)))
    end, event, _ = events[-1]
    return [*found, (end + log1p(event.advantage / event.q_high * exp(-end)), 0.0)]


def _corner(epsilon: float, delta: float) -> Corner:
    return Corner(epsilon, delta, -expm1(-epsilon) + exp(-epsilon) * delta)
