"""The law of a sum of many tilted losses, by one FFT."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, fsum, inf, isnan, log, log1p, log2, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics import work
from dpcalc.profiles.law import TOO_LARGE, Grid, Law, TooLarge

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

MOST_POINTS = 1 << 21  # of one transform: 16 MB an array
DEPTH = 34.0  # log of the weight that the window may lose
EPSILON, LEAST = 2.0**-52, 1e-290
_NEGLIGIBLE = 55.0
_DIRECTLY, _MOST_TERMS = 1e8, 10**5  # steps, in all blocks, by which errors of transforms show: sums term by term, unless these are more
_LOUD, _MORE = 1e10, 10.0  # steps, by which they decide: in proportion to them more terms, and as many times at most
_FEWEST = 100  # steps at once, of which all coefficients that are kept are near 1
_POINT = 0.3  # units of work
_AT_ONCE, _ROWS = 1 << 13, 1 << 14  # numbers, and terms, which fit a cache
_ULPS = 25  # of a term, and of a sum by pairs
_RARE = 300.0  # steps that leave their point, expected: fewer are rare, and e^−300 is a double
_STAY = 2.0  # times as many as leave
# Over the standard deviation, for Chernoff's bound: ever smaller ones, as long as they help, for losses that are rare and large.
_TILTS = (8.0, 5.0, 2.5, 1.0, 0.4, 0.2, 0.1, 0.05, 0.02, 0.01, *(0.003 / 2**k for k in range(20)))

# glibc hands large arrays back to the system, which takes long to zero their pages for the next ones, until it has seen a larger one freed.
np.empty(32_000_000, np.uint8)


def window(grids: Sequence[tuple[Grid, int]], depth: float) -> tuple[float, float]:
    """A range of the sum outside which, on either side, at most e^{−depth} of the weight lies (Chernoff's bound)."""
    each = [(*grid.moments(), count) for grid, count in grids]
    mean, deviation = sum(m * c for m, _, c in each), sqrt(sum(v * c for _, v, c in each))
    scale, laws = max(deviation, grids[0][0].step), [_centred(grid, m) for (grid, _), (m, _, _) in zip(grids, each, strict=True)]
    counts = [count for _, count in grids]
    return mean - _reach(laws, counts, -1, scale, depth), mean + _reach(laws, counts, +1, scale, depth)


def _centred(grid: Grid, mean: float) -> tuple[Array, Array]:
    """The losses that there are, from the mean on, and their weights."""
    held = np.flatnonzero(grid.weight)
    return grid.offset + (grid.first + held) * grid.step - mean, grid.weight[held]


def _reach(laws: Sequence[tuple[Array, Array]], counts: Sequence[int], side: int, scale: float, depth: float) -> float:
    """The best of a few Chernoff bounds; for a law with rare large losses small tilts are tried too."""
    best = inf
    for k in _TILTS:
        theta = k / scale
        moment = sum(count * _log_moment(*law, side * theta) for law, count in zip(laws, counts, strict=True))
        bound = (moment + depth) / theta
        if k < 1 and bound > best:
            break
        best = min(best, bound)
    return best


def _log_moment(losses: Array, weight: Array, theta: float) -> float:
    """log E e^{θ(X − E X)} under the tilt."""
    x = theta * losses
    top = max(float(x[0]), float(x[-1]), 0.0)
    # Near 0 the logarithm is taken of 1 + a sum without its linear part, which cancels.
    near = float((weight * np.expm1(x)).sum()) if top <= 1 else inf
    return log1p(near) if abs(near) < 0.5 else top + log((weight * np.exp(x - top)).sum())


def points(grids: Sequence[tuple[Grid, int]], depth: float = DEPTH) -> int:
    """The length of the transform that a composition needs."""
    low, high = window(grids, depth)
    return _size(low, high, grids[0][0].step)


def _size(low: float, high: float, step: float) -> int:
    if not (high - low) / step < 1e12:
        raise TooLarge(*TOO_LARGE)
    return fast_length(ceil((high - low) / step) + 8)


def power(grids: Sequence[tuple[Grid, int]], depth: float = DEPTH) -> Grid:
    """The law of the sum of `count` copies of each grid (all of one step), as a grid."""
    step = grids[0][0].step
    if len(grids) == 1 and grids[0][1] == 1:
        return grids[0][0]
    low, high = window(grids, depth)
    size = _size(low, high, step)
    if size > MOST_POINTS:
        raise TooLarge(*TOO_LARGE)
    work.count(_POINT * size * len(grids))
    if len(grids) == 1 and (lump := _lump(*grids[0])) is not None:
        return _rare(*grids[0], lump, size, (low + high) / 2, depth)
    # Coefficients whose product is below e^{−_NEGLIGIBLE} are left out; all are at most 1.
    off = transform_error(size)
    kept: Array | None = None
    products = error = np.empty(0)
    start, steps, turned, ones, spread, left_out, grown = 0, 0, 0, 0, 0.0, 0.0, 0.0
    for grid, count in grids:
        centre = round((grid.moments()[0] - grid.offset) / step)
        folded = wrapped(grid, centre, size)
        spectrum = np.fft.rfft(folded)
        spectrum = spectrum if kept is None else spectrum[kept]
        square = spectrum.real**2 + spectrum.imag**2
        least = exp(-2 * _NEGLIGIBLE / count)
        large = np.flatnonzero(square > least)
        left_out += count * off * (sqrt(least) + off) ** (count - 1) * sqrt(2 * (len(square) - len(large)) / size)
        at = large if kept is None else kept[large]
        terms, often = len(at) * np.count_nonzero(grid.weight), count * exp(depth - DEPTH)
        if count >= _FEWEST and often > _DIRECTLY and terms <= max(_MOST_TERMS * min(max(often / _LOUD, 1.0), _MORE), size):
            powers, wrong = _by_terms(grid, centre, size, at, count)
            spread, grown = inf, grown + float(wrong.max())
        else:
            powers, wrong = _multiplied(spectrum[large], count), count * off / np.sqrt(square[large])
            spread, grown = spread + count * norm(folded), grown + (count - 1) * off / sqrt(float(square[large].min())) + count * off
            turned += count
        products, error = (powers, wrong) if kept is None else (products[large] * powers, error[large] + wrong)
        kept = at
        start, steps, ones = start + count * centre, steps + count, ones + (count == 1)
    product = np.zeros(size // 2 + 1, complex)
    product[kept] = products
    absolute = np.abs(products)
    middle = round((low + high) / 2 / step - sum(c * g.offset for g, c in grids) / step)
    first = middle - size // 2
    weight = np.maximum(np.roll(np.fft.irfft(product, size), start - first), 0.0)
    # The ℓ2 norm of the errors of weights is that of their Fourier coefficients over √N (Parseval). |Π(φ + e)^n − Πφ^n| is at most
    # |e| Σ n|φ|^{n−1}Π|φ_other|, with |e| <= `off` for each, or ‖e‖ <= off·‖weights‖·√N for all (of those summed term by term `error` is
    # what the logarithm of the power is off by, and the power by a few ulps); a power is off by √5/2 ulps a multiplication (Brent et al.
    # 2007); the inverse transform by `off` of it.
    scale = sqrt(2 / size)
    size_of = scale * norm(absolute)
    noise = exp(grown) * min(scale * norm(absolute * error), off * spread) + (EPSILON * (1.2 * turned + 100) + off) * size_of
    if isnan(noise):
        raise TooLarge(*TOO_LARGE)
    noise += left_out + ones * steps * off**2 + 2 * exp(-_NEGLIGIBLE) + sum(c * g.noise for g, c in grids)
    defect = 2 * exp(-depth) + sum(c * g.defect for g, c in grids)
    offset = sum(c * g.offset for g, c in grids)
    return Grid(step, offset, first, weight, sum(c * g.log_total for g, c in grids), defect, noise)


def _multiplied(factors: Array, count: int) -> Array:
    """To a power, by squarings: in the first argument, and as many as fit a cache at a time."""
    for k in range(0, len(factors), _AT_ONCE):
        some = factors[k : k + _AT_ONCE]
        squares, rest = some.copy(), count - 1
        while rest:
            if rest & 1:
                some *= squares
            if rest := rest >> 1:
                np.square(squares, out=squares)
    return factors


def grown(s: Array, count: int) -> Array:
    """(1 + s)^T − 1, by squarings: D(2 + D) is that of 2T.

    With M >= 1, |1 + s|^T it is off by at most 2 ulps of T|s|M for every binary digit of T, and 3 for every 1: a squaring adds √5/2 + 1/2
    ulps to what D is off by, in units of that, as 2(1 + D) is its derivative; a factor 1 + s and a sum √5/2 + 1 (Brent et al. 2007).
    """
    found = s.copy()
    for k in range(0, len(s), _AT_ONCE):
        gap, one = found[k : k + _AT_ONCE], s[k : k + _AT_ONCE]
        factor, sums = 1 + one, np.empty_like(one)
        for bit in bin(count)[3:]:
            np.add(gap, 2.0, out=sums)
            gap *= sums
            if bit == "1":
                gap *= factor
                gap += one
    return found


def less_power(c: Array, f: Array, count: int) -> Array:
    """(c + f)^T − c^T, by squarings: D(D + 2C) is that of 2T.

    Where |c| + |f| <= 1 it is off by at most 1.2 T + 5 log₂T ulps of T|f|: as in `grown`, and C = c^T is off by 1.2 T ulps.
    """
    found = f.copy()
    for k in range(0, len(f), _AT_ONCE):
        gap, one, near = found[k : k + _AT_ONCE], f[k : k + _AT_ONCE], c[k : k + _AT_ONCE]
        power, both, sums = near.copy(), near + one, np.empty_like(one)
        for bit in bin(count)[3:]:
            np.add(power, power, out=sums)
            sums += gap
            gap *= sums
            np.square(power, out=power)
            if bit == "1":
                gap *= both
                np.multiply(power, one, out=sums)
                gap += sums
                power *= near
    return found


def _by_terms(grid: Grid, centre: int, size: int, at: Array, count: int) -> tuple[Array, Array]:
    """Some Fourier coefficients to a power, and by how much the logarithm of that may be off: term by term, as the error of a transform
    would come as often as the power says. They are near 1, and errors are in proportion to how far from it."""
    held = np.flatnonzero(grid.weight)
    weight, places = grid.weight[held], grid.first + held - centre
    rows = max(1, _ROWS // len(held))
    some = [_terms(weight, places, size, at[k : k + rows]) for k in range(0, len(at), rows)]
    less, sine, size_of_sine = (np.concatenate(x) for x in zip(*some, strict=True))
    beyond = fsum([*weight.tolist(), -1.0])
    real, imaginary = beyond - less, -sine
    square = real * (2 + real) + imaginary**2
    logs, turns = count / 2 * np.log1p(square), count * np.arctan2(imaginary, 1 + real)
    # A term is off by some ulps, and so is a sum by pairs; the logarithm by that over the size of what it is taken of, and by its own.
    wrong = _ULPS * EPSILON * (less + size_of_sine + abs(beyond)) * count / np.sqrt(1 + square)
    return np.exp(logs + 1j * turns), wrong + 4 * EPSILON * (np.abs(logs) + np.abs(turns))


def _terms(weight: Array, places: Array, size: int, at: Array) -> tuple[Array, Array, Array]:
    """Of some Fourier coefficients what 1 is more than the real part by, the imaginary part, and the sizes of its terms."""
    turn = at[:, None] * places % size  # whole numbers
    angle = np.where(2 * turn > size, turn - size, turn) * (2 * pi / size)
    sine = weight * np.sin(angle)
    return (2 * weight * np.sin(angle / 2) ** 2).sum(axis=1), sine.sum(axis=1), np.abs(sine).sum(axis=1)


def transform_error(size: int) -> float:
    """By how much a Fourier coefficient of weights that sum to 1 is off at most; and of any transform the ℓ2 norm, relative to it (Higham
    2002, Theorem 24.2: 7 roundings a butterfly)."""
    return 4 * EPSILON * (log2(size) + 2)


def norm(x: Array) -> float:
    return sqrt(float(np.dot(x, x)))


def norm_of_any(x: Array) -> float:
    """Of numbers whose squares may be too small for doubles; not 0, as their own rounding may be that of the smallest ones."""
    sizes = np.abs(x)
    most = max(float(sizes.max()), LEAST)
    return most * norm(sizes / most) + LEAST


def _lump(grid: Grid, count: int) -> int | None:
    """The point where nearly all of `count` steps stay, if there is one."""
    at = int(grid.weight.argmax())
    rest = float(grid.weight.sum() - grid.weight[at])
    return at if count * rest < _RARE * grid.weight[at] and _STAY * rest <= grid.weight[at] else None


def _rare(grid: Grid, count: int, lump: int, size: int, middle: float, depth: float) -> Grid:
    """`power` where a step seldom leaves one point: with a weight a there and r elsewhere, (a + r̂)^T − a^T is transformed back. Its errors
    are in proportion to the weight of r, which may be all that is asked about."""
    a, rest = float(grid.weight[lump]), grid.weight.copy()
    rest[lump] = 0.0
    moved = grown(np.fft.rfft(wrapped(grid._replace(weight=rest), grid.first + lump, size)) / a, count)
    start = count * (grid.first + lump)
    first = round((middle - count * grid.offset) / grid.step) - size // 2
    weight = np.maximum(np.roll(np.fft.irfft(moved, size), start - first), 0.0)
    whole = a**count
    weight *= whole
    weight[(start - first) % size] += whole  # it may lie beyond the window, like other weight that counts as lost
    # r̂ is off by the error of a transform, the power by T/a times as much, as |a + r̂| <= 1, and by what `grown` is off by; the inverse
    # transform's error is in proportion to what is transformed.
    off, most = transform_error(size), max(1.0, float(np.abs(1 + moved).max()))
    power_off = count / a * norm_of_any(rest) * most * (2 * off + EPSILON * (2 * count.bit_length() + 3 * count.bit_count()))
    noise = whole * (power_off + off * sqrt(2 / size) * norm_of_any(moved)) + count * grid.noise
    defect = 2 * exp(-depth) + count * grid.defect
    return Grid(grid.step, count * grid.offset, first, weight, count * grid.log_total, defect, noise)


def wrapped(grid: Grid, centre: int, size: int) -> Array:
    """The weights on a circle of `size` points, shifted so that their mean is near 0."""
    start = (grid.first - centre) % size
    if start + len(grid.weight) <= size:
        found = np.zeros(size)
        found[start : start + len(grid.weight)] = grid.weight
        return found
    index = (grid.first - centre + np.arange(len(grid.weight))) % size
    return np.bincount(index, grid.weight, size)


def as_law(grid: Grid) -> Law:
    """A composed grid as a law to be rounded to a coarser grid, without what was below the round-off, and without its noise."""
    held = grid.weight > 0
    return Law(grid.losses()[held], grid.weight[held], grid.log_total, grid.defect)


def fast_length(n: int) -> int:
    """The least 2^a 3^b 5^c >= n with even length."""
    best = 1 << max(4, (n - 1).bit_length())
    for five in (1, 5, 25):
        for three in (1, 3, 9):
            rest = -(-n // (five * three))
            best = min(best, five * three << max(1, (rest - 1).bit_length()))
    return best
