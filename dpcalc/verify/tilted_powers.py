"""Sums of many independent variables on a grid, by powers of Fourier transforms; no code of the calculator.

The masses m_k at the points k of a grid are tilted: w_k = m_k e^{ak}/N with a number N such that they add up to about
1. The power of a transform of length n of the tilted masses is that of the sum. The errors of all steps are bounded in
ℓ2. A transform of length n changes a vector of norm |w| by at most η|w| (Higham 2002, Theorem 24.2), with the transform
scaled to preserve norms. A power F^t changes by at most t·|F|^{t−1} times the change of F, and |F| <= Σw; a product of
powers, by the sum of these changes, each times the other powers. The window keeps the sums from `low` to `high`; by
Chernoff's bounds the tilted masses beyond both ends are at most `outside`. Masses beyond the ends fall on points inside
of the window, which only adds to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, floor, inf, log, log1p, log2, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import UNIT
from dpcalc.verify.unchecked import TooLong

if TYPE_CHECKING:
    from dpcalc.pld.tilted_sums import Grid, Window


FFT_ERROR = 8 * UNIT  # for each factor of 2 in the length; the theorem has 6.7
MAX_POINTS = 1 << 22  # of a transform, which takes a second
ROUNDING = 1e-13  # relative: more than that of a few operations on doubles
SMALLEST_POWER = 1e-40  # smaller powers are set to 0


class Law(NamedTuple):
    """Masses e^{log_scale − a·k}·weight at the points k = first + i. The true weights are within a factor 1 ± relative
    of numbers that differ from `weight` by a vector of norm `error` at most; those at other points add up to at most
    `outside`."""

    first: int
    weight: Array
    log_scale: float
    relative: float
    error: float = 0.0
    outside: float = 0.0

    def factors(self, a: float) -> Array:
        k = self.first + np.arange(len(self.weight))
        return np.asarray(np.exp(np.minimum(self.log_scale - a * k, LARGEST_EXPONENT)))

    def rounding(self, a: float) -> float:
        """The relative error of sums of masses."""
        farthest = max(abs(self.first), abs(self.first + len(self.weight)))
        return self.relative + UNIT * (4 * abs(self.log_scale) + 4 * a * farthest + len(self.weight) + 40)


Laws = Sequence[tuple[Law, int]]  # independent variables, and how many copies of each are in a sum


def norm(x: Array) -> float:
    return sqrt(float(np.add.reduce(x * x))) * (1 + 1e-9)


def tilted(first: int, masses: Array, a: float, relative: float) -> Law:
    """Return masses with a relative error in tilted form."""
    exponent = a * (first + np.arange(len(masses)))
    top = float(exponent[masses > 0].max())
    weight = masses * np.exp(np.minimum(exponent - top, 0.0))
    total = float(weight.sum())
    relative += UNIT * (8 * float(np.abs(exponent).max()) + 8 * abs(log(total)) + 40)
    return Law(first, weight / total, top + log(total), relative)


def power(laws: Laws, window: Window, step: float) -> Law:
    """Return the law of the sum of independent copies of each law on a grid with this step, in a window with a tilted
    mass of at most e^−log_outside beyond either end, by the rates r > 0 in E e^{±rS}."""
    low, high = (sign * _end(laws, sign * rate * step, window.log_outside)
                 for sign, rate in zip((-1, 1), window.rates, strict=True))
    size = max(high - low + 1, *(len(one.weight) for one, _ in laws))
    n = min(k << max(1, (-(-size // k) - 1).bit_length()) for k in (1, 3, 5, 9, 15))
    if n > MAX_POINTS:
        raise TooLong(f"its sums have {size} points, and sums of at most {MAX_POINTS} are checked")
    eta = FFT_ERROR * (log2(n) + 2)
    product, first, log_scale, relative, number = np.ones(1), 0, 0.0, 0.0, 0
    error, most = 0.0, 1.0
    for one, count in laws:
        transform = np.fft.rfft(one.weight, n)
        size_of = np.abs(transform)
        transform[size_of < SMALLEST_POWER ** (1 / count)] = 0.0
        change = sqrt(n) * (eta * norm(one.weight) + one.error)  # of the transform, in ℓ2 and so at every point
        largest = max(float(size_of.max()), 1.0) + change
        product = product * _whole_power(transform, count)
        error, most = error + count * change / (largest * sqrt(n)) + SMALLEST_POWER, most * largest**count
        first, log_scale, number = first + count * one.first, log_scale + count * one.log_scale, number + count
        relative += count * one.relative
    weight = np.fft.irfft(product, n)
    error = error * most + (eta + 8 * UNIT * (number + len(laws))) * norm(weight)
    weight = np.roll(weight, (first - low) % n)
    relative *= 1 + 2 * relative  # (1 + x)^t − 1 against tx
    return Law(low, np.maximum(weight, 0.0), log_scale, relative, error * (1 + relative), 4 * exp(-window.log_outside))


def _end(laws: Laws, rate: float, log_outside: float) -> int:
    """Return the distance of an end of the window from 0, by Chernoff's bound."""
    log_moment = log1p(1e-9)
    for one, count in laws:
        exponent = rate * (one.first + np.arange(len(one.weight)))
        top = float(exponent[one.weight > 0].max())
        total = float(np.add.reduce(one.weight * np.exp(np.minimum(exponent - top, 0.0))))
        log_moment += count * (top + log(total) + UNIT * (len(exponent) + 4 * abs(top) + 20))
    return int((log_moment + log_outside) / abs(rate) + 2)


def _whole_power(x: Array, count: int) -> Array:
    result = None
    for digit in bin(count)[2:]:
        result = x if result is None else result * result * x if digit == "1" else result * result
    if result is None:
        raise ValueError("a power of 0")
    return result


# --- upper bounds of E(c + ΣD)₊ ---------------------------------------------------------------------------------------

# (·)₊ is convex, increases, and is subadditive. So masses may be split between two points of a grid with their mean
# kept, values below the grid may be raised to its lowest point, and values above it may be capped, where
# E(D − highest)₊ is added. Grids and tilts are choices of which any is valid.


class Summand(NamedTuple):
    """`copies` of a variable: masses at points, rounded up, and an upper bound of E(D − last point)₊ for each."""

    places: Array
    masses: Array
    excess: float
    copies: int


def mean_of_positive_part(grid: Grid, summands: Sequence[Summand], constant: float = 0.0) -> float:
    """Return an upper bound of the mean of (constant + ΣD)₊; ∞ where this grid gives none."""
    step, a = grid.step, grid.tilt * grid.step
    paid = sum(x.copies * (x.excess + float((x.masses * np.maximum(x.places - grid.high, 0.0)).sum())
                           * (1 + ROUNDING * len(x.places))) for x in summands)
    total = power([(_on_grid(grid, x), x.copies) for x in summands], grid.window, step)
    points = step * (total.first + np.arange(len(total.weight)))
    values = constant + points + 4 * UNIT * (abs(constant) + np.abs(points))
    if values[0] > 0:  # sums below the window may be positive
        return inf
    begin = int(np.searchsorted(values, 0.0, "right"))
    factors = values[begin:] * total.factors(a)[begin:]
    inside = float((total.weight[begin:] * factors).sum()) * (1 + total.rounding(a))
    # Above the window the mean is at most the outside mass times the largest v·e^{−(θ+r)(v − last)} for v >= last.
    last = max(float(values[-1]), 1 / (grid.tilt + grid.window.rates[1]))
    beyond = last * float(total.factors(a)[-1]) * total.outside
    return float(inside + total.error * norm(factors) + beyond + paid) * (1 + ROUNDING)


def _on_grid(grid: Grid, x: Summand) -> Law:
    step = grid.step
    first, size = floor(grid.low / step), ceil(grid.high / step) - floor(grid.low / step) + 2
    place = x.places.clip(grid.low, grid.high) / step
    place = place - first + 8 * UNIT * (np.abs(place) + abs(first) + 1)
    cell = np.minimum(place.astype(np.intp), size - 2)
    share = np.minimum(place - cell, 1.0)
    on_grid = np.bincount(cell, x.masses * (1 - share), size) + np.bincount(cell + 1, x.masses * share, size)
    return tilted(first, on_grid, grid.tilt * step, (len(x.places) + 10) * UNIT)
