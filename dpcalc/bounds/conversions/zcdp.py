"""Zero-concentrated differential privacy (zCDP): its Rényi curve, and several releases, each by the theorem about its
own kind.

Proof of zcdp-sum. ρ adds up over adaptive composition (Bun & Steinke 2016, Lemma 1.7). A release that is μ-GDP, as
Gaussian noise with μ = s/σ, is μ²/2-zCDP. Discrete Gaussian noise has ε(α) <= αs²/(2σ²) (proof in
bounds/mechanisms/discrete_gaussian.py), and so is s²/(2σ²)-zCDP. A privacy loss with a range of length η, as that of
the exponential mechanism, is η²/8-zCDP (proof in pure.py), and an ε-DP release is ε²/2-zCDP. On a Poisson batch the
laws of the outputs are mixtures over the batches of other records, with equal weights, of (1−q)M(S) + qM(S∪x) and M(S),
or (1−q)M(S) + qM(S∪x) and (1−q)M(S) + qM(S∪x′). Rényi divergences are jointly quasi-convex (van Erven & Harremoës 2014,
Theorem 13), so they are at most those of M(S∪x) and M(S), or M(S∪x) and M(S∪x′): ρ is that without sampling. (It is not
less for Gaussian noise: for large α the divergence is near to that of M(S∪x).) ∎
"""

from fractions import Fraction
from math import prod
from typing import Any

from dpcalc.core.bound import PointBound, RdpBound, Theorem
from dpcalc.numerics.rounding import decimal, quotient_up, ratio_up

# (numerators, denominators, count) of each kind of release: ρ is the quotient of their products
Term = tuple[tuple[float, ...], tuple[float, ...], int]
Terms = tuple[Term, ...]
PURE, BOUNDED_RANGE = (2.0,), (8.0,)  # the denominators of ε²/2 and η²/8


def total(terms: Terms) -> dict[str, float]:
    """ρ = Σρ_i, rounded up exactly: 1 for 0.1 and 0.9."""
    found = exact_sum(terms)
    return {"rho": quotient_up(found.numerator, found.denominator)}


def exact_sum(terms: Terms) -> Fraction:
    """Σρ_i, exactly, of the decimals that were given."""
    return sum((count * prod(map(decimal, up), start=Fraction(1)) / prod(map(decimal, down), start=Fraction(1))
                for up, down, count in terms), Fraction(0))


def exact_total(mp: Any, terms: Terms) -> Any:
    found = exact_sum(terms)
    return {"rho": mp.mpf(found.numerator) / found.denominator}


def equal(rho: float, steps: int) -> Terms:
    """The terms of T releases that are ρ-zCDP."""
    return (((rho,), (), steps),)


RDP = RdpBound(
    Theorem(
        name="zcdp-rdp",
        example="convert --from zcdp --rho 0.5 --delta 1e-6",
        statement="ρ-zCDP is (α, ρα)-RDP for every α",
        in_words="The Rényi curve that ρ-zCDP means by definition: at most ρα at every order α. Gaussian noise "
                 "attains it. The (ε, δ) that follows holds for every ρ-zCDP mechanism, so that it may be too large "
                 "for one whose privacy profile is known, such as Gaussian noise itself.",
        source="Bun & Steinke 2016, Definition 1.1, arXiv:1605.02065v1",
        assumptions=(),
    ),
    params=("rho",), value=lambda alpha, rho: ratio_up((alpha, rho)),
    exact=lambda mp, alpha, rho: mp.mpf(alpha) * mp.mpf(rho), rtol=2.3e-16)

COMPOSITION = PointBound(
    Theorem(
        name="zcdp-composition",
        example="convert --from zcdp --rho 0.5 --steps 4 --to zcdp",
        statement="T releases that are ρ-zCDP each are Tρ-zCDP together",
        in_words="The zCDP of T releases together: their ρ add up, also where a release is chosen in view of earlier "
                 "outputs. It is exact for Gaussian noise. All releases must use the same notion of neighbours, and "
                 "the ρ of each must hold whatever the outputs before it were.",
        source="Bun & Steinke 2016, Lemma 1.7, arXiv:1605.02065v1",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
    ),
    gives=("rho",), params=("rho", "steps"), value=lambda rho, steps: total(equal(rho, steps)),
    exact=lambda mp, rho, steps: exact_total(mp, equal(rho, steps)), rtol=2.3e-16)

SUM = PointBound(
    Theorem(
        name="zcdp-sum",
        example="rdp --mechanism discrete-gaussian --sigma 2 --json | dpcalc convert - --to zcdp",
        statement="releases that are ρ_i-zCDP are ρ-zCDP together with ρ = Σρ_i; ρ_i = μ²/2 for μ-GDP, s²/(2σ²) for "
                  "Gaussian and discrete Gaussian noise, η²/8 for a privacy loss with a range of length η (the "
                  "exponential mechanism), ε²/2 for other ε-DP releases; Poisson sampling does not lower the ρ_i of "
                  "Gaussian noise",
        in_words="The zCDP of releases of different kinds: each is converted by the theorem of its kind, and the ρ add "
                 "up, also where releases are chosen in view of earlier outputs. Poisson sampling does not lower the ρ "
                 "of Gaussian noise, so DP-SGD counts as if every step used all records: for such runs this is very "
                 "loose.",
        source="Bun & Steinke 2016, Lemma 1.7 and Propositions 1.4 and 1.6, arXiv:1605.02065v1; Canonne, Kamath & "
               "Steinke 2020, arXiv:2004.00010 (discrete Gaussian noise); Cesar & Rogers 2021, arXiv:2004.07223 "
               "(bounded range); Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3 (GDP)",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
    ),
    gives=("rho",), params=("terms",), value=total, exact=exact_total, rtol=2.3e-16)

BOUNDS = (RDP, COMPOSITION, SUM)
