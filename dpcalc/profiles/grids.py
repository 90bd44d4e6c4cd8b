"""The grids that a composition is rounded to: as fine as a question wants by a tilt that leaves them in memory."""

from __future__ import annotations

from math import inf

from dpcalc.profiles import scales
from dpcalc.profiles.asked import Asked
from dpcalc.profiles.finer import resolved_step
from dpcalc.profiles.law import TooLarge, imprecision
from dpcalc.profiles.rounding import Rounded, rounded_to_budget, steepest
from dpcalc.profiles.tilt import Cumulants, Parts, cumulants

ROUNDED = 0.7  # of the budget, for rounding to grids
SUM = 4e-16  # of log M, that its sum is off by
_AS_ROUNDING = 0.25  # of what rounding adds, for grids
_OVER = 4.0  # times the budget: without the largest losses the tilt may be so steep that grids as fine do not fit in memory
_FLATTER = 0.95  # of a tilt


def gridded(near: Parts, whole: Cumulants, question: Asked, bracket: bool, apart: bool) -> tuple[Cumulants, float, Rounded]:
    """The tilt, what rounding adds, and the grids. Pairs without their largest losses by the tilt for these, or by the flatter one for the
    `whole` pairs, where the first leads to much coarser grids than are wanted."""
    c = question.tilt_for(near)
    flatter = whole.tilt < _FLATTER * c.tilt
    try:
        return _at_tilt(near, c, question, bracket, apart, _OVER if flatter else inf)
    except TooLarge:
        if not flatter:
            raise
    try:
        return _at_tilt(near, cumulants(near, whole.tilt), question, bracket, apart, inf)
    except TooLarge:
        return _at_tilt(near, c, question, bracket, apart, inf)


def _at_tilt(near: Parts, c: Cumulants, question: Asked, bracket: bool, apart: bool, over: float) -> tuple[Cumulants, float, Rounded]:
    """The same by one tilt, or the steepest of use."""
    if c.tilt > steepest(near):
        c = cumulants(near, steepest(near))
    rounding = _rounding(near, c)
    budget, resolved = budget_of(question, c, 0.0 if bracket else rounding), resolved_step(near, c, question.aimed)
    if apart and c.deviation > 0:
        return c, rounding, scales.rounded(near, c, budget, resolved * question.coarser, question.cells)
    return c, rounding, rounded_to_budget(near, c, budget, bracket, question.tight, resolved, question.coarser, question.cells, over)


def taken_apart(parts: Parts, near: Parts, question: Asked) -> Parts | None:
    """The steps as pairs of large and small losses, or in blocks of blocks, where that is of use (scales) to what their grids may do, which
    are those of the pairs without their largest losses, `near`."""
    c = question.tilt_for(parts)
    resolved = resolved_step(parts, c, question.aimed) * question.coarser
    return scales.apart(parts, c, budget_of(question, question.tilt_for(near), _rounding(parts, c)), resolved)


def budget_of(question: Asked, c: Cumulants, rounding: float) -> float:
    """The change of log δ that grids may make: not less than a part of what rounding adds anyhow."""
    return max(min(ROUNDED * question.budget(c), question.finer), _AS_ROUNDING * rounding)


def _rounding(parts: Parts, c: Cumulants) -> float:
    """By how much log δ may be too low, before anything is added."""
    return sum(count * imprecision(pair, c.tilt) for pair, count in parts) + SUM * abs(c.log_total)
