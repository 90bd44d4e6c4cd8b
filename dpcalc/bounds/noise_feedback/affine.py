"""The last iterate of θ_{t+1} = θ_t − γ(aθ_t + β_t) + noise, which is Gaussian with a factor of r = 1 − γa a step.

A change of one β_i by 2L moves it by γ·2L·r^{T−i}: with variance Σ_T it is exactly μ-GDP, μ = 2Lγ|r|^{T−i}/√Σ_T.
1 − r² = γa(2 − γa) is computed from exact products, so that |r| near 1 keeps its digits.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, expm1, fsum, inf, log, log1p
from typing import Any, NamedTuple

from dpcalc.bounds.conversions import gdp_exact, gdp_rdp
from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.start import START
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

PARAMS = ("curvature", "learning_rate", "sigma", "iterations", "lipschitz", "index")
SETTING = ("gradients aθ + β_t with the same curvature a on both data sets; one β_i changes by at most 2L",
           START, "noise N(0, σ²) is added to the iterate, not to the gradient", "only the last iterate is released")


class Decay(NamedTuple):
    """γa and 2 − γa, each the nearest double, and log |r|."""

    g: float
    other: float
    log_r: float


def decay(curvature: float, learning_rate: float) -> Decay:
    """Raises OutOfScope where |r| >= 1 with a > 0: the iterates diverge."""
    g = Fraction(curvature) * Fraction(learning_rate)
    if g >= 2:
        raise OutOfScope("out-of-range",
                         f"{learning_rate:g} ≥ 2/a = {2 / curvature:g}; Berthier 2019, §3.4, needs |1 − γa| < 1",
                         "--learning-rate")
    rest = min(g, 2 - g)  # 1 − |r|
    log_r = log1p(-float(rest)) if rest < Fraction(1, 2) else (log(float(1 - rest)) if rest < 1 else -inf)
    return Decay(float(g), float(2 - g), log_r)


def geometric(d: Decay, terms: int) -> float:
    """Σ_{k<T} r^{2k}, to a few ulp."""
    if d.g == 0:
        return float(terms)
    if terms == 0 or d.log_r == -inf:
        return float(min(terms, 1))
    return -expm1(2 * terms * d.log_r) / (d.g * d.other)


def exact_ratio(mp: Any, curvature: float, learning_rate: float, lipschitz: float, after: int, variance: Any) -> Any:
    """μ as printed, at high precision."""
    gamma = mp.mpf(learning_rate)
    return gamma * 2 * mp.mpf(lipschitz) * abs(1 - gamma * mp.mpf(curvature)) ** after / mp.sqrt(variance)


class LastIterate(NamedTuple):
    """The guarantee of a last iterate with a given variance, a function of (a, γ, σ, T): the functions of its bound."""

    variance: Callable[[float, float, float, int], float]
    exact_variance: Callable[[Any, float, float, float, int], Any]

    def mu(self, curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
           index: int) -> float:
        """μ, rounded up. Raises OverflowError beyond the doubles."""
        d, after = decay(curvature, learning_rate), iterations - index
        log_moved = after * d.log_r if after else 0.0
        if log_moved == -inf:
            return 0.0
        variance = self.variance(curvature, learning_rate, 1.0, iterations)  # in units of σ²
        logs = (log(2), log(learning_rate), log(lipschitz), -log(sigma), -log(variance) / 2, log_moved)
        return max(up(exp(fsum(logs) + 8e-15 + 5e-16 * fsum(map(abs, logs))), 4e-16), 5e-324)

    def value(self, epsilon: float, **params: Any) -> float:
        """log δ(ε) = log θ(ε, μ)."""
        return gdp_exact.value(epsilon, self.mu(**params), 1)

    def inverse(self, log_delta: float, **params: Any) -> float:
        """The least ε with δ(ε) <= δ, rounded up."""
        return gdp_exact.inverse(log_delta, self.mu(**params), 1)

    def rdp(self, alpha: float, **params: Any) -> float:
        """αμ²/2."""
        return gdp_rdp.value(alpha, self.mu(**params))

    def exact(self, mp: Any, epsilon: float, curvature: float, learning_rate: float, sigma: float, iterations: int,
              lipschitz: float, index: int) -> Any:
        variance = self.exact_variance(mp, curvature, learning_rate, sigma, iterations)
        mu = exact_ratio(mp, curvature, learning_rate, lipschitz, iterations - index, variance)
        return gaussian_exact.theta(mp, epsilon, mu)
