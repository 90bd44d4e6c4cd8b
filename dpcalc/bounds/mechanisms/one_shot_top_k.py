"""The k candidates with the largest noisy scores, where noise is added to every score once: the pure ε, and the privacy
profile and the Rényi divergence that follow from it.

Finitely many candidates i have scores u_i, which change by at most s between neighbouring data sets D and D′.
Independent noise of scale b is added to all of them, exponential, Laplace or Gumbel noise. The k candidates with the
largest sums are published in the order of these, without the sums.

Proof. Let h be the density of the noise and F its distribution function. Every one of the three has h(x + t) >=
e^{−t/b}h(x) for t >= 0: Laplace noise as |x + t| <= |x| + t, exponential noise with equality for x >= 0 and with h(x) =
0 below, and Gumbel noise, h(x) = e^{−x/b}exp(−e^{−x/b})/b, as its last factor rises in x. The list i_1, …, i_k has the
probability

    ∫_{z_1>…>z_k} Π_j h(z_j − u_{i_j}) · Π_o F(z_k − u_o) dz,

with o over all candidates that are not in the list. In that of D′ replace every z_j by z_j + s, which does not change
their order. Then F(z_k + s − u′_o) >= F(z_k − u_o), and the argument of each h is larger than on D by s − (u′ − u),
between 0 and 2s. So each of k factors falls to at least e^{−2s/b} of it, and P(list | D′) >= e^{−2ks/b}P(list | D). The
data sets may change places, and the set without its order is a function of the list.

Scores that all change in the same direction (monotone): where they rise, s − (u′ − u) is between 0 and s. Where they
fall, replace nothing: F(z_k − u′_o) >= F(z_k − u_o), and the argument of each h is larger by u − u′, between 0 and s.
So 2ks becomes ks.

With Gumbel noise, and with it alone, the list has the law of k selections by the exponential mechanism, each without
the winners before it (Durfee & Rogers 2019), whose composition has a smaller profile at δ > 0.

The profile and the Rényi divergence are those of the worst mechanism with this pure ε, which is randomised response.
The mechanism does not reach it, so nothing from below follows. """

from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import finite
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_up

ASSUMPTIONS = ("every one of finitely many scores changes by at most s between neighbouring data sets; the set of "
               "candidates does not depend on the data",
               "independent noise of one scale b, exponential, Laplace or Gumbel noise, is added once to every score, "
               "and only the k candidates with the largest sums are released, in their order",
               "with --queries monotone: between two neighbouring data sets all scores change in the same direction")


def _each(queries: str) -> float:
    """How many sensitivities the argument of one density may change by."""
    return 1.0 if queries == "monotone" else 2.0


def pure(scale: float, sensitivity: float, top_k: int, queries: str, steps: int) -> float:
    """T·2ks/b, or T·ks/b for monotone scores, rounded up exactly."""
    return ratio_up((float(steps), _each(queries), float(top_k), sensitivity), (scale,))


def exact_pure(mp: Any, scale: float, sensitivity: float, top_k: int, queries: str) -> Any:
    return _each(queries) * mp.mpf(top_k) * mp.mpf(sensitivity) / mp.mpf(scale)


def value(epsilon: float, scale: float, sensitivity: float, top_k: int, queries: str, steps: int) -> float:
    """log δ(ε) of T uses by the optimal composition of pure DP."""
    return composition_optimal.value(epsilon, pure(scale, sensitivity, top_k, queries, 1), 0.0, steps)


def exact(mp: Any, epsilon: float, scale: float, sensitivity: float, top_k: int, queries: str, steps: int) -> Any:
    return composition_optimal.exact(mp, epsilon, exact_pure(mp, scale, sensitivity, top_k, queries), 0, steps)


def rdp(alpha: float, scale: float, sensitivity: float, top_k: int, queries: str) -> float:
    """ε(α) of randomised response with log odds 2ks/b."""
    return finite.rdp_of_pure(alpha, pure(scale, sensitivity, top_k, queries, 1))


def exact_rdp(mp: Any, alpha: float, scale: float, sensitivity: float, top_k: int, queries: str) -> Any:
    return finite.exact_rdp(mp, alpha, finite.binary(mp, exact_pure(mp, scale, sensitivity, top_k, queries)))


EXACT = ProfileBound(
    Theorem(
        name="one-shot-top-k-exact",
        example="rdp --mechanism one-shot-top-k --scale 40 --top-k 5 --delta 0",
        statement="pure ε = 2ks/b, or ks/b where all scores change in the same direction; the optimal composition of "
                  "pure DP for T uses",
        in_words="The k candidates with the largest noisy scores, where noise is added once to every score, and only "
                 "the names are released, in their order: pure DP with an ε that grows like k. At a smaller ε the δ "
                 "is that of the worst mechanism with this pure ε, which may be too large. It is false where noisy "
                 "scores are released, too.",
        source="proof in dpcalc/bounds/mechanisms/one_shot_top_k.py; Kairouz, Oh & Viswanath 2015, Theorem 3.3, "
               "arXiv:1311.0776v4 (composition); Durfee & Rogers 2019, arXiv:1905.04273 (with Gumbel noise it is k "
               "exponential mechanisms)",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity", "top_k", "queries", "steps"), value=value, exact=exact, rtol=3e-10, pure=pure,
    exact_steps=composition_optimal.BOUND.exact_steps)

RDP = RdpBound(
    Theorem(
        name="one-shot-top-k-rdp",
        example="rdp --mechanism one-shot-top-k --scale 40 --top-k 5 --alpha 4",
        statement="ε(α) of randomised response whose pure ε is 2ks/b, or ks/b where all scores change in the same "
                  "direction",
        in_words="An upper bound of the Rényi divergence of releasing the names of the k candidates with the largest "
                 "noisy scores: that of the worst mechanism with the same pure ε, randomised response, which this "
                 "mechanism does not reach. Those of several uses add up. It is false where noisy scores are "
                 "released, too.",
        source="proof in dpcalc/bounds/mechanisms/one_shot_top_k.py; Kairouz, Oh & Viswanath 2015, Theorem 2.1, with "
               "Mironov 2017, Proposition 5",
        assumptions=ASSUMPTIONS,
    ),
    params=("scale", "sensitivity", "top_k", "queries"), value=rdp, exact=exact_rdp, rtol=3e-14)

BOUNDS = (EXACT, RDP)
