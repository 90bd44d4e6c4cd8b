"""Where --solve through a composed profile ends: at a value whose ε itself meets the budget, and not far below it. No I/O."""

from __future__ import annotations

from math import exp, expm1, inf, log
from typing import TYPE_CHECKING

from dpcalc.errors import OutOfScope
from dpcalc.numerics import work
from dpcalc.rows import Row
from dpcalc.solving import moved
from dpcalc.solving_unmet import none_meets

if TYPE_CHECKING:
    from dpcalc.solving_composed import Search

NO_PRIVACY = 1e3  # an ε, whose solution is looked for less closely from there on
SURELY = 2.0  # times as far as a secant says, where it bends
_STEEP, _FAST = 2.0, 16.0  # a slope of δ that may be none of ε; times a step, the next one
_LOOSE, _NOTHING, _BACK, _LITTLE = 0.01, 100.0, 0.0015, 1e-6  # of a gap; of log x; of a slope
_CLOSE_BY = 4e-3  # of log x, from a value whose ε is above the budget: little is gained any more
_NEAR_ABOVE = 1.0  # of log ε
_FEW = 3  # steps, after which they grow faster: there is no slope
_AGAIN = 2  # evaluations that are to be expected where ε itself is looked for
MOST_WORK, LONGER = 1.2e7, 1.2  # no more work is begun; times as much, where ε is far below the budget
ALL_WORK = 2e7  # the same, with that of basic composition and of looks before the search


def met(search: Search, x: float) -> tuple[float, Row]:
    """x, or next to it, where ε itself meets the budget: with a lower value, or from δ, it may be computed on another grid."""
    row = search.forward(x, True)
    before, by = inf, 0.0
    for k in range(10):
        gap = search.log_ratio(row)
        if gap <= 0:
            worth = gap < -_LOOSE and before < inf and is_time_for(search, 1, LONGER)
            return _nearer(search, x, row, by, before) if worth else (x, row)
        search.over = x
        secant = by * (gap + search.tolerance / 2) / (before - gap) if gap < before < inf else 0.0  # a cliff of δ may be none of ε
        farther = 2 ** (k + 2 * max(0, k - _FEW)) * (gap + search.tolerance) * (SURELY if is_late(search, _AGAIN) else 1.0)
        before, by = gap, max(farther / max(1.0, min(search.slope, _STEEP)), min(secant, _FAST * by))
        y = moved(search.unknown, x, by)
        if y == x:
            raise none_meets(search.route, search.question, lambda best: search.forward(best, False), x)
        x, row = y, search.forward(y, True)
    raise OutOfScope("no-solution", f"{search.route.label} does not settle on a value that meets the budget", "--solve")


def is_time_for(search: Search, evaluations: int, times: float) -> bool:
    """Whether as many evaluations by ε itself are begun, with as many times the most work."""
    return search.work + evaluations * search.last_work <= times * MOST_WORK and not is_late(search, evaluations)


def is_late(search: Search, evaluations: int) -> bool:
    """Whether as many evaluations end after what a question about epochs may take."""
    return search.by_epochs and work.spent() + evaluations * max(search.last_work, search.last_gap) > ALL_WORK


def _nearer(search: Search, x: float, row: Row, by: float, before: float) -> tuple[float, Row]:
    """x, or where a secant meets the budget, between it and the last x, which was `before` above it: a tiny ε may change much, and end."""
    gap, above = search.log_ratio(row), before + search.tolerance / 2
    by_log = above / (before - gap) if gap > -_NOTHING else inf
    share = SURELY * min(by_log, expm1(above) / (exp(before) - exp(gap)) if before < _NEAR_ABOVE else inf)
    y = moved(search.unknown, x, -(1 - share) * by) if share < 1 else x
    other = search.meeting(y) if y != x else None
    return (y, other) if other else (x, row)


def slope_where_loose(search: Search, x: float, row: Row) -> float:
    """How log ε rises with less privacy, where δ led to an ε far below the budget, which a value a little less private meets, too: at a
    tiny ε, δ is known less well. 0 elsewhere, where ε has no sense, and where it is next to nothing: there it falls at once from far above
    the budget."""
    if not search.by_delta or search.target > NO_PRIVACY or search.is_small_count(x):
        return 0.0
    if search.over is not None and abs(log(x / search.over)) < _CLOSE_BY:
        return 0.0
    if not is_time_for(search, _AGAIN, search.patience):
        return 0.0
    if not -_NOTHING < (gap := search.log_ratio(row)) < -_LOOSE:
        return 0.0
    y = moved(search.unknown, x, -_BACK)
    try:
        other = search.log_ratio(search.forward(y, False)) if y != x else inf
    except (OutOfScope, OverflowError):
        return 0.0
    return max((other - gap) / abs(log(y / x)), _LITTLE) if other <= 0 else 0.0
