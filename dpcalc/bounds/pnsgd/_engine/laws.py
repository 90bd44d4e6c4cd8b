"""The hockey-stick divergence between Gaussian or Laplace noise and its shift by `ratio` noise levels."""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement
from dpcalc.numerics.rounding import up

# Limits at which numbers that are next to nothing are rounded up, so that logarithms and exponentials stay doubles.
LEAST_RATIO = 1e-300  # a positive shift, in noise levels, is never below this
LEAST_EXPONENT = -700.0  # exponents below this are raised to it: exp of less is subnormal, a hundred times slower, or 0


class Law(NamedTuple):
    """A noise law by its divergence δ at (ε, ratio)."""

    name: str
    log_delta: Callable[[float, float], float]  # log δ, rounded up
    log_rest: Callable[[float, float], float]  # log(1 − δ), rounded down
    exact: Callable[[Any, Any, Any], Any]  # (mp, ε, ratio) → δ as printed
    exact_rest: Callable[[Any, Any, Any], Any]  # (mp, ε, ratio) → 1 − δ where δ > 0, without cancellation


def _error(log_x: float) -> float:
    """A bound on the relative error of log θ or log(1 − θ).

    Near 0 it is larger: the complement is an exponential there, whose exponent (up to 700) costs three digits.
    """
    return 3e-13 if log_x > -0.5 else 4e-15


def log_gaussian(epsilon: float, ratio: float) -> float:
    """log θ(ε, r), rounded up."""
    value = log_theta(epsilon, ratio)
    return up(value, _error(value))


def gaussian_inverse(log_delta: float, ratio: float) -> float:
    """The least ε with log_gaussian(ε, r) <= log δ, rounded up, to 1e-12."""
    return epsilon_for(log_delta * (1 + 1.5 * _error(log_delta)), ratio) if ratio > 0 else 0.0


def _gaussian_rest(epsilon: float, ratio: float) -> float:
    """log(1 − θ(ε, r)), rounded down."""
    value = log_theta_complement(epsilon, ratio)
    return value * (1 + _error(value))


def _log_laplace(epsilon: float, ratio: float) -> float:
    """log(1 − e^{(ε − r)/2})₊, rounded up."""
    if epsilon >= ratio:
        return -inf
    return up(log1mexp((epsilon - ratio) / 2 * (1 + 3e-16)), 4e-16)  # rounding may bring ε − r nearer to 0


def _laplace_rest(epsilon: float, ratio: float) -> float:
    """log of min(1, e^{(ε − r)/2}), rounded down."""
    return min(0.0, (epsilon - ratio) / 2 - 4e-16 * (epsilon + ratio))


def _gaussian_exact_rest(mp: Any, epsilon: Any, ratio: Any) -> Any:
    """Q(r/2 − ε/r) + e^ε Q(r/2 + ε/r), for a real or complex r of mp, in which it is analytic."""
    e, r = mp.mpf(epsilon), ratio
    root = mp.sqrt(mp.mpf(2))
    return (mp.erfc((r / 2 - e / r) / root) + mp.exp(e) * mp.erfc((r / 2 + e / r) / root)) / 2


GAUSSIAN = Law("gaussian", log_gaussian, _gaussian_rest, theta, _gaussian_exact_rest)
LAPLACE = Law("laplace", _log_laplace, _laplace_rest,
              lambda mp, epsilon, ratio: max(-mp.expm1((mp.mpf(epsilon) - mp.mpf(ratio)) / 2), mp.mpf(0)),
              lambda mp, epsilon, ratio: mp.exp((mp.mpf(epsilon) - ratio) / 2))
LAWS = {law.name: law for law in (GAUSSIAN, LAPLACE)}
