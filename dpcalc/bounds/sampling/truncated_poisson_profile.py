"""The privacy profile of Gaussian noise on a truncated Poisson batch: one step, in both directions.

Every one of n records is in the batch independently with probability q; if that gives more than B records, a uniform
subset of B of them stays. Neighbouring data sets differ in one record: its gradient is 0 in one of them (zero-out), or
another one (replaced). It is drawn and counted all the same. The sum of gradients of norm at most 1 is released with
noise N(0, z²I); the size of the batch is not released, and the sum is not divided by it.

Statement. Let K ~ Bin(n−1, q) be the number of other records that are drawn, τ = Pr[K ≥ B], and
κ = (B/n)·Pr[Bin(n, q) > B], the probability that the batch is truncated and contains the record; r = κ/τ (where B ≥ n,
nothing is truncated, and the second terms are 0). For γ = e^ε ≥ 1 let γ′ = 1 + (γ−1)/r and β = γ/γ′, and let θ_a(γ′)
be the hockey-stick divergence of N(a, z²) from N(0, z²). Then

    E_γ(with ‖ without) ≤ (1−τ)·δ_removed(γ) + κ·[(1−β)θ_2(γ′) + βθ_1(γ′)],
    E_γ(without ‖ with) ≤ (1−τ)·δ_added(γ) + κ·θ_1(γ′),
    E_γ(before ‖ after) ≤ (1−τ)·δ_replaced(γ) + κ·θ_2(γ′)                            where the record is replaced,

with δ_removed(γ) = E_γ((1−q)N(0) + qN(1) ‖ N(0)), N(a) that of variance z², δ_added its reverse (poisson-profile), and
δ_replaced(γ) = E_γ((1−q)N(0) + qN(1) ‖ (1−q)N(0) + qN(−1)) (poisson-replace-one-profile). For γ < 1 all follow by
E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P). A privacy profile is convex in γ, as a supremum of hockey-stick divergences, which
are. So it is also at most the convex minorant, over all γ > 0, of these bounds, which are not convex everywhere. At
finitely many γ_i the lower hull of (0, 1) and (γ_i, h_i), continued as constant beyond the last point, where δ is
negligible, is an upper bound too, because the profile is convex and non-increasing. The minorant is composed; its pair
dominates every step, whatever the past outputs are, on which gradients may depend. A convex h on γ >= 0 with h(0) = 1
and (1−γ)₊ <= h <= 1 is the profile of a pair (Zhu, Dong & Wang 2022); adaptive steps of one direction compose by their
Theorem 10.

Proof. The hockey-stick divergence is jointly convex. So that of two mixtures is at most the mean of those of their
parts, given any variable that has the same distribution on both data sets. Where K < B nothing is truncated. Given
which of the others are drawn, their sum is fixed, and the record is added to it with probability q: this is the Poisson
pair, and K < B has the probability 1−τ. Where K ≥ B, draw a uniform subset S of B of the K others, and a uniform member
j of S. With probability qB/(K+1) the record is drawn and stays; the B−1 others in the batch are then a uniform subset
of the K, as S without j is one. Else the batch is S. Given K ≥ B, the set S is a uniform subset of B of all others, and
j uniform in it, independently of K. So given S and j the record replaces j with probability

    Σ_{m≥B} Pr[K = m]·qB/(m+1)/τ = (B/n)·Σ_{m≥B} Pr[Bin(n, q) = m+1]/τ = κ/τ = r.

Let x and g be the gradients of j and of the record. Relative to the sum over S the outputs are
P = (1−r)N(0) + rN(u) with u = g − x, and Q = (1−r)N(0) + rN(v) with v = −x: |u| ≤ 2, |v| ≤ 1, |u−v| ≤ 1. By advanced
joint convexity (Balle, Barthe & Gaboardi 2018, Theorem 2) E_γ(P‖Q) = r·E_γ′(N(u) ‖ (1−β)N(0) + βN(v)), which is at most
r[(1−β)θ_2(γ′) + βθ_1(γ′)], since θ_a increases in a; with P and Q exchanged, N(v) is at a distance of at most 1 from
both. Where the record is replaced, v = g′ − x for its new gradient g′, and all three distances are at most 2. Where K <
B, P − γQ = q[N(g) − γN(g′) − cN(0)], c >= 0, with g′ = 0 for zero-out: by the lemma in wor_zero_out_profile.py this is
worst for |g| = 1 and |g − g′| as large as it can be, on one line: the Poisson pairs. ∎ """

from __future__ import annotations

from functools import lru_cache
from math import exp, expm1, inf, log, log1p
from sys import float_info
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.profile import Profile, sampled_epsilon
from dpcalc.bounds.sampling import poisson_profile, poisson_replace_one_profile
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.core.bound import Directions, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import LogTail, exact_tails, log_tails
from dpcalc.numerics.elementary import log_add
from dpcalc.numerics.mp.memo import cached_by_precision

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

SAMPLER = ("each of the n records is drawn independently with probability q, afresh each step; of more than B drawn "
           "records a uniform subset of B stays")
NEIGHBOURS = ("neighbours have the same n records but for one, which is replaced, or whose gradients are 0 in one of "
              "them (zero-out): it is drawn and counted all the same")
SIZES = "n is public; the sizes of the batches are not released, and the sum is divided by a fixed number"
ROUNDING = 1e-14  # relative: more than the rounding errors of the weights, and of the sum of a few terms


class Weights(NamedTuple):
    """The logs of 1 − τ and of κ, rounded up, and an interval that contains r."""

    log_ordinary: float
    log_truncated: float
    r_down: float
    r: float


def log_tails_of(n: float, sampling_rate: float, max_batch_size: float) -> tuple[LogTail, LogTail, LogTail]:
    """1 − τ, τ and κ for B < n. Raises OutOfScope where the sums of probabilities have too many terms, or no digits."""
    if sampling_rate < float_info.min:
        raise OutOfScope("out-of-range", f"the rate {sampling_rate:.3g} is below {float_info.min:.3g}, the smallest "
                                         "double with all digits", "--sampling-rate")
    if n * sampling_rate * (1 - sampling_rate) > 1e12:  # tails up to here are summed in seconds
        raise OutOfScope("out-of-range", f"n = {n:g} records at the rate {sampling_rate:g} are too many to add up the "
                                         "probabilities of all batch sizes", "--n")
    ordinary, tau = log_tails(int(max_batch_size), int(n) - 1, sampling_rate)
    full = log_tails(int(max_batch_size) + 1, int(n), sampling_rate)[1]
    return ordinary, tau, LogTail(full.log + log(max_batch_size / n), full.error)


@lru_cache(maxsize=8)
def weights(n: float, sampling_rate: float, max_batch_size: float) -> Weights:
    """1 − τ, κ and r, rounded to the safe side."""
    if max_batch_size >= n:  # no batch is truncated
        return Weights(0.0, -inf, 0.0, 0.0)
    ordinary, tau, kappa = log_tails_of(n, sampling_rate, max_batch_size)
    log_r, error = kappa.log - tau.log, kappa.error + tau.error + ROUNDING * (1 + abs(tau.log))
    # r is a mean of qB/(N+1) over N >= B, and so below q
    r_down, r = (min(exp(log_r + x), sampling_rate) for x in (-error, error))
    log_ordinary, log_truncated = (min(x.log + x.error + ROUNDING, 0.0) for x in (ordinary, kappa))
    return Weights(log_ordinary, log_truncated, r_down, r)


def value(epsilon: float, n: float, sampling_rate: float, max_batch_size: float, noise_multiplier: float,
          replaced: bool) -> float:
    return max(sided(epsilon, side, n, sampling_rate, max_batch_size, noise_multiplier, replaced)
               for side in (+1, -1)[replaced:])


def sided(epsilon: float, side: int, n: float, sampling_rate: float, max_batch_size: float,
          noise_multiplier: float, replaced: bool) -> float:
    """log of the bound on E_{e^ε}(with ‖ without) for side +1, or on E_{e^ε}(without ‖ with) for side −1; where the
    record is replaced, both are the same."""
    w = weights(n, sampling_rate, max_batch_size)
    if replaced:
        ordinary = poisson_replace_one_profile.value(epsilon, sampling_rate, noise_multiplier, 1)
    else:
        ordinary = poisson_profile.sided(epsilon, side, sampling_rate, gaussian_profile(noise_multiplier))
    total = w.log_ordinary + ordinary
    if w.log_truncated > -inf:
        total = log_add(total, w.log_truncated + _truncated(epsilon, side, w, noise_multiplier, replaced))
    return -inf if total == -inf else min(0.0, total + ROUNDING * (1 + abs(total)))


def _truncated(epsilon: float, side: int, w: Weights, noise_multiplier: float, replaced: bool) -> float:
    """log[(1−β)θ_2(γ′) + βθ_1(γ′)] for side +1, or log θ_1(γ′), or log θ_2(γ′) where the record is replaced, rounded
    up: θ falls in γ′, so r is rounded up there; β = r/(r + (1−r)x) rises in r, and 1−β falls, with x = 1 − e^{−ε}."""
    inner, x = sampled_epsilon(epsilon, w.r), -expm1(-epsilon)
    if replaced:
        return gaussian.value(inner, noise_multiplier, 2.0, 1)
    near = gaussian.value(inner, noise_multiplier, 1.0, 1)
    if side < 0 or x == 0:
        return near
    far = gaussian.value(inner, noise_multiplier, 2.0, 1)
    beta, rest = w.r / (w.r + (1 - w.r) * x), (1 - w.r_down) * x / (w.r_down + (1 - w.r_down) * x)
    return log_add(log(beta) + near, log(rest + float_info.min) + far + ROUNDING)  # more than an underflow of `rest`


def gaussian_profile(noise_multiplier: float) -> Profile:
    """The profile of the Gaussian mechanism on all records, with sensitivity 1."""
    own = (noise_multiplier, 1.0, 1)
    return Profile(lambda e: gaussian.value(e, *own), lambda mp, e: gaussian.exact(mp, e, *own),
                   lambda: _gaussian_pair(noise_multiplier))


def _gaussian_pair(noise_multiplier: float) -> Pair:
    from dpcalc.pld.pair import Gaussian

    return Gaussian(gaussian.ratio(noise_multiplier, 1.0, 1))


# --- the pair that is composed ---------------------------------------------------------------------------------------

@lru_cache(maxsize=4)
def pair(n: float, sampling_rate: float, max_batch_size: float, noise_multiplier: float, replaced: bool) -> Pair:
    """The dominating pair of one step: that of the convex minorant of the bounds at some points."""
    from dpcalc.pld import profile_pairs, sampled

    w = weights(n, sampling_rate, max_batch_size)
    if w.log_truncated == -inf and replaced:
        return poisson_replace_one_profile.pair(sampling_rate, noise_multiplier, 1)
    if w.log_truncated == -inf:
        return sampled.poisson(_gaussian_pair(noise_multiplier), sampling_rate)
    points = _points(sampling_rate, w.r, noise_multiplier)
    own = (n, sampling_rate, max_batch_size, noise_multiplier, replaced)
    return profile_pairs.pair([0.0, *points], *([sided(e, side, *own) for e in (0.0, *points)] for side in (+1, -1)))


def _points(sampling_rate: float, r: float, noise_multiplier: float) -> list[float]:
    """The ε > 0 at which the profile is evaluated: the images under sampling of losses of Gaussian noise that are
    evenly spaced near 0. Any points are valid; ε of many steps grows with the square of their distance, by 1e-4 of it
    at this one."""
    import numpy as np

    from dpcalc.bounds.sampling._engine.repeated_draws_array import deviations, distinct

    found, away = [], deviations(1 / noise_multiplier, spacing=0.03)
    for rate, distance in ((sampling_rate, 1.0), (r, 2.0)):
        losses = away * (distance / noise_multiplier)
        small, large = losses[losses <= 1], losses[losses > 1]
        found += [np.logaddexp(log1p(-rate), log(rate) + large) if rate < 1 else large,
                  np.log1p(rate * np.expm1(small)),
                  -np.log1p(rate * np.expm1(-(losses if rate < 1 else losses[losses < 36])))]
    return list(distinct(np.concatenate(found)).tolist())


# --- the printed formula ---------------------------------------------------------------------------------------------


def exact(mp: Any, epsilon: float, n: float, sampling_rate: float, max_batch_size: float,
          noise_multiplier: float, replaced: bool) -> Any:
    return max(sided_exact(mp, epsilon, side, n, sampling_rate, max_batch_size, noise_multiplier, replaced)
               for side in (+1, -1)[replaced:])


def sided_exact(mp: Any, epsilon: float, side: int, n: float, sampling_rate: float, max_batch_size: float,
                noise_multiplier: float, replaced: bool) -> Any:
    e = mp.mpf(epsilon)
    ordinary, tau, kappa = exact_weights(mp, int(n), sampling_rate, int(max_batch_size))
    total = ordinary * (poisson_replace_one_profile.exact(mp, epsilon, sampling_rate, noise_multiplier, 1) if replaced
                        else poisson_profile.sided_exact(mp, epsilon, side, sampling_rate,
                                                         gaussian_profile(noise_multiplier)))
    if max_batch_size >= n:
        return total
    r, mu = kappa / tau, 1 / mp.mpf(noise_multiplier)
    log_gamma = mp.log1p(mp.expm1(e) / r)
    if replaced:
        return total + kappa * gaussian.theta(mp, log_gamma, 2 * mu)
    near = gaussian.theta(mp, log_gamma, mu)
    if side < 0:
        return total + kappa * near
    beta = mp.exp(e) / (1 + mp.expm1(e) / r)
    return total + kappa * ((1 - beta) * gaussian.theta(mp, log_gamma, 2 * mu) + beta * near)


@cached_by_precision()
def exact_weights(mp: Any, n: int, sampling_rate: float, max_batch_size: int) -> tuple[Any, Any, Any]:
    """1 − τ, τ and κ."""
    ordinary, tau = exact_tails(mp, max_batch_size, n - 1, sampling_rate)
    return ordinary, tau, mp.mpf(max_batch_size) / n * exact_tails(mp, max_batch_size + 1, n, sampling_rate)[1]


BOUND = ProfileBound(
    Theorem(
        name="truncated-poisson-profile",
        example="subsample --n 60000 --batch-size 256 --max-batch-size 320 --steps 3516 --noise-multiplier 1.1 "
                "--delta 1e-5",
        statement="(1−τ)·δ_Poisson(ε) + κ·[(1−β)θ_2(γ′) + βθ_1(γ′)] with the record, (1−τ)·δ_Poisson(ε) + κ·θ_1(γ′) "
                  "without it, (1−τ)·δ_Poisson(ε) + κ·θ_2(γ′) for a replaced record; γ′ = 1 + (e^ε − 1)/r, β = e^ε/γ′, "
                  "r = κ/τ, τ = Pr[Bin(n−1, q) ≥ B], κ = (B/n)·Pr[Bin(n, q) > B], θ_a(γ′) = E_γ′(N(a, z²) ‖ N(0, z²)); "
                  "the convex minorant over all e^ε is composed numerically, each direction by itself",
        source="Ganesh 2025, arXiv:2508.15089v1 (the sampler); Balle, Barthe & Gaboardi 2018, Theorem 2, "
               "arXiv:1807.01647v2 (advanced joint convexity); proof in "
               "dpcalc/bounds/sampling/truncated_poisson_profile.py",
        assumptions=(SAMPLER, NEIGHBOURS, SIZES,
                     "noise N(0, z²I) on the sum of gradients of norm at most 1, whatever the other records are",
                     OWN_GRADIENT),
        in_words="DP-SGD on Poisson batches of which at most B records stay, as a fixed memory needs: a record that "
                 "is drawn into a full batch displaces another one, so the sum changes by two gradients. A record is "
                 "zeroed out or replaced. It is false where the mean over a varying batch size is released; "
                 "truncated-poisson-lower shows how loose it can be.",
    ),
    params=("n", "sampling_rate", "max_batch_size", "noise_multiplier", "replaced"), value=value, exact=exact,
    directions=Directions(sided, sided_exact), rtol=2e-9, pair=pair)
