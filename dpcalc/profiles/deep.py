"""Chernoff's bound on a composition: for a δ far below every double, or an ε so large that it is close enough."""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Any

from dpcalc.profiles import tilt
from dpcalc.profiles.bracket import Bracket, witness
from dpcalc.profiles.cut import cut
from dpcalc.profiles.ends import log_infinite
from dpcalc.profiles.law import QUADRATURE, TooLarge, misplaced
from dpcalc.profiles.read import log_add, log_less
from dpcalc.profiles.rounding import STEEP, Grids, Rounded, finest, first_round
from dpcalc.profiles.tilt import Cumulants, Parts, chernoff, log_peak

_STEP = 2.0  # over what a step's rounding moves log M by 1 with
_LEFT = 1.0  # of log δ, of the budget, for the grid; a smaller one is not worth a try
_PLACES = 1e-9  # of ε: the places of losses in the millions are not known as well as sums of them
_SHARE, _ROUNDS, _CELLS = 0.1, 3, 1 << 20  # of what is left, for the grid, if that is more; tries; points


def log_delta(parts: Parts, c: Cumulants, epsilon: float, depth: float) -> Bracket:
    """Chernoff's bound on a δ far below every double."""
    near = _cut(parts, chernoff(c, epsilon) - depth)
    step, (grids, *_) = _rounded(near, c, _STEP / sqrt(_curvature(near, c)))
    finite = _log_moment(grids, c) - c.tilt * epsilon + log_peak(c.tilt) + 1e-13 * abs(c.tilt * epsilon)
    return Bracket(min(0.0, log_add(finite, log_infinite(near))), -inf, _told(near, c, grids, step))


def close_epsilon(parts: Parts, c: Cumulants, log_delta: float, depth: float, budget: float) -> Bracket | None:
    """The ε at δ by Chernoff's bound, where that and its grid move log δ by no more than the budget."""
    left = budget - max(0.0, c.prefactor + log_peak(c.tilt))
    return None if left < _LEFT or tilt.is_rare(parts, c) else epsilon(parts, c, log_delta, depth, left)


def epsilon(parts: Parts, c: Cumulants, log_delta: float, depth: float, left: float = _LEFT) -> Bracket | None:
    """The same, where its grid alone moves log δ by no more than is left."""
    near = _cut(parts, log_delta - depth)
    infinite = log_infinite(near)
    found = _close_grid(near, c, left) if infinite < log_delta else None
    if found is None:
        return None
    step, grids = found
    least = (_log_moment(grids, c) + log_peak(c.tilt) - log_less(log_delta, infinite)) / c.tilt * (1 + _PLACES)
    return Bracket(max(0.0, least), 0.0, _told(near, c, grids, step))


def _close_grid(parts: Parts, c: Cumulants, left: float) -> tuple[float, Grids] | None:
    """One that moves log M by a small share of what is left, or not more than that where it would have many points; None where that is so
    of those."""
    wanted = max(_LEFT, _SHARE * left)
    step = min(max(_STEP * sqrt(wanted / _curvature(parts, c)), finest(parts)), STEEP / c.tilt)
    for k in range(_ROUNDS):
        try:
            step, (grids, _, moved, _) = _rounded(parts, c, step)
        except TooLarge:
            return None
        finer = sqrt(wanted / moved) / 2 if moved > wanted else 1.0
        if finer == 1 or k == _ROUNDS - 1 or max(len(grid.weight) for grid, _ in grids) > _CELLS * finer:
            break
        step *= finer
    return (step, grids) if moved <= left else None


def _cut(parts: Parts, log_tail: float) -> Parts:
    steps = sum(count for _, count in parts)
    return tuple((cut(pair, log_tail - log(steps)).pair, count) for pair, count in parts)


def _curvature(parts: Parts, c: Cumulants) -> float:
    return sum(count for _, count in parts) * c.tilt * (1 + c.tilt)


def _rounded(parts: Parts, c: Cumulants, step: float) -> tuple[float, tuple[Grids, Grids, float, float]]:
    steps = sum(count for _, count in parts)
    return first_round(parts, c.tilt, step, [0.0] * len(parts), 40.0 + log(steps), False)


def _log_moment(grids: Grids, c: Cumulants) -> float:
    """log M of the composition, from above."""
    steps = sum(count for _, count in grids)
    return sum(count * (g.log_total + g.lost) for g, count in grids) + c.tilt * misplaced(grids) + (QUADRATURE + 1e-15) * steps


def _told(parts: Parts, c: Cumulants, grids: Grids, step: float) -> dict[str, Any]:
    return witness(parts, c, Rounded(grids, [], step, step, grids, 0.0)) | {"chernoff": 1}
