"""Noisy gradient descent on an affine gradient: fresh noise on every iterate."""

from typing import Any

from dpcalc.bounds.conversions import gdp_exact, gdp_rdp
from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.noise_feedback import affine
from dpcalc.bounds.start import START
from dpcalc.core.bound import Bound


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ²(1−r^{2T})/(1−r²); Tσ² for a = 0. To a few ulp."""
    return sigma * sigma * affine.geometric(affine.decay(curvature, learning_rate), iterations)


def mu(curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float, index: int) -> float:
    d = affine.decay(curvature, learning_rate)
    return affine.ratio(d, learning_rate, lipschitz, iterations - index,
                        variance(curvature, learning_rate, 1.0, iterations),
                        sigma)


def value(epsilon: float, curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
          index: int) -> float:
    """log δ(ε) = log θ(ε, μ)."""
    return gdp_exact.value(epsilon, mu(curvature, learning_rate, sigma, iterations, lipschitz, index), 1)


def inverse(log_delta: float, curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
            index: int) -> float:
    return gdp_exact.inverse(log_delta, mu(curvature, learning_rate, sigma, iterations, lipschitz, index), 1)


def rdp(alpha: float, curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
        index: int) -> float:
    """αμ²/2."""
    return gdp_rdp.value(alpha, mu(curvature, learning_rate, sigma, iterations, lipschitz, index))


def exact_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int) -> Any:
    r, s = 1 - mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    return iterations * s**2 if r == 1 else s**2 * (1 - r ** (2 * iterations)) / (1 - r**2)


def exact(mp: Any, epsilon: float, curvature: float, learning_rate: float, sigma: float, iterations: int,
          lipschitz: float,
          index: int) -> Any:
    spread = exact_variance(mp, curvature, learning_rate, sigma, iterations)
    return gaussian_exact.theta(mp, epsilon,
                                affine.exact_ratio(mp, curvature, learning_rate, lipschitz, iterations - index, spread))


PARAMS = ("curvature", "learning_rate", "sigma", "iterations", "lipschitz", "index")
SETTING = ("gradients aθ + β_t with the same curvature a on both data sets; one β_i changes by at most 2L",
           START, "noise N(0, σ²) is added to the iterate, not to the gradient", "only the last iterate is released")

BOUND = Bound(
    name="without-feedback",
    example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta "
    "1e-5 --bound without-feedback",
    kind="profile",
    statement="the last iterate is exactly μ-GDP, μ = 2Lγ|r|^(T−i)/√Σ_T, Σ_T = σ²(1−r^(2T))/(1−r²), r = 1 − γa",
    source="Berthier 2019, Proposition 3.2 and §3.4",
    assumptions=SETTING,
    params=PARAMS,
    value=value,
    exact=exact,
    rtol=1e-11,
    inverse=inverse,
    rdp=rdp,
)
