"""Distributions of privacy losses on grids, tilted, and the two operations on them that keep bounds valid.

δ may be 1e-100, so what decides it is rare under P. Under the tilt e^{λℓ} it is typical, and doubles keep its digits:
the weights are w_k ∝ p_k e^{λℓ_k}. An error of weight d changes δ(ε) by at most M e^{−λε} d, where M is the sum of all
weights.

*Splitting* the mass of a cell between its two ends so that its P-mass and its Q-mass stay gives a pair that dominates
(Doroshenko et al. 2022, arXiv:2207.04380v3, "connect the dots"). *Merging* outcomes into one gives a pair that is
dominated, as it is post-processing. Both survive composition (Zhu, Dong & Wang 2022, arXiv:2106.08567v4, Theorem 10),
and the error of both is of second order in the width of the cells. """

from __future__ import annotations

from math import exp, expm1, hypot, log2, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

ULP = 2.0**-52
NOTHING = 1e-60  # a smaller weight is set to 0, as arithmetic with denormal numbers is slow


class Pmf(NamedTuple):
    """Weights at the losses offset + (first + i)·step.

    Of laws of cells, for lower bounds, `excess` is the weight less that of Q, q_k e^{(λ+1)ℓ_k}: it is small, as cells
    are at about their loss, and keeps its digits. `cropped` is at least the sum of all weights that were left out;
    `noise` and `excess_noise` are at least the ℓ2 norms of the errors of all transforms."""

    step: float
    offset: float
    first: int
    weight: Array
    excess: Array | None = None
    cropped: float = 0.0
    noise: float = 0.0
    excess_noise: float = 0.0

    @property
    def losses(self) -> Array:
        return self.offset + (self.first + np.arange(len(self.weight))) * self.step

    def scaled(self, factor: float) -> Pmf:
        return self._replace(weight=self.weight * factor, excess=None if self.excess is None else self.excess * factor,
                       cropped=self.cropped * factor, noise=self.noise * factor,
                             excess_noise=self.excess_noise * factor)

    def part(self, begin: int, end: int) -> Pmf:
        excess = None if self.excess is None else self.excess[begin:end]
        return self._replace(first=self.first + begin, weight=self.weight[begin:end], excess=excess)

    def every_second(self, begin: int) -> Pmf:
        """The even (0) or odd (1) points of a law that begins with an even one, as points of a grid of twice the
        step."""
        excess = None if self.excess is None else self.excess[begin::2]
        return self._replace(step=2 * self.step, first=self.first // 2, weight=self.weight[begin::2], excess=excess)

    def padded(self, before: int, after: int) -> Pmf:
        if not before and not after:
            return self
        excess = None if self.excess is None else _padded(self.excess, before, after)
        return self._replace(first=self.first - before, weight=_padded(self.weight, before, after), excess=excess)

    def index_of(self, loss: float) -> int:
        """The index of the first weight at this loss or above, within the range of indices."""
        x = (loss - self.offset) / self.step - self.first
        return int(np.ceil(min(max(x, 0.0), len(self.weight))))


def _padded(x: Array, before: int, after: int) -> Array:
    """With zeros; numpy's own function for it takes longer than the sums that it is for."""
    found = np.zeros(before + len(x) + after)
    found[before : before + len(x)] = x
    return found


def split(log_p: Array, loss: Array, edges: Array) -> tuple[Array, Array]:
    """The logs of the P-masses that the cells give to their lower and to their upper edge. Below the first
    edge, which may be −∞, is nothing; and the last one may be ∞.

    From p_low + p_high = p and p_low e^{−a} + p_high e^{−b} = q = p e^{−ℓ} it follows that p_high = p(1 − e^{a−ℓ})/(1 −
    e^{a−b})."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(log_p > -np.inf, np.minimum(np.maximum(loss, edges[:-1]), edges[1:]), edges[:-1])
        share = np.minimum(np.expm1(edges[:-1] - inside) / np.expm1(edges[:-1] - edges[1:]), 1.0)
        share = np.where(edges[:-1] == -np.inf, 1.0, share)
        return log_p + np.log1p(-share), log_p + np.log(share)


def moved(x: Pmf, by: float, tilt: float) -> Pmf:
    """The same law with other losses said of its outcomes, by which they are tilted; it is not changed otherwise."""
    factor = exp(tilt * by)
    if x.excess is None:
        return x.scaled(factor)._replace(offset=x.offset + by)
    excess = factor * (exp(by) * x.excess - expm1(by) * x.weight)
    noise = factor * (exp(by) * x.excess_noise + abs(expm1(by)) * x.noise)
    return x.scaled(factor)._replace(offset=x.offset + by, excess=excess, excess_noise=noise)


def plus(a: Pmf, b: Pmf) -> Pmf:
    """The sum of two parts of a mixture on the same grid."""
    first, last = min(a.first, b.first), max(a.first + len(a.weight), b.first + len(b.weight))
    a, b = (x.padded(x.first - first, last - x.first - len(x.weight)) for x in (a, b))
    excess = None if a.excess is None or b.excess is None else a.excess + b.excess
    cropped, noise, excess_noise = a.cropped + b.cropped, a.noise + b.noise, a.excess_noise + b.excess_noise
    return Pmf(a.step, a.offset, first, a.weight + b.weight, excess, cropped, noise, excess_noise)


def split_to_double_step(x: Pmf, tilt: float) -> Pmf:
    """The law on a grid of twice the step, odd points being split between their neighbours."""
    h, pad = x.step, x.first % 2
    x = x.padded(pad, (pad + len(x.weight) + 1) % 2)  # even, odd, …, even
    odd = x.weight[1::2]
    low, high = exp(-(tilt + 1) * h) / (1 + exp(-h)), exp(tilt * h) / (1 + exp(-h))
    found = x.weight[::2].copy()
    found[:-1] += low * odd
    found[1:] += high * odd
    norm = sqrt((low + high) * (1 + low + high)) if low + high > 1 else sqrt(2.0)  # of this linear map, in ℓ2
    return Pmf(2 * h, x.offset, x.first // 2, found, None, x.cropped * max(low + high, 1.0), x.noise * norm)


def merged_to_double_step(x: Pmf, tilt: float) -> Pmf:
    """The law on a grid of twice the step, points 2j and 2j + 1 being merged, and tilted by their mean loss."""
    pad = x.first % 2
    x = x.padded(pad, (pad + len(x.weight)) % 2)
    total = float(x.weight.sum())
    shift = x.step * float(x.weight[1::2].sum()) / total if total > 0 else 0.0
    even, odd = moved(x.every_second(0), shift, tilt), moved(x.every_second(1), shift - x.step, tilt)
    return plus(even, odd)._replace(cropped=max(even.cropped, odd.cropped), noise=hypot(even.noise, odd.noise),
                   excess_noise=hypot(even.excess_noise, odd.excess_noise))


def cut(x: Pmf, low: float, high: float) -> tuple[Pmf, list[Pmf]]:
    """What is from `low` to below `high`, at least one point, and what is outside. Errors of transforms are counted
    with each of them."""
    begin = min(x.index_of(low), len(x.weight) - 1)
    end = max(x.index_of(high), begin + 1)
    outside = [x.part(*ends) for ends in ((0, begin), (end, len(x.weight))) if ends[0] < ends[1]]
    return x.part(begin, end), [part._replace(cropped=0.0) for part in outside]


def convolve(a: Pmf, b: Pmf, direct: bool = False) -> tuple[Pmf, float]:
    """The law of a sum, and the relative rounding error of its weights.

    Products of positive terms that are added directly have relative errors. Those of an FFT are relative to the whole:
    its ℓ2 error is at most η times the ℓ2 norm (Higham 2002, Theorem 24.2), and coefficients of a transform are at most
    the sum of the weights. The excess of a sum is pp′ − qq′ = dp′ + (p − d)d′, for d = p − q."""
    size = len(a.weight) + len(b.weight) - 1
    n = fast_length(size)
    eta = 4 * ULP * (log2(n) + 2)
    sum_a, sum_b = float(a.weight.sum()), float(b.weight.sum())
    cropped = a.cropped * (sum_b + b.cropped) + b.cropped * sum_a
    noise = a.noise * (sum_b + b.cropped) + b.noise * (sum_a + a.cropped)
    relative, excess, excess_noise = 0.0, None, 0.0
    if not direct or a.excess is not None:
        transform_a = np.fft.rfft(a.weight, n)
        transform_b = transform_a if a is b else np.fft.rfft(b.weight, n)
    if direct:
        weight, relative = np.convolve(a.weight, b.weight), min(len(a.weight), len(b.weight)) * ULP
    else:
        weight = np.fft.irfft(transform_a * transform_b, n)[:size]
        noise += eta * (norm(a.weight) * sum_b + sum_a * norm(b.weight) + 2 * norm(weight))
    if a.excess is not None and b.excess is not None:
        excess_a = np.fft.rfft(a.excess, n)
        excess_b = excess_a if a is b else np.fft.rfft(b.excess, n)
        excess = np.fft.irfft(excess_a * transform_b + (transform_a - excess_a) * excess_b, n)[:size]
        all_a, all_b = float(np.abs(a.excess).sum()), float(np.abs(b.excess).sum())
        excess_noise = a.excess_noise * sum_b + b.excess_noise * (sum_a + all_a) + a.noise * all_b + b.noise * all_a
        products = norm(a.excess) * sum_b + norm(a.weight) * all_b + sum_a * norm(b.excess) + norm(b.weight) * all_a + norm(excess)
        excess_noise += 2 * eta * products
    nothing = NOTHING * sum_a * sum_b
    weight[weight < nothing] = 0.0
    return Pmf(a.step, a.offset + b.offset, a.first + b.first, weight, excess, cropped + nothing * size, noise,
               excess_noise), relative


def norm(x: Array) -> float:
    """ℓ2; not by BLAS, whose threads cost more here than they save."""
    return sqrt(float((x * x).sum()))


def fast_length(n: int) -> int:
    """The least 2^a·3^b·5^c >= n with few factors 3 and 5."""
    return min(k << max(1, (-(-n // k) - 1).bit_length()) for k in (1, 3, 5, 9, 15, 25))
