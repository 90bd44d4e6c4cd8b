"""Noise feedback: each step adds fresh noise and takes back a part λ of the previous one.

Proof of the variance. In θ_T = rθ_{T−1} − ηβ + ζ_T − λζ_{T−1} the last noise ζ_T stands as it is; ζ_t with t < T was
added, decayed once and then taken back in part, which leaves (r − λ)ζ_t, and this decays over the T − t − 1 later
steps. The squares add up to 1 + (r−λ)²Σ_{k<T−1} r^{2k}. ∎
λ = 0 is fresh noise alone, and λ = 1 the feedback of Berthier: r − 1 = −ηa. Then V ≤ 2 for ηa ≤ 1. The proof of the
privacy is in affine.py. """

from fractions import Fraction
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noise_feedback import affine
from dpcalc.core.bound import Theorem


def variance(curvature: float, learning_rate: float, sigma: float, iterations: int, feedback: float = 1.0) -> float:
    """Σ_T = σ²(1 + (r−λ)²(1−r^{2(T−1)})/(1−r²)), to a few ulp; r − λ is the nearest double to the exact difference."""
    left = float(1 - Fraction(feedback) - Fraction(curvature) * Fraction(learning_rate))
    return sigma * sigma * (1 + left * left * affine.geometric(affine.decay(curvature, learning_rate), iterations - 1))


def exact_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int,
                   feedback: float = 1.0) -> Any:
    g, s, lam = mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma), mp.mpf(feedback)
    r = 1 - g
    terms = iterations - 1 if curvature == 0 else (1 - r ** (2 * (iterations - 1))) / (1 - r**2)
    return s**2 * (1 + (r - lam) ** 2 * terms)


_ITERATE = affine.LastIterate(variance, exact_variance)
mu, exact_mu = _ITERATE.mu, _ITERATE.exact_mu

BOUND = gaussian_bound(
    Theorem(
        name="noise-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
        statement="the last iterate is μ-GDP, μ = 2Lη Σ_i max_j |r_j|^(T−i)/√Σ_j over the steps i that use the record "
                  "and the curvatures a_j, Σ_j = σ²(1 + (r_j−λ)²(1−r_j^(2(T−1)))/(1−r_j²)), r_j = 1 − ηa_j; exactly so "
                  "for one use or one curvature; proof in dpcalc/bounds/noise_feedback/affine.py",
        source="Berthier 2019, Proposition 3.3 and §3.4, corrected",
        assumptions=affine.SETTING,
        errata=("Proposition 3.3 prints 2γ²a²σ² (its γ is η here) and starts at 0: at ηa = .07, σ = 2, t = 6 the "
                "variance is 4.0749, not .1687; it never falls below σ².",),
        in_words="Only the variance that is left in the last iterate hides a record. For one curvature it does not "
                 "matter how the noise was spread over the steps: at equal privacy every λ leaves the same variance.",
    ),
    params=("curvatures", "feedback", "learning_rate", "sigma", "iterations", "lipschitz", "uses"), mu=mu,
    exact_mu=exact_mu, rtol=1e-11)
