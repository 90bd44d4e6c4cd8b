"""Zero-concentrated differential privacy of several releases, each by the theorem about its own kind.

Proof. ρ adds up over adaptive composition (Bun & Steinke 2016, Lemma 1.7). A release that is μ-GDP, as Gaussian noise
with μ = s/σ, is μ²/2-zCDP. Discrete Gaussian noise has ε(α) <= αs²/(2σ²) (proof in
bounds/mechanisms/discrete_gaussian_rdp.py), and so is s²/(2σ²)-zCDP. A privacy loss with a range of length η, as that
of the exponential mechanism, is η²/8-zCDP (proof in bounded_range_zcdp.py), and an ε-DP release is ε²/2-zCDP. ∎ """

from fractions import Fraction
from math import prod
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import quotient_up

# (numerators, denominators, count) of each kind of release: ρ is the quotient of their products
Term = tuple[tuple[float, ...], tuple[float, ...], int]
Terms = tuple[Term, ...]
PURE, BOUNDED_RANGE = (2.0,), (8.0,)  # the denominators of ε²/2 and η²/8


def value(terms: Terms) -> dict[str, float]:
    """ρ = Σρ_i, rounded up exactly."""
    total = Fraction(0)
    for numerators, denominators, count in terms:
        total += count * Fraction(prod(map(Fraction, numerators))) / prod(map(Fraction, denominators))
    return {"rho": quotient_up(total.numerator, total.denominator)}


def exact(mp: Any, terms: Terms) -> Any:
    return {"rho": mp.fsum(count * prod(map(mp.mpf, up)) / prod(map(mp.mpf, down)) for up, down, count in terms)}


BOUND = PointBound(
    Theorem(
        name="zcdp-sum",
        example="rdp --mechanism discrete-gaussian --sigma 2 --json | dpcalc convert - --to zcdp",
        statement="releases that are ρ_i-zCDP are ρ-zCDP together with ρ = Σρ_i; ρ_i = μ²/2 for μ-GDP, s²/(2σ²) for "
                  "Gaussian and discrete Gaussian noise, η²/8 for a privacy loss with a range of length η (the "
                  "exponential mechanism), ε²/2 for other ε-DP releases",
        source="Bun & Steinke 2016, Lemma 1.7 and Propositions 1.4 and 1.6, arXiv:1605.02065v1; Canonne, Kamath & "
               "Steinke 2020, arXiv:2004.00010 (discrete Gaussian noise); Cesar & Rogers 2021, arXiv:2004.07223 "
               "(bounded range); Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3 (GDP)",
        assumptions=("adaptive composition is allowed",),
    ),
    gives=("rho",),
    params=("terms",),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
