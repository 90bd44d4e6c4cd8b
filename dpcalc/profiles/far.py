"""Compositions where ε is far from what is typical under any tilt, to the digits of a δ far below the rounding of transforms.

Where few large losses decide, the law of a sum has two heaps, near 0 and far beyond ε, and next to nothing between them, where ε is. With
a step's weights c near 0 and f beyond, (c + f)^T − c^T is transformed instead of (c + f)^T: its errors are in proportion to f, under a tilt
by which f alone is typical around ε. What c^T has above ε is bounded by Chernoff's bound. Short sums are added up without transforms.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics import work
from dpcalc.profiles.convolve import DEPTH, EPSILON, MOST_POINTS, fast_length, less_power, norm_of_any, transform_error, window, wrapped
from dpcalc.profiles.law import Grid, Law, TooLarge, grid_edges, law, round_up
from dpcalc.profiles.rounding import block_up
from dpcalc.profiles.tilt import log_peak

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array, Pair

_SHORT = 20_000  # points of a sum
_SHARES = (0.75, 0.5, 1 / 3, 1 / 5, 1 / 8, 1 / 12, 1 / 25, 1 / 50)  # of ε: where large losses begin
_TRIES, _HALVINGS = 2, 10
_THETAS, _SOME = 24, 2000  # tried for Chernoff's bound, first on so many points
_NOTHING = 1e-9  # of the sum: what c^T may have above ε
_NEGLIGIBLE = 45.0  # log
_DEEPEST = -550.0  # log of the weight that doubles are good enough for
_EACH = 2e-15  # relative, of a step's weights
_LIGHT = 1e-3  # the least tilt, of the one that there is
MOST_STEPS = 1 << 16
_POINT = 1.0  # units of work


def sums(pair: Pair, grid: Grid, count: int, tilt: float, epsilon: float, about: float, loose: float) -> tuple[Grid, float] | None:
    """The law of a sum, on the places of a step's upper grid, and its tilt; to be read at this ε and above only, where log δ is `about`
    that. None where none is found whose errors, as it seems, are less than `loose` of δ.

    Its defect is without rounding errors of a step's weights: for these, `slack(count)` is to be allowed for, relative to δ.
    """
    try:
        if len(grid.weight) * count <= _SHORT:
            return _added(pair, grid, count, tilt, epsilon, about)
        return _large(pair, grid, count, tilt, epsilon, about, log(loose / (count * transform_error(MOST_POINTS))))
    except TooLarge:
        return None


def rounded(fine: Grid, tilt: float, like: Grid) -> Grid:
    """On the places of a coarser grid, from above."""
    return block_up(fine, tilt, like.step, like.offset)


def _added(pair: Pair, grid: Grid, count: int, tilt: float, epsilon: float, about: float) -> tuple[Grid, float] | None:
    """Without transforms: every weight is a sum of positive terms."""
    sure = about + tilt * epsilon - count * grid.log_total - log_peak(tilt)  # log of the weight that δ is
    if sure < _DEEPEST:
        return None
    depth = DEPTH + log(count) - min(sure, 0.0)
    one = round_up(_law(pair, grid, tilt, depth), tilt, grid.step, grid.offset)
    if len(one.weight) * count > 2 * _SHORT:
        return None
    return _direct(one, count)._replace(defect=count * exp(-depth)), tilt


def _direct(one: Grid, count: int) -> Grid:
    weight, square, done = np.ones(1), one.weight, 1
    while True:
        if count & done:
            weight = np.convolve(weight, square)
        done <<= 1
        if done > count:
            break
        square = np.convolve(square, square)
    return Grid(one.step, count * one.offset, count * one.first, weight, count * one.log_total, 0.0)


def _law(pair: Pair, grid: Grid, tilt: float, depth: float) -> Law:
    return law(pair, tilt, depth, grid_edges(pair, tilt, depth, grid.step / 2, grid.offset))


def _large(pair: Pair, grid: Grid, count: int, tilt: float, epsilon: float, about: float, wanted: float) -> tuple[Grid, float] | None:
    """Sums with at least one large loss, where these have no more weight than is wanted; the defect is for all others."""
    held = grid.weight > 0
    losses, logs, tried = grid.losses()[held], np.log(grid.weight[held]), []
    mean = _mean(losses, logs, -tilt)
    for share in _SHARES:
        least = mean + (epsilon - count * mean) * share
        own = _tilt_of_large(losses, logs, count, tilt, least, epsilon)
        log_delta = about - count * grid.log_total
        if own and (chance := _chance(losses, logs + (own - tilt) * losses, count, own, least, epsilon, log_delta)) < wanted:
            tried.append((chance, own, least))
    for _, own, least in sorted(tried)[:_TRIES]:
        found = _sums(pair, grid, count, own, least, epsilon, about)
        if found:
            return found, own
    return None


def _chance(losses: Array, logs: Array, count: int, own: float, least: float, epsilon: float, about: float) -> float:
    """The log of the weight of large losses over that of δ; inf where the other ones matter. Roughly."""
    near, top = losses <= least, float(logs.max())
    weight = np.exp(logs - top)
    total = float(weight.sum())
    large = float(weight[~near].sum())
    here = about + own * epsilon - count * (top + log(total)) - log_peak(own)
    others = _chernoff(weight[near] / total, losses[near], count, epsilon) if large > 0 else inf
    return log(large / total) - here if others < here + log(_NOTHING) else inf


def slack(count: int) -> float:
    """Of the rounding errors of each step's weights, as δ of one step less is not more; and of sums of at most 2·_SHORT terms."""
    return count * _EACH + 40 * _SHORT * EPSILON


def _mean(losses: Array, logs: Array, tilt: float) -> float:
    """Under a further tilt, of weights told by their logarithms."""
    exponents = logs + tilt * losses
    mass = np.exp(exponents - exponents.max())
    return float((mass * losses).sum() / mass.sum())


def _tilt_of_large(losses: Array, logs: Array, count: int, tilt: float, least: float, epsilon: float) -> float:
    """The tilt that makes ε typical for one large loss and count − 1 others, roughly, or the one that there is; 0 without a large loss."""
    large = losses > least
    if large.all() or not large.any():
        return 0.0
    (small, of_small), (one, of_one) = ((losses[held], logs[held]) for held in (~large, large))
    low, high = _LIGHT * tilt, tilt
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        mean = (count - 1) * _mean(small, of_small, middle - tilt) + _mean(one, of_one, middle - tilt)
        low, high = (low, middle) if mean > epsilon else (middle, high)
    return high


def _sums(pair: Pair, grid: Grid, count: int, tilt: float, least: float, epsilon: float, about: float) -> Grid | None:
    """Of sums with a loss above `least`; None where the others matter above ε."""
    sure = about + tilt * epsilon - count * _log_total(pair, grid, tilt) - log_peak(tilt)
    if sure < _DEEPEST:
        return None
    depth = DEPTH + log(count) - min(sure, 0.0)
    one = round_up(_law(pair, grid, tilt, depth), tilt, grid.step, grid.offset)
    near = one.losses() <= least
    if near.all() or not near.any():
        return None
    held = near & (one.weight > 0)
    others = _chernoff(one.weight[held], one.losses()[held], count, epsilon)
    if others > sure + log(_NOTHING):
        return None
    low, high = window([(one, count)], depth)
    points = (max(high, epsilon) - low) / grid.step
    if not points < MOST_POINTS - 8:
        return None
    found = _power(one, near, count, fast_length(int(points) + 8), int((low - count * grid.offset) / grid.step) - 2)
    return found._replace(defect=exp(others) + (2 + count) * exp(-depth)) if found.weight.any() else None


def _log_total(pair: Pair, grid: Grid, tilt: float) -> float:
    return round_up(_law(pair, grid, tilt, DEPTH), tilt, grid.step, grid.offset).log_total


def _chernoff(weight: Array, losses: Array, count: int, epsilon: float) -> float:
    """Not less than the log of the weight that sums of these have above ε: by the θ that some of them say, and the next ones."""

    def bound(k: int, every: int = 1) -> float:
        theta = 0.25 * 1.5**k * 10 / epsilon
        x = theta * losses[::every]
        top = float(x.max())
        moment = float((weight[::every] * np.exp(x - top)).sum()) * every
        return count * (top + log(moment)) - theta * epsilon + 1e-9 if moment > 0 else 0.0  # where all underflows, nothing is known

    some = min(range(_THETAS), key=lambda k: bound(k, 1 + len(losses) // _SOME))
    return min(0.0, *(bound(k) for k in range(max(some - 1, 0), some + 2)))


def _power(one: Grid, near: Array, count: int, size: int, first: int) -> Grid:
    """(c + f)^T − c^T, with c shifted so that its heaviest point is 0. The defect is left to be told."""
    work.count(_POINT * size)
    at = int((one.weight * near).argmax())
    c, f = (wrapped(one._replace(weight=np.where(held, one.weight, 0.0)), one.first + at, size) for held in (near, ~near))
    by_c, by_f = np.fft.rfft(c), np.fft.rfft(f)
    most = np.abs(by_c) + np.abs(by_f)
    kept = most > exp(-_NEGLIGIBLE / (count - 1))
    left_out = float(most[~kept].max()) ** (count - 1) if not kept.all() else 0.0
    product = np.zeros(len(by_c), complex)
    product[kept] = less_power(by_c[kept], by_f[kept], count)
    start = count * (one.first + at)
    weight = np.maximum(np.roll(np.fft.irfft(product, size), start - first), 0.0)
    # |Δ((c + f)^T − c^T)| <= T|Δf| + T²|f||Δc|, where all is at most 1, and what `less_power` is off by; each time in proportion to T|f|.
    off, spread = transform_error(size), count * norm_of_any(f)
    noise = spread * (off * (count + 1) + EPSILON * (2 * count + 200) + left_out) + off * sqrt(2 / size) * norm_of_any(product)
    return Grid(one.step, count * one.offset, first, weight, count * one.log_total, 0.0, noise)
