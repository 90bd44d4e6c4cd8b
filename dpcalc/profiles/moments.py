"""Rényi divergence of a dominating pair, by its integral."""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.rounding import up
from dpcalc.profiles.law import law
from dpcalc.profiles.pair import Pair

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

_DEPTH = 60.0
_ERROR = 2e-11  # relative, of e^{(α−1)D} − 1: quadrature, and the cut at e^{−60}
_SMALL = 0.05


def rdp(pair: Pair, alpha: float) -> float:
    """D_α(P‖Q), or of the twin where that is larger; inf where a loss is infinite.

    e^{(α−1)D} − 1 = E_Q[g(ℓ)], g(ℓ) = e^{αℓ} − 1 − α(e^ℓ − 1) >= 0, as E_Q[e^ℓ] = 1: positive terms, nothing cancels.
    (Integrated twice by parts this is the integral of the profile over γ.)
    """
    if pair.log_infinite > -inf:
        return inf
    one = _divergence(pair, alpha)
    return max(one, _divergence(pair.twin, alpha)) if pair.twin else one


def _divergence(pair: Pair, alpha: float) -> float:
    x = law(pair, alpha - 1, _DEPTH)
    loss = x.loss
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # Under the tilt the weight is p·e^{(α−1)ℓ − K} = q·e^{αℓ − K}.
        far = -np.expm1(np.log1p((alpha - 1) * -np.expm1(-loss)) - (alpha - 1) * loss)
        near = _gap(loss, alpha) * np.exp(-alpha * loss)
        terms = x.weight * np.where(alpha * loss > 1, far, near)
    log_excess = x.log_total + log(float(terms.sum())) if terms.any() else -inf
    log_excess = log_add(log_excess, _log_below(pair, alpha, float(loss.min())))
    total = log1p(exp(log_excess)) if log_excess < 700 else log_excess
    return up(total * (1 + _ERROR) if log_excess < 0 else total + _ERROR, 1e-15) / (alpha - 1)


def _log_below(pair: Pair, alpha: float, lowest: float) -> float:
    """log of what losses below make: under the tilt they are nothing, and Q, which g is large there for, may have many."""
    y = law(pair, -1.0, _DEPTH, np.array([lowest]))
    below = y.loss < lowest
    total = float((y.weight[below] * _gap(y.loss[below], alpha)).sum())
    return y.log_total + log(total) if total > 0 else -inf


def _gap(loss: Array, alpha: float) -> Array:
    """e^{αℓ} − 1 − α(e^ℓ − 1), by its series Σ (α^k − α)ℓ^k/k! where that cancels."""
    series, term = np.zeros_like(loss), np.ones_like(loss)
    for k in range(1, 10):
        term = term * loss / k
        series = series + (alpha**k - alpha) * term
    small = np.abs(max(alpha, 1.0) * loss) < _SMALL
    return np.where(small, series, np.expm1(alpha * loss) - alpha * np.expm1(loss))
