"""The pair of a privacy profile that is bounded at some ε: which ε, so that chords between them change the loss by
little, and both directions together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, expm1, inf, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from dpcalc.pld import convex_minorant

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms, Point

PRECISION = 1.2e-4  # relative change of δ at ε = 0 by grids; further out it is as large as changes ε by as much
SPACING = 1 / 24  # of the ε at which δ is computed, in deviations of the loss: chords change ε by 2e-4 of it
CURVATURE = 1e-3  # 8 times the relative change of ε by a chord that is allowed for small δ
SHIFT = 3e-3  # 8 times the mean shift of a loss by a chord, relative to the loss
FAR = 25.0  # log of δ(0)/δ from which on gaps grow in proportion to it: such δ matter for rare questions only
MOST_POINTS = 1000
MINOR = 0.7  # log of the ratio of the δ of both directions from which on the smaller one matters less
UNNEEDED = 10.0  # in units of the tail: the δ at which points end


def walk(log_delta: Callable[[float, float, float], float], guess: float, tail: float, last_epsilon: float,
         coarse: float = 1.0) -> None:
    """Compute log δ at ε = 0 and at larger ε until δ is about the tail, or ε the last one. Any ε are valid. With gaps
    that are `coarse` times as wide, all errors are about the square of that as large."""
    square = coarse * coarse
    first = log_delta(0.0, PRECISION * square, guess)
    if first <= log(UNNEEDED * tail):
        return
    deviation = 2 * NormalDist().inv_cdf((1 + min(exp(first), 1 - 1e-9)) / 2)  # of the Gaussian pair with this δ(0)
    epsilon, last, slope = 0.0, first, 1 / deviation
    for _ in range(MOST_POINTS):
        gap = max(coarse * SPACING * deviation, sqrt(CURVATURE * square * epsilon / slope))
        gap *= max(1.0, (first - last) / FAR)
        gap = min(gap, sqrt(SHIFT * square * (epsilon + deviation * deviation / 2)), last_epsilon - epsilon)
        if gap <= 0:
            return
        epsilon += gap
        precision = PRECISION * square * (1 + first - last)
        found = min(log_delta(epsilon, precision, exp(last - min(slope * gap, 1.0))), last)
        if found <= log(UNNEEDED * tail):
            return
        slope = max((last - found) / gap / max(-expm1(found), 1e-9), 0.1 / (epsilon + deviation))  # of log δ/(1 − δ)
        last = found


def pair_of_directions(log_delta: Callable[[int, float, float, float], float], directions: Sequence[int], guess: float,
                       tail: float, last_epsilon: float, coarse: float) -> Atoms:
    """The pair of upper bounds log_delta(direction, ε, precision, about δ) in one direction, or in both. Its profile
    is their convex minorant. The direction with the smaller δ is computed at every second ε."""
    found: dict[int, list[Point]] = {direction: [] for direction in directions}
    due = dict.fromkeys(directions, True)

    def compute(direction: int, epsilon: float, precision: float, expected: float) -> None:
        past = found[direction]
        last = past[-1][1] if past else inf
        if len(past) > 1:
            slope = (last - past[-2][1]) / (past[-1][0] - past[-2][0])
            expected = exp(last + max(slope * (epsilon - past[-1][0]), -1.0))
        past.append((epsilon, min(log_delta(direction, epsilon, precision, expected), last)))

    def largest(epsilon: float, precision: float, expected: float) -> float:
        top = max((past[-1][1] for past in found.values() if past), default=0.0)
        for direction, past in found.items():
            if not past or (past[-1][1] > log(tail) and (due[direction] or past[-1][1] > top - MINOR)):
                compute(direction, epsilon, precision, expected)
                due[direction] = False
            else:
                due[direction] = True
        return max(past[-1][1] for past in found.values())

    walk(largest, guess, tail, last_epsilon, coarse)
    return convex_minorant.pair_of_points(found[directions[0]], found[directions[-1]])
