"""The privacy profile of Gaussian noise on a batch of fixed size with a record that is zeroed out: one step.

A batch is a uniform subset of fixed size of all records, a share q > 0 of them, drawn afresh at every step and not
released. Neighbouring data sets have the same records, but the contribution of one of them is 0 in one of them
(zero-out): it is drawn and counted all the same. The sum of contributions of norm at most 1 is released with noise
N(0, z²I), z = σ/C. Contributions may depend on past outputs, by one rule for both data sets.

Statement. Let N(d) be the normal distribution with mean d and variance 1, or its density, and m = 1/z. For γ = e^ε >= 1

    E_γ(with ‖ without) ≤ E_γ((1−q)N(0) + qN(2m) ‖ (1−q)N(0) + qN(m)),
    E_γ(without ‖ with) ≤ E_γ((1−q)N(0) + qN(m) ‖ N(0)).

For γ < 1 each follows from the other one at 1/γ, by E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P). The largest E_γ over all
neighbours, contributions and past outputs is convex in γ, so it is also at most the convex minorant, over all γ > 0, of
these bounds. At finitely many points the lower hull is an upper bound too, and it is the profile of a pair (see
truncated_poisson_profile.py). This pair dominates every step of one order; adaptive steps of this order compose by Zhu,
Dong & Wang 2022, Theorem 10, and the larger δ of both orders is taken.

Proof. The hockey-stick divergence is jointly convex. So that of two mixtures is at most the mean of those of their
parts, given any variable that has the same distribution on both data sets. Let b be the size of a batch, q = b/n. Draw
a uniform subset S of b−1 of the other records, and a uniform one of the others that are not in S (if b < n). With
probability q, independently of these, the batch is S and the record, else it is S and the one that takes its place.
This is a uniform subset of b: the record is in it with probability b/n, and given that it is, or is not, the others in
it are a uniform subset. Given S and the one in its place, let x and y be the contributions of the record and of that
one, in units of the noise, and take outputs relative to the sum over S. They are

    P = (1−q)N(y) + qN(x),    Q = (1−q)N(y) + qN(0),    |x| ≤ m, |y| ≤ m, |x−y| ≤ 2m.

Only these distances are used: of the outputs on the batch with the record, with the zeroed record, and with the one in
its place. With c = (γ−1)(1−q)/q, P − γQ = q[N(x) − γN(0) − cN(y)], so that

    E_γ(P‖Q) = q·E(1 − γA − cB)₊,    A = dN(0)/dN(x), B = dN(y)/dN(x)

at an outcome from N(x): two lognormal variables with mean 1, whose logs have the variances |x|² and |x−y|².

Lemma. For a convex function φ and a, b >= 0, E φ(aA + bB) of lognormal variables with mean 1 is largest where A and B
are increasing functions of one variable, and then it increases in the variances of log A and of log B. Proof: for sums
with the same mean, E φ is ordered for all convex φ as the means of their upper tails, ∫_u^1 F^{−1}, are for all u. Such
a mean is the largest E[X; event] over events of probability 1 − u, so that of a sum is at most the sum of those of its
parts, and equal to it where both are increasing functions of one variable. It increases in the variance of the log of a
lognormal variable with mean 1, since the larger one has the distribution of the smaller one times an independent one
with mean 1, and by Jensen's inequality.

t ↦ (1−t)₊ is convex. So E_γ(P‖Q) is largest for |x| = m, |x−y| = 2m and increasing functions of one variable, as on a
line with x at 2m, the zeroed record at m and y at 0: this is the first pair. With P and Q exchanged, Q − γP = q[N(0) −
γN(x) − cN(y)], and the largest value is that for x = y at a distance m from 0: that of q[N(m) − (γ+c)N(0)], which is
(1−q)N(0) + qN(m) − γN(0), the second pair. For b = n there is no y, and c = 0. ∎ """

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling import poisson_profile
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.bounds.sampling._engine.assumptions import FIXED_SIZE, OWN_GRADIENT
from dpcalc.bounds.sampling.truncated_poisson_profile import gaussian_profile
from dpcalc.core.bound import Directions, ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ZEROED = ("neighbours have the same n records, but the contribution of one is 0 in one of them (zero-out): it is drawn "
          "and counted all the same")


def value(epsilon: float, sampling_rate: float, noise_multiplier: float) -> float:
    return max(sided(epsilon, side, sampling_rate, noise_multiplier) for side in (+1, -1))


def sided(epsilon: float, side: int, sampling_rate: float, noise_multiplier: float) -> float:
    """log of the bound on E_{e^ε}(with ‖ without) for side +1, or on E_{e^ε}(without ‖ with) for side −1."""
    if side < 0:
        return poisson_profile.sided(epsilon, +1, sampling_rate, gaussian_profile(noise_multiplier))
    from dpcalc.bounds.sampling._engine.repeated_draws_array import log_delta_at

    return log_delta_at(epsilon, 2, noise_multiplier, repeated_draws.once(sampling_rate))


@lru_cache(maxsize=4)
def pair(sampling_rate: float, noise_multiplier: float) -> Pair:
    """The dominating pair of one step: that of the convex minorant of the bounds at some points."""
    from dpcalc.bounds.sampling._engine.repeated_draws_array import minorant_pair
    from dpcalc.pld.pair import Gaussian

    if sampling_rate == 1:
        return Gaussian(gaussian.ratio(noise_multiplier, 1.0, 1))
    return minorant_pair(noise_multiplier, repeated_draws.once(sampling_rate), (2, 1))


def exact(mp: Any, epsilon: float, sampling_rate: float, noise_multiplier: float) -> Any:
    return max(sided_exact(mp, epsilon, side, sampling_rate, noise_multiplier) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, sampling_rate: float, noise_multiplier: float) -> Any:
    """q·∫(N(2m) − γN(m) − cN(0))₊, or q·δ(log(γ+c)) of the Gaussian mechanism; c = (γ−1)(1−q)/q."""
    if side < 0:
        return poisson_profile.sided_exact(mp, epsilon, +1, sampling_rate, gaussian_profile(noise_multiplier))
    return repeated_draws.exact(mp, epsilon, 2, noise_multiplier, repeated_draws.exact_once(mp, sampling_rate))


BOUND = ProfileBound(
    Theorem(
        name="wor-zero-out-profile",
        example="subsample --scheme without-replacement --sampling-rate 0.01 --noise-multiplier 1 --steps 100 "
                "--adjacency zero-out --delta 1e-5",
        statement="the δ of ((1−q)N(0, 1) + qN(2/z, 1), (1−q)N(0, 1) + qN(1/z, 1)) with the record, and that of "
                  "((1−q)N(0, 1) + qN(1/z, 1), N(0, 1)) without it, at ε ≥ 0; the convex minorant over all e^ε is "
                  "composed numerically, each direction by itself",
        source="Balle, Barthe & Gaboardi 2018, Theorem 2, arXiv:1807.01647v2 (advanced joint convexity); Zhu, Dong & "
               "Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition); proof in "
               "dpcalc/bounds/sampling/wor_zero_out_profile.py",
        assumptions=(FIXED_SIZE, ZEROED, "n is public",
                     "noise N(0, z²I) on the sum of contributions of norm at most 1, whatever the other records are",
                     OWN_GRADIENT),
        in_words="DP-SGD on batches of fixed size, drawn uniformly without replacement and afresh at every step, "
                 "where the gradient of a record is zeroed out. A record in the batch is there in place of another "
                 "one, so the sum changes by two gradients. It is false for shuffled batches; wor-zero-out-lower "
                 "shows how loose it can be.",
    ),
    params=("sampling_rate", "noise_multiplier"), value=value, exact=exact, directions=Directions(sided, sided_exact),
    rtol=2e-9, pair=pair)
