"""A stream with a list of noise levels: sums over all of its steps at once, by arrays, as lists may be long."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_RATIO
from dpcalc.bounds.pnsgd._engine.shares_array import scaled_many
from dpcalc.bounds.pnsgd._engine.step import log_factor, reach_ratio
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics import hockey_stick_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_BINS = 512  # of log σ: where a rough sum is enough
_AT_ONCE = 4096  # ratios: what is between stays in a cache
# beyond the first δ is taken to be 1; levels whose squares are doubles
_LARGEST_RATIO, _LARGEST, _LEAST = 1e140, 1e140, 1e-140
_MOST = 1e308  # of −log δ: a positive δ is not told as 0
_EACH = 4e-16  # relative, of a sum, for every step


def _gaussian(epsilon: float, ratio: Array) -> Array:
    at, near = np.asarray(epsilon), np.minimum(ratio, _LARGEST_RATIO)
    parts = (hockey_stick_array.log_theta(at, near[k : k + _AT_ONCE]) for k in range(0, len(ratio), _AT_ONCE))
    return np.where(ratio > _LARGEST_RATIO, 0.0, np.concatenate([ratio[:0], *parts]))


def _laplace(epsilon: float, ratio: Array) -> Array:
    """log(1 − e^{(ε − r)/2})₊ as laws.py has it."""
    x = (epsilon - ratio) / 2 * (1 + 3e-16)
    with np.errstate(all="ignore"):
        found = np.where(x < -0.7, np.log1p(-np.exp(x)), np.log(-np.expm1(x)))
    return np.where(x < 0, found * (1 - 1e-15), -np.inf)


_LOGS = {"gaussian": _gaussian, "laplace": _laplace}


@lru_cache(maxsize=2)
def _sigmas(levels: Listed) -> Array:
    return np.array(levels.levels)


@lru_cache(maxsize=4)
def _bins(levels: Listed, first: int, last: int) -> tuple[Array, Array]:
    """Levels near those of the steps, and of how many of them."""
    logs = np.log(_sigmas(levels)[first - 1 : last])
    low, wide = logs.min(), np.ptp(logs)
    at = ((logs - low) * ((_BINS - 1) / wide if wide > 0 else 0.0)).astype(np.intp)
    counts, sums = np.bincount(at), np.bincount(at, logs)
    some = counts > 0
    return np.exp(sums[some] / counts[some]), counts[some].astype(float)


def _losses(epsilon: float, law: Law, sigma: Array, reach: float) -> Array:
    """−log B of steps, from below; `reach` is MD/η."""
    return -_LOGS[law.name](epsilon, _ratios(reach, sigma))


def _ratios(size: float, sigma: Array) -> Array:
    """size/σ, rounded up; perhaps ∞, and 0 only where the size is."""
    with np.errstate(over="ignore", under="ignore"):
        found: Array = np.maximum(size / sigma * (1 + 4e-16), LEAST_RATIO if size > 0 else 0.0)
    return found


def loss(epsilon: float, law: Law, levels: Listed, reach: float, first: int, last: int, rough: bool = False) -> float:
    """Σ −log B_t over the steps from first to last, from below; if rough, near it."""
    if last < first:
        return 0.0
    sigma, times = _bins(levels, first, last) if rough else (_sigmas(levels)[first - 1 : last], np.ones(1))
    each = _losses(epsilon, law, sigma, reach)
    with np.errstate(over="ignore"):
        total = float((each * times).sum()) * (1 - _EACH * (last - first + 1))
    return total if each.max() == np.inf else min(total, _MOST)


def carried(levels: Listed, log_c: float, ends: list[int], start: int) -> list[float]:
    """Σ_{t=start}^{q} c^{2(q−t)}σ_t² from below, for every q in ends (rising, the first is start). Raises OutOfScope
    where squares are too small."""
    sigma = _sigmas(levels)[start - 1 : ends[-1]]
    if (least := sigma.min()) < _LEAST:
        raise OutOfScope("out-of-range", f"{least:g}: the squares of levels below {_LEAST:g} are no doubles",
                         "--sigmas")
    squares = np.minimum(sigma, _LARGEST) ** 2
    found, done = [float(squares[0]) * (1 - _EACH)], 1
    for end in ends[1:]:
        new = squares[done : end - start + 1]
        weights = np.exp(2 * log_c * np.arange(len(new), -1, -1))
        found.append((found[-1] * float(weights[0]) + float(weights[1:] @ new)) * (1 - _EACH * (len(new) + 40)))
        done += len(new)
    return found


def worst(epsilon: float, law: Law, levels: Listed, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float,
          strong_convexity: float, n: int, by: str = "", **_: Any) -> tuple[int, float]:
    """(i, log δ_i) with the largest δ_i, the smaller of online-contraction and (Gaussian noise) online-iteration for
    each i; or `by` one of these."""
    sigma, logs, found = _sigmas(levels), _LOGS[law.name], np.zeros(n)
    if by != "online-iteration":
        reach = reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity)
        sums = np.cumsum(_losses(epsilon, law, sigma, reach)[::-1])[::-1] * (1 - _EACH * n)
        found = logs(epsilon, _ratios(2 * lipschitz, sigma)) - np.append(sums[1:], 0.0)
    if by != "online-contraction" and law.name == "gaussian":
        ratio = scaled_many(2 * lipschitz,
                            -_noise_after(sigma, max(log_factor(learning_rate, strong_convexity), -300.0)))
        found = np.minimum(found, logs(epsilon, ratio))
    index = n - int(np.argmax(found[::-1]))
    return index, float(found[index - 1])


def _noise_after(sigma: Array, log_c: float) -> Array:
    """log of Σ_{t>=i} c^{−2(t−i)}σ_t², from below, for every i: for the shift that iteration carries to the end."""
    grown = -2 * log_c * np.arange(len(sigma))
    logs = np.logaddexp.accumulate((2 * np.log(sigma) + grown)[::-1])[::-1]
    found: Array = logs - grown - _EACH * (len(sigma) * max(1.0, float(np.abs(logs).max())) + 4 * grown[-1])
    return found
