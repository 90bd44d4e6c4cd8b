"""Noise feedback: each step adds fresh noise and takes back the previous one.

Then θ_t − η_t obeys the recursion without noise but for the −γaη_t it inherits: the variance is σ² of the last noise,
plus γ²a²σ² of every earlier one, decayed. """

from typing import Any

from dpcalc.bounds.conversions import gdp_exact, gdp_rdp
from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.noise_feedback import affine
from dpcalc.bounds.noise_feedback.without_feedback import PARAMS, SETTING
from dpcalc.core.bound import Bound


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ² + γ²a²σ²(1−r^{2(T−1)})/(1−r²); σ² for a = 0. To a few ulp."""
    d = affine.decay(curvature, learning_rate)
    return sigma * sigma * (1 + d.g * d.g * affine.geometric(d, iterations - 1))


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
    g, s = mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    r = 1 - g
    return s**2 if g == 0 else s**2 + g**2 * s**2 * (1 - r ** (2 * (iterations - 1))) / (1 - r**2)


def exact(mp: Any, epsilon: float, curvature: float, learning_rate: float, sigma: float, iterations: int,
          lipschitz: float,
          index: int) -> Any:
    spread = exact_variance(mp, curvature, learning_rate, sigma, iterations)
    return gaussian_exact.theta(mp, epsilon,
                                affine.exact_ratio(mp, curvature, learning_rate, lipschitz, iterations - index, spread))


BOUND = Bound(
    name="noise-feedback",
    example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
    kind="profile",
    statement="the last iterate is exactly μ-GDP, μ = 2Lγ|r|^(T−i)/√Σ_T, Σ_T = σ² + γ²a²σ²(1−r^(2(T−1)))/(1−r²), r = 1 "
              "− γa: "
    "Σ_1 = σ², Σ_{t+1} = 2γaσ² + r²Σ_t",
    source="Berthier 2019, Proposition 3.3 and §3.4, corrected",
    assumptions=SETTING,
    params=PARAMS,
    value=value,
    exact=exact,
    rtol=1e-11,
    errata=("Proposition 3.3 prints 2γ²a²σ² and starts at 0: at γa = .07, σ = 2, t = 6 the variance is 4.0749, not "
            ".1687; "
            "it never falls below σ².",),
    inverse=inverse,
    rdp=rdp,
)
