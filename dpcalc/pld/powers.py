"""Sums of many independent losses on one grid by a power of one Fourier transform.

The transform of the weights p of one loss, to the power k, is that of the weights of the sum of k losses. Cells of a
lower bound also have the weights q of Q and the excess d = p − q. All three are multiplied next to each other, the
excess of a product being pp′ − qq′ = dp′ + qd′, so that its error is small relative to d. The factors are distributions
x with multiplicities n_x; k is the number of all of them.

*Errors of transforms.* A transform has an error of at most η times its ℓ2 norm (see pmf.py). Coefficients of p and q
are at most the sum of u = max(|p|, |q|), and a convolution with other factors multiplies the ℓ2 norm of an error by at
most their ℓ1 norms. Let g be the product of all max(1, Σu + truncated). A product of complex numbers has a relative
error of at most √5·2^−53 (Brent, Percival & Zimmermann 2007), so that of k factors one of at most 2k·ULP. Up to terms
of second order, which the constants outweigh, the weights of the sum have an error of at most

    g Σ n_x (fft_error + η‖p‖) + (2k·ULP + η)‖result‖.

An error that p and q have in common changes the excess by its convolution with the difference of the products of all
other p and of all other q, whose ℓ1 norm is at most g Σ n_x Σ|d|. In a product dp′ + qd′ of k factors, the relative
errors of p, q and d, each of which is multiplied by at most k − 1 others, add up to at most 4k·ULP. So the excess has
an error of at most

    g Σ n_x (excess_fft_error + (η + 4k·ULP)‖d‖) + g (Σ n_x Σ|d|) Σ n_x (fft_error + η‖p‖) + η‖result‖.

*Wrapping around.* A transform of fewer points than the sum has adds everything outside of a window to points inside of
it. The product of all u, which is at least that of all p and that of all q, is at most e^{−sa} Π E_u[e^{sx}] beyond a,
for every s > 0 (a Chernoff bound). There, |d| of the sum is at most Σ n_x |d| convolved with all other u, which
multiplies the bound by Σ n_x E_|d|[e^{sx}]/E_u[e^{sx}]. What is lost is counted as truncated. What is added only raises
an upper bound; for a lower bound it is an error of the weights and of the excess. """

from collections.abc import Sequence
from math import ceil, exp, floor, inf, log, log2, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import ULP
from dpcalc.pld.pmf import NEGLIGIBLE_WEIGHT, Pmf, dot, fft_length, norm

RATES = 2.0 ** np.arange(-6, 1)  # exponents s of the Chernoff bounds, relative to that of a normal distribution
SMALL = 1 << 12  # points of a sum of which no window is computed, as that takes as long as the transforms
MAX_BLOCKS = 256  # of points, which are at their first one in Chernoff bounds

Factors = Sequence[tuple[Pmf, int]]  # distributions on the same grid, and how often each is a factor


def power(x: Pmf, one: Pmf, digits: str, outside: float) -> Pmf:
    """The distribution of the sum of 2^n losses x and of m losses `one`, where `digits` are the n binary digits of m.
    Of its weight, about `outside` may wrap around."""
    n, m = 1 << len(digits), int(digits, 2)
    factors = [(x, n + m)] if one is x else [(x, n), (one, m)] if m else [(x, n)]
    size = sum(k * (len(y.weight) - 1) for y, k in factors) + 1
    points, begin, end, wrapped, wrapped_excess = fft_length(size), 0, size, 0.0, 0.0
    if size > SMALL:
        low, high, excess_outside = _window(factors, log(outside / 2))
        low, high = max(low, 0), min(high, size)
        fewer = fft_length(max(high - low, *(len(y.weight) for y, _ in factors)))
        if fewer < points:
            points, begin, end, wrapped, wrapped_excess = fewer, low, high, outside, excess_outside
    rows = [np.roll(np.fft.irfft(row, points), -begin)[: end - begin] for row in _transforms(x, one, digits, points)]
    error, excess_error, truncated = _errors(factors, points, rows)
    rows[0][rows[0] < NEGLIGIBLE_WEIGHT] = 0.0
    return Pmf(x.step, sum(k * y.offset for y, k in factors), sum(k * y.first for y, k in factors) + begin, rows[0],
               None if x.excess is None else rows[1], truncated + wrapped, error + wrapped,
               excess_error + wrapped_excess)


def _transforms(x: Pmf, one: Pmf, digits: str, points: int) -> list[Array]:
    """The transforms of the weights of a power and, for a lower bound, of its excess."""
    p, d = of_x = _transformed(x, points)
    p_one, d_one = of_x if one is x or "1" not in digits else _transformed(one, points)
    for digit in digits:
        if len(d):
            d = d * (p[0] + p[1])
        p = p * p
        if digit == "1":
            if len(d):
                d *= p_one[0]
                d += p[1] * d_one
            p *= p_one
    return [p[0], d] if len(d) else [p[0]]


def _transformed(x: Pmf, points: int) -> tuple[Array, Array]:
    """The transforms of p and q, and of d; for an upper bound of p alone, and nothing."""
    p = np.fft.rfft(x.weight, points)
    if x.excess is None:
        return p[None], p[:0]
    d = np.fft.rfft(x.excess, points)
    return np.stack((p, p - d)), d


def _larger(x: Pmf) -> Array:
    """The larger one of both weights of each point."""
    return x.weight if x.excess is None else np.maximum(x.weight, np.abs(x.weight - x.excess))


def _errors(factors: Factors, points: int, rows: list[Array]) -> tuple[float, float, float]:
    """Bounds on the errors of the weights and of the excess of a product, in ℓ2, and on its truncated weight."""
    eta, uses, growth = 4 * ULP * (log2(points) + 2), sum(n for _, n in factors), 1.0
    error = excess_error = distance = truncated = 0.0
    for x, n in factors:
        growth *= max(1.0, float(np.add.reduce(_larger(x))) + x.truncated) ** n
        error += n * (x.fft_error + eta * norm(x.weight))
        truncated += n * x.truncated
        if x.excess is not None:
            excess_error += n * (x.excess_fft_error + (eta + 4 * uses * ULP) * norm(x.excess))
            distance += n * float(np.add.reduce(np.abs(x.excess)))
    of_excess = growth * (excess_error + distance * error) + eta * norm(rows[1]) if len(rows) > 1 else 0.0
    truncated = growth * (truncated + NEGLIGIBLE_WEIGHT * points)
    return growth * error + (2 * uses * ULP + eta) * norm(rows[0]), of_excess, truncated


def _window(factors: Factors, log_outside: float) -> tuple[int, int, float]:
    """The first index, and the one after the last, between which a product has all but a weight of e^log_outside at
    either end, under P and under Q; and a bound on the excess that wraps around."""
    blocks, center, variance, reach, rounded = list[tuple[int, Array, Array]](), 0.0, 0.0, 1.0, 0
    for x, n in factors:
        width = len(x.weight) // MAX_BLOCKS + 1
        starts = np.arange(0, len(x.weight), width)
        of_excess = x.weight if x.excess is None else np.abs(x.excess)
        u, d = (np.add.reduceat(row, starts) for row in (_larger(x), of_excess))
        mean = dot(u, starts) / float(np.add.reduce(u))
        from_mean = starts - mean
        center, variance = center + n * mean, variance + n * dot(u, from_mean * from_mean)
        reach, rounded = max(reach, float(np.abs(from_mean).max())), rounded + n * (width - 1)
        blocks.append((n, from_mean, np.stack((u, d), axis=1)))
    best = min(sqrt(-2 * log_outside / variance) if variance > 0 else inf, LARGEST_EXPONENT / reach)
    rates = best * np.concatenate((RATES, -RATES))
    log_tails, share = np.full(len(rates), -log_outside), np.zeros(len(rates))
    for n, from_mean, rows in blocks:
        moments = np.exp(np.multiply.outer(rates, from_mean)) @ rows
        log_tails += n * np.log(moments[:, 0])
        share += n * moments[:, 1] / moments[:, 0]
    above, below = np.split(log_tails / np.abs(rates), 2)
    wrapped = 2 * exp(log_outside) * (share[above.argmin()] + share[len(RATES) + below.argmin()])
    return floor(center - below.min()) - 1, ceil(center + above.min()) + rounded + 2, float(wrapped)
