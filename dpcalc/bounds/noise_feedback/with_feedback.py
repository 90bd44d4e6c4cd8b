"""Noise feedback: each step adds fresh noise and takes back the previous one.

Then θ_t − η_t obeys the recursion without noise but for the −γaη_t it inherits: the variance is σ² of the last noise,
plus γ²a²σ² of every earlier one, decayed. """

from typing import Any

from dpcalc.bounds.noise_feedback import affine
from dpcalc.core.bound import ProfileBound, Theorem


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ² + γ²a²σ²(1−r^{2(T−1)})/(1−r²); σ² for a = 0. To a few ulp."""
    d = affine.decay(curvature, learning_rate)
    return sigma * sigma * (1 + d.g * d.g * affine.geometric(d, iterations - 1))


def exact_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int) -> Any:
    g, s = mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    r = 1 - g
    return s**2 if g == 0 else s**2 + g**2 * s**2 * (1 - r ** (2 * (iterations - 1))) / (1 - r**2)


_ITERATE = affine.LastIterate(variance, exact_variance)
mu = _ITERATE.mu

BOUND = ProfileBound(
    Theorem(
        name="noise-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
        statement="the last iterate is exactly μ-GDP, μ = 2Lγ|r|^(T−i)/√Σ_T, Σ_T = σ² + γ²a²σ²(1−r^(2(T−1)))/(1−r²), "
                  "r = 1 − γa: Σ_1 = σ², Σ_{t+1} = 2γaσ² + r²Σ_t",
        source="Berthier 2019, Proposition 3.3 and §3.4, corrected",
        assumptions=affine.SETTING,
        errata=("Proposition 3.3 prints 2γ²a²σ² and starts at 0: at γa = .07, σ = 2, t = 6 the variance is 4.0749, not "
                ".1687; it never falls below σ².",),
    ),
    params=affine.PARAMS,
    value=_ITERATE.value,
    exact=_ITERATE.exact,
    rtol=1e-11,
    inverse=_ITERATE.inverse,
    rdp=_ITERATE.rdp,
)
