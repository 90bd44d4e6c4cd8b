"""The free choices behind a composition, as a witness tells them: read, and made sure to be some."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import frexp, inf
from typing import Any, NamedTuple

from dpcalc.verify.unchecked import TooLong

MOST_POINTS = 400_000  # of the grids of all parts: they are composed in about a minute


class Level(NamedTuple):
    """The points step·first to step·last, a step being a power of 2."""

    step: float
    first: int
    last: int


class Plan(NamedTuple):
    """The tilt λ; of each part the levels of its grid, from the finest to the coarsest; and in the order in which they
    are asked for, from which to which loss levels of sums are kept, and the steps that they move to."""

    tilt: float
    grids: tuple[tuple[Level, ...], ...]
    windows: tuple[tuple[float, float], ...]
    steps: tuple[float, ...]


def plan(witness: Mapping[str, Any]) -> Plan:
    """Raises KeyError, TypeError or ValueError where a witness has none."""
    grids = tuple(tuple(Level(float(h), int(first), int(last)) for h, first, last in levels)
                  for levels in witness["grids"])
    windows = tuple((float(low), float(high)) for low, high in witness["windows"])
    found = Plan(float(witness["tilt"]), grids, windows, tuple(map(float, witness["steps"])))
    levels = [level for levels in grids for level in levels]
    if not (0 < found.tilt < inf and levels and all(map(_is_grid, grids)) and all(map(_is_power_of_two, found.steps))):
        raise ValueError("its grids are none")
    points = sum(level.last - level.first for level in levels)
    if points > MOST_POINTS:
        raise TooLong(f"its grids have {points} points, and grids of at most {MOST_POINTS} are checked")
    return found


def _is_power_of_two(x: float) -> bool:
    return 0 < x < inf and frexp(x)[0] == 0.5


def _is_grid(levels: tuple[Level, ...]) -> bool:
    """Whether each level is within the next one, which is coarser, and ends at points of it."""
    if not levels or not all(_is_power_of_two(level.step) and level.first < level.last for level in levels):
        return False
    for inside, level in pairwise(levels):
        ratio = level.step / inside.step
        if ratio <= 1 or inside.first % ratio or inside.last % ratio:
            return False
        if not level.first <= inside.first / ratio < inside.last / ratio <= level.last:
            return False
    return True
