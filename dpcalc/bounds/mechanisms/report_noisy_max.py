"""The candidate with the largest noisy score (report noisy max, permute-and-flip): its privacy profile, which is that
of Laplace noise, and the Rényi divergence that follows.

Finitely many candidates i have scores u_i, which change by at most Δ between neighbouring data sets. Independent noise
X_i with one density h is added to all of them, and the candidate with the largest sum is published, without the sum. S
is the tail of the noise, F = 1 − S, and h <= S/b (its hazard rate is at most 1/b). That holds for

    exponential noise of scale b, h = e^{−x/b}/b = S/b for x >= 0, and h = 0 below;
    Laplace noise of scale b, h = S/b for x >= 0, and h = e^{x/b}/(2b) <= 1/(2b) <= S/b below;
    Gumbel noise of scale b, h = te^{−t}/b with t = e^{−x/b}, and S = 1 − e^{−t} >= te^{−t}.

Permute-and-flip goes through the candidates in random order and accepts i with probability e^{−c(max u − u_i)}. It is
the same as exponential noise of scale b = 1/c (Ding et al. 2021).

Proof. Let R be a set of candidates, neither empty nor all of them, A the largest u_i + X_i in R, and B the largest of
the others. They are independent, have densities, and are equal with probability 0; R is published where D = A − B > 0.

The hazard rates of A and B are at most 1/b. The density of A at a is Σ_i h(a − u_i) Π_{j≠i} F(a − u_j), with i and j in
R, which is at most (1/b)Σ_i S(a − u_i) Π_{j≠i} F(a − u_j). That sum is the probability that exactly one of the
candidates in R exceeds a, which is at most P(A > a). The same holds for B.

The density of D at x is E[h_A(x + B)] over B, at most E[P(A > x + B | B)]/b = P(D > x)/b. It is also E[h_B(A − x)] over
A, at most E[P(B > A − x | A)]/b = P(D < x)/b. So T(x) = P(D > x), which goes from 1 to 0, has −T′ <= T/b and
−T′ <= (1 − T)/b. By these Te^{x/b} does not fall, and (1 − T)e^{−x/b} does not rise: T is neither 0 nor 1 at any x. The
tail G of Laplace noise of scale b has −G′ = min(G, 1 − G)/b. So φ = G⁻¹(T), which is locally absolutely continuous, as
D has a density, has φ′ <= 1, and φ(2Δ) <= φ(0) + 2Δ:

    P(D > 2Δ) >= G(G⁻¹(P(D > 0)) + 2Δ).

On a neighbouring data set, with the same noise, A is lower by at most Δ, and B higher by at most Δ. With Q for the
probabilities there, Q(R) >= P(D > 2Δ). So if P(R) = G(t), then Q(R) >= G(t + 2Δ): R separates the data sets no more
than the event X > t separates Laplace noise of scale b around 0 from that around −2Δ. So P(R) − γQ(R) <= G(t) − γG(t +
2Δ), which is at most the hockey-stick divergence of these two, for every γ >= 0; R empty or all gives 0 and 1 − γ,
which is at most that, too. They dominate every pair of neighbours in both orders, and so with ε₀ = 2Δ/b

    δ(ε) <= 1 − e^{(ε − ε₀)/2}, the pure ε is ε₀, Rényi divergences are at most those of Laplace noise,

and adaptive compositions are dominated by those of the pair (Zhu, Dong & Wang 2022, Theorem 10).

Scores that all change in the same direction (monotone): if none rises, B is not higher; if none falls, A is not lower.
D is lower by at most Δ, and ε₀ = Δ/b.

One use of exponential noise has no smaller profile. With two candidates D is Laplace noise of scale b around the
difference −t of their scores; where one score falls by Δ and the other rises by Δ, P(R) = G(t) and Q(R) = G(t + 2Δ), at
any t (monotone scores: one of them moves). No pair of data sets has the whole profile, though, so
that several uses may lose less than the composition of the pair. """

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import laplace
from dpcalc.core.bound import ProfileBound, RdpBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

CHOICE = ("every one of finitely many scores changes by at most Δ between neighbouring data sets; the set of "
          "candidates does not depend on the data",
          "independent noise of one scale b, exponential, Laplace or Gumbel noise, is drawn for every score, and only "
          "the candidate with the largest sum is released; permute-and-flip, which accepts a candidate whose score is "
          "d below the largest one with probability e^(−cd), is exponential noise of scale b = 1/c",
          "ε₀ = 2Δ/b, or Δ/b where all scores change in the same direction")
_SOURCE = ("McKenna & Sheldon 2020, arXiv:2010.12603 (permute-and-flip); Ding et al. 2021, arXiv:2105.07260 (it is "
           "exponential noise); proof in dpcalc/bounds/mechanisms/report_noisy_max.py")


def value(epsilon: float, step_epsilon: float) -> float:
    """log δ(ε) = log(1 − e^{(ε − ε₀)/2}), rounded up; −inf from ε = ε₀ on."""
    return laplace.value(epsilon, 1.0, step_epsilon)


def inverse(log_delta: float, step_epsilon: float) -> float:
    """ε = (ε₀ + 2 log(1 − δ))₊, rounded up."""
    return laplace.inverse(log_delta, 1.0, step_epsilon)


def exact(mp: Any, epsilon: float, step_epsilon: float) -> Any:
    return laplace.exact(mp, epsilon, 1.0, step_epsilon)


def pair(step_epsilon: float) -> "Pair":
    from dpcalc.pld.pair import Laplace

    return Laplace(step_epsilon, attained=False)  # no two data sets have these two laws


def rdp(alpha: float, step_epsilon: float) -> float:
    """ε(α) of Laplace noise whose sensitivity is ε₀ scales."""
    return laplace.rdp(alpha, 1.0, step_epsilon)


def exact_rdp(mp: Any, alpha: float, step_epsilon: float) -> Any:
    return laplace.exact_rdp(mp, alpha, 1.0, step_epsilon)


PROFILE = ProfileBound(
    Theorem(
        name="noisy-max-profile",
        example="rdp --mechanism permute-and-flip --step-epsilon 1 --delta 0.01",
        statement="δ(ε) = max(0, 1 − e^((ε − ε₀)/2)) and pure ε = ε₀, as of Laplace noise; the same profile of each of "
                  "several uses is composed numerically through its dominating pair",
        in_words="The privacy profile of report noisy max and of permute-and-flip: every score gets noise, and only "
                 "the name of the best candidate is released. It is tight for one use of exponential noise or "
                 "permute-and-flip; several uses, composed numerically, may lose less. It is false where the winner's "
                 "noisy score is released, too.",
        source=f"{_SOURCE}; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=CHOICE,
    ),
    params=("step_epsilon",), value=value, exact=exact, rtol=1e-14, pure=lambda step_epsilon: step_epsilon,
    inverse=inverse, pair=pair)

RDP = RdpBound(
    Theorem(
        name="noisy-max-rdp",
        example="rdp --mechanism permute-and-flip --step-epsilon 1 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) ≤ log( α/(2α−1)·e^((α−1)ε₀) + (α−1)/(2α−1)·e^(−αε₀) ) / (α−1), as of Laplace "
                  "noise",
        in_words="An upper bound of the Rényi divergence of report noisy max and of permute-and-flip, that of Laplace "
                 "noise; those of several uses add up. The true divergence may be smaller, as no two data sets have "
                 "the laws of Laplace noise. It is false where the winner's noisy score is released, too.",
        source=f"{_SOURCE}; Mironov 2017, Proposition 6, arXiv:1702.07476v3 (Laplace noise)",
        assumptions=CHOICE,
    ),
    params=("step_epsilon",), value=rdp, exact=exact_rdp, rtol=1e-14)

BOUNDS = (PROFILE, RDP)
