"""The last iterate of θ_{t+1} = θ_t − η(Hθ_t + β_t) + noise, which is Gaussian: each eigenvalue a_j of H is a mode of
its own, with a factor of r_j = 1 − ηa_j a step.

Statement. One record changes the β_i of the steps i in a set π that does not depend on the data, each by a vector of
norm at most 2L. With the variance V_jσ² of mode j the last iterate is μ-GDP,
μ = (2Lη/σ)·Σ_{i∈π} max_j |r_j|^{T−i}/√V_j, and exactly so for one use or one mode.

Proof. In the eigenbasis of H, which is that of both data sets, the modes of the noise are independent, and a change
Δ_i of β_i moves mode j of θ_T by −ηr_j^{T−i}Δ_ij. Two Gaussians with one covariance matrix are exactly μ-GDP, μ being
the length of the shift in units of their standard deviations:
μ = (η/σ)·‖Σ_i D_iΔ_i‖ with D_i = diag(r_j^{T−i}/√V_j). By the triangle inequality this is at most
(η/σ)·Σ_i ‖D_i‖·2L, and the norm of a diagonal matrix is its largest entry: for a unit vector v,
Σ_j v_j²w_j is largest where v is the mode with the largest w_j. For one use that mode attains it; for one mode changes
of the sign of r^{T−i} do. ∎

As |r_j| ≤ 1, a record that is used once loses most at the last step. A projection on a constraint set is not covered:
at a boundary an iterate forgets the noise of the steps before, and V_j is false.

Noise that is added once to the output is optimal for records that are used once. Let θ_T have any Gaussian noise, with
covariance matrix Σ. A record of the last step moves θ_T by any v of norm s = 2Lη, so μ² ≥ vᵀΣ⁻¹v for all of them: Σ is
at least (s/μ)² in every direction. Independent noise of this variance on θ_T alone attains that, as records of earlier
steps move θ_T by no more. With λ = 1 and ηa_j ≤ 1, V_j = 1 + (1−r_j)²(1−r_j^{2(T−1)})/(1−r_j²) is between 1 and
1 + (1−r_j)/(1+r_j) ≤ 2, so that every V_jσ² = (s/μ)²·V_j/min V is at most twice the optimum.

1 − r² = ηa(2 − ηa) is computed from exact products, so that |r| near 1 keeps its digits.

Proof of noise-feedback. The variance, where each step adds fresh noise and takes back a part λ of the previous one: in
θ_T = rθ_{T−1} − ηβ + ζ_T − λζ_{T−1} the last noise ζ_T stands as it is; ζ_t with t < T was added, decayed once and then
taken back in part, which leaves (r − λ)ζ_t, and this decays over the T − t − 1 later steps. The squares add up to
1 + (r−λ)²Σ_{k<T−1} r^{2k}. ∎ λ = 0 is fresh noise alone, and λ = 1 the feedback of Berthier: r − 1 = −ηa. Then V ≤ 2
for ηa ≤ 1. The proof of the privacy is that above.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, fsum, inf, log, log1p
from typing import Any, NamedTuple

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.start import START
from dpcalc.core.bound import Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import geometric_sum, log_sum
from dpcalc.numerics.rounding import up

UNHINDERED = "no iterate is projected on a constraint set, nor is a gradient clipped where the curvature is not 0"
SETTING = ("step size η; gradients aθ + β_t with the same curvature a on both data sets, or Hθ + β_t with the same "
           "Hessian H, whose eigenvalues are the curvatures",
           "β_t does not depend on the iterates; one record changes it by at most 2L at each step that uses the "
           "record, and these steps do not depend on the data",
           UNHINDERED, START, "noise N(0, σ²) is added to the iterate, not to the gradient",
           "only the last iterate is released")


class Decay(NamedTuple):
    """ηa and 2 − ηa, each the nearest double, and log |r|."""

    g: float
    other: float
    log_r: float


def decay(curvature: float, learning_rate: float) -> Decay:
    """Raises OutOfScope where |r| >= 1 with a > 0: the iterates diverge."""
    g = Fraction(curvature) * Fraction(learning_rate)
    if g >= 2:
        raise OutOfScope("out-of-range",
                         f"{learning_rate:g} ≥ 2/a = {2 / curvature:g}; Berthier 2019, §3.4, needs |1 − ηa| < 1",
                         "--learning-rate")
    rest = min(g, 2 - g)  # 1 − |r|
    log_r = log1p(-float(rest)) if rest < Fraction(1, 2) else (log(float(1 - rest)) if rest < 1 else -inf)
    return Decay(float(g), float(2 - g), log_r)


def geometric(d: Decay, terms: int) -> float:
    """Σ_{k<T} r^{2k}, to a few ulp."""
    return geometric_sum(2 * d.log_r, terms)


def mu_of_logs(learning_rate: float, sigma: float, lipschitz: float, *logs: float) -> float:
    """2Lη/σ times the numbers with these logarithms, rounded up. Raises OverflowError beyond the doubles."""
    every = (log(2), log(learning_rate), log(lipschitz), -log(sigma), *logs)
    # The relative error from a few logarithms of moderate size, and that from larger ones.
    return max(up(exp(fsum(every) + 8e-15 + 5e-16 * fsum(map(abs, every))), 4e-16), 5e-324)


def larger(x: Any, y: Any) -> Any:
    """The larger number, without a comparison, so that balls enclose it."""
    return (x + y + abs(x - y)) / 2


class LastIterate(NamedTuple):
    """The guarantee of a last iterate with given variances, which are functions of (a, η, σ, T) and, where there is
    feedback, of its coefficient."""

    variance: Callable[..., float]
    exact_variance: Callable[..., Any]

    def mu(self, curvatures: tuple[float, ...], learning_rate: float, sigma: float, iterations: int, lipschitz: float,
           uses: tuple[int, ...], **feedback: float) -> float:
        """μ, rounded up. Raises OverflowError beyond the doubles."""
        modes = []  # log |r|, and log 1/√V
        for a in sorted(set(curvatures)):
            variance = self.variance(a, learning_rate, 1.0, iterations, **feedback)
            modes.append((decay(a, learning_rate).log_r, -log(variance) / 2))
        moved = [max(((after * log_r if after else 0.0, log_scale) for log_r, log_scale in modes), key=sum)
                 for after in (iterations - i for i in uses)]
        if len(moved) == 1:
            parts: tuple[float, ...] = moved[0]
        else:  # each term has the error of its own logarithm, which counts by its share: log n beside the largest
            parts = (log_sum([sum(x) for x in moved]) + 1e-15 * log(len(moved)),)
        return 0.0 if -inf in parts else mu_of_logs(learning_rate, sigma, lipschitz, *parts)

    def exact_mu(self, mp: Any, curvatures: tuple[float, ...], learning_rate: float, sigma: float, iterations: int,
                 lipschitz: float, uses: tuple[int, ...], **feedback: float) -> Any:
        """μ as stated, at high precision."""
        gamma, modes = mp.mpf(learning_rate), []
        for a in sorted(set(curvatures)):
            variance = self.exact_variance(mp, a, learning_rate, sigma, iterations, **feedback)
            modes.append((abs(1 - gamma * mp.mpf(a)), mp.sqrt(variance)))
        moved = []
        for i in uses:
            largest = mp.mpf(0)
            for r, spread in modes:
                largest = larger(largest, r ** (iterations - i) / spread)
            moved.append(largest)
        return gamma * 2 * mp.mpf(lipschitz) * mp.fsum(moved)


def _fed_variance(curvature: float, learning_rate: float, sigma: float, iterations: int,
                  feedback: float = 1.0) -> float:
    """Σ_T = σ²(1 + (r−λ)²(1−r^{2(T−1)})/(1−r²)), to a few ulp; r − λ is the nearest double to the exact difference."""
    left = float(1 - Fraction(feedback) - Fraction(curvature) * Fraction(learning_rate))
    return sigma * sigma * (1 + left * left * geometric(decay(curvature, learning_rate), iterations - 1))


def _exact_fed_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int,
                        feedback: float = 1.0) -> Any:
    g, s, lam = mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma), mp.mpf(feedback)
    r = 1 - g
    terms = iterations - 1 if curvature == 0 else (1 - r ** (2 * (iterations - 1))) / (1 - r**2)
    return s**2 * (1 + (r - lam) ** 2 * terms)


def _fresh_variance(curvature: float, learning_rate: float, sigma: float, iterations: int) -> float:
    """Σ_T = σ²(1−r^{2T})/(1−r²); Tσ² for a = 0. To a few ulp."""
    return sigma * sigma * geometric(decay(curvature, learning_rate), iterations)


def _exact_fresh_variance(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int) -> Any:
    r, s = 1 - mp.mpf(learning_rate) * mp.mpf(curvature), mp.mpf(sigma)
    return iterations * s**2 if curvature == 0 else s**2 * (1 - r ** (2 * iterations)) / (1 - r**2)


WITH, WITHOUT = LastIterate(_fed_variance, _exact_fed_variance), LastIterate(_fresh_variance, _exact_fresh_variance)

WITH_FEEDBACK = gaussian_bound(
    Theorem(
        name="noise-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
        statement="the last iterate is μ-GDP, μ = 2Lη Σ_i max_j |r_j|^(T−i)/√Σ_j over the steps i that use the record "
                  "and the curvatures a_j, Σ_j = σ²(1 + (r_j−λ)²(1−r_j^(2(T−1)))/(1−r_j²)), r_j = 1 − ηa_j; exactly so "
                  "for one use or one curvature; proof in dpcalc/bounds/noise_feedback/affine.py",
        source="Berthier 2019, Proposition 3.3 and §3.4, corrected",
        assumptions=SETTING,
        errata=("Berthier 2019, Proposition 3.3, adds 2γ²a²σ² to the variance at every step, from 0 (its γ is η here): "
                "at ηa = .07, σ = 2, t = 6 the variance is 4.0749, not .1687; it never falls below σ².",),
        in_words="The last iterate of noisy gradient descent with affine gradients, where each step takes back a part "
                 "λ of the previous noise. It is exact for one use of the record or one curvature; for one curvature, "
                 "every λ leaves the same variance at equal privacy. It is false with clipping (but for curvature 0), "
                 "projection or other losses, and where an earlier iterate is released.",
    ),
    params=("curvatures", "feedback", "learning_rate", "sigma", "iterations", "lipschitz", "uses"), mu=WITH.mu,
    exact_mu=WITH.exact_mu, rtol=1e-11)

WITHOUT_FEEDBACK = gaussian_bound(
    Theorem(
        name="without-feedback",
        example="noise-feedback --curvature 0.7 --learning-rate 0.1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 "
                "--bound without-feedback",
        statement="the last iterate is μ-GDP, μ = 2Lη Σ_i max_j |r_j|^(T−i)/√Σ_j over the steps i that use the record "
                  "and the curvatures a_j, Σ_j = σ²(1−r_j^(2T))/(1−r_j²), r_j = 1 − ηa_j; exactly so for one use or "
                  "one curvature; proof in dpcalc/bounds/noise_feedback/affine.py",
        in_words="The last iterate of noisy gradient descent with affine gradients and fresh noise in every step: only "
                 "the variance that is left at the end hides a record. It is exact for one use of the record or one "
                 "curvature. It is false with clipping (but for curvature 0), projection or other losses, and where an "
                 "earlier iterate is released.",
        source="Berthier 2019, Proposition 3.2 and §3.4",
        assumptions=SETTING,
    ),
    params=("curvatures", "learning_rate", "sigma", "iterations", "lipschitz", "uses"), mu=WITHOUT.mu,
    exact_mu=WITHOUT.exact_mu, rtol=1e-11)

BOUNDS = (WITH_FEEDBACK, WITHOUT_FEEDBACK)
