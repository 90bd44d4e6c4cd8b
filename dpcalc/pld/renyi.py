"""The Rényi divergence of a dominating pair, from above."""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.numerics.normal_array import log_tails
from dpcalc.numerics.rounding import up
from dpcalc.pld.atoms import distinct
from dpcalc.pld.pair import LARGEST_EXPONENT, Gaussian, log_q
from dpcalc.pld.pmf import split
from dpcalc.pld.sampled import Poisson, WithoutReplacement, unmixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pair import Pair

    Array = NDArray[Any]

# between which masses are split: the error is 1e-8 to 1e-6 of the divergence, and 1e-4 at orders from 1e6 on
CELLS = 1 << 15
LOG_TAIL = -700.0  # log of the mass outside of the cells
REACH = 38.0  # deviations of a Gaussian law that the cells cover at first; more where what is beyond them shows
FARTHEST = 1e6  # deviations at which cells end; what is beyond them is counted all the same
NEGLIGIBLE = 30.0  # what is beyond the cells may be e^-30 of the largest term
ROUNDING = 1e-11  # relative, of sums of so many terms
NEAR = 0.05  # |αℓ| below which f is summed as a series, because its closed form would cancel


def divergence(pair: Pair, alpha: float) -> float:
    """D_α(P‖Q), α > 1, or that of the other direction where it is larger; inf where a loss is infinite."""
    one = _one_direction(pair, alpha)
    return max(one, _one_direction(pair.twin, alpha)) if pair.twin else one


def _one_direction(pair: Pair, alpha: float) -> float:
    """e^{(α−1)D} − 1 = E_Q[f(ℓ)], f(ℓ) = e^{αℓ} − 1 − α(e^ℓ − 1), as E_Q[e^ℓ] = 1: terms >= 0, which do not cancel.
    Splitting the masses of a cell between its ends does not lower E_Q[f], as f is convex in e^ℓ; below all cells f <= α
    − 1; above them f <= e^{αℓ}."""
    if pair.log_infinite > -inf:
        return inf
    reach = REACH
    while True:
        edges = _edges(pair, alpha, reach)
        terms = _terms(pair, alpha, edges)
        beyond = _log_beyond(pair, alpha, float(edges[-1]))
        if beyond <= terms.max() - NEGLIGIBLE or reach > FARTHEST:
            break
        reach *= 2
    count = np.flatnonzero(terms >= terms.max() - NEGLIGIBLE)  # narrower cells where the sum is
    finer = np.interp(np.linspace(max(count[0] - 1, 0), min(count[-1] + 1, len(edges) - 1), CELLS),
                      np.arange(len(edges)), edges)
    terms = _terms(pair, alpha, distinct(np.sort(np.append(edges, finer))))
    total = float(np.logaddexp.reduce([*terms, beyond]))
    if total > LARGEST_EXPONENT:
        return up(total + exp(-total), ROUNDING) / (alpha - 1)
    return up(log1p(exp(total)), ROUNDING) / (alpha - 1)


def _terms(pair: Pair, alpha: float, edges: Array) -> Array:
    """The logs of Q-mass·f below all edges, and at each of them."""
    log_p, loss = pair.masses(np.append(-inf, edges))
    low, high = split(log_p[1:], loss[1:], edges)
    at_edges = np.logaddexp(np.append(low, -inf), np.append(-inf, high))
    below = float(log_q((log_p[:1], loss[:1]))[0]) + log(alpha - 1)
    return np.append(below, np.where(at_edges > -inf, at_edges - edges + log_gap(edges, alpha), -inf))


def _edges(pair: Pair, alpha: float, reach: float) -> Array:
    """Those that follow P and Q, and those that follow the law with density e^{αℓ} against Q: N(αμ, 1) where a record
    is in the batch."""
    near = pair.pilot_edges(LOG_TAIL, CELLS)
    base = _gaussian_base(pair)
    if base is None:
        return near
    return distinct(np.sort(np.append(near, pair.pilot_edges(-((alpha * base[0].mu + reach) ** 2) / 2, CELLS))))


def _log_beyond(pair: Pair, alpha: float, loss: float) -> float:
    """log E_Q[e^{αℓ}] of the losses above this one, at most. With ℓ = log(1 − q + q e^w) that is e^{αw} times a falling
    function of w."""
    base = _gaussian_base(pair)
    if base is None:
        return float(pair.masses(np.array([loss, inf]))[0][0]) + (alpha - 1) * pair.largest[0]
    mu, w = base[0].mu, float(unmixed(base[1], np.array([loss]))[0])
    tail = float(log_tails(np.array([w / mu + mu / 2 - alpha * mu]))[1][0])
    return alpha * (loss - w) + alpha * (alpha - 1) * mu * mu / 2 + tail


def _gaussian_base(pair: Pair) -> tuple[Gaussian, float] | None:
    """The noise and the rate, where losses are unbounded."""
    if isinstance(pair, WithoutReplacement) or (isinstance(pair, Poisson) and not pair.added):
        return (pair.base, pair.rate) if isinstance(pair.base, Gaussian) else None
    return (pair, 1.0) if isinstance(pair, Gaussian) else None


def log_gap(loss: Array, alpha: float) -> Array:
    """log f(ℓ) = log(e^{αℓ} − 1 − α(e^ℓ − 1)) = log(e^ℓ(e^{(α−1)ℓ} − 1) − (α−1)(e^ℓ − 1))."""
    more = alpha - 1
    series, term = np.zeros_like(loss), np.ones_like(loss)
    for k in range(1, 10):
        term = term * loss / k
        series = series + alpha * np.expm1((k - 1) * log1p(more)) * term
    small = np.abs(alpha * loss) < NEAR
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        positive = alpha * loss + np.log(-np.expm1(-more * loss) + more * np.exp(-more * loss) * np.expm1(-loss))
        negative = np.log(np.exp(loss) * np.expm1(more * loss) - more * np.expm1(loss))
        found: Array = np.where(small, np.log(series), np.where(loss > 0, positive, negative))
    return found
