"""What the bounds on a stream share: the noise level of every step, by a schedule that decays or a list."""

from __future__ import annotations

from math import ceil, e, exp, hypot, log, pi
from typing import Any, NamedTuple

from dpcalc.bounds.online._engine.sums import HEAD_TERMS, panel_factor
from dpcalc.bounds.pnsgd._engine.schedules import SHARES, half_reach, level_exact, log_x, rate
from dpcalc.bounds.pnsgd._engine.step import SETTING, STEP_SIZE, contraction_exact
from dpcalc.numerics.mp.memo import cached_by_precision

STREAM = ("levels", "lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity", "n", "index")
ASSUMPTIONS = (*SETTING, "records in a fixed order, one a step", STEP_SIZE)
EXAMPLE = ("online-noise --decay 2 --c1 9 --c2 9 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate 0.1 --n 1e6 "
           "--index 2 --epsilon 1")

# The least distances, in steps, of a singularity of the noise from the interval of an integral over the steps: one 5
# steps beside the interval changes the sum by e^{−2π·5} = 2e-14; with one 40 steps from an endpoint, every further term
# of Euler–Maclaurin there is smaller by a factor of 40².
_DISTANCE_FROM_PATH, _DISTANCE_FROM_ENDS = 5.0, 40.0
_NO_STEP = (0.0, 0.0, 0.0, 0.0)  # stands for D, η, β, ρ in a schedule that is used for its shape only


class Schedule(NamedTuple):
    """v_j = MD/(2η log(j^a/C1 + C2)) or σ_j = MD/(2η√W(j^{2a}/(2πC1²) + C2)): falls in j, defined for real j too.

    With x = j^a/C1 or j^{2a}/(2πC1²), 1/W(x + C2) is an analytic function of log x except at its pole log(−C2) and at
    the branch point log(−C2 − 1/e): it bends at x = C2 and x = C2 + 1/e, and is nearly constant below both. """

    noise: str
    half: float  # MD/(2η)
    c1: float
    c2: float
    decay: float
    step: tuple[float, float, float, float]  # D, η, β, ρ, for the printed formula

    def at(self, j: float) -> float:
        """The level of step j, rounded down."""
        return self.half / self._denominator(j) * (1 - 4e-15)

    def reach(self, j: float) -> float:
        """MD/(ησ_j), rounded up. It does not depend on M, D and η, as the noise is proportional to MD/η."""
        return 2 * self._denominator(j) * (1 + 4e-15)

    def _denominator(self, j: float) -> float:
        return SHARES[self.noise](self.decay * log(j), self.c1, self.c2)

    @property
    def shape(self) -> Schedule:
        """The schedule with MD/(2η) = 1, on which alone `reach` depends."""
        return self._replace(half=1.0, step=_NO_STEP)

    @property
    def rate(self) -> float:
        """d log x/d log j."""
        return self.decay * rate(self.noise)

    def log_x(self, j: float) -> float:
        return float(log_x(self.noise, self.decay * log(j), self.c1))

    def share(self, j: float) -> float:
        """x/(x + C2)."""
        return 1 / (1 + exp(min(log(self.c2) - self.log_x(j), 700.0))) if self.c2 > 0 else 1.0

    @property
    def panel_factor(self) -> float:
        """The ratio of the ends of a panel on which 12 Gauss–Legendre points integrate σ² to 1e-15."""
        return panel_factor(2 * self.rate)

    def head_terms(self, first: int, last: float) -> int:
        """The number of first steps that a sum adds term by term: those before the noise is smooth, or all steps where
        it is not smooth at the last one."""
        j, at_one = first + HEAD_TERMS, self.log_x(1)
        for bend in self._bends():
            step = exp(min((bend - at_one) / self.rate, 700.0))
            if j <= step < _DISTANCE_FROM_PATH * self.rate / pi:
                j = ceil(step)
        while not self._is_smooth(j):
            j += 1 + j // 100
        return j - first if self._is_smooth(last) else int(last) + 1 - first

    def _bends(self) -> list[float]:
        """The log x at which Gaussian noise bends; Laplace noise, a function of log(x + C2), bends at the first one."""
        return [log(c) for c in (self.c2, self.c2 + 1 / e) if c > 0]

    def _is_smooth(self, j: float) -> bool:
        """Whether an integral may have an endpoint at step j: all singularities, which lie at log x = bend ± iπ, are at
        least 40 steps away."""
        at = self.log_x(j)
        return j * hypot(min(abs(at - bend) for bend in self._bends()), pi) >= _DISTANCE_FROM_ENDS * self.rate

    def least_level(self, first: int, last: int) -> float:
        """The least level of the steps first..last."""
        return self.at(last)

    def least_noisy_step(self, first: int, last: int) -> int:
        """The step of first..last with the least level."""
        return last

    def exact(self, mp: Any, j: Any) -> Any:
        """The level of step j at high precision."""
        return _half_exact(mp, *self.step) * _exact(mp, self.noise, self.c1, self.c2, self.decay, j)


@cached_by_precision(20_000)  # every ε and every learning rate has the same levels
def _exact(mp: Any, noise: str, c1: float, c2: float, decay: float, j: Any) -> Any:
    """The level by the formula as published, with MD/(2η) = 1."""
    return level_exact(mp, noise, mp.mpf(j) ** mp.mpf(decay), mp.mpf(1), c1, c2)


@cached_by_precision()
def _half_exact(mp: Any, diameter: float, learning_rate: float, smoothness: float, strong_convexity: float) -> Any:
    """MD/(2η)."""
    contraction = contraction_exact(mp, learning_rate, smoothness, strong_convexity)
    return contraction * mp.mpf(diameter) / (2 * mp.mpf(learning_rate))


class Listed(NamedTuple):
    """One level for each step."""

    levels: tuple[float, ...]

    def at(self, j: float) -> float:
        return self.levels[int(j) - 1]

    def least_level(self, first: int, last: int) -> float:
        return min(self.levels[first - 1 : last])

    def least_noisy_step(self, first: int, last: int) -> int:
        return min(range(first, last + 1), key=self.at)

    def exact(self, mp: Any, j: Any) -> Any:
        return mp.mpf(self.levels[int(j) - 1])


Levels = Schedule | Listed


def schedule(noise: str, diameter: float, learning_rate: float, smoothness: float, strong_convexity: float, c1: float,
             c2: float, decay: float) -> Schedule:
    """The schedule of a run. Raises OutOfScope where M = 0: there is no noise then."""
    half = half_reach(diameter, learning_rate, smoothness, strong_convexity)
    return Schedule(noise, half, c1, c2, decay, (diameter, learning_rate, smoothness, strong_convexity))
