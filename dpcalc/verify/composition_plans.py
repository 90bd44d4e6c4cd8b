"""The plan of a numerical composition: its free choices, read from a witness and validated."""

from collections.abc import Mapping
from itertools import pairwise
from math import frexp, inf
from typing import Any, NamedTuple

from dpcalc.verify.unchecked import TooLong

MAX_GRID_POINTS = 400_000  # points of the grids of all parts together: this many are composed in about a minute
MAX_INDEX = 2**50  # of a grid point: (k ± 1/2)·step is then an exact double, and equal edges of cells are equal doubles


class Level(NamedTuple):
    """The grid points step·first, …, step·last. The step is a power of 2."""

    step: float
    first: int
    last: int


class Plan(NamedTuple):
    """The free choices of a composition.

    `tilt` is λ. `grids` has for each part the levels of its grid, from the finest to the coarsest. `windows` are the
    ranges of losses to which the levels of the sums are truncated, and `steps` the grid steps to which these levels are
    then coarsened, both in the order in which the composition needs them; `digits` says after how many of the binary
    digits of the number of equal losses that is done, after each of them where it says nothing.
    """

    tilt: float
    grids: tuple[tuple[Level, ...], ...]
    windows: tuple[tuple[float, float], ...]
    steps: tuple[float, ...]
    digits: tuple[int, ...] = ()


def read_plan(witness: Mapping[str, Any]) -> Plan:
    """Return the plan that a witness contains. Raises KeyError, TypeError or ValueError where that is invalid."""
    grids = tuple(tuple(Level(float(h), int(first), int(last)) for h, first, last in levels)
                  for levels in witness["grids"])
    windows = tuple((float(low), float(high)) for low, high in witness["windows"])
    plan = Plan(float(witness["tilt"]), grids, windows, tuple(map(float, witness["steps"])),
                tuple(map(int, witness.get("digits", ()))))
    levels = [level for levels in grids for level in levels]
    if not (0 < plan.tilt < inf and levels and all(map(_is_grid, grids)) and all(map(_is_power_of_two, plan.steps))
            and min(plan.digits, default=1) >= 1):
        raise ValueError("its grids are none")
    points = sum(level.last - level.first for level in levels)
    if points > MAX_GRID_POINTS:
        raise TooLong(f"its grids have {points} points, and grids of at most {MAX_GRID_POINTS} are checked")
    return plan


def _is_power_of_two(x: float) -> bool:
    return 0 < x < inf and frexp(x)[0] == 0.5


def _is_grid(levels: tuple[Level, ...]) -> bool:
    """Whether each level is within the range of the next coarser one, and begins and ends at points of that."""
    if not levels or not all(_is_power_of_two(level.step) and -MAX_INDEX <= level.first < level.last <= MAX_INDEX
                             for level in levels):
        return False
    for finer, coarser in pairwise(levels):
        ratio = coarser.step / finer.step
        if ratio <= 1 or finer.first % ratio or finer.last % ratio:
            return False
        if not coarser.first <= finer.first / ratio < finer.last / ratio <= coarser.last:
            return False
    return True
