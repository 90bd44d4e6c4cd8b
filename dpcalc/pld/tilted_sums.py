"""Laws of sums of independent variables on a grid, by transforms of tilted masses.

The law of the sum of t copies is the t-th power of a discrete Fourier transform. Masses are tilted by e^{θx} first,
so that the sums that matter are typical and keep their accuracy. A transform of n points has an error of at most η
times the ℓ2 norm of the result (Higham 2002, Accuracy and Stability of Numerical Algorithms, 2nd edition, Theorem
24.2, for powers of 2; lengths have factors 3 and 5, too, and η is nearly twice that of the theorem). The tilted mass
of the sums beyond x is at most e^{−rx} times the mean of e^{rS} (Chernoff), which bounds what a window of finite
length leaves out. Sums of very many copies are computed in two stages: sums of a block of copies move to a coarser
grid, where the blocks are added. """

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.pld.pmf import fft_length, log_moments, norm

FFT_ERROR = 12 * UNIT  # for each factor of 2 in the length; the theorem has 6.7
NEGLIGIBLE_POWER = 1e-30  # powers of transforms that are smaller are set to 0, as arithmetic with denormals is slow


class Window(NamedTuple):
    """The rates r in Chernoff's bounds of the tilted mass below and above a window, −log of each of both masses, and
    about the width of the window."""

    rates: tuple[float, float]
    log_outside: float
    width: float

    @property
    def outside(self) -> float:
        """The mass beyond both ends, with a factor of 2 for rounding."""
        return 4 * exp(-self.log_outside)


@dataclass(frozen=True)
class Grid:
    """How a variable is put on a grid: values are moved into [low, high], and points are multiples of the step. Sums of
    `block` copies move to a grid of `coarsening` steps."""

    low: float
    high: float
    step: float
    tilt: float
    window: Window  # of the sum of all copies
    block: int = 1
    coarsening: int = 1
    block_window: Window | None = None

    @property
    def tilt_of_step(self) -> float:
        return self.tilt * self.step


class Tilted(NamedTuple):
    """Masses weight·e^{log_scale − a·k} at the points step·k, k = first + stride·i, with a = tilt·step.

    The exact weights are weight·(1 ± relative) plus a vector of ℓ2 norm `error` at most, but for the tilted mass beyond
    both ends, which is at most `outside` of the window of the grid. """

    first: int
    stride: int
    weight: Array
    log_scale: float
    relative: float
    error: float = 0.0

    @property
    def indices(self) -> Array:
        return self.first + self.stride * np.arange(len(self.weight))


Powers = dict[tuple[int, int, int], tuple[Array, float]]  # of transforms, by weights, length and exponent
Copies = Sequence[tuple[Tilted, int]]  # independent variables, and how often each occurs in a sum


def tilted(first: int, masses: Array, grid: Grid, relative: float) -> Tilted:
    """Masses on the fine grid, with this relative error, in tilted form."""
    exponent = grid.tilt_of_step * (first + np.arange(len(masses)))
    shift = float(exponent[masses > 0].max())
    weight = masses * np.exp(np.minimum(exponent - shift, 0.0))
    total = float(weight.sum())
    relative += UNIT * (6 * float(np.abs(exponent).max()) + 4 * abs(log(total)) + 20)
    return Tilted(first, 1, weight / total, shift + log(total), relative)


def block_of(copies: Copies, grid: Grid, known: Powers | None = None) -> Tilted:
    """The sum of a block of copies on the coarse grid."""
    if grid.block_window is None:
        raise ValueError("a grid without blocks")
    total = sum_of(copies, copies, grid, grid.block_window, known)
    return coarsened(total._replace(error=total.error + grid.block_window.outside), grid)


def coarsened(x: Tilted, grid: Grid) -> Tilted:
    """The law on the coarse grid, each mass being split between two points with its mean kept. The map of the weights
    has the ℓ2 norm e^{af}·√f at most, as the shares of one point add up to 1 and those at one point to f."""
    f, a, share = grid.coarsening, grid.tilt_of_step, np.arange(grid.coarsening) / grid.coarsening
    begin, end = x.first // f, -((-x.first - len(x.weight)) // f)
    padded = np.zeros((end - begin) * f)
    padded[x.first - begin * f :][: len(x.weight)] = np.maximum(x.weight, 0.0)
    cells = padded.reshape(end - begin, f)
    lower, upper = (1 - share) * np.exp(-a * f * share), share * np.exp(a * f * (1 - share))
    weight = np.append((cells * lower).sum(axis=1), 0.0) + np.append(0.0, (cells * upper).sum(axis=1))
    return Tilted(begin * f, f, weight, x.log_scale, x.relative + UNIT * (2 * f + 4 * a * f + 10),
                  x.error * exp(a * f) * sqrt(f))


def sum_of(parts: Copies, copies: Copies, grid: Grid, window: Window, known: Powers | None = None) -> Tilted:
    """The law of the sum of independent parts. They are the sum of these copies on the fine grid, except that parts on
    the coarse grid were moved there. Powers are looked up and stored in `known`."""
    parts = [part for part in parts if part[1] > 0]
    stride = parts[0][0].stride
    low, high = _ends(copies, sum(n for _, n in parts) if stride > 1 else 0, stride, grid, window)
    n = fft_length(max(high - low + 1, *(len(x.weight) for x, _ in parts)))
    eta = FFT_ERROR * (log2(n) + 2)
    transform, first, log_scale, relative, number = np.ones(1), 0, 0.0, 0.0, 0
    error, largest = 0.0, 1.0
    for x, times in parts:
        power, size = _power_of_transform(x, n, times, {} if known is None else known)
        change = sqrt(n) * (eta * norm(x.weight) + x.error)
        bound = size + change  # of the computed and of the exact transform
        error, largest = error + times * change / bound, largest * bound**times
        transform = transform * power
        first, log_scale = first + times * x.first, log_scale + times * x.log_scale
        relative, number = relative + times * x.relative, number + times
    weight = np.fft.irfft(transform, n)
    error = error * largest / sqrt(n) + len(parts) * NEGLIGIBLE_POWER + (eta + 6 * UNIT * number) * norm(weight)
    weight = np.roll(weight, (first // stride - low) % n)
    if relative > 0.1:
        raise OutOfScope("out-of-range", f"the rounding errors of {number:.3g} variables are too large")
    more = 1 + 2 * relative  # for products of both errors, and for (1 + x)^t − 1 against tx
    return Tilted(low * stride, stride, weight, log_scale, relative * more, error * more)


def _power_of_transform(x: Tilted, n: int, times: int, known: Powers) -> tuple[Array, float]:
    """The power of the transform of length n, and the largest modulus of the transform."""
    key = id(x.weight), n, times
    if key not in known:
        transform = np.fft.rfft(x.weight, n)
        size = np.abs(transform)
        transform[size < NEGLIGIBLE_POWER ** (1 / times)] = 0.0
        known[key] = to_power(transform, times), float(size.max())
    return known[key]


def _ends(copies: Copies, moves: int, stride: int, grid: Grid, window: Window) -> tuple[int, int]:
    """The first and last index of a window, in strides. Each move to a grid of step H multiplies the mean of e^{rS} by
    e^{(rH)²/8} at most (Hoeffding's lemma)."""
    ends, length = list[int](), grid.step * stride
    for sign, rate in zip((-1, 1), window.rates, strict=True):
        log_moment = moves * ((grid.tilt + rate) * length) ** 2 / 8
        for x, count in copies:
            has_mass = x.weight > 0
            points, log_masses = grid.step * x.indices[has_mass], np.log(x.weight[has_mass])
            log_moment += count * float(log_moments(points, log_masses, np.array([sign * rate]))[0])
        ends.append(ceil((log_moment + window.log_outside) / (rate * length)) + 1)
    return -ends[0], ends[1]


def to_power(x: Array, count: int) -> Array:
    """x^count by repeated squaring."""
    result: Array | None = None
    while True:
        if count & 1:
            result = x if result is None else result * x
        count >>= 1
        if not count:
            return x if result is None else result
        x = x * x
