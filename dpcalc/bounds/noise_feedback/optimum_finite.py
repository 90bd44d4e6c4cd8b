"""The coefficient of noise feedback with the least variance of the iterate after T steps, where every iterate is
released.

Statement. As in optimum.py, with ηa_j ≤ 1, after T steps, and the privacy of the worst record of a long run. With
G_j = (1−r_j^{2(T−1)})/(1−r_j²), which is T − 1 for r_j = 1, P = Σ_j (1 + G_j(1−r_j)²) and Q = Σ_j (1 + G_j(1+r_j)²):
λ* = (√Q−√P)/(√Q+√P), and the variances add up to (√(PQ) + Σ_j r_j^{2(T−1)})/2 at μ = s = 1. Without curvature this is
the mechanism for prefix sums: λ* = 1 − (√(1+4m)−1)/(2m) with m = T − 1, whose largest variance, that of the last sum,
is (1+√(1+4m))/2, about √T instead of T. For the mean of the variances of all T sums, m is (T−1)/2.

Proof. The variances are f(λ) = Σ_j (1 + G_j(r_j−λ)²)/(1−λ²) by affine.py and every_iterate.py, the latter
without its λ^{2T}, which is an upper bound. With x = (1+λ)/(1−λ), 1/(1−λ²) = (x + 1/x + 2)/4 and
(r−λ)²/(1−λ²) = ((1+r)²/x + (1−r)²x − 2(1−r²))/4, so f = (P·x + Q/x + Σ_j (2 − 2G_j(1−r_j²)))/4. That is least at
x = √(Q/P) ≥ 1, and 1 − G_j(1−r_j²) = r_j^{2(T−1)}. For prefix sums P = 1 and Q = 1 + 4m. The mean
of f over the sums 1, …, T has the mean of their G, (T−1)/2, in place of G. ∎ """

from fractions import Fraction
from math import exp, expm1, fsum, log1p, sqrt
from typing import Any

from dpcalc.bounds.noise_feedback.affine import decay, geometric
from dpcalc.bounds.noise_feedback.optimum import ROUNDING, SETTING, best_coefficient, exact_coefficient
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up


def value(curvatures: tuple[float, ...], learning_rate: float, iterations: int) -> dict[str, float]:
    """λ* and the variance at equal privacy with it, both rounded up."""
    p, q, difference, decayed = [], [], [], []
    for a in curvatures:
        d, r = decay(a, learning_rate), float(1 - Fraction(a) * Fraction(learning_rate))
        if r < 0:
            raise OutOfScope("out-of-range", f"{learning_rate:g} > 1/a = {1 / a:g}; the best λ after so many steps is "
                                             "computed where the step size is at most 1/a", "--learning-rate")
        g = geometric(d, iterations - 1)
        p.append(1 + g * d.g * d.g)
        q.append(1 + g * d.other * d.other)
        difference.append(4 * g * r)
        decayed.append(exp(2 * (iterations - 1) * d.log_r) if iterations > 1 else 1.0)
    low, high = fsum(p), fsum(q)
    return {"feedback": best_coefficient(low, high, fsum(difference)),
            "equal_privacy_variance": up((sqrt(low * high) + fsum(decayed)) / 2, ROUNDING)}


def mean_coefficient(iterations: int, r: float = 1.0) -> float:
    """λ* for the mean of the variances of the sums Σ_j r^{t−j}g_j up to t = T, relative to 1e-9: that of the last sum,
    with the mean of its G over all t, which for r near 1 is a series in 1 − r."""
    n, s = iterations, 1 - r
    decayed = s * (1 + r)
    if n * s < 1e-6:  # two terms of the series are exact to 1e-10, and the formula cancels too much
        g = (n - 1) / 2 * (1 - 2 * s * (n - 2) / 3)
    else:
        g = (1 + expm1(2 * n * log1p(-s)) / (n * decayed)) / decayed
    return best_coefficient(1 + g * s * s, 1 + g * (1 + r) ** 2, 4 * g * r)


def exact(mp: Any, curvatures: tuple[float, ...], learning_rate: float, iterations: int) -> dict[str, Any]:
    p, q, total = mp.mpf(0), mp.mpf(0), mp.mpf(0)
    for a in curvatures:
        r = 1 - mp.mpf(learning_rate) * mp.mpf(a)
        g = iterations - 1 if a == 0 else (1 - r ** (2 * (iterations - 1))) / (1 - r**2)
        p, q, total = p + 1 + g * (1 - r) ** 2, q + 1 + g * (1 + r) ** 2, total + r ** (2 * (iterations - 1))
    return {"feedback": exact_coefficient(mp, p, q), "equal_privacy_variance": (mp.sqrt(p * q) + total) / 2}


BOUND = PointBound(
    Theorem(
        name="feedback-optimum-finite",
        example="noise-feedback --steps 1000 --solve feedback",
        statement="among feedback λ in [0, 1), λ* = (√Q−√P)/(√Q+√P) has the least variance of the iterate after T "
                  "steps at equal privacy of all iterates, for which μ = 2Lη/(σ√(1−λ²)), the value of a long run, is "
                  "taken; P = Σ (1 + G_j(1−r_j)²), Q = Σ (1 + G_j(1+r_j)²), G_j = (1−r_j^(2(T−1)))/(1−r_j²); for "
                  "prefix sums 1 − (√(1+4m)−1)/(2m), m = T − 1; proof in "
                  "dpcalc/bounds/noise_feedback/optimum_finite.py",
        source="after Denisov, McMahan, Rush, Smith & Thakurta 2022, arXiv:2202.08312; proof in "
               "dpcalc/bounds/noise_feedback/optimum_finite.py",
        assumptions=(*SETTING, "ηa ≤ 1 for every curvature"),
        in_words="The part λ of the previous noise to take back if every iterate is released: it gives the iterate "
                 "after T steps the least variance, where the privacy loss is counted as that of a long run, an upper "
                 "bound. It is for affine gradients and a record that is used once. For prefix sums, where the "
                 "curvature is 0, the variance of the last one then grows like √T, not like T.",
        released="every step's output",
    ),
    params=("curvatures", "learning_rate", "iterations"), value=value, exact=exact, rtol=2e-14,
    gives=("feedback", "equal_privacy_variance"))
