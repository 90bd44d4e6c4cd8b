"""The privacy profile of Gaussian noise on a batch that is drawn with replacement: one step.

A batch has b entries, each of them drawn uniformly from the n records, independently and afresh at every step. A query
of the batch is released with noise N(0, σ²I). Neighbouring data sets have the same n records but for one, which is in
the batch k times with probability π_k = C(b,k) n^{−k} (1−1/n)^{b−k}. Either it is replaced by another one: then the
query changes by at most s in Euclidean norm where one entry of a batch is replaced by any other, whatever the rest is,
as the sum of contributions of norm at most C does for s = 2C, and z = σ/s. Or it is zeroed out: then the query is a sum
of contributions of norm at most C, that of the record is 0 in one of the data sets, though it is drawn all the same,
and z = σ/C.

Statement. Let N(d) be the normal distribution with mean d and variance 1, or its density, m = 1/z, γ = e^ε >= 1, and
let θ(x, r) be the hockey-stick divergence of N(r) from N(0) at e^x. For all c_k >= 0 with Σ_{k>=1} π_k c_k ≤ (γ−1)π_0

    δ(ε) ≤ Σ_{k>=1} π_k θ(log(γ+c_k), km)

where the record is replaced, and where it is zeroed out for the data set without it against the one with it, and

    δ(ε) ≤ Σ_{k>=1} π_k ∫(N(2km) − γN(km) − c_k N(0))₊

for the one with it against the one without. For γ < 1 both follow by E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P); where the record
is replaced, both directions have the same bound. The best c_k belong to one half-line of outcomes (see
_engine/repeated_draws.py). The convex minorant of the bounds over all γ > 0 is composed, as in wor_zero_out_profile.py.

Proof. Draw the entries o_1, …, o_b of a batch from the n−1 other records, and a set S of its places, each in S with
probability 1/n, all independently. With the record in the places of S it is a batch of b uniform draws. o and S have
the same distribution on both data sets. The hockey-stick divergence is jointly convex, so it is enough to bound it
given o. Let u_S and v_S be the changes of the query, in units of the noise, by putting the record into the places of S,
with its value or contribution on the first and on the second data set. Relative to the query at o the outputs are P =
Σ_S π_S N(u_S) and Q = Σ_S π_S N(v_S). Let c_k be as above and k the size of S. As Σ_{S≠∅} π_S c_k ≤ (γ−1)π_∅,

    P − γQ ≤ Σ_{S≠∅} π_S [N(u_S) − γN(v_S) − c_k N(0)],    E_γ(P‖Q) ≤ Σ_{S≠∅} π_S ∫(N(u_S) − γN(v_S) − c_k N(0))₊,

as the positive part of a sum is at most the sum of those of its terms. Each integral is E(1 − γA − c_k B)₊ for an
outcome from N(u_S), with lognormal variables A and B of mean 1, whose logs have the variances |u_S−v_S|² and |u_S|². By
the lemma in wor_zero_out_profile.py it is largest where these are as large as they can be, and u_S, v_S and 0 on one
line, the latter two on the same side of u_S.

Where the record is replaced, changing one entry after another shows |u_S|, |u_S−v_S| ≤ km. So v_S is 0, and the largest
integral is ∫(N(km) − (γ+c_k)N(0))₊ = θ(log(γ+c_k), km). With x and 0 the contributions of the record, where it is
zeroed out, u_S = Σ_{j in S} (x − o_j) and v_S = −Σ_{j in S} o_j, if o_j is the contribution of the entry o_j: |u_S| ≤
2km and |u_S−v_S| ≤ km, so that the means are 2km, km and 0 at worst. In the other direction u_S and v_S are exchanged:
|v_S|, |v_S−u_S| ≤ km, which gives θ(log(γ+c_k), km) again. For n = 1 there are no others, and P and Q are normal
distributions at a distance of bm. An integral is at most 1, so that for unlikely k with c_k = 0 their total probability
may be added to δ. ∎ """

from __future__ import annotations

from functools import lru_cache
from math import inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.group_mixture import ULPS
from dpcalc.bounds.sampling._engine.repeated_draws import Draws, ExactDraws
from dpcalc.core.bound import Directions, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import exact_tails, log_binomial_pmf, log_tails
from dpcalc.numerics.mp.memo import cached_by_precision

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

SAMPLER = "each of the b entries of a batch is drawn uniformly from all n records, independently and afresh each step"
NEIGHBOURS = ("neighbours have the same n records but for one, which is replaced by another, or whose contribution is "
              "0 in one of them (zero-out): it is drawn all the same")
_LARGEST_MEAN = 100  # draws of each record in a batch: the sums have up to 600 terms, and an answer takes seconds


@lru_cache(maxsize=8)
def draws(n: int, batch_size: int) -> Draws:
    """How often a record is drawn: Bin(b, 1/n), up to probabilities that no double holds."""
    n, b = int(n), int(batch_size)
    if n == 1:
        return Draws(-inf, (b,), (0.0,), (0.0,), -inf)
    if b > _LARGEST_MEAN * n:
        raise OutOfScope("out-of-range", f"b = {b} draws of n = {n} records: the numbers of draws of one record are "
                                         f"added up to a mean of {_LARGEST_MEAN}", "--batch-size")
    log_weights, errors = list[float](), list[float]()
    for k in range(1, b + 1):
        log_weight = log_binomial_pmf(k, b, -log(n), log1p(-1 / n), 1 / n, 1 - 1 / n)
        if log_weight < -745.0 and k * n > b:  # below every double
            break
        log_weights.append(log_weight)
        errors.append(ULPS * (8 + abs(log_weight) + abs(k - b / n)))
    more = log_tails(len(log_weights) + 1, b, 1 / n)[1]
    counts = tuple(range(1, len(log_weights) + 1))
    return Draws(b * log1p(-1 / n), counts, tuple(log_weights), tuple(errors), more.log + more.error)


def value(epsilon: float, n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> float:
    return max(sided(epsilon, side, n, batch_size, noise_multiplier, replaced) for side in (+1, -1)[replaced:])


def sided(epsilon: float, side: int, n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> float:
    """log of the bound on E_{e^ε}(with ‖ without) for side +1, or on E_{e^ε}(without ‖ with) for side −1; where the
    record is replaced, both are the same."""
    from dpcalc.bounds.sampling._engine.repeated_draws_array import log_delta_at

    return log_delta_at(epsilon, reach_of(side, replaced), noise_multiplier, draws(n, batch_size))


def reach_of(side: int, replaced: bool) -> int:
    """The a of repeated_draws.py: how far the record moves the sum, relative to how far it is from its neighbour."""
    return 1 if replaced or side < 0 else 2


@lru_cache(maxsize=4)
def pair(n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> Pair:
    """The dominating pair of one step: that of the convex minorant of the bounds at some points."""
    from dpcalc.bounds.sampling._engine.repeated_draws_array import minorant_pair
    from dpcalc.pld.pair import Gaussian

    if n == 1:
        return Gaussian(gaussian.ratio(noise_multiplier, float(batch_size), 1))
    return minorant_pair(noise_multiplier, draws(n, batch_size), (reach_of(+1, replaced), reach_of(-1, replaced)))


def exact(mp: Any, epsilon: float, n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> Any:
    return max(sided_exact(mp, epsilon, side, n, batch_size, noise_multiplier, replaced)
               for side in (+1, -1)[replaced:])


def sided_exact(mp: Any, epsilon: float, side: int, n: int, batch_size: int, noise_multiplier: float,
                replaced: bool) -> Any:
    """The sum over all k with the c_k of the best half-line."""
    own = exact_draws(mp, int(n), int(batch_size))
    return repeated_draws.exact(mp, epsilon, reach_of(side, replaced), noise_multiplier, own)


@cached_by_precision()
def exact_draws(mp: Any, n: int, batch_size: int) -> ExactDraws:
    """The probabilities of 0, 1, …, K draws, and of more than K draws together."""
    if n == 1:
        return ExactDraws(mp.mpf(0), ((batch_size, mp.mpf(1)),), mp.mpf(0))
    rate, counted = 1 / mp.mpf(n), len(draws(n, batch_size).counts)
    weights = [mp.exp(batch_size * mp.log1p(-rate))]
    for k in range(counted):
        weights.append(weights[-1] * (batch_size - k) / ((k + 1) * (mp.mpf(n) - 1)))
    return ExactDraws(weights[0], tuple(enumerate(weights))[1:], exact_tails(mp, counted + 1, batch_size, rate)[1])


BOUND = ProfileBound(
    Theorem(
        name="with-replacement-profile",
        example="subsample --scheme with-replacement --n 1000 --batch-size 10 --noise-multiplier 1 --steps 10 --delta "
                "1e-5",
        statement="δ(ε) ≤ Σ_{k≥1} π_k θ(log(e^ε + c_k), k/z) where a record is replaced, or without a record that is "
                  "zeroed out, and Σ_{k≥1} π_k ∫(N(2k/z, 1) − e^ε N(k/z, 1) − c_k N(0, 1))₊ with it, for ε ≥ 0 and the "
                  "best c_k ≥ 0 with Σ π_k c_k = (e^ε − 1)π_0; π_k = C(b,k) n^(−k) (1−1/n)^(b−k), θ(x, r) = "
                  "E_{e^x}(N(r, 1) ‖ N(0, 1)); the convex minorant over all e^ε is composed numerically",
        source="Balle, Barthe & Gaboardi 2018, arXiv:1807.01647v2 (Theorem 10 has all c_k equal); Zhu, Dong & Wang "
               "2022, Theorem 10, arXiv:2106.08567v4 (composition); proof in "
               "dpcalc/bounds/sampling/with_replacement_profile.py",
        assumptions=(SAMPLER, NEIGHBOURS, "n is public",
                     "noise N(0, σ²I); z = σ/s where the query of a batch changes by at most s if one entry is "
                     "replaced, and z = σ/C for sums of contributions of norm at most C of which one is zeroed out",
                     OWN_GRADIENT),
        in_words="Gaussian noise on batches of b draws with replacement from all n records: a record may be drawn "
                 "several times, and then changes the sum by several times its gradient. A record is replaced or "
                 "zeroed out; steps are composed numerically. It is false for shuffled batches; "
                 "with-replacement-lower shows how loose it can be.",
    ),
    params=("n", "batch_size", "noise_multiplier", "replaced"), value=value, exact=exact,
    directions=Directions(sided, sided_exact), rtol=2e-9, pair=pair)
