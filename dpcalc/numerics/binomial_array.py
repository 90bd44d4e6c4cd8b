"""Binomial probabilities of arrays, by the saddle-point expansion of numerics/binomial.py."""

from math import exp, floor

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.binomial import log_binomial_pmf, stirling_error, stirling_series

_SMALL = np.array([stirling_error(n) for n in range(16)])  # below 16 the series is not accurate


def log_pmf_range(first: int, last: int, n: int, log_p: float, log_q: float) -> tuple[Array, float]:
    """log(Pr[k]/Pr[m]) for k = first, …, last and the law Bin(n, p), q = 1 − p, and log Pr[m], where m is the most
    likely of these numbers."""
    mode = min(max(first, floor(n * exp(log_p))), last)
    k = np.arange(first, last, dtype=float)
    steps = np.log((n - k) / (k + 1)) + (log_p - log_q)  # from each number to the next
    below, above = steps[: mode - first], steps[mode - first:]
    logs = np.concatenate((-np.cumsum(below[::-1])[::-1], [0.0], np.cumsum(above)))
    return logs, log_binomial_pmf(mode, n, log_p, log_q, exp(log_p), exp(log_q))


def log_fair_pmf(k: Array, n: Array) -> Array:
    """log C(n,k)/2^n for whole numbers 0 <= k < n, to a relative error of a few ulp of itself and of log n."""
    inside, total = np.maximum(k, 1.0), np.maximum(n, 2.0)  # where k = 0 the result is replaced
    s, other = (total - 2 * inside) / total, total - inside
    near = np.clip(s, -0.5, 0.5)
    # n times the divergence of k/n from 1/2, near 1/2 by a sum that cancels little
    deviance = np.where(near == s, total * (near * np.arctanh(near) + np.log1p(-near * near) / 2),
                        inside * np.log(2 * inside / total) + other * np.log(2 * other / total))
    logs: Array = (np.log(total / (2 * np.pi * inside * other)) / 2 - deviance + _stirling_errors(total)
                   - _stirling_errors(inside) - _stirling_errors(other))
    logs[k == 0] = -n[k == 0] * np.log(2)
    return logs


def _stirling_errors(n: Array) -> Array:
    """log n! − log(√(2πn)(n/e)^n)."""
    errors: Array = np.where(n < 16, _SMALL[np.minimum(n, 15).astype(int)], stirling_series(np.maximum(n, 16.0)))
    return errors
