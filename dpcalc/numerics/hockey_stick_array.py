"""An upper bound on log θ(ε, r), the hockey-stick divergence of hockey_stick.py, for arrays of ε and r.

An error of 1e-12 of each Mills ratio is added, far more than tails_array.py has. For small r the difference R(a) −
R(b) cancels; but it is also at most −(R′(a) + R′(b))·r/2, as −R′(x) = 1 − xR(x) is convex. The smaller of the two
bounds keeps eight digits. """

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.normal import LOG_SQRT_2PI
from dpcalc.numerics.tails_array import mills

_MILLS_ERROR = 1e-12  # relative, added to every Mills ratio
_BLOCK = 4096  # values computed at a time, so that intermediate arrays stay in the cache


def log_theta(epsilon: Array, ratio: Array) -> Array:
    """An upper bound on log θ(ε, r) for ε >= 0 and r >= 0 (−inf at r = 0), broadcast."""
    both = np.broadcast(epsilon, ratio)
    shape = both.shape
    if both.size <= _BLOCK or len(shape) < 2:
        return _log_theta(epsilon, ratio)
    rows = max(1, _BLOCK * shape[0] // both.size)
    epsilon, ratio = (np.broadcast_to(x, (shape[0], x.shape[-1])) for x in map(np.atleast_1d, (epsilon, ratio)))
    return np.concatenate([_log_theta(epsilon[k : k + rows], ratio[k : k + rows]) for k in range(0, shape[0], rows)])


def log_theta_to(end: Array, ratio: Array) -> Array:
    """An upper bound on log θ(br − r²/2, r) = log(Q(b − r) − e^{br − r²/2} Q(b)), also where br − r²/2 < 0, for every
    b >= 0 of a column and r >= 0 of a table: an array with the axis of b before those of r."""
    rows = max(1, _BLOCK // max(ratio.size, 1))
    return np.concatenate([_log_theta_to(end[k : k + rows, :, None], ratio) for k in range(0, len(end), rows)])


def _log_theta_to(b: Array, ratio: Array) -> Array:
    with np.errstate(all="ignore"):
        a = b - ratio
        size = np.abs(a)
        complement = a < -1
        mills_a, mills_b = mills(np.where(complement, size, a)), mills(b)
        rounding = np.maximum(size, b)  # as in _log_theta; here |a| may be above b
        rounding = 1.5e-15 * rounding * (rounding + 1)
        return _log_of_mills(a, b, mills_a, mills_b, ratio, rounding, complement if complement.any() else None)


def _log_theta(epsilon: Array, ratio: Array) -> Array:
    smallest = ratio.min(initial=1.0)
    with np.errstate(all="ignore"):
        s = np.minimum(epsilon / (ratio if smallest > 0 else np.maximum(ratio, 5e-324)), 1e140)
        half = 0.5 * ratio
        a, arguments = s - half, np.empty((2, *s.shape))
        arguments[0] = a
        b = np.add(s, half, out=arguments[1])
        complement = a < -1 if a.min(initial=0.0) < -1 else None  # where 1 − θ is computed, from R(−a)
        if complement is not None:
            np.abs(a, out=arguments[0], where=complement)
        mills_a, mills_b = mills(arguments)
        # Rounding errors of a (through the exponent) and of the exponent itself: at most 5e-16(|a| + 1)(s + r + |a|),
        # where |a| and r/2 are at most b.
        rounding = b + 1
        rounding *= b
        rounding *= 1.5e-15
        return _log_of_mills(a, b, mills_a, mills_b, ratio, rounding, complement)


def _log_of_mills(a: Array, b: Array, mills_a: Array, mills_b: Array, ratio: Array, rounding: Array,
                  complement: Array | None) -> Array:
    """log φ(a)(R(a) − R(b)), rounded up, for b = a + r; and from 1 − φ(a)(R(−a) + R(b)) in `complement`, where
    `mills_a` is R(−a)."""
    smallest = ratio.min(initial=1.0)
    log_density = a * a
    log_density *= -0.5
    log_density -= LOG_SQRT_2PI
    log_bound = mills_a * (1 + _MILLS_ERROR)
    log_bound -= mills_b
    if smallest < 1e-3:  # for larger ratios the bound by R′ is not the smaller one
        slopes = 2 - a * mills_a - b * mills_b + _MILLS_ERROR * (2 + np.abs(a) * mills_a + b * mills_b)
        log_bound = np.minimum(log_bound, ratio * (0.5 + _MILLS_ERROR) * slopes)
    np.log(log_bound, out=log_bound)
    log_bound += log_density
    log_bound += rounding
    if complement is not None:
        rest = np.exp(log_density - rounding) * (mills_a + mills_b) * (1 - _MILLS_ERROR)
        log_bound = np.where(complement, np.log1p(-np.minimum(rest, 1.0)), log_bound)
    np.clip(log_bound, -1e300, 0.0, out=log_bound)  # finite, even where θ underflows
    return np.where(ratio == 0, -np.inf, log_bound) if smallest == 0 else log_bound
