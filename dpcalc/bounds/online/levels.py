"""The noise of every step: a schedule that decays, or a list."""

from __future__ import annotations

from math import inf, log
from typing import Any, NamedTuple

from dpcalc.bounds.pnsgd.schedules import LEVELS, half_reach, level_exact


class Schedule(NamedTuple):
    """v_j = MD/(2η log(j^a/C1 + C2)) or σ_j = MD/(2η√W(j^{2a}/(2πC1²) + C2)): falls in j, defined for real j too."""

    noise: str
    half: float  # MD/(2η)
    c1: float
    c2: float
    decay: float
    step: tuple[float, float, float, float]  # D, η, β, ρ, for the printed formula

    def at(self, j: float) -> float:
        """The level of step j, rounded down."""
        return LEVELS[self.noise](self.decay * log(j), self.half, self.c1, self.c2) * (1 - 4e-15)

    def least(self, first: int, last: int) -> float:
        """The least level of steps first..last."""
        return self.at(last)

    def quietest(self, first: int, last: int) -> int:
        """The step with that level."""
        return last

    def exact(self, mp: Any, j: Any) -> Any:
        from dpcalc.bounds.pnsgd.step import contraction_exact

        diameter, learning_rate, smoothness, strong_convexity = self.step
        half = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / (2 * mp.mpf(learning_rate))
        return level_exact(mp, self.noise, mp.mpf(j) ** mp.mpf(self.decay), half, self.c1, self.c2)


class Listed(NamedTuple):
    """One level a step."""

    levels: tuple[float, ...]
    decay: float = inf

    def at(self, j: float) -> float:
        return self.levels[int(j) - 1]

    def least(self, first: int, last: int) -> float:
        return min(self.levels[first - 1 : last])

    def quietest(self, first: int, last: int) -> int:
        return min(range(first, last + 1), key=self.at)

    def exact(self, mp: Any, j: Any) -> Any:
        return mp.mpf(self.levels[int(j) - 1])


Levels = Schedule | Listed


def schedule(noise: str, diameter: float, learning_rate: float, smoothness: float, strong_convexity: float, c1: float, c2: float,
             decay: float) -> Schedule:
    """Raises OutOfScope where M = 0: there is no noise then."""
    half = half_reach(diameter, learning_rate, smoothness, strong_convexity)
    return Schedule(noise, half, c1, c2, decay, (diameter, learning_rate, smoothness, strong_convexity))
