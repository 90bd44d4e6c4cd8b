"""How --solve through epochs ends in time: at what meets the budget so far, and by last steps that ε itself tells. No I/O."""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING

from dpcalc.solving import moved
from dpcalc.solving_away import LONGEST, NEAR
from dpcalc.solving_met import LONGER, MOST_WORK, is_late, is_time_for

if TYPE_CHECKING:
    from dpcalc.solving_composed import Search

Ends = dict[bool, tuple[float, float]]  # met? → (x, gap)
_ENOUGH_WORK = 1e7  # units, after which last steps are tried; later where they are not near
_SHY, _MISSES, _WORTH = 0.85, 2, 6e-3  # of a last step; that lead too far; in log x, of another one
_TINY = 1e-3  # an ε that δ tells less about: the first step may well lead too far
_AGAIN = 0.02  # of log x: a step that long is tried at any rate where the first one, twice that, led too far
_FARTHER = 2.0  # times the step before, at most
_OTHER, _STEEP = 3.0, 3.5  # of a gap: so much farther ε itself is from the budget than δ says; its slope then, about, in log x
_FAR = 0.06  # of ε, below the budget: longer work is worth another step


def has_worked_enough(search: Search, ends: Ends) -> bool:
    """Whether the search may be left at what meets the budget so far, and last steps from it: by another look, which takes as long as the
    last one. Later where that is not near."""
    if True not in ends:
        return False
    near = not search.is_small_count(ends[True][0]) and _by_slope(search, ends) < NEAR
    last = search.last_gap
    return search.work + last > (_ENOUGH_WORK if near else MOST_WORK) * search.patience or is_late(search, 2)


def leap(search: Search, ends: Ends) -> float:
    """Last steps from what meets the budget, most of the way to where the slope, or the bracket, leads, as long as ε itself is below it
    there; half as far where it is above. To the end of the range, where no step says how far it is."""
    (x, gap), by = ends[True], min(_SHY * _by_slope(search, ends), LONGEST)
    if by == LONGEST and False not in ends and (y := moved(search.unknown, x, -inf)) != x and search.meeting(y):
        return y
    if is_late(search, 2 if search.target < _TINY else 1):
        return x
    last, slope, missed = -inf, search.slope, 0
    least = search.width if search.work < MOST_WORK else _WORTH
    while not search.is_small_count(x) and by > least and (y := moved(search.unknown, x, -by)) != x and missed < _MISSES:
        if row := search.meeting(y):
            x, before, last, least = y, last, search.log_ratio(row), _WORTH
            steep = _STEEP if last < _OTHER * (1 - _SHY) * gap else 0.0
            slope = (last - before) / by if before > -inf else max(slope, steep)
            by = min(_SHY * -last / slope, _FARTHER * by) if slope > 0 else by / 2
            by = min(by, _SHY * abs(log(x / ends[False][0]))) if False in ends else by
        else:
            by, missed = by / 2, _MISSES if last > -inf else missed + 1
        again = last == -inf and missed == 1 and by > _AGAIN
        if last > -search.allowed or not (again or _is_worth_it(search, last)):
            break
    return x


def _is_worth_it(search: Search, last: float) -> bool:
    """Whether there is time for another step; a little more of it as long as ε is far below the budget."""
    return is_time_for(search, 1, LONGER if last < -_FAR else search.patience)


def _by_slope(search: Search, ends: Ends) -> float:
    """How far, in log x, the slope or the bracket leads from what meets the budget."""
    x, gap = ends[True]
    ways = [-gap / search.slope] if search.slope else []
    if False in ends:
        y, over = ends[False]
        ways.append(abs(log(y / x)) * (-gap / (over - gap) if over - gap < inf else 0.5))
    return min(ways, default=inf)
