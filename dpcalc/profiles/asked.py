"""What is asked of a composition, and what that allows: the tilt, and by how much grids may change log δ."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from dpcalc.profiles import tilt
from dpcalc.profiles.tilt import Cumulants, Parts

PRECISION = 1e-3
SEEN = 1e-7  # of δ, that errors of transforms may make
ROUGHER = 10.0  # times the precision, for ε without a sense
_LEAST_BUDGET = 1e-4  # of log δ, for a try at one rare loss
_STEEP = 100.0  # of ε times the tilt: the precision of ε is enough from there on
NO_PRIVACY, _SENSELESS, _ABSURD = 1e3, 1e4, 1e7  # of ε: the rougher precision of log δ is enough from there on, that of ε; twice so


class Asked(NamedTuple):
    """One of ε and log δ; the other is asked for."""

    epsilon: float | None
    log_delta: float | None
    precision: float
    aim: float | None = None  # the ε that the tilt makes typical, where it is not chosen from δ
    tight: bool = True  # whether a lower end needs a grid of its own
    seen: float = SEEN  # errors of δ that are looked at
    most: float = inf  # change of log δ that rounding may make, where ε allows more
    senseless: float = 1.0  # times the precision, for ε without a sense
    rougher: float = 1.0  # times what grids may change log δ by
    finer: float = inf  # change of log δ that grids may make, where a try before says that it takes finer ones
    cells: float = inf  # of a grid, at most: beyond, rounding may do more than that
    whole: bool = False  # steps are not taken apart, nor blocks of blocks composed

    @property
    def aimed(self) -> float | None:
        return self.epsilon if self.epsilon is not None else self.aim

    @property
    def coarser(self) -> float:
        """How much coarser a grid may be where less than the usual precision is wanted: errors of rounding are of second order."""
        return max(1.0, sqrt(self.precision / PRECISION))

    def tilt_for(self, parts: Parts) -> Cumulants:
        if self.aimed is None:
            return tilt.for_delta(tuple(parts), self.log_delta or 0.0)
        return tilt.for_epsilon(tuple(parts), self.aimed)

    def single(self, parts: Parts) -> float | None:
        """The ε at δ where one rare loss may decide it."""
        if self.log_delta is None or not tilt.is_rare(parts, self.tilt_for(parts)):
            return None
        single = tilt.of_single_loss(parts, self.log_delta)
        return single if 0 < single < inf else None

    def log_delta_near(self, parts: Parts, c: Cumulants) -> float:
        """log δ at the ε asked about, roughly."""
        epsilon = self.epsilon or 0.0
        near = min(0.0, c.log_total - c.tilt * epsilon - c.prefactor)
        single = tilt.of_single_losses(parts)(epsilon) if tilt.is_rare(parts, c) else -inf
        return min(near, single) if single > -inf else near

    def budget(self, c: Cumulants) -> float:
        """The change of log δ that the precision allows."""
        if self.epsilon is not None:
            return self.rougher * self.precision * (self.senseless if self.epsilon > NO_PRIVACY else 1.0)
        rougher = self.senseless ** ((c.mean > _SENSELESS) + (c.mean > _ABSURD))
        found = self.rougher * self.precision * rougher * c.fall
        found = min(found, self.most) if found < _STEEP * self.precision and c.mean < NO_PRIVACY else found
        return found if self.aim is None else max(self.rougher * _LEAST_BUDGET, found)
