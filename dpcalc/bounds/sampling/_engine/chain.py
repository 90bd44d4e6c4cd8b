"""A pair that dominates what a group of K records loses, from the pairs of a run for one record.

On a chain of data sets in which neighbours differ in one record, a run with δ(ε) for one record has
δ(ε)(e^{Kε} − 1)/(e^ε − 1) at Kε for K records, for every ε and in both directions (see
dpcalc/bounds/conversions/group_privacy.py). The convex minorant of these points is the profile of a pair. """

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from typing import TYPE_CHECKING

from dpcalc.bounds.conversions.group_privacy import of_group

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

_POINTS = 200  # at which the profile of one record is evaluated; any are valid, as chords between them are above it


def of_records(parts_of_one: Callable[[float], Parts], group_size: int, tail: float) -> Parts:
    """The pair of a run for groups of K records; parts_of_one(tail) are the pairs of a run for one record, with about
    that P-mass at an infinite loss."""
    if group_size == 1:
        return parts_of_one(tail)
    from dpcalc.pld.bracket import epsilon_at_delta, upper_profile
    from dpcalc.pld.profile_pairs import pair_of_points

    tail = min(tail, 1e-18)  # a group multiplies δ of one record by up to e^{(K−1)ε}
    parts = parts_of_one(tail)
    reverse = tuple((pair.reverse or pair, count) for pair, count in parts)
    least = 100 * tail * sum(count for _, count in parts)  # well above the mass at an infinite loss
    largest = epsilon_at_delta(parts, log(least), bracket=False).upper
    found = [[(0.0, 0.0)] for _ in range(2)]
    for points, directed in zip(found, (parts, reverse), strict=True):
        log_delta = upper_profile(directed, largest)
        for k in range(_POINTS + 1):
            epsilon = largest * k / _POINTS
            total, of_all = of_group(epsilon, exp(log_delta(epsilon)), group_size)
            points.append((total, min(of_all, points[-1][1])))
        del points[0]
    return ((pair_of_points(*found), 1),)
