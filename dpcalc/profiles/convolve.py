"""The law of a sum of many tilted losses, by one FFT."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, inf, log, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.profiles.law import Grid, Law, TooLarge

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

MOST_POINTS = 1 << 21  # of one transform: 16 MB an array
DEPTH = 34.0  # log of the weight that the window may lose
_EPSILON = 2.0**-52
_NEGLIGIBLE = 55.0
_TILTS = (8.0, 5.0, 2.5, 1.0, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003)  # over the standard deviation, for Chernoff's bound


def window(grids: Sequence[tuple[Grid, int]], depth: float) -> tuple[float, float]:
    """A range of the sum outside which, on either side, at most e^{−depth} of the weight lies (Chernoff's bound)."""
    mean, deviation = moments(grids)
    scale = max(deviation, grids[0][0].step)
    return mean - _reach(grids, -1, scale, depth), mean + _reach(grids, +1, scale, depth)


def _reach(grids: Sequence[tuple[Grid, int]], side: int, scale: float, depth: float) -> float:
    """The best of a few Chernoff bounds; for a law with rare large losses small tilts are tried too."""
    best = inf
    for k in _TILTS:
        theta = k / scale
        bound = (_log_moment(grids, side * theta) + depth) / theta
        if k < 1 and bound > best:
            break
        best = min(best, bound)
    return best


def moments(grids: Sequence[tuple[Grid, int]]) -> tuple[float, float]:
    """Mean and standard deviation of the sum under the tilt."""
    each = [(*grid.moments(), count) for grid, count in grids]
    return sum(m * c for m, _, c in each), sqrt(sum(v * c for _, v, c in each))


def _log_moment(grids: Sequence[tuple[Grid, int]], theta: float) -> float:
    """log E e^{θ(S − E S)} under the tilt."""
    total = 0.0
    for grid, count in grids:
        mean = grid.moments()[0]
        x = theta * (grid.losses() - mean)
        top = max(float(x[0]), float(x[-1]), 0.0)
        # Near 0 the logarithm is taken of 1 + a sum without its linear part, which cancels.
        total += count * (top + log(float(grid.weight @ np.exp(x - top))) if top > 1 else np.log1p(float(grid.weight @ np.expm1(x))))
    return total


def points(grids: Sequence[tuple[Grid, int]], depth: float = DEPTH) -> int:
    """The length of the transform that a composition needs."""
    low, high = window(grids, depth)
    return _fast_length(ceil((high - low) / grids[0][0].step) + 8)


def power(grids: Sequence[tuple[Grid, int]], depth: float = DEPTH) -> Grid:
    """The law of the sum of `count` copies of each grid (all of one step), as a grid."""
    step = grids[0][0].step
    if len(grids) == 1 and grids[0][1] == 1:
        return grids[0][0]
    low, high = window(grids, depth)
    size = _fast_length(ceil((high - low) / step) + 8)
    if size > MOST_POINTS:
        raise TooLarge("no-solution", "the grid of losses would not fit in memory")
    # Coefficients whose product is below e^{−_NEGLIGIBLE} are left out; all are at most 1.
    kept = np.arange(size // 2 + 1)
    log_size, angle = np.zeros(len(kept)), np.zeros(len(kept))
    start, steps = 0, 0
    for grid, count in grids:
        centre = round((grid.moments()[0] - grid.offset) / step)
        spectrum = np.fft.rfft(_wrapped(grid, centre, size))[kept]
        square = spectrum.real**2 + spectrum.imag**2
        large = square > exp(-2 * _NEGLIGIBLE / count)
        kept, spectrum = kept[large], spectrum[large]
        log_size = log_size[large] + count / 2 * np.log(square[large])
        angle = angle[large] + count * np.angle(spectrum)
        start += count * centre
        steps += count
    product = np.zeros(size // 2 + 1, complex)
    absolute = np.exp(log_size)
    product[kept] = absolute * np.exp(1j * angle)
    middle = round((low + high) / 2 / step - sum(c * g.offset for g, c in grids) / step)
    first = middle - size // 2
    weight = np.maximum(np.roll(np.fft.irfft(product, size), start - first), 0.0)
    # Each Fourier coefficient is off by about ε log2(N) times the sum of the weights, its power by as many times that as
    # there are steps; the sum of the errors over the window is at most the sum over the coefficients.
    noise = 2 * float(absolute.sum()) * _EPSILON * log2(size) * (steps + 2) + exp(-_NEGLIGIBLE) * size
    defect = noise + 2 * exp(-depth) + sum(c * g.defect for g, c in grids)
    offset = sum(c * g.offset for g, c in grids)
    return Grid(step, offset, first, weight, sum(c * g.log_total for g, c in grids), defect)


def _wrapped(grid: Grid, centre: int, size: int) -> Array:
    """The weights on a circle of `size` points, shifted so that their mean is near 0."""
    index = (grid.first - centre + np.arange(len(grid.weight))) % size
    return np.bincount(index, grid.weight, size)


def as_law(grid: Grid) -> Law:
    """A composed grid as a law to be rounded to a coarser grid; what was below the round-off is left to the defect."""
    held = grid.weight > 0
    return Law(grid.losses()[held], grid.weight[held], grid.log_total, grid.defect)


def _fast_length(n: int) -> int:
    """The least 2^a 3^b 5^c >= n with even length."""
    best = 1 << max(4, (n - 1).bit_length())
    for five in (1, 5, 25):
        for three in (1, 3, 9):
            rest = -(-n // (five * three))
            best = min(best, five * three << max(1, (rest - 1).bit_length()))
    return best
