"""Upper bounds on the Rényi divergence of a dominating pair."""

from math import exp, inf, log, log1p, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.rounding import up
from dpcalc.numerics.tails_array import log_tails
from dpcalc.pld.atoms import distinct
from dpcalc.pld.pair import Gaussian, Pair, log_q
from dpcalc.pld.pmf import split
from dpcalc.pld.sampled import Poisson, WithoutReplacement, unmixed

# Splitting the masses of so many cells between their edges adds 1e-8 to 1e-6 of the divergence, 1e-4 at orders above
# 1e6; half as many cells add four times as much.
CELLS = 1 << 15
SUM_ROUNDING = 1e-11  # relative rounding error of sums of so many exponentials


def divergence(pair: Pair, alpha: float) -> float:
    """An upper bound on D_α of the pair, α > 1, in the direction in which it is larger; inf if a loss is infinite."""
    one = _one_direction(pair, alpha)
    return max(one, _one_direction(pair.reverse, alpha)) if pair.reverse else one


def _one_direction(pair: Pair, alpha: float) -> float:
    """e^{(α−1)D} − 1 = E_Q[f(ℓ)] with f(ℓ) = e^{αℓ} − 1 − α(e^ℓ − 1), as E_Q[e^ℓ] = 1: all terms are >= 0, and do not
    cancel. Splitting the masses of a cell between its edges does not lower E_Q[f], as f is convex in e^ℓ. Below all
    cells f <= α − 1, and above them f <= e^{αℓ}."""
    if pair.log_infinite > -inf:
        return inf
    reach = sqrt(2 * LARGEST_EXPONENT)  # standard deviations of the noise that the cells cover
    for _ in range(16):  # wider until the mass above all cells is negligible; it is added in any case
        edges = _edges(pair, alpha, reach)
        terms = _log_terms(pair, alpha, edges)
        above = _log_above(pair, alpha, float(edges[-1]))
        if above <= terms.max() - 30:
            break
        reach *= 2
    largest = np.flatnonzero(terms >= terms.max() - 30)  # narrower cells where all terms that matter are
    refined = np.interp(np.linspace(max(largest[0] - 1, 0), min(largest[-1] + 1, len(edges) - 1), CELLS),
                        np.arange(len(edges)), edges)
    terms = _log_terms(pair, alpha, distinct(np.sort(np.append(edges, refined))))
    total = float(np.logaddexp.reduce([*terms, above]))
    if total > LARGEST_EXPONENT:
        return up(total + exp(-total), SUM_ROUNDING) / (alpha - 1)
    return up(log1p(exp(total)), SUM_ROUNDING) / (alpha - 1)


def _log_terms(pair: Pair, alpha: float, edges: Array) -> Array:
    """The logs of the terms Q-mass·f: of all losses below the first edge, and of each edge."""
    log_p, loss = pair.masses(np.append(-inf, edges))
    low, high = split(log_p[1:], loss[1:], edges)
    at_edges = np.logaddexp(np.append(low, -inf), np.append(-inf, high))
    below = float(log_q((log_p[:1], loss[:1]))[0]) + log(alpha - 1)
    return np.append(below, np.where(at_edges > -inf, at_edges - edges + log_f(edges, alpha), -inf))


def _edges(pair: Pair, alpha: float, reach: float) -> Array:
    """Edges that follow P and Q, and edges that follow the distribution with density e^{αℓ} against Q, which is N(αμ,
    1) where a record is in the batch."""
    edges = pair.pilot_edges(-LARGEST_EXPONENT, CELLS)
    base = _gaussian_base(pair)
    if base is None:
        return edges
    return distinct(np.sort(np.append(edges, pair.pilot_edges(-((alpha * base[0].mu + reach) ** 2) / 2, CELLS))))


def _log_above(pair: Pair, alpha: float, loss: float) -> float:
    """An upper bound on log E_Q[e^{αℓ}] over the losses above this one. With ℓ = log(1 − q + q e^w), e^{αℓ} is e^{αw}
    times a decreasing function of w."""
    base = _gaussian_base(pair)
    if base is None:
        return float(pair.masses(np.array([loss, inf]))[0][0]) + (alpha - 1) * pair.largest_loss[0]
    mu, w = base[0].mu, float(unmixed(base[1], np.array([loss]))[0])
    tail = float(log_tails(np.array([w / mu + mu / 2 - alpha * mu]))[1][0])
    return alpha * (loss - w) + alpha * (alpha - 1) * mu * mu / 2 + tail


def _gaussian_base(pair: Pair) -> tuple[Gaussian, float] | None:
    """The noise and the sampling rate where losses are unbounded, else None."""
    if isinstance(pair, WithoutReplacement) or (isinstance(pair, Poisson) and not pair.added):
        return (pair.base, pair.rate) if isinstance(pair.base, Gaussian) else None
    return (pair, 1.0) if isinstance(pair, Gaussian) else None


def log_f(loss: Array, alpha: float) -> Array:
    """log f(ℓ) = log(e^{αℓ} − 1 − α(e^ℓ − 1)) = log(e^ℓ(e^{(α−1)ℓ} − 1) − (α−1)(e^ℓ − 1)), where |αℓ| < 0.05 by the
    power series of f, as the closed form cancels there."""
    a1 = alpha - 1
    series, term = np.zeros_like(loss), np.ones_like(loss)
    for k in range(1, 10):
        term = term * loss / k
        series = series + alpha * np.expm1((k - 1) * log1p(a1)) * term
    small = np.abs(alpha * loss) < 0.05
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        positive = alpha * loss + np.log(-np.expm1(-a1 * loss) + a1 * np.exp(-a1 * loss) * np.expm1(-loss))
        negative = np.log(np.exp(loss) * np.expm1(a1 * loss) - a1 * np.expm1(loss))
        logs: Array = np.where(small, np.log(series), np.where(loss > 0, positive, negative))
    return logs
