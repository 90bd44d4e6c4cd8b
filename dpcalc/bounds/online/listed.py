"""A stream with a list of noise levels: sums over all of its steps at once, by arrays, as lists may be long."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import LEAST_RATIO, Law
from dpcalc.bounds.pnsgd._engine.shares_array import scaled_many
from dpcalc.bounds.pnsgd._engine.step import log_factor, reach_ratio
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics import hockey_stick_array
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary_array import log1mexp

_LARGEST, _LEAST = 1e140, 1e-140  # levels between them have squares whose sums are doubles; larger ratios have δ = 1
_ROUNDING = 4e-16  # relative, of a sum, for every step


def _gaussian(epsilon: float, ratio: Array) -> Array:
    log_delta = hockey_stick_array.log_theta(np.asarray(epsilon), np.minimum(ratio, _LARGEST))
    return np.where(ratio > _LARGEST, 0.0, log_delta)


def _laplace(epsilon: float, ratio: Array) -> Array:
    """log(1 − e^{(ε − r)/2})₊, from above."""
    x = (epsilon - ratio) / 2 * (1 + 3e-16)
    with np.errstate(all="ignore"):
        log_delta = log1mexp(x)
    return np.where(x < 0, log_delta * (1 - 1e-15), -np.inf)


_LOG_DELTAS = {"gaussian": _gaussian, "laplace": _laplace}


@lru_cache(maxsize=2)
def _sigmas(levels: Listed) -> Array:
    return np.array(levels.levels)


def _losses(epsilon: float, law: Law, sigma: Array, reach: float) -> Array:
    """−log B_t of the steps with these noise levels, from below, where B_t is the δ(ε) of the noise for a shift by
    `reach` = MD/η."""
    return -_LOG_DELTAS[law.name](epsilon, _ratios(reach, sigma))


def _ratios(size: float, sigma: Array) -> Array:
    """size/σ, rounded up; perhaps ∞, and 0 only where the size is."""
    with np.errstate(over="ignore", under="ignore"):
        ratios: Array = np.maximum(size / sigma * (1 + 4e-16), LEAST_RATIO if size > 0 else 0.0)
    return ratios


def loss(epsilon: float, law: Law, levels: Listed, reach: float, first: int, last: int) -> float:
    """Σ −log B_t over the steps from first to last, from below."""
    if last < first:
        return 0.0
    losses = _losses(epsilon, law, _sigmas(levels)[first - 1 : last], reach)
    with np.errstate(over="ignore"):
        total = float(losses.sum()) * (1 - _ROUNDING * (last - first + 1))
    return total if losses.max() == np.inf else min(total, 1e308)  # a positive δ is not reported as 0


def decayed_sums(levels: Listed, log_c: float, steps: list[int], start: int) -> list[float]:
    """Σ_{t=start}^{q} c^{2(q−t)}σ_t² from below, for every q of `steps` (rising, the first is start). Raises OutOfScope
    where squares are too small."""
    sigma = _sigmas(levels)[start - 1 : steps[-1]]
    if (least := sigma.min()) < _LEAST:
        raise OutOfScope("out-of-range", f"{least:g} is too small; the least noise level allowed is {_LEAST:g}",
                         "--sigmas")
    squares = np.minimum(sigma, _LARGEST) ** 2
    sums = [float(squares[0]) * (1 - _ROUNDING)]
    for before, end in pairwise(steps):
        new = squares[before - start + 1 : end - start + 1]
        weights = np.exp(2 * log_c * np.arange(len(new), -1, -1))
        total = sums[-1] * float(weights[0]) + float(weights[1:] @ new)
        sums.append(total * (1 - _ROUNDING * (len(new) + 40)))
    return sums


def worst(epsilon: float, law: Law, levels: Listed, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, by: str = "", **_: Any) -> tuple[int, float]:
    """The index i with the largest δ_i, and log δ_i.

    Each δ_i is by the bound named `by`, else the smaller of online-contraction and (Gaussian noise) online-iteration.
    """
    sigma, log_delta, logs = _sigmas(levels), _LOG_DELTAS[law.name], np.zeros(n)
    if by != "online-iteration":
        reach = reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity)
        sums = np.cumsum(_losses(epsilon, law, sigma, reach)[::-1])[::-1] * (1 - _ROUNDING * n)
        logs = log_delta(epsilon, _ratios(2 * lipschitz, sigma)) - np.append(sums[1:], 0.0)
    if by != "online-contraction" and law.name == "gaussian":
        log_c = max(log_factor(learning_rate, strong_convexity), -300.0)
        ratio = scaled_many(2 * lipschitz, -_log_noise_after(sigma, log_c))
        logs = np.minimum(logs, log_delta(epsilon, ratio))
    index = n - int(np.argmax(logs[::-1]))
    return index, float(logs[index - 1])


def _log_noise_after(sigma: Array, log_c: float) -> Array:
    """log Σ_{t>=i} c^{−2(t−i)}σ_t², from below, for every i: of the noise that hides a shift at step i from then on."""
    grown = -2 * log_c * np.arange(len(sigma))
    logs = np.logaddexp.accumulate((2 * np.log(sigma) + grown)[::-1])[::-1]
    rounding = _ROUNDING * (len(sigma) * max(1.0, float(np.abs(logs).max())) + 4 * grown[-1])
    result: Array = logs - grown - rounding
    return result
