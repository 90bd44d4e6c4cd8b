"""The privacy profile of Gaussian noise on a Poisson-sampled batch for data sets in which a record, or each record of a
group, is replaced by another one.

Theorem. A step releases the sum of the vectors of the records in its batch, plus independent noise N(0, Z²I). The
vectors have a Euclidean norm of at most 1; they may depend on past outputs, but not on who is in the batch. Each record
is in the batch with probability q, independently of all others and afresh in every step. For data sets that differ in
the values of K records, the step is dominated, at all ε and in both orders, by the pair

    P = Σ_j p_j N(j, Z²),   Q = Σ_j p_j N(−j, Z²),   p_j = C(K,j) q^j (1−q)^{K−j},  j = 0, …, K,

and adaptive steps are dominated by the product of these pairs. If in every step all K records add e on one data set and
−e on the other, for a unit vector e, and the other records add 0, then the profile is exactly that of the product.

Proof. Fix the past outputs: for composition (Zhu, Dong & Wang 2022, Theorem 10) one pair must dominate the step for
each of them, in both orders. Given them, which other records are in the batch has the same law on both data sets, and
is independent of the draws of the group. By joint convexity of hockey-stick divergences it is enough to bound E_γ for
each such set. Let S be the set of records of the group in the batch, of law π, and relative to the sum of the others
let u_S and v_S be the sums of the vectors of S on the two data sets. With x ~ N(0, Z²I) and f_u(x) = exp(⟨u,x⟩/Z² −
|u|²/(2Z²)), the ratio of the densities of N(u, Z²I) and N(0, Z²I), for every γ > 0

    E_γ(Σ_S π_S N(u_S, Z²I) ‖ Σ_S π_S N(v_S, Z²I)) = E(Σ_S π_S f_{u_S}(x) − γ Σ_S π_S f_{v_S}(x))₊.

The exponents W_u = ⟨u,x⟩/Z², of all u_S and all v_S together, are jointly Gaussian, and the right side depends on their
covariances ⟨u,u′⟩/Z² alone. Let Γ(t), 0 <= t <= 1, be the segment between two such Gram matrices, which are positive
semidefinite, so that Γ(t) is as well; let φ be smooth and convex with bounded φ″, and c_a real. For F(t) =
E φ(Σ_a c_a Y_a), Y_a = e^{W_a − Γ_aa/2}, integration by parts gives Kahane's formula

    F′(t) = ½ Σ_{a,b} Γ′_ab c_a c_b E[Y_a Y_b φ″],

as the terms with φ′, which the diagonal has, are those of the drift −Γ_aa/2 with the other sign. As φ″ >= 0, F rises
with Γ_ab where c_a c_b > 0, on the diagonal too, and falls where c_a c_b < 0. φ(y) = η log(1 + e^{y/η}) is within
η log 2 of (y)₊, and η → 0 shows the same of (·)₊. Here c is π_S for u_S and −γπ_S for v_S. We have ⟨u_S,u_R⟩ <= |S||R|,
⟨v_S,v_R⟩ <= |S||R| and ⟨u_S,v_R⟩ >= −|S||R|, and u_S = |S|e, v_S = −|S|e reach all of these at once. So E_γ is at most
that of (P, Q). Q is P reflected, so that both orders are equal. ∎

For one record the pair with Z = 1/μ also holds for every mechanism that is μ-GDP where a record is added to or removed
from a batch, for every batch and past: see poisson_replace_one_comonotone.py. Of groups that is not claimed. """

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling._engine import replaced_mixture
from dpcalc.bounds.sampling._engine.assumptions import ONLY_SUMS, OWN_GRADIENT, POISSON
from dpcalc.bounds.sampling._engine.group_mixture import mu_up
from dpcalc.bounds.sampling.poisson_group_profile import log_delta_revealed, reveals
from dpcalc.core.bound import ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

REPLACED = "neighbours have equally many records, and differ in the value of one (with --group-size K, of K)"


def value(epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> float:
    is_revealed = reveals(group_size, noise_multiplier)
    if sampling_rate == 1:
        return gaussian.value(epsilon, noise_multiplier, 2.0 * group_size, 1)
    if is_revealed:
        return log_delta_revealed(epsilon, +1, sampling_rate, group_size)
    return replaced_mixture.log_delta(epsilon, mu_up(noise_multiplier), sampling_rate, group_size)


def pair(sampling_rate: float, noise_multiplier: float, group_size: int, attained: bool = True) -> "Pair":
    """The pair (P, Q), in units of the noise. A larger rate is safe: a batch of a smaller one may be drawn from a
    batch of the larger one."""
    from dpcalc.pld import mixtures

    sampling_rate = max(sampling_rate, 1e-140)  # the squares of smaller ones are below the range of doubles
    if reveals(group_size, noise_multiplier) and sampling_rate < 1:
        return mixtures.revealed(sampling_rate, group_size, replaced=True)
    return mixtures.poisson_replaced(mu_up(noise_multiplier), sampling_rate, group_size, attained)


def exact(mp: Any, epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> Any:
    """P(z > z*) − e^ε Q(z > z*) at the outcome z* whose loss is ε, as a sum of differences without cancellation."""
    if sampling_rate == 1:
        return gaussian.exact(mp, epsilon, noise_multiplier, 2.0 * group_size, 1)
    return replaced_mixture.exact(mp, epsilon, 1 / mp.mpf(noise_multiplier), sampling_rate, group_size)


BOUND = ProfileBound(
    Theorem(
        name="poisson-replace-one-profile",
        example="subsample --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --adjacency replace-one --delta 1e-5",
        statement="δ of the pair P = (1−q)N(0, Z²) + qN(1, Z²), Q = (1−q)N(0, Z²) + qN(−1, Z²), Z the noise "
                  "multiplier; for K records with binomial weights on ±j; steps are composed numerically",
        source="Kahane 1986, convexity inequality; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 "
               "(composition); proof in dpcalc/bounds/sampling/poisson_replace_one_profile.py",
        assumptions=(POISSON, REPLACED,
                     "noise N(0, Z²C²I) on the sum of vectors of norm at most C, one for each record, whatever its "
                     "value is",
                     ONLY_SUMS,
                     OWN_GRADIENT),
        released="every step's output",
        in_words="DP-SGD on Poisson batches where one record, or each of K records, is replaced by another: one that "
                 "is drawn moves the sum by at most 2C. Steps are composed numerically. It is tight: where the record "
                 "and its substitute have opposite gradients of norm C, no smaller δ is true. It is false for "
                 "shuffled batches.",
    ),
    params=("sampling_rate", "noise_multiplier", "group_size"), value=value, exact=exact, pair=pair,
    rtol=2e-9)  # for K/σ up to LARGEST_RATIO
