"""The coefficient of noise feedback with the least variance at equal privacy, where every iterate of a long run is
released.

Statement. Affine gradients with curvatures a_j, r_j = 1 − ηa_j with 0 < ηa_j < 2, and feedback λ in [0, 1). At μ = 1
for an observer of every iterate, in units of s² = (2Lη)², the variances of the modes of a late iterate add up to
f(λ) = Σ_j (1 + (r_j−λ)²/(1−r_j²))/(1−λ²). With P = Σ_j 1/(2−ηa_j) and Q = Σ_j 1/(ηa_j), the least of them is √(PQ) at
λ* = (√Q−√P)/(√Q+√P) where Q ≥ P, and else (P+Q)/2 at λ* = 0. For one mode λ* = (1−√(1−r²))/r and the variance is
1/√(1−r²).

Proof. For T → ∞ the variance of affine.py is σ²(1 + (r−λ)²/(1−r²)), and the μ of every_iterate.py for the worst
record is s/(σ√(1−λ²)); their product without σ is f. As 1/(1−r²) = (1/(1−r) + 1/(1+r))/2, with 1−r = ηa and
1+r = 2−ηa, Σ_j 1/(1−r_j²) = (Q+P)/2 and Σ_j r_j/(1−r_j²) = (Q−P)/2, so that
f(λ) = ((Q+P)(1+λ²)/2 − (Q−P)λ)/(1−λ²) = (P(1+λ)² + Q(1−λ)²)/(2(1−λ²)) = (P·x + Q/x)/2 with x = (1+λ)/(1−λ) ≥ 1. That
is least at x = √(Q/P), or at x = 1 where Q < P. ∎

Every causal linear filter. The noise that reaches a late iterate through a filter of transfer function M has variance
σ²·avg|M|²/|1−re^{iω}|², and one gradient seen through it gives μ² = (s/σ)²·avg 1/|M|², averages over ω. By the
inequality of Cauchy and Schwarz their product is at least s²(avg 1/|1−re^{iω}|)² = s²(2K(r)/π)², K being the complete
elliptic integral of modulus r; M = √(1−rz) attains it. """

from collections.abc import Sequence
from fractions import Fraction
from math import fsum, inf, sqrt
from typing import Any

from dpcalc.bounds.noise_feedback.affine import UNHINDERED, decay
from dpcalc.bounds.start import START
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

SETTING = ("step size η; gradients aθ + β_t with the same curvature on both data sets, or Hθ + β_t with the same "
           "Hessian, whose eigenvalues are the curvatures", UNHINDERED, START,
           "every iterate is released, and a record is used once", "noise is added to the iterate, not to the gradient")
_UNIT = 2**400  # sums are whole multiples of 1/_UNIT: their differences keep the digits of doubles
ROUNDING = 4e-15  # relative error of a root of sums and of a quotient of such roots


def best_coefficient(p: float, q: float, difference: float) -> float:
    """(√q−√p)/(√q+√p), rounded up, from q − p; 0 where that is negative."""
    return min(1.0, up(difference / (sqrt(p) + sqrt(q)) ** 2, ROUNDING)) if difference > 0 else 0.0


def exact_coefficient(mp: Any, p: Any, q: Any) -> Any:
    """The same at high precision."""
    return (q - p) / (mp.sqrt(p) + mp.sqrt(q)) ** 2 if q > p else mp.mpf(0)


def value(curvatures: tuple[float, ...], learning_rate: float) -> dict[str, float]:
    """λ* and the variance at equal privacy with it, both rounded up. Raises OutOfScope where a run has no λ* < 1."""
    for a in curvatures:
        decay(a, learning_rate)  # refuses runs that diverge
    products = [Fraction(a) * Fraction(learning_rate) for a in curvatures]
    if min(products) == 0:
        raise OutOfScope("no-solution", "without curvature the variance grows with every step; add --steps",
                         "--steps")
    p, q = (sum(round(_UNIT / x) for x in terms) for terms in ([2 - g for g in products], products))
    low, high = (float(Fraction(x, _UNIT)) for x in (p, q))
    least = sqrt(low) * sqrt(high) if q > p else (low + high) / 2
    best = best_coefficient(low, high, float(Fraction(q - p, _UNIT)))
    if best == 1:
        raise OutOfScope("out-of-range", "the step size times the curvature is so small that the best λ is 1 in double "
                         "precision; give a larger one", "--learning-rate")
    return {"feedback": best,
            "equal_privacy_variance": up(least, ROUNDING)}


def exact(mp: Any, curvatures: tuple[float, ...], learning_rate: float) -> dict[str, Any]:
    products = [mp.mpf(learning_rate) * mp.mpf(a) for a in curvatures]
    p, q = mp.fsum([1 / (2 - g) for g in products]), mp.fsum([1 / g for g in products])
    lam = exact_coefficient(mp, p, q)
    return {"feedback": lam, "equal_privacy_variance": (p * (1 + lam) ** 2 + q * (1 - lam) ** 2) / (2 * (1 - lam**2))}


# --- other coefficients, and other filters ---------------------------------------------------------------------------


def variance_at_equal_privacy(curvatures: Sequence[float], learning_rate: float, feedback: float) -> float:
    """f(λ), to a few ulp; ∞ for λ = 1, or without curvature."""
    terms = []
    for a in curvatures:
        d, left = decay(a, learning_rate), float(1 - Fraction(feedback) - Fraction(a) * Fraction(learning_rate))
        if d.g == 0 or feedback == 1:
            return inf
        terms.append((1 + left * left / (d.g * d.other)) / ((1 - feedback) * (1 + feedback)))
    return fsum(terms)


def least_of_all_filters(curvature: float, learning_rate: float) -> float:
    """(2K(r)/π)², the variance at equal privacy of the best causal linear filter, to a few ulp; ∞ without curvature.

    2K(r)/π is 1 over the arithmetic-geometric mean of 1 and √(1−r²)."""
    d = decay(curvature, learning_rate)
    if d.g == 0:
        return inf
    larger, smaller = 1.0, sqrt(d.g * d.other)
    while larger - smaller > 1e-15 * larger:
        larger, smaller = (larger + smaller) / 2, sqrt(larger * smaller)
    return 1 / (larger * larger)


BOUND = PointBound(
    Theorem(
        name="feedback-optimum",
        example="noise-feedback --curvature 0.1 --learning-rate 0.1 --solve feedback",
        statement="among feedback λ in [0, 1), λ* = (√Q−√P)/(√Q+√P) has the least variance of a late iterate at equal "
                  "privacy of all iterates, √(PQ)·s²/μ², P = Σ 1/(2−ηa_j) ≤ Q = Σ 1/(ηa_j), s = 2Lη; for one curvature "
                  "(1−√(1−r²))/r and 1/√(1−r²), r = 1 − ηa; λ* = 0 where Q < P; proof in "
                  "dpcalc/bounds/noise_feedback/optimum.py",
        source="after Denisov, McMahan, Rush, Smith & Thakurta 2022, arXiv:2202.08312; proof in "
               "dpcalc/bounds/noise_feedback/optimum.py",
        assumptions=SETTING,
        in_words="The part λ of the previous noise to take back if every iterate of a long run is released: it gives "
                 "a late iterate the least variance at equal privacy. It is for affine gradients and a record that is "
                 "used once. The steeper the loss, the smaller it is: 0.87 for a curvature of 0.01/η, and 0.27 for "
                 "0.5/η.",
        released="every step's output",
    ),
    params=("curvatures", "learning_rate"), value=value, exact=exact, rtol=2e-14,
    gives=("feedback", "equal_privacy_variance"))
