"""Exponentially tilted distributions of privacy losses on uniform grids, and the operations on them that keep bounds
valid.

δ may be as small as 1e-100, and then the losses that determine it are rare under P. Under the tilted distribution,
whose density against P is proportional to e^{λℓ}, they are typical, and doubles represent their weights w_k ∝ p_k
e^{λℓ_k} accurately. An error d of a weight changes δ(ε) by at most M e^{−λε} d, where M is the sum of all weights.

*Splitting* the mass of a cell between its two end points so that its P-mass and its Q-mass are preserved gives a pair
that dominates the given one (Doroshenko et al. 2022, arXiv:2207.04380v3, "connect the dots"). *Merging* outcomes into
one gives a pair that is dominated by it, as merging is post-processing. Both relations are preserved by composition
(Zhu, Dong & Wang 2022, arXiv:2106.08567v4, Theorem 10). The errors of both are of second order in the width of the
cells. """

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, hypot, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import ULP

NEGLIGIBLE_WEIGHT = 1e-60  # smaller weights are set to 0, as arithmetic with denormal numbers is slow


class Pmf(NamedTuple):
    """Weights at the losses offset + (first + i)·step, i = 0, 1, …

    For lower bounds, a point stands for a cell of outcomes, and `excess` is its weight less that of Q, q_k
    e^{(λ+1)ℓ_k}. It is stored because it is small (cells are placed near their loss) and would be lost in the
    difference. `truncated` is at least the sum of all weights that were dropped; `fft_error` and `excess_fft_error` are
    at least the ℓ2 norms of the errors that transforms made in the weights and in the excess."""

    step: float
    offset: float
    first: int
    weight: Array
    excess: Array | None = None
    truncated: float = 0.0
    fft_error: float = 0.0
    excess_fft_error: float = 0.0

    @property
    def losses(self) -> Array:
        return self.offset + (self.first + np.arange(len(self.weight))) * self.step

    def scaled(self, factor: float) -> Pmf:
        excess = None if self.excess is None else self.excess * factor
        return Pmf(self.step, self.offset, self.first, self.weight * factor, excess, self.truncated * factor,
                   self.fft_error * factor, self.excess_fft_error * factor)

    def part(self, begin: int, end: int) -> Pmf:
        excess = None if self.excess is None else self.excess[begin:end]
        return self._replace(first=self.first + begin, weight=self.weight[begin:end], excess=excess)

    def padded(self, before: int, after: int) -> Pmf:
        """The same weights with zeros added at both ends."""
        if not before and not after:
            return self
        excess = None if self.excess is None else _padded(self.excess, before, after)
        return self._replace(first=self.first - before, weight=_padded(self.weight, before, after), excess=excess)

    def index_of(self, loss: float) -> int:
        """The index of the first weight at this loss or above it, clipped to 0 … number of weights."""
        x = (loss - self.offset) / self.step - self.first
        return int(np.ceil(min(max(x, 0.0), len(self.weight))))


def _padded(x: Array, before: int, after: int) -> Array:
    """x with zeros at both ends. (numpy.pad is slower than the sums that need it.)"""
    longer = np.zeros(before + len(x) + after)
    longer[before : before + len(x)] = x
    return longer


def split(log_p: Array, loss: Array, edges: Array) -> tuple[Array, Array]:
    """The logs of the P-masses that each cell gives to its lower and to its upper edge. The first edge may be −∞ if its
    cell is empty below; the last one may be ∞.

    From p_low + p_high = p and p_low e^{−a} + p_high e^{−b} = q = p e^{−ℓ} it follows that p_high = p(1 − e^{a−ℓ})/(1 −
    e^{a−b})."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(log_p > -np.inf, np.minimum(np.maximum(loss, edges[:-1]), edges[1:]), edges[:-1])
        share = np.minimum(np.expm1(edges[:-1] - inside) / np.expm1(edges[:-1] - edges[1:]), 1.0)
        share = np.where(edges[:-1] == -np.inf, 1.0, share)
        return log_p + np.log1p(-share), log_p + np.log(share)


def loss_error(log_p: Array, loss: Array, rounding_scale: float) -> Array:
    """An upper bound on the rounding errors of losses: a few units in the last place of themselves and of the pair's
    rounding scale, more where masses are small."""
    error: Array = ULP * (np.abs(loss) + rounding_scale) * (4 + 2 * np.abs(log_p))
    return error


def shifted(x: Pmf, by: float, tilt: float) -> Pmf:
    """The same distribution with its losses, and so its tilt, moved by a constant. The P- and Q-masses do not
    change."""
    factor, excess, error = exp(tilt * by), None, 0.0
    if x.excess is not None:
        of_excess, of_weight = factor * exp(by), factor * expm1(by)
        excess = of_excess * x.excess - of_weight * x.weight
        error = of_excess * x.excess_fft_error + abs(of_weight) * x.fft_error
    return Pmf(x.step, x.offset + by, x.first, factor * x.weight, excess, factor * x.truncated, factor * x.fft_error,
               error)


def add(a: Pmf, b: Pmf) -> Pmf:
    """The sum of two parts of a mixture on the same grid."""
    first, last = min(a.first, b.first), max(a.first + len(a.weight), b.first + len(b.weight))
    a, b = (x.padded(x.first - first, last - x.first - len(x.weight)) for x in (a, b))
    excess = None if a.excess is None or b.excess is None else a.excess + b.excess
    return Pmf(a.step, a.offset, first, a.weight + b.weight, excess, a.truncated + b.truncated,
               a.fft_error + b.fft_error, a.excess_fft_error + b.excess_fft_error)


def split_to_double_step(x: Pmf, tilt: float) -> Pmf:
    """The distribution on a grid of twice the step, the mass of odd points being split between their neighbours."""
    h, pad = x.step, x.first % 2
    x = x.padded(pad, (pad + len(x.weight) + 1) % 2)  # even, odd, …, even
    odd = x.weight[1::2]
    low, high = exp(-(tilt + 1) * h) / (1 + exp(-h)), exp(tilt * h) / (1 + exp(-h))
    weight = x.weight[::2].copy()
    weight[:-1] += low * odd
    weight[1:] += high * odd
    norm = sqrt((low + high) * (1 + low + high)) if low + high > 1 else sqrt(2.0)  # of this linear map, in ℓ2
    return Pmf(2 * h, x.offset, x.first // 2, weight, None, x.truncated * max(low + high, 1.0), x.fft_error * norm)


def merged_to_double_step(x: Pmf, tilt: float) -> Pmf:
    """The distribution on a grid of twice the step, points 2j and 2j + 1 being merged and placed at their mean loss
    (over all j)."""
    pad = x.first % 2
    x = x.padded(pad, (pad + len(x.weight)) % 2)
    total = float(x.weight.sum())
    shift = x.step * float(x.weight[1::2].sum()) / total if total > 0 else 0.0
    even, odd = (shifted(x._replace(weight=x.weight[k::2], excess=None if x.excess is None else x.excess[k::2]),
                         shift - k * x.step, tilt) for k in (0, 1))
    excess = None if even.excess is None or odd.excess is None else even.excess + odd.excess
    return Pmf(2 * x.step, x.offset + shift, x.first // 2, even.weight + odd.weight, excess,
               max(even.truncated, odd.truncated), hypot(even.fft_error, odd.fft_error),
               hypot(even.excess_fft_error, odd.excess_fft_error))


def spread(x: Pmf, step: float) -> Pmf:
    """The same distribution on a grid of a smaller step, which divides its own."""
    ratio = round(x.step / step)
    if ratio == 1:
        return x

    def among_zeros(row: Array) -> Array:
        longer = np.zeros((len(row) - 1) * ratio + 1)
        longer[::ratio] = row
        return longer

    return x._replace(step=step, first=x.first * ratio, weight=among_zeros(x.weight),
                      excess=None if x.excess is None else among_zeros(x.excess))


def truncate(x: Pmf, low: float, high: float) -> tuple[Pmf, list[Pmf]]:
    """The part from `low` to below `high`, of at least one point, and the parts outside of it. The errors of transforms
    are counted in every part, truncated weights in the first only."""
    begin = min(x.index_of(low), len(x.weight) - 1)
    end = max(x.index_of(high), begin + 1)
    outside = [x.part(*ends) for ends in ((0, begin), (end, len(x.weight))) if ends[0] < ends[1]]
    return x.part(begin, end), [part._replace(truncated=0.0) for part in outside]


def convolve(a: Pmf, b: Pmf, direct: bool = False) -> tuple[Pmf, float]:
    """The distribution of the sum of two losses, and the relative rounding error of its weights.

    Sums of products of positive terms (`direct`) have a small relative error each. Those by FFT have an error relative
    to the whole: in ℓ2 it is at most η times the ℓ2 norm (Higham 2002, Theorem 24.2), and coefficients of a transform
    are at most the sum of the weights. The excess of a sum is pp′ − qq′ = dp′ + (p − d)d′, for d = p − q."""
    size = len(a.weight) + len(b.weight) - 1
    n = fft_length(size)
    eta = 4 * ULP * (log2(n) + 2)
    x = _transformed(a, n)
    y = x if a is b else _transformed(b, n)
    error = a.fft_error * (y.sum + b.truncated) + b.fft_error * (x.sum + a.truncated)
    relative, excess, excess_error = 0.0, None, 0.0
    if direct:
        weight, relative = np.convolve(a.weight, b.weight), min(len(a.weight), len(b.weight)) * ULP
    else:
        weight = np.fft.irfft(x.weight * y.weight, n)[:size]
        error += eta * (x.norm * y.sum + x.sum * y.norm + 2 * norm(weight))
    if x.excess is not None and y.excess is not None:
        excess = np.fft.irfft(x.excess * y.weight + (x.weight - x.excess) * y.excess, n)[:size]
        excess_error = (a.excess_fft_error * y.sum + b.excess_fft_error * (x.sum + x.excess_sum)
                        + a.fft_error * y.excess_sum + b.fft_error * x.excess_sum)
        excess_error += 2 * eta * (x.excess_norm * y.sum + x.norm * y.excess_sum + x.sum * y.excess_norm
                                   + y.norm * x.excess_sum + norm(excess))
    negligible = NEGLIGIBLE_WEIGHT * x.sum * y.sum
    weight[weight < negligible] = 0.0
    truncated = a.truncated * (y.sum + b.truncated) + b.truncated * x.sum + negligible * size
    return Pmf(a.step, a.offset + b.offset, a.first + b.first, weight, excess, truncated, error, excess_error), relative


class _Transformed(NamedTuple):
    """The Fourier transforms of weights and excess, and the ℓ1 and ℓ2 norms of both."""

    weight: Array
    sum: float
    norm: float
    excess: Array | None
    excess_sum: float
    excess_norm: float


def _transformed(x: Pmf, n: int) -> _Transformed:
    weight, total = np.fft.rfft(x.weight, n), float(np.add.reduce(x.weight))
    if x.excess is None:
        return _Transformed(weight, total, norm(x.weight), None, 0.0, 0.0)
    return _Transformed(weight, total, norm(x.weight), np.fft.rfft(x.excess, n),
                        float(np.add.reduce(np.abs(x.excess))), norm(x.excess))


def log_moments(points: Array, log_masses: Array, rates: Array) -> Array:
    """log Σ m e^{rx} over points x with masses m, for each rate r."""
    x = np.multiply.outer(rates, points)
    x += log_masses
    top = x.max(axis=1)
    x -= top[:, None]
    return np.asarray(top + np.log(np.add.reduce(np.exp(x, out=x), axis=1)))


def tilted_mean_and_variance(points: Array, log_masses: Array, rate: float) -> tuple[float, float]:
    """The mean and the variance of the law with the masses m e^{rx}, up to a factor."""
    logs = log_masses + rate * points
    weight = np.exp(logs - logs.max())
    weight /= np.add.reduce(weight)
    mean = dot(weight, points)
    return mean, dot(weight, (points - mean) ** 2)


def dot(x: Array, y: Array) -> float:
    """The sum of products. (BLAS would start threads, which cost more here than they save.)"""
    return float(np.add.reduce(x * y))


def norm(x: Array) -> float:
    """The ℓ2 norm."""
    return sqrt(dot(x, x))


@lru_cache(1024)
def fft_length(n: int) -> int:
    """The smallest even number >= n of the form 2^a·k with k in 1, 3, 5, 9, 15, 25, for which transforms are fast."""
    return min(k << max(1, (-(-n // k) - 1).bit_length()) for k in (1, 3, 5, 9, 15, 25))
