"""Noisy gradient descent on an affine gradient, with fresh noise on every iterate. The proof is in affine.py."""

from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noise_feedback import affine
from dpcalc.core.bound import Theorem


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ²(1−r^{2T})/(1−r²); Tσ² for a = 0. To a few ulp."""
    return sigma * sigma * affine.geometric(affine.decay(curvature, learning_rate), iterations)


def exact_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int) -> Any:
    r, s = 1 - mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    return iterations * s**2 if curvature == 0 else s**2 * (1 - r ** (2 * iterations)) / (1 - r**2)


_ITERATE = affine.LastIterate(variance, exact_variance)
mu, exact_mu = _ITERATE.mu, _ITERATE.exact_mu

BOUND = gaussian_bound(
    Theorem(
        name="without-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 "
                "--bound without-feedback",
        statement="the last iterate is μ-GDP, μ = 2Lη Σ_i max_j |r_j|^(T−i)/√Σ_j over the steps i that use the record "
                  "and the curvatures a_j, Σ_j = σ²(1−r_j^(2T))/(1−r_j²), r_j = 1 − ηa_j; exactly so for one use or "
                  "one curvature; proof in dpcalc/bounds/noise_feedback/affine.py",
        source="Berthier 2019, Proposition 3.2 and §3.4",
        assumptions=affine.SETTING,
    ),
    params=("curvatures", "learning_rate", "sigma", "iterations", "lipschitz", "uses"), mu=mu, exact_mu=exact_mu,
    rtol=1e-11)
