"""The privacy profile of Gaussian noise on a Poisson-sampled batch for a group of records that are added or removed
together.

Theorem. In every step each record of a group of K is in the batch with probability q, independently of all others, and
a record moves the sum by at most 1. Then the step is dominated, in both directions and for all ε, by the pair
P = Σ_j C(K,j) q^j (1−q)^{K−j} N(j, σ²), Q = N(0, σ²), and adaptive steps are dominated by its T-fold product. The pair
is attained by records that all move the sum by the same unit vector in every step.

Proof. Fix the past outputs and which other records are in the batch; they have the same law on both data sets, so that
mixing over them raises no hockey-stick divergence (joint convexity). Then the outputs are N(0, σ²I) without the group,
up to a known shift, and Σ_S π(S) N(v_S, σ²I) with it, where S is the random set of its records in the batch,
v_S = Σ_{i in S} v_i, and |v_i| <= 1. Under the former the ratio of the densities at σz, z ~ N(0, I), is
W = Σ_S π(S) e^{X_S − E X_S²/2} with X_S = ⟨v_S, z⟩/σ. With all v_i the same unit vector it is
W* = Σ_S π(S) e^{Y_S − E Y_S²/2} with Y_S = |S| y/σ, y ~ N(0, 1), which is the ratio of P and Q. As
E X_S X_R = ⟨v_S, v_R⟩/σ² <= |S||R|/σ² = E Y_S Y_R, Kahane's convexity inequality (Kahane 1985) gives E φ(W) <= E φ(W*)
for every convex φ of linear growth. Indeed with Z_S = √t Y_S + √(1−t) X_S, X and Y independent, and W_t made of it,
(d/dt) E φ(W_t) = ½ Σ_{S,R} π(S)π(R) (E Y_S Y_R − E X_S X_R) E[φ″(W_t) e^{Z_S − E Z_S²/2} e^{Z_R − E Z_R²/2}] >= 0 by
Gaussian integration by parts (for smooth φ, and by approximation for others). φ(w) = (w − e^ε)₊ is the direction of
removing the group, φ(w) = (1 − e^ε w)₊ that of adding it. Adaptive steps compose by Zhu, Dong & Wang 2022, Theorem 10. ∎
"""

from math import inf, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.sampling._engine import group_mixture
from dpcalc.core.bound import Directions, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

LARGEST_GROUP = 1000  # records: the mixture has one component for each, and an answer takes seconds
LARGEST_RATIO = 1e6  # K/σ: at less noise a batch with a record of the group counts as revealed, as losses exceed 1e11
ROUNDING = 1e-15  # relative: more than the rounding errors of a few operations
SMALLEST_RATIO = 1e-100  # 1/σ: more noise is not distinguished, which is safe; outcomes stay within the range of doubles


def value(epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> float:
    """log of the larger of E_{e^ε}(P‖Q) and E_{e^ε}(Q‖P), never below the theorem."""
    return max(sided(epsilon, side, sampling_rate, noise_multiplier, group_size) for side in (+1, -1))


def sided(epsilon: float, side: int, sampling_rate: float, noise_multiplier: float, group_size: int) -> float:
    """log E_{e^ε}(P‖Q), of a group removed, for side +1, or log E_{e^ε}(Q‖P), of one added, for side −1."""
    _check(group_size)
    if sampling_rate == 1:
        return gaussian_exact.value(epsilon, noise_multiplier, float(group_size), 1)
    if group_size > LARGEST_RATIO * noise_multiplier:
        return _log_delta_revealed(epsilon, side, group_size * log1p(-sampling_rate))
    mu = max(ratio_up((1.0,), (noise_multiplier,)), SMALLEST_RATIO)
    return group_mixture.log_delta(epsilon, side, mu, sampling_rate, group_size)


def _log_delta_revealed(epsilon: float, side: int, log_none: float) -> float:
    """log δ where a batch with a record of the group reveals it: δ is the probability c of such a batch, or where the
    group is added 1 − e^ε(1 − c). `log_none` is log(1 − c)."""
    left = log_none * (1 + ROUNDING) + (epsilon * (1 - ROUNDING) if side < 0 else 0.0)
    return min(0.0, up(log1mexp(left), ROUNDING)) if left < 0 else -inf


def pair(sampling_rate: float, noise_multiplier: float, group_size: int) -> "Pair":
    from dpcalc.pld import grouped

    _check(group_size)
    if sampling_rate < 1 and group_size > LARGEST_RATIO * noise_multiplier:
        return grouped.revealed(sampling_rate, group_size)
    return grouped.poisson_group(max(ratio_up((1.0,), (noise_multiplier,)), SMALLEST_RATIO), sampling_rate, group_size)


def _check(group_size: int) -> None:
    if group_size > LARGEST_GROUP:
        raise OutOfScope("out-of-range", f"{group_size} is above {LARGEST_GROUP}, the largest group for which the mixture "
                         "of a sampled batch is computed", "--group-size")


def exact(mp: Any, epsilon: float, sampling_rate: float, noise_multiplier: float, group_size: int) -> Any:
    """The larger of both directions."""
    return max(sided_exact(mp, epsilon, side, sampling_rate, noise_multiplier, group_size) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, sampling_rate: float, noise_multiplier: float,
                group_size: int) -> Any:
    """P(z > z*) − e^ε Q(z > z*) at the outcome z* whose loss is ε, or Q(z < z*) − e^ε P(z < z*) at that whose loss is −ε,
    as the sum of the differences of each component."""
    if sampling_rate == 1:
        return gaussian_exact.exact(mp, epsilon, noise_multiplier, float(group_size), 1)
    return group_mixture.exact(mp, epsilon, side, 1 / mp.mpf(noise_multiplier), sampling_rate, group_size)


BOUND = ProfileBound(
    Theorem(
        name="poisson-group-profile",
        example="subsample --sampling-rate 0.01 --sigma 1 --steps 1000 --group-size 4 --delta 1e-6",
        statement="the larger δ of the pairs (P, Q) and (Q, P), P = Σ_j C(K,j) q^j (1−q)^(K−j) N(j, σ²), Q = N(0, σ²), "
                  "for K records added or removed together; steps are composed numerically, each pair by itself",
        source="Ganesh 2024, arXiv:2401.10294; proof in dpcalc/bounds/sampling/poisson_group_profile.py; Kahane 1985, "
               "Sur le chaos multiplicatif; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=("each record is in the batch independently with probability q, afresh each step",
                     "neighbours differ by adding, or by removing, a group of at most K records",
                     "each record moves the sum of the batch by at most 1/σ standard deviations of the noise in ℓ2, by a "
                     "vector that depends on this record and on past outputs only"),
    ),
    params=("sampling_rate", "noise_multiplier", "group_size"),
    value=value,
    exact=exact,
    directions=Directions(sided, sided_exact),
    rtol=5e-10,
    pair=pair,
)
