"""Lower bounds on the privacy loss of one step of a pair of clamped walks, computed in logarithms.

P is (1 − q)N(b + drift, 1) + qN(b + up, 1) and Q is (1 − q)N(b + drift, 1) + qN(b + down, 1) with down <= up, both
clamped to [−h, h]; b = a·start. Logarithms are needed because with noise much smaller than the push the probabilities
underflow. Every logarithm has an error of at most LOG_ERROR·(1 + |log|) from log_tail, and is moved by that to the safe
side. """

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING, NamedTuple

from dpcalc.numerics import legendre, tails_array
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.hockey_stick import NODES
from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.normal import LOG_SQRT_2PI, log_tail

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

LOG_ERROR = 1e-13  # bound on the relative error of log_tail, with a margin of ten; a smaller bound is not proven
LEAST_PULL = 0.01  # a walk with a smaller a is treated as one with a < 0, as errors of N are relative to a


class Pair(NamedTuple):
    """The two walks P and Q on neighbouring data sets, in units of their noise per step (walk.py)."""

    half: float  # h
    pull: float  # a
    drift: float
    up: float  # the mean of P's step where the differing record is used
    down: float  # the mean of Q's step where the differing record is used
    rate: float  # q
    start: float
    at_rest: bool = False  # whether the start is not `start`, but random, by the law of Q at rest

    @property
    def reach(self) -> float:
        """The largest mean of a step, M in walk_grid.py."""
        return max(abs(self.drift), abs(self.up), abs(self.down))

    @property
    def mirrored(self) -> bool:
        """Whether Q is the mirror image of P."""
        return self.drift == 0 and self.up == -self.down


def log_between(low: float, high: float) -> float:
    """log(Φ(high) − Φ(low)) for low < high; −∞ where the two are equal as doubles."""
    if not low < high:
        return -inf
    if low + high < 0:
        low, high = -high, -low
    middle, half = (low + high) / 2, (high - low) / 2
    if half < 0.25 and middle * half < 1:  # the rule integrates e^{−zv − v²/2} over |v| <= 1/4 with |z|v <= 1 to 1e-20
        v = ((half * (2 * t - 1), w) for t, w in NODES)
        total = sum(w * exp(-x * (middle + x / 2)) for x, w in v)
        return log(2 * half * total) - middle * middle / 2 - LOG_SQRT_2PI
    larger, smaller = log_tail(low), log_tail(high)
    return larger + log1p(-exp(smaller - larger))


def _log_difference(pair: Pair, t: float) -> float:
    """log(P(w >= t) − Q(w >= t)), rounded down."""
    b = pair.pull * pair.start - t
    x = log(pair.rate) + log_between(b + pair.down, b + pair.up)
    return x - LOG_ERROR * (1 + abs(x) + abs(t) + pair.reach)


def _log_above(pair: Pair, t: float) -> float:
    """log Q(w >= t), rounded up."""
    b = t - pair.pull * pair.start
    x = log_add((log1p(-pair.rate) if pair.rate < 1 else -inf) + log_tail(b - pair.drift),
                log(pair.rate) + log_tail(b - pair.down))
    return x + LOG_ERROR * (1 + abs(x) + abs(t) + pair.reach)


def _largest(score: Callable[[float], float], half: float) -> float:
    """A large score of a threshold in [−half, half]. Every threshold proves its score, so a rough search is enough: the
    best point of a grid, and Brent's method around it."""
    step = half / 16
    best, start = max((score(t), t) for t in (-half + k * step for k in range(33)))
    found = minimise(lambda t: -score(t), start, max(-half, start - step), min(half, start + step), step / 2,
                     1e-8 * step)
    return max(best, score(found))


def log_delta(pair: Pair, epsilon: float) -> float:
    """A lower bound on log δ at ε: log of the largest P(A) − Q(A) − (e^ε − 1)Q(A) over thresholds t, A = {w >= t}."""

    def score(t: float) -> float:
        difference = _log_difference(pair, t)
        if epsilon == 0:
            return difference
        subtracted = _log_above(pair, t) - difference + (log(expm1(epsilon)) if epsilon < 700 else epsilon)
        return difference + log1p(-exp(subtracted)) - 4 * LOG_ERROR if subtracted < -1e-12 else -inf

    return _largest(score, pair.half)


def epsilon(pair: Pair, log_delta: float) -> float:
    """A lower bound on ε at δ: the largest log(1 + (P(A) − Q(A) − δ)/Q(A)) over the thresholds of A = {w >= t}."""

    def score(t: float) -> float:
        difference = _log_difference(pair, t)
        if log_delta - difference > -1e-12:
            return 0.0
        x = difference + log1p(-exp(log_delta - difference)) - _log_above(pair, t)
        return (log1p(exp(x)) if x < 40 else x) * (1 - LOG_ERROR)

    return max(0.0, _largest(score, pair.half))


def cells(pair: Pair) -> tuple[Array, Array, Array]:
    """For the cells of [−h, h], of which the first and the last are the walls: upper bounds on log Q(cell), lower
    bounds on log|P(cell) − Q(cell)|, and the signs of these differences."""
    import numpy as np

    count = min(2000, max(8, int(2 * pair.half / 0.02)))  # any cells prove a bound; smaller ones gain 0.02 %
    edges = np.concatenate([[-inf], np.linspace(-pair.half, pair.half, count + 1), [inf]]) - pair.pull * pair.start
    argument_error = LOG_ERROR * (1 + pair.half + pair.reach)

    def error(logs: Array) -> Array:
        """A bound on the errors of these logarithms of cells: from rounded arguments (the hazard rate is below 1 +
        √(2|log|)), from log_tail, and from differences of tails."""
        size = np.abs(logs)
        one = LOG_ERROR * (2 + size) + argument_error * (1 + np.sqrt(2 * size))
        return np.asarray(one * max(1.0, count / (2 * pair.half)))

    by_drift, up, down = (_log_cells(edges - m) for m in (pair.drift, pair.up, pair.down))
    log_q = log(pair.rate)
    mass = np.logaddexp((log1p(-pair.rate) if pair.rate < 1 else -inf) + by_drift, log_q + down)
    log_ratio = np.abs(up - down) - error(up) - error(down)
    with np.errstate(divide="ignore"):
        gain = np.where(log_ratio > 0, log_q + np.maximum(up, down) + np.log(-np.expm1(-np.maximum(log_ratio, 0.0))),
                        -inf)
    gain = np.where(gain > -inf, gain - error(np.maximum(up, down)) - LOG_ERROR * (1 - log_q), -inf)
    return mass + 2 * error(mass), gain, np.where(up > down, 1.0, -1.0)


def _log_cells(z: Array) -> Array:
    """log(Φ(z_{k+1}) − Φ(z_k)) for an array that begins with −∞ and ends with ∞, computed as in `log_between`."""
    import numpy as np

    low, high = z[:-1], z[1:]
    mirrored = low + high < 0
    a, b = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    larger, smaller = tails_array.log_tail(a), tails_array.log_tail(b)
    middle, half = np.where(np.isfinite(a + b), (a + b) / 2, 1e9), np.where(np.isfinite(a + b), (b - a) / 2, 1.0)
    flat = (half < 0.25) & (middle * half < 1)
    total, centre, radius = np.zeros(len(a)), np.where(flat, middle, 0.0), np.where(flat, half, 1.0)
    for t, w in NODES:
        v = radius * (2 * t - 1)
        total += w * np.exp(-v * (centre + v / 2))
    with np.errstate(invalid="ignore"):
        by_tails = larger + np.log1p(-np.exp(np.minimum(smaller - larger, -1e-300)))
    return np.where(flat, np.log(2 * radius * total) - np.minimum(middle, 1e9) ** 2 / 2 - LOG_SQRT_2PI, by_tails)


def log_g(alpha: float, log_r: Array, signs: Array) -> Array:
    """log((1 + r)^α − 1 − αr) for arrays of r = ±e^{log_r} >= −1, with an error of at most 1e-12·(1 + |log|).

    Computed as r²α(α − 1)∫_0^1 (1 − u)(1 + ru)^{α−2} du for small αr, else as
    r((1 + 1/r)·expm1((α − 1)log(1 + r)) − (α − 1)). """
    import numpy as np

    small = log_r < log(0.05 / (1 + alpha))
    r = signs * np.exp(np.minimum(log_r, 300.0))
    u, w = legendre.rule(8)
    u = (u + 1) / 2
    tiny = np.where(small, r, 0.0)
    integral = ((w / 2 * (1 - u)) * np.exp((alpha - 2) * np.log1p(tiny[:, None] * u))).sum(axis=1)
    by_integral = 2 * log_r + log(alpha * (alpha - 1)) + np.log(integral)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        grown = np.where(log_r > 30, log_r + np.exp(-log_r), np.log1p(np.maximum(r, -1.0)))  # log(1 + r)
        y = (alpha - 1) * grown
        inner = np.where(r > -1, (1 + r) * np.expm1(np.minimum(y, 40.0)), 0.0)
        inner = inner / np.exp(np.minimum(log_r, 300.0)) - signs * (alpha - 1)
        large = log_r + np.where(y > 40, y + np.log1p(np.exp(-log_r)), np.log(np.maximum(inner, 0.0)))
    return np.asarray(np.where(small, by_integral, large))
