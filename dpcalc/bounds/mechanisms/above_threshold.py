"""The pure ε of the sparse vector technique (AboveThreshold), and the privacy profile and RDP that follow from it.

The mechanism draws the noise ρ ~ Laplace(0, b₁) of the threshold once. To each query q_i, which like its threshold T_i
may depend on the answers before it, it answers ⊤ if q_i + ν_i >= T_i + ρ with ν_i ~ Laplace(0, b₂), else ⊥, and stops
after the c-th ⊤. The number of queries is not limited. Each query changes by at most s between neighbours D and D′.

Proof. Given an answer a, the queries and thresholds are fixed, and Pr[a | D] is the integral over z of the density
p(z) of ρ, times F_i(z) = Pr[q_i(D) + ν_i < T_i + z] for every ⊥, times G_i(z) = 1 − F_i(z) for every ⊤. Let F′, G′ be
those of D′, and replace z by z + s in the integral for D′. For every z: p(z) <= e^{s/b₁}p(z + s); F_i(z) <=
F′_i(z + s), as q_i(D′) <= q_i(D) + s; and G_i(z) <= e^{2s/b₂}G′_i(z + s), since ν_i must exceed T_i + z − q_i(D) on the
left and T_i + z + s − q_i(D′) on the right, which is larger by at most 2s. At most c factors are G_i, so Pr[a | D] <=
e^{s/b₁ + 2cs/b₂}Pr[a | D′]. An infinite answer has the limit of the probabilities of its prefixes; there are countably
many with fewer than c ⊤. With many queries answered ⊥ and c answered ⊤ the ratio comes as near to this as one likes.

The profile and the Rényi divergence are those of the worst mechanism with this pure ε, which is randomised response. A
run of thresholds does not reach it, so nothing from below follows.

Monotone queries. If q_i(D) <= q_i(D′) for all i, the two limits of ν_i differ by at most s, and the factor of each ⊤ is
e^{s/b₂}. If q_i(D) >= q_i(D′) for all i, z is not replaced: F_i(z) <= F′_i(z), and G_i(z) <= e^{s/b₂}G′_i(z). So 2c
becomes c. """

from fractions import Fraction
from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import finite
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.numerics.rounding import quotient_up

ASSUMPTIONS = ("every query changes by at most s between neighbouring data sets",
               "the noise of the threshold, Laplace(0, b₁), is drawn once; that of each query, Laplace(0, b₂), afresh",
               "at most c answers are ⊤ (above), and only the answers ⊤ and ⊥ are released",
               "with --queries monotone: between two neighbouring data sets all queries change in the same direction")


def pure(threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str, steps: int) -> float:
    """T(s/b₁ + 2cs/b₂), or T(s/b₁ + cs/b₂) for monotone queries, rounded up exactly."""
    s, each = Fraction(sensitivity), hits if queries == "monotone" else 2 * hits
    total = steps * (s / Fraction(threshold_scale) + each * s / Fraction(scale))
    return quotient_up(total.numerator, total.denominator)


def exact_pure(mp: Any, threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str) -> Any:
    s, each = mp.mpf(sensitivity), hits if queries == "monotone" else 2 * hits
    return s / mp.mpf(threshold_scale) + each * s / mp.mpf(scale)


def value(epsilon: float, threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str,
          steps: int) -> float:
    """log δ(ε) of T runs by the optimal composition of pure DP."""
    one = pure(threshold_scale, scale, sensitivity, hits, queries, 1)
    return composition_optimal.value(epsilon, one, 0.0, steps)


def exact(mp: Any, epsilon: float, threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str,
          steps: int) -> Any:
    one = exact_pure(mp, threshold_scale, scale, sensitivity, hits, queries)
    return composition_optimal.exact(mp, epsilon, one, 0, steps)


def rdp(alpha: float, threshold_scale: float, scale: float, sensitivity: float, hits: int, queries: str) -> float:
    """ε(α) of randomised response with log odds s/b₁ + 2cs/b₂."""
    return finite.rdp_of_pure(alpha, pure(threshold_scale, scale, sensitivity, hits, queries, 1))


def exact_rdp(mp: Any, alpha: float, threshold_scale: float, scale: float, sensitivity: float, hits: int,
              queries: str) -> Any:
    one = exact_pure(mp, threshold_scale, scale, sensitivity, hits, queries)
    return finite.exact_rdp(mp, alpha, finite.binary(mp, one))


EXACT = ProfileBound(
    Theorem(
        name="above-threshold-exact",
        example="rdp --mechanism above-threshold --threshold-scale 2 --scale 20 --hits 3 --delta 0",
        statement="pure ε = s/b₁ + 2cs/b₂ for any number of queries, or s/b₁ + cs/b₂ for monotone ones; the optimal "
                  "composition of pure DP for T runs",
        in_words="The sparse vector technique: queries are compared with a noisy threshold until c of them are above "
                 "it. The cost grows with c, and not with the number of queries. At an ε below the pure one, the δ is "
                 "that of the worst mechanism with this pure ε. It is false where noisy answers are released, or "
                 "where the noise of the threshold is drawn again.",
        source="Lyu, Su & Li 2017, arXiv:1603.01699; proof in dpcalc/bounds/mechanisms/above_threshold.py; "
               "Kairouz, Oh & Viswanath 2015, Theorem 3.3, arXiv:1311.0776v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("threshold_scale", "scale", "sensitivity", "hits", "queries", "steps"), value=value, exact=exact,
    rtol=3e-10, pure=pure, exact_steps=composition_optimal.BOUND.exact_steps)

RDP = RdpBound(
    Theorem(
        name="above-threshold-rdp",
        example="rdp --mechanism above-threshold --threshold-scale 2 --scale 20 --hits 3 --alpha 4",
        statement="ε(α) of randomised response whose pure ε is s/b₁ + 2cs/b₂, or s/b₁ + cs/b₂ for monotone queries",
        in_words="An upper bound of the Rényi divergence of the sparse vector technique, which compares queries with "
                 "a noisy threshold until c of them are above it: that of randomised response with the same pure ε, "
                 "which this mechanism does not reach. Those of several runs add up. It is false where noisy answers "
                 "are released.",
        source="Lyu, Su & Li 2017, arXiv:1603.01699; proof in dpcalc/bounds/mechanisms/above_threshold.py; "
               "Kairouz, Oh & Viswanath 2015, Theorem 2.1, with Mironov 2017, Proposition 5",
        assumptions=ASSUMPTIONS,
    ),
    params=("threshold_scale", "scale", "sensitivity", "hits", "queries"), value=rdp, exact=exact_rdp, rtol=3e-14)

BOUNDS = (EXACT, RDP)
