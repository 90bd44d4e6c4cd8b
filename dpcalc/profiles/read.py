"""δ at ε, and ε at δ, of a composed law on a grid."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import exp, expm1, inf, log, log1p, sqrt

import numpy as np

from dpcalc.profiles.law import Grid
from dpcalc.profiles.tilt import log_peak

_TAIL = 60.0
_ULPS = 4e-16  # what the last sum and its logarithm are rounded by


class Reader:
    """log δ(ε) = log M − λε + log Σ w_j e^{−λ(ℓ_j − ε)}(1 − e^{−(ℓ_j − ε)}), plus (or less) the defect and what is infinite.

    `side` is +1 for an upper bound, −1 for a lower one.
    """

    def __init__(self, grid: Grid, tilt: float, log_infinite: float, slack: float, side: int) -> None:
        self.grid, self.tilt, self.side = grid, tilt, side
        self.log_infinite, self.slack = log_infinite, slack
        reach = min(len(grid.weight) + 1, int(_TAIL / (tilt * grid.step)) + 2)
        x = np.arange(reach) * grid.step
        self.kernel = np.exp(-tilt * x) * -np.expm1(-x)
        # A lost weight counts at most with the kernel's maximum; errors of all of them, by Cauchy and Schwarz, with its ℓ2 norm.
        self.added = self.side * (grid.defect * exp(log_peak(tilt)) + grid.noise * kernel_norm(tilt, grid.step))
        if side > 0:
            self.added += exp(-_TAIL) * min(1.0, _TAIL / tilt) * float(grid.weight.sum())
        self.start = grid.offset + grid.first * grid.step
        self.seen: dict[int, float] = {}

    def at_index(self, k: int) -> float:
        """log of the sum at the k-th grid point (before the tilt is undone), without defect."""
        if k not in self.seen:
            self.seen[k] = self._sum(k)
        return self.seen[k]

    def _sum(self, k: int) -> float:
        weight = self.grid.weight
        if k >= 0:
            part = weight[k + 1 : k + len(self.kernel)]
            total = float((part * self.kernel[1 : len(part) + 1]).sum())
        else:
            left, (all_of_it, first) = k * self.grid.step, self._from_start
            total = exp(self.tilt * left) * (-expm1(left) * all_of_it + exp(left) * first)
        return total

    @cached_property
    def _from_start(self) -> tuple[float, float]:
        """Σ w_j e^{−λx_j}, and that by 1 − e^{−x_j}, x_j being counted from the start: all sums from below that follow from these."""
        x = np.arange(len(self.grid.weight)) * self.grid.step
        decayed = self.grid.weight * np.exp(-self.tilt * x)
        return float(decayed.sum()), float((decayed * -np.expm1(-x)).sum())

    def log_delta(self, epsilon: float) -> float:
        return self._total(self._sum_above(epsilon), epsilon)

    def loose(self, epsilon: float) -> float:
        """What is added for errors, over the sum that it is added to."""
        found = self._sum_above(epsilon)
        return abs(self.added) / found if found > 0 else inf

    def _sum_above(self, epsilon: float) -> float:
        """Between grid points δ is linear in e^ε, exactly."""
        h = self.grid.step
        k = int((epsilon - self.start) // h)
        x = min(max(epsilon - self.start - k * h, 0.0), h)
        share = exp(x - h) * (expm1(-x) / expm1(-h))
        left, right = self.at_index(k), self.at_index(k + 1)
        # both undone to the tilt at ε
        return (1 - share) * left * exp(self.tilt * x) + share * right * exp(-self.tilt * (h - x))

    def _total(self, scaled: float, epsilon: float) -> float:
        scaled += self.added
        finite = (log(scaled) + self.grid.log_total - self.tilt * epsilon + self.side * self.slack) if scaled > 0 else -inf
        total = log_add(finite, self.log_infinite)
        return min(0.0, total + self.side * _ULPS * (1 - total)) if total > -inf else total

    def epsilon(self, log_delta: float) -> float:
        """Where the bound falls to δ, from its safe side; 0 where it is nowhere above, inf where it never falls so far."""
        low, high = self._above(log_delta), self.start + (len(self.grid.weight) + 1) * self.grid.step
        if low is None:
            return 0.0
        return inf if self.log_delta(high) > log_delta else self.between(low, high, log_delta)

    def between(self, low: float, high: float, log_delta: float) -> float:
        """The same between two ε, at the second of which the bound is not above δ."""
        h = self.grid.step
        while high - low > h:
            middle = self.start + round(((low + high) / 2 - self.start) / h) * h
            if not low < middle < high:
                break
            low, high = (middle, high) if self.log_delta(middle) > log_delta else (low, middle)
        for _ in range(60):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self.log_delta(middle) > log_delta else (low, middle)
        return high if self.side > 0 else low

    def _above(self, log_delta: float) -> float | None:
        """An ε >= 0 at which the bound is above δ. Far left of the law a lower bound is lost in the defect, so that it is
        tried from the middle on."""
        if self.log_delta(0.0) > log_delta:
            return 0.0
        if self.side > 0:
            return None
        mean, variance = self.grid.moments()
        tries = (mean - k * variance**0.5 for k in (-2, -1, -0.5, 0, 0.5, 1, 2, 3, 5))
        return next((x for x in tries if x > 0 and self.log_delta(x) > log_delta), None)


def kernel_norm(tilt: float, step: float) -> float:
    """Not less than (Σ_j k(x + j·step)²)^½ for any x, k(x) = e^{−λx}(1 − e^{−x}) over x >= 0: a sum of a function that rises and falls is
    at most its integral over the step, and its maximum."""
    a = 2 * tilt
    return sqrt(2 / (a * (a + 1) * (a + 2) * step) + exp(2 * log_peak(tilt)))


def log_add(a: float, b: float) -> float:
    top, low = max(a, b), min(a, b)
    return top if low == -inf else top + log1p(exp(low - top))


def log_less(a: float, b: float) -> float:
    """log(e^a − e^b); −inf where that is not positive."""
    return a + log(-expm1(b - a)) if a > b else -inf


def log_sum(logs: Iterable[float]) -> float:
    total = -inf
    for x in logs:
        total = log_add(total, x)
    return total
