"""Noisy gradient descent on an affine gradient, with fresh noise on every iterate."""

from typing import Any

from dpcalc.bounds.noise_feedback import affine
from dpcalc.core.bound import ProfileBound, Theorem


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ²(1−r^{2T})/(1−r²); Tσ² for a = 0. To a few ulp."""
    return sigma * sigma * affine.geometric(affine.decay(curvature, learning_rate), iterations)


def exact_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int) -> Any:
    r, s = 1 - mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    return iterations * s**2 if r == 1 else s**2 * (1 - r ** (2 * iterations)) / (1 - r**2)


_ITERATE = affine.LastIterate(variance, exact_variance)
mu = _ITERATE.mu

BOUND = ProfileBound(
    Theorem(
        name="without-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 "
                "--bound without-feedback",
        statement="the last iterate is exactly μ-GDP, μ = 2Lγ|r|^(T−i)/√Σ_T, Σ_T = σ²(1−r^(2T))/(1−r²), r = 1 − γa",
        source="Berthier 2019, Proposition 3.2 and §3.4",
        assumptions=affine.SETTING,
    ),
    params=affine.PARAMS,
    value=_ITERATE.value,
    exact=_ITERATE.exact,
    rtol=1e-11,
    inverse=_ITERATE.inverse,
    rdp=_ITERATE.rdp,
)
