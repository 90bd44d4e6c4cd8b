"""The privacy profile of Gaussian noise on a Poisson-sampled batch for a group of records that are added or removed
together.

Theorem. In every step each record of a group of K is in the batch with probability q, independently of all others, and
a record moves the sum by at most 1. Then the step is dominated, in both directions and for all ε, by the pair
P = Σ_j C(K,j) q^j (1−q)^{K−j} N(j, σ²), Q = N(0, σ²), and adaptive steps are dominated by its T-fold product. The pair
is attained by records that all move the sum by the same unit vector in every step.

Proof. Fix the past outputs and which other records are in the batch: both have the same law on both data sets, and
mixing over them raises no hockey-stick divergence. A smaller group is one of K whose other records contribute 0. Let S
be the random set of the group's records in the batch, so that |S| = j with probability p_j = C(K,j) q^j (1−q)^{K−j},
and let v_S be the sum of their contributions, |v_S| <= |S|. Up to a known shift the output is M_S = N(v_S, σ²I) with
the group, mixed over S, and M = N(0, σ²I) without it. Let μ = 1/σ and γ > p_0, and let z* be the root of Σ_j p_j
e^{x_j} = γ, where x_j = jμ(z* − jμ/2). Since γ = E e^{x_|S|}, E_γ(E M_S ‖ M) <= E E_{e^{x_|S|}}(M_S ‖ M) <= Σ_j p_j
θ(x_j, jμ), where θ(x, r) = E_{e^x}(N(r, 1) ‖ N(0, 1)) increases in r. In P and Q the same event, of outcomes above z*σ,
attains all θ(x_j, jμ), so that the right side is E_γ(P ‖ Q). For γ <= p_0 both divergences are 1 − γ. So (P, Q)
dominates at all γ, which includes the other direction, as E_γ(Q ‖ P) = 1 − γ + γE_{1/γ}(P ‖ Q). Adaptive steps compose
by Zhu, Dong & Wang 2022, Theorem 10. ∎

The proof needs of the noise only that j records change the output by no more than N(j, σ²) and N(0, σ²) differ. This
holds for every mechanism that is (1/σ)-GDP for one record (Dong, Roth & Su 2022, section on group privacy,
arXiv:1905.02383v3).
"""

from math import inf, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling._engine import group_mixture
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT, POISSON
from dpcalc.bounds.sampling._engine.group_mixture import ULPS
from dpcalc.core.bound import Directions, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

LARGEST_GROUP = 1000  # records: the mixture has one component for each, and an answer takes seconds
# K/σ: at less noise the largest losses of the whole group exceed 1e11, and a batch with a record of the group counts as
# revealed. This is an upper bound, and a loose one where a single record in the batch would still be hidden.
LARGEST_RATIO = 1e6


def value(epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> float:
    return max(sided(epsilon, side, sampling_rate, noise_multiplier, group_size) for side in (+1, -1))


def sided(epsilon: float, side: int, sampling_rate: float, noise_multiplier: float, group_size: int) -> float:
    """log E_{e^ε}(P‖Q), of a group removed, for side +1, or log E_{e^ε}(Q‖P), of one added, for side −1."""
    is_revealed = reveals(group_size, noise_multiplier)
    if sampling_rate == 1:
        return gaussian.value(epsilon, noise_multiplier, float(group_size), 1)
    if is_revealed:
        return log_delta_revealed(epsilon, side, sampling_rate, group_size)
    return group_mixture.log_delta(epsilon, side, group_mixture.mu_up(noise_multiplier), sampling_rate, group_size)


def reveals(group_size: int, noise_multiplier: float) -> bool:
    """Whether a batch with a record of the group counts as revealed. Raises OutOfScope for too large groups."""
    if group_size > LARGEST_GROUP:
        raise OutOfScope("out-of-range", f"{group_size} is above {LARGEST_GROUP}, the largest group for which the "
                         "mixture of a sampled batch is computed", "--group-size")
    return group_size > LARGEST_RATIO * noise_multiplier


def log_delta_revealed(epsilon: float, side: int, sampling_rate: float, group_size: int) -> float:
    """log δ where a batch with a record of the group reveals it: δ is the probability c of such a batch, or where the
    group is added 1 − e^ε(1 − c)."""
    left = group_size * log1p(-sampling_rate) * (1 + ULPS) + (epsilon * (1 - ULPS) if side < 0 else 0.0)
    return min(0.0, up(log1mexp(left), ULPS)) if left < 0 else -inf


def pair(sampling_rate: float, noise_multiplier: float, group_size: int) -> "Pair":
    from dpcalc.pld import mixtures

    if reveals(group_size, noise_multiplier) and sampling_rate < 1:
        return mixtures.revealed(sampling_rate, group_size)
    return mixtures.poisson_group(group_mixture.mu_up(noise_multiplier), sampling_rate, group_size)


def exact(mp: Any, epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> Any:
    return max(sided_exact(mp, epsilon, side, sampling_rate, noise_multiplier, group_size) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, sampling_rate: float, noise_multiplier: float,
                group_size: int) -> Any:
    """P(z > z*) − e^ε Q(z > z*) at the outcome z* whose loss is ε, or Q(z < z*) − e^ε P(z < z*) at that whose loss is
    −ε, as the sum of the differences of each component."""
    if sampling_rate == 1:
        return gaussian.exact(mp, epsilon, noise_multiplier, float(group_size), 1)
    return group_mixture.exact(mp, epsilon, side, 1 / mp.mpf(noise_multiplier), sampling_rate, group_size)


BOUND = ProfileBound(
    Theorem(
        name="poisson-group-profile",
        example="subsample --sampling-rate 0.01 --sigma 1 --steps 1000 --group-size 4 --delta 1e-6",
        statement="the larger δ of the pairs (P, Q) and (Q, P), P = Σ_j C(K,j) q^j (1−q)^(K−j) N(j, σ²), Q = N(0, σ²), "
                  "for K records added or removed together; steps are composed numerically, each pair by itself",
        in_words="DP-SGD on Poisson batches where all K records of a user are added or removed together, every step's "
                 "output released: one step is composed numerically. It is tight: where all K gradients are the same "
                 "vector of the clipping norm, no smaller δ is true. It is false for shuffled batches, and where the "
                 "gradient of a record depends on others, as in micro-batches.",
        source="Ganesh 2024, arXiv:2401.10294; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition); "
               "proof in dpcalc/bounds/sampling/poisson_group_profile.py",
        assumptions=(POISSON,
                     "neighbours differ by adding, or by removing, a group of at most K records",
                     "each record adds to the batch's sum at most 1/σ standard deviations of the noise in ℓ2",
                     OWN_GRADIENT),
    ),
    params=("sampling_rate", "noise_multiplier", "group_size"), value=value, exact=exact,
    directions=Directions(sided, sided_exact), pair=pair, rtol=5e-10)  # for K/σ up to LARGEST_RATIO
