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
from dpcalc.profiles.rounding import STEEP, Rounded, finest, first_round
from dpcalc.profiles.tilt import Cumulants, Parts, chernoff, log_peak

_MOVED, _ROUNDS = 1.0, 3  # of log δ, by the grid; tries of one that samples need to be finer


def log_delta(parts: Parts, c: Cumulants, epsilon: float, depth: float) -> Bracket:
    """Chernoff's bound on a δ far below every double."""
    log_moment, infinite, told = _log_moment(parts, c, chernoff(c, epsilon) - depth, _MOVED)
    finite = log_moment - c.tilt * epsilon + log_peak(c.tilt) + 1e-13 * abs(c.tilt * epsilon)
    return Bracket(min(0.0, log_add(finite, infinite)), -inf, told)


def epsilon(parts: Parts, c: Cumulants, log_delta: float, depth: float, budget: float) -> Bracket | None:
    """The ε at δ by Chernoff's bound, where that and its grid move log δ by no more than the budget."""
    left = budget - c.prefactor - log_peak(c.tilt)
    if left < _MOVED or tilt.is_rare(parts, c):
        return None
    try:
        log_moment, infinite, told = _log_moment(parts, c, log_delta - depth, left)
    except TooLarge:
        return None
    if infinite >= log_delta:
        return None
    found = (log_moment + log_peak(c.tilt) - log_less(log_delta, infinite)) / c.tilt * (1 + 1e-13)
    return Bracket(max(0.0, found), 0.0, told)


def _log_moment(parts: Parts, c: Cumulants, log_tail: float, allowed: float) -> tuple[float, float, dict[str, Any]]:
    """log M of the composition from above, by laws on a grid that moves it by no more than is allowed, where memory allows that; and the
    log of what is infinite."""
    steps = sum(count for _, count in parts)
    parts = tuple((cut(pair, log_tail - log(steps)).pair, count) for pair, count in parts)
    step = min(max(2 * sqrt(allowed / (steps * c.tilt * (1 + c.tilt))), finest(parts)), STEEP / c.tilt)
    for _ in range(_ROUNDS):
        step, (grids, _, moved, _) = first_round(parts, c.tilt, step, [0.0] * len(parts), 40.0 + log(steps), False)
        if moved <= allowed:
            break
        step *= sqrt(allowed / moved) / 2
    total = sum(count * (g.log_total + g.lost) for g, count in grids) + c.tilt * misplaced(grids)
    told = witness(parts, c, Rounded(grids, [], step, step, grids, 0.0)) | {"chernoff": 1}
    return total + (QUADRATURE + 1e-15) * steps, log_infinite(parts), told
