"""How fine the grids of a composition are to be for δ at ε, where a change of log M, which they are chosen by, does not say so."""

from __future__ import annotations

from math import inf

from dpcalc.profiles import tilt
from dpcalc.profiles.asked import NO_PRIVACY, Asked
from dpcalc.profiles.ends import largest_loss
from dpcalc.profiles.read import Reader
from dpcalc.profiles.rounding import Rounded, finest
from dpcalc.profiles.tilt import Cumulants, Parts

# Times the precision, of log δ and of ε: what grids may leave; from how many times as much on they are finer.
_LEFT, _LEFT_OF_EPSILON, _SEEN = 5.0, 3.0, 2.0
_AGAIN = 0.3  # as much less by another try
_STEEPER = 4.0  # a change of log δ, over that of log M, from which on that does not tell it
_AT_ONCE, _MOST_POINTS = 1 / 6, 40_000  # of the change of log M, by the next grids; points, from which on these would take long
_SHARES = 3.0  # times the change of log M by grids, is the budget that leads to these
_COARSE, _UNEVEN = 4.0, 0.01  # steps: an ε that near to 0 is between the first ones; of log δ, from one to the next
_RESOLVED = 50  # steps up to the ε asked about, where rare losses decide; finer ones magnify the rounding of transforms
_ASIDE = 0.1  # of ε, for a slope


def budget_for(question: Asked, upper: Reader, epsilon: float, both: Rounded, moved: float) -> float:
    """The budget of finer grids, where δ at ε falls far more steeply than the tilt says: what widens a sum of losses changes log δ, and
    log M, of which it `moved` that much, by the squares of these slopes. inf where grids are fine enough."""
    aside, least = max(_ASIDE * epsilon, both.step), question.epsilon is None and epsilon == 0
    if least or not epsilon + aside < NO_PRIVACY or moved <= 0 or sum(len(grid.weight) for grid, _ in both.single) >= _MOST_POINTS:
        return inf
    if (beyond := upper.log_delta(epsilon + aside)) == -inf:
        return inf
    slope = (upper.log_delta(epsilon) - beyond) / aside
    steeper = slope * (slope + 1) / (upper.tilt * (upper.tilt + 1))
    left = question.precision * (_AGAIN if question.finer < inf else 1.0)
    left *= _LEFT if question.epsilon is not None else _LEFT_OF_EPSILON * slope * epsilon
    wanted = left / (steeper * moved) if steeper > _STEEPER and steeper * moved > _SEEN * left else 1.0
    if 0 < epsilon < _COARSE * both.step and slope * both.step > _UNEVEN:
        wanted = min(wanted, epsilon / (2 * _COARSE * both.step))
    return max(wanted, _AT_ONCE) * _SHARES * moved if wanted < 1 else inf


def resolved_step(parts: Parts, c: Cumulants, epsilon: float | None) -> float:
    """The step that is wanted where rare losses decide, or those near the end of the range; inf elsewhere."""
    if not epsilon or not tilt.is_rare(parts, c):
        return inf
    left = largest_loss(parts) - epsilon
    return max((min(epsilon, left) if left > 0 else epsilon) / _RESOLVED, finest(parts))
