"""The grids on which a witness says that a composition is made: the free choices, read and made sure to be some."""

from __future__ import annotations

from fractions import Fraction
from math import inf, prod
from typing import Any, NamedTuple

from dpcalc.verify.cells import Grid
from dpcalc.verify.unchecked import TooLong

MOST_CELLS = 1_000_000
_FARTHEST = 1e10  # of a loss on a grid
_MULTIPLE = 1e-9  # of a step, from a multiple of a finer one


class Level(NamedTuple):
    """Blocks that are composed first, and rounded to a step that is coarser by the ratio, on grids with these offsets."""

    block: int
    ratio: int
    offsets: tuple[float, ...]


class Plan(NamedTuple):
    """The witness: λ, and for each part a grid, its step, and the levels of blocks that are composed first."""

    tilt: float
    grids: tuple[Grid, ...]
    steps: tuple[float, ...]
    levels: tuple[tuple[Level, ...], ...]

    @property
    def step(self) -> float:
        """That of all grids. Raises ValueError where they have different ones."""
        if len(set(self.steps)) > 1:
            raise ValueError("its grids have different steps")
        return self.steps[0]

    @property
    def last(self) -> Fraction:
        """The step of what is composed last, exactly. Raises ValueError where parts end on different ones."""
        found = {Fraction(step) * prod(level.ratio for level in levels) for step, levels in zip(self.steps, self.levels, strict=True)}
        if len(found) != 1:
            raise ValueError("its parts end on different grids")
        return found.pop()


def plan(witness: Any) -> Plan:
    """From a row's witness, the grids a point longer at both ends (an atom on a grid point may be just beside it).

    Raises KeyError, TypeError or ValueError where it is none."""
    grids = tuple(Grid(float(o), int(f) - 1, int(n) + 2, float(t)) for o, f, n, _, t in witness["grids"])
    steps, tilt = tuple(float(h) for _, _, _, h, _ in witness["grids"]), float(witness["tilt"])
    sane = all(g.points >= 2 and 0 < h < inf and abs(g.offset) + abs(g.first) * h < _FARTHEST for g, h in zip(grids, steps, strict=True))
    if not (0 < tilt < inf and grids and sane):
        raise ValueError("its grid is none")
    if sum(g.points for g in grids) > MOST_CELLS:
        raise TooLong(f"its grids have {sum(g.points for g in grids)} points, and grids of at most {MOST_CELLS} are checked")
    told = witness.get("levels", [[] for _ in grids])
    found = Plan(tilt, grids, steps, tuple(_levels(part, first) for part, first in zip(told, steps, strict=True)))
    if not found.last > 0:  # it raises where parts end on different steps
        raise ValueError("its grid is none")
    return found


def _levels(told: Any, first: float) -> tuple[Level, ...]:
    """Steps are told as doubles; taken are the multiples that they are meant to be, exactly."""
    found, before = [], first
    for block, step, *offsets in told:
        ratio = round(float(step) / before)
        if not (int(block) >= 1 and ratio >= 1 and abs(float(step) / before - ratio) < _MULTIPLE):
            raise ValueError("its coarse grid is no multiple of the fine one")
        found.append(Level(int(block), ratio, tuple(float(x) for x in offsets)))
        before = float(step)
    return tuple(found)
