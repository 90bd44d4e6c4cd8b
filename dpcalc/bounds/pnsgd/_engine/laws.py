"""The two noises: the hockey-stick divergence between a noise law and its shift by `ratio` noise levels."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement
from dpcalc.numerics.rounding import up


class Law(NamedTuple):
    """`log_delta` is never too small and `log_rest`, the log of 1 − δ, never too large; `exact` is δ as printed,
    `exact_rest` 1 − δ where it is below 1, without cancellation."""

    name: str
    log_delta: Callable[[float, float], float]  # (ε, ratio)
    log_rest: Callable[[float, float], float]
    exact: Callable[[Any, Any, Any], Any]
    exact_rest: Callable[[Any, Any, Any], Any]


def _error(log_x: float) -> float:
    """Of log θ or log(1 − θ), relative: near 0 the exponent of the complement (up to 700) costs three digits."""
    return 3e-13 if log_x > -0.5 else 4e-15


def log_gaussian(epsilon: float, ratio: float) -> float:
    """log θ(ε, r), rounded up."""
    value = log_theta(epsilon, ratio)
    return up(value, _error(value))


def gaussian_inverse(log_delta: float, ratio: float) -> float:
    """Least ε with log_gaussian(ε, r) <= log δ, to 1e-12."""
    return epsilon_for(log_delta * (1 + 1.5 * _error(log_delta)), ratio) if ratio > 0 else 0.0


def _gaussian_rest(epsilon: float, ratio: float) -> float:
    value = log_theta_complement(epsilon, ratio)
    return value * (1 + _error(value))


def _log_laplace(epsilon: float, ratio: float) -> float:
    """log(1 − e^{(ε − r)/2})₊."""
    if epsilon >= ratio:
        return -inf
    return up(log1mexp((epsilon - ratio) / 2 * (1 + 3e-16)), 4e-16)  # the difference, rounded, may be nearer to 0


def _laplace_rest(epsilon: float, ratio: float) -> float:
    return min(0.0, (epsilon - ratio) / 2 - 4e-16 * (epsilon + ratio))


def _laplace_exact(mp: Any, epsilon: Any, ratio: Any) -> Any:
    return max(-mp.expm1((mp.mpf(epsilon) - mp.mpf(ratio)) / 2), mp.mpf(0))


def _gaussian_exact_rest(mp: Any, epsilon: Any, ratio: Any) -> Any:
    """Q(r/2 − ε/r) + e^ε Q(r/2 + ε/r), analytic in r: a number of mp, real or complex."""
    e, r = mp.mpf(epsilon), ratio
    if hasattr(mp, "theta_rest") and (other := mp.theta_rest(e, r)) is not None:  # a context may have a faster way
        return other
    root = mp.sqrt(mp.mpf(2))
    return (mp.erfc((r / 2 - e / r) / root) + mp.exp(e) * mp.erfc((r / 2 + e / r) / root)) / 2


def _laplace_exact_rest(mp: Any, epsilon: Any, ratio: Any) -> Any:
    return mp.exp((mp.mpf(epsilon) - ratio) / 2)


GAUSSIAN = Law("gaussian", log_gaussian, _gaussian_rest, theta, _gaussian_exact_rest)
LAPLACE = Law("laplace", _log_laplace, _laplace_rest, _laplace_exact, _laplace_exact_rest)
LAWS = {law.name: law for law in (GAUSSIAN, LAPLACE)}
