"""The privacy profile of an epoch of shuffled batches that uses all records, every step released.

Setting. As in shuffle_profile.py, but no record is left out: b divides n, or the last n mod b records are a last,
smaller batch, with the same noise on its sum. Let n >= 2b. T = n/b, and N = n − b records come after the first batch:
in t >= 1 full batches and, perhaps, a last one of wb records, 0 <= w < 1, so that N/b = t + w = T − 1. Let w_j = 1 for
a full batch j, and w for the last, smaller one. γ, m, φ_u, C* and D* are those of shuffle_profile.py. Let the vectors
of all records at the first step be in one ball of radius ρ, given the past, and G(v) = Φ(Φ⁻¹(v) + ρm). Where vectors
are clipped, ρ = 1. Where a record is replaced, and only the distances of any two vectors are known to be at most 2, ρ =
√2 is enough, by Jung's theorem. For integers k >= 1 let

    h(d, k) = E(d + (t + w)·(B_1 D*_1 + B_2 D*_2 + …)/k)₊

with B multinomial(k; w_j/(t + w)) and independent copies D*_j of D*. Let H(γ) = sup over v of G(v) − γv, the profile of
Gaussian noise between vectors at a distance of ρ.

Theorem. Let α(d) = a_0 + Σ_i s_i (d − d_i)₊ with s_i >= 0 and Σ_i s_i >= 1. Let numbers c_l >= 0 be given, and

by lists: integers 1 <= k_l < N with
    α(d_i) + Σ_l c_l min(1, k_l/k) >= h(d_i, k)  for all i and all integers 1 <= k <= N;
then in each direction, and for every ε, Tδ(ε) <= a_0 + Σ_i s_i C*(d_i) + Σ_l c_l G(k_l/N);

or by the largest ratio: numbers z_l >= 1 with
    α(d_i) + Σ_l c_l (N/(k + 1) − z_l)₊ >= h(d_i, k)  for all i and all integers 1 <= k <= N;
then in each direction, and for every ε, Tδ(ε) <= a_0 + Σ_i s_i C*(d_i) + Σ_l c_l (N·H(g_l) + g_l·H(z_l/g_l)) for all
g_l > 0.

Proof. (1) Let A be uniform over the arrangements with the record of interest in the first batch. Given A, it stays with
probability b/n, and is exchanged with each of the N records of the later places with probability 1/n. Then every
arrangement has the probability 1/n!: one with the record in a later place comes from b arrangements A, each with
probability 1/(b(n−1)!), and then with probability 1/n. A has the same law on both data sets, so by joint convexity it
may be known. Let the first batch of A be given from here on. The partition of the N later records into batches is
uniform.
(2) Let S be the sum of the vectors of the b − 1 others of the first batch, and ξ the first output minus S. If the
record stays, ξ has the density φ_x on one data set, and φ_x′ on the other. If it is exchanged with the record r, ξ has
the density φ_{u_r} on both, where u_r, the vector of r at the first step, does not depend on the arrangement.
Then, given the outputs before its step, a later batch with r has the record of interest in place of r, and all others
are as in A. Take as base φ̄, the mean of the φ_{u_r}, for ξ, and for later outputs their law in A if the record stays,
given the earlier outputs. Relative to it, n times the difference of the two likelihoods, the second one times γ, is
b·d̄ + Σ_j Σ_{r∈j} f_r D_r with d̄ = (φ_x − γφ_x′)/φ̄, f_r = φ_{u_r}/φ̄, both at ξ, and a D_r of the Lemma at each later
step, given the outputs before. (In the other direction x and x′ change places.) Let F_j = Σ_{r∈j} f_r. The mean of the
D_r of batch j with weights f_r/F_j, which are known after ξ, has E(· − k)₊ <= C*(k) and mean 1 − γ as well. By the
induction in (3) of shuffle_profile.py, from the last step to the second one, the D_r may be replaced:
nδ(ε) <= E(b·d̄ + Σ_j F_j D*_j)₊, where the D*_j are independent of ξ and of the partition, which under the base is
independent of ξ.
(3) Given ξ, let Ξ(f) be the mean of (b·d̄ + Σ_j F_j D*_j)₊ over the D*_j and the partition. It is convex in f, and
symmetric, as the partition is uniform. Let f = N/k on a set M of k later records, and 0 elsewhere. Given the D*_j,
Σ_j |M ∩ j| D*_j is the sum of k draws without replacement from N numbers, of which b·w_j are D*_j. A convex function of
it has at most the mean that it has for draws with replacement (Hoeffding 1963, Theorem 4). As F_j = (N/k)|M ∩ j| and
N = b(t + w), Ξ(f) <= b·h(d̄, k).
By lists: let M_s be the set of the later records r with f_r > s. Then f = ∫1{r ∈ M_s}ds and ∫|M_s|ds = Σ_r f_r = N: f
is the mean, with weights |M_s|ds/N, of functions that are N/|M_s| on M_s. So Tδ(ε) <= E∫(|M_s|/N) h(d̄, |M_s|)ds.
By the largest ratio: let z = max_r f_r. As the f_r >= 0 have the mean 1, 1 <= z <= N. Let k be the integer with
k <= N/z < k + 1. Then f has entries from 0 to N/k, and the sum N. An extreme point of the set of such vectors has at
most one entry that is neither 0 nor N/k, and this is N minus a multiple of N/k, so that there is none: it is N/k in k
places, and 0 elsewhere. As Ξ is convex and f a mixture of extreme points, Ξ(f) <= b·h(d̄, k), and Tδ(ε) <= E h(d̄, k),
where k depends on ξ.
(4) Given the D*_j the draws with replacement are independent and have the same law. The average of k + 1 draws is the
average, over its k-subsets, of the averages of these; as (·)₊ is convex, h(d, k) does not increase in k. In d it is
convex, with slopes from 0 to 1. So the inequality of the theorem holds for all d, not only at the nodes d_i: between
them α is linear, below the first one it is constant, and above the last one its slope is at least 1. Hence Tδ(ε) is at
most E α(d̄) and, by lists, Σ_l c_l E∫min(|M_s|, k_l)ds/N, as ∫(|M_s|/N)ds = 1; by the largest ratio, Σ_l c_l E(z −
z_l)₊, as N/(k + 1) < z. E(d̄ − k)₊ <= C*(k) for every k: under φ̄ it is ∫(φ_x − γφ_x′ − kφ̄)₊, which is convex in φ̄,
and at most C*(k) for each φ_{u_r}. So E α(d̄) <= a_0 + Σ_i s_i C*(d_i).
(5) Let R_r be the event that r is among the k largest f_r, ties being broken by a fixed order, and let c be the centre
of the ball. P_u is N(u, σ²I). By Neyman and Pearson P_{u_r}(R) <= G(P_c(R)), and P_c(R) <= G(P_{u_r}(R)), for every R.
By lists: ∫min(|M_s|, k)ds is the sum of the k largest f_r. Its mean under φ̄ is Σ_r P_{u_r}(R_r) <= Σ_r G(P_c(R_r)),
and Σ_r P_c(R_r) = k, as at every ξ exactly k records are among them. As G is concave, this is at most N·G(k/N).
By the largest ratio: let k = 1, Z the event z > z_l, and p = P_c(Z). The events Z ∩ R_r are disjoint, with the union Z,
so that Σ_r P_c(Z ∩ R_r) = p, and the mean of z on Z is Σ_r P_{u_r}(Z ∩ R_r) <= N·G(p/N) <= N·H(g) + gp. Let v be the
number with G(v) = p. As p <= G(P_{u_r}(Z)) for each r, Z has at least the probability v under φ̄, the mean of the
φ_{u_r}. And gp − z_l v = g(G(v) − (z_l/g)v) <= g·H(z_l/g). So E(z − z_l)₊ <= N·H(g) + g·H(z_l/g). ∎

Numbers of records with independent Poisson laws. For Λ > 0 and independent B′_j ~ Poisson(Λw_j/(t + w)),
    h(d, k) <= E(Σ_j B′_j ((t + w)D*_j + d))₊/(Λ·P(Poisson(Λ) <= k − 1)).
Proof. Given M = Σ_j B′_j the B′_j are multinomial, so that the mean is E(M h(d, M)) >= h(d, k)·E(M; M <= k), by (4),
and E(M; M <= k) = Λ·P(Poisson(Λ) <= k − 1). ∎ And h(d, 1) = (t + w)·C*(−d/(t + w)).

Levels. Let 1 = κ_0 < κ_1 < … be some numbers of records. As h does not increase in k, and the left sides of the
inequalities do not either, they hold for κ_j <= k < κ_{j+1} (k <= N for the last level) if the left side at k =
κ_{j+1} − 1 (N) is at least an upper bound of h(d_i, κ_j); by lists it is enough, too, if the one at κ_{j+1} is. The
best a_0, s and c for given nodes, levels and z_l solve a linear program. With one node d_1 lists use h(d, k) <= (d −
d_1)₊ + h(d_1, k): one term for the record's own batch, and one for the rest.

Which one is smaller is no part of the theorem. Where the noise is large against √log N even the largest ratio is near
1, and the bound near that of an epoch that leaves out records. With little noise lists are smaller, except for small δ.

Epochs compose as in shuffle_profile.py; the steps of an epoch that ends early leave out records, and are covered there.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling import shuffle_profile
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.chain import of_records
from dpcalc.bounds.sampling.shuffle_lower import FRESH
from dpcalc.bounds.sampling.shuffle_no_amplification import NEIGHBOURS, NOISE
from dpcalc.bounds.sampling.shuffle_profile import (
    FIXED,
    exact_epoch,
    in_norms,
    known,
    leaves_out,
    left_out,
    unfinished_part,
)
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair
    from dpcalc.pld.pilot import Parts

USED = ("every record is in exactly one batch of an epoch; a last, smaller batch has the same noise σ on its sum (not "
        "on its mean)")
ASSUMPTIONS = (FRESH, USED, FIXED, NEIGHBOURS, NOISE, OWN_GRADIENT)


def _covered(n: int | None, batch_size: int | None, drop_last: bool, whole_epochs: int) -> tuple[int, int]:
    """n and b. Raises OutOfScope where an epoch leaves out records, and where none is whole."""
    n, batch_size = known(n, batch_size)
    if not whole_epochs:
        raise OutOfScope("out-of-range", "is about whole epochs, and there is none", "--epochs")
    if leaves_out(n, batch_size, drop_last):
        raise OutOfScope("out-of-range", "is about epochs that use all records", "--drop-last")
    return n, batch_size


def value(noise_of_record: float, n: int | None, batch_size: int | None, drop_last: bool, replaced: bool,
          clipped: bool, whole_epochs: int, unfinished: int, group_size: int, tail: float) -> "Parts":
    """The dominating pairs of one epoch and of the steps of an unfinished one, and their counts. `tail` is about the
    P-mass that may become infinite. Raises OutOfScope where an epoch leaves out records, and where none is whole."""
    n, batch_size = _covered(n, batch_size, drop_last, whole_epochs)

    def of_one(tail: float) -> "Parts":
        whole = whole_epoch(noise_of_record, n, batch_size, replaced, clipped, tail)
        sigma = in_norms(noise_of_record, replaced)
        return ((whole, whole_epochs), *unfinished_part(sigma, n, batch_size, replaced, unfinished, tail))

    return of_records(of_one, group_size, tail)


def whole_epoch(noise_multiplier: float, n: int, batch_size: int, replaced: bool, clipped: bool, tail: float) -> "Pair":
    """The pair of one epoch. Where a record is replaced and the noise is relative to how far two records are apart (not
    `clipped`), their vectors are in a ball of radius √2 (Jung 1901)."""
    from dpcalc.pld import shuffled_epoch

    radius = 1.0 if clipped or not replaced else sqrt(2)
    return shuffled_epoch.all_used(in_norms(noise_multiplier, replaced), n, batch_size, replaced, radius, tail)


def _estimate(noise_of_record: float, n: int | None, batch_size: int | None, drop_last: bool, replaced: bool,
              clipped: bool, whole_epochs: int, unfinished: int, group_size: int, tail: float) -> "Parts":
    """Epochs with as many batches, of which a further one is left out."""
    n, batch_size = _covered(n, batch_size, drop_last, whole_epochs)
    steps, sigma = max(-(-n // batch_size) - 1, 1), in_norms(noise_of_record, replaced)

    def of_one(tail: float) -> "Parts":
        pair = left_out(sigma, steps, (steps + 1) * batch_size, batch_size, replaced, tail, coarse=True)
        return ((pair, whole_epochs + (unfinished > 0)),)

    return of_records(of_one, group_size, tail)


def exact(mp: Any, epsilon: float, noise_of_record: float, n: int, batch_size: int, drop_last: bool, replaced: bool,
          clipped: bool, whole_epochs: int, unfinished: int, group_size: int, tail: float) -> Any:
    """The larger δ of both directions, for one epoch of two equal batches, where h(d, k) = E(d + D*)₊: the least value
    of the theorem is E(D*_1 + D*_2)₊/2."""
    if whole_epochs != 1 or unfinished or n != 2 * batch_size or group_size > 1:
        raise OutOfScope("unsupported", "its least value is known for two equal batches only", "--epochs")
    return exact_epoch(mp, epsilon, in_norms(noise_of_record, replaced), replaced, 2, mp.mpf(0))


PARAMS = ("noise_of_record", "n", "batch_size", "drop_last", "replaced", "clipped", "whole_epochs", "unfinished",
          "group_size", "tail")
ESTIMATE = CompositionBound(shuffle_profile.BOUND.theorem, params=PARAMS, value=_estimate, exact=_estimate, rtol=1.0)
BOUND = CompositionBound(
    Theorem(
        name="shuffle-profile-used",
        example="subsample --scheme shuffle --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
        statement="one epoch of T = n/b batches that uses all records: Tδ(ε) ≤ a_0 + Σ_i s_i E(D − d_i)₊ + "
                  "Σ_l c_l Φ(Φ⁻¹(k_l/N) + 1/Z), N = n − b, if a_0 + Σ_i s_i (d − d_i)₊ + Σ_l c_l min(1, k_l/k) ≥ "
                  "E(d + (T−1)/k·Σ_j B_j D_j)₊ for all d = d_i and k = 1, …, N records, B_j of them in batch j at "
                  "random, D_j as in shuffle-profile; or with (N/(k+1) − z_l)₊ and N·H(g) + g·H(z_l/g), H the "
                  "hockey-stick divergence of Z, for min(1, k_l/k) and Φ(…)",
        source="proof in dpcalc/bounds/sampling/shuffle_profile_used.py; Hoeffding 1963, Theorem 4; Zhu, Dong & Wang "
               "2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
        released="every step's output",
        scheme="shuffle",
        in_words="DP-SGD on batches from a fresh secret order of all records in every epoch, none of which is left "
                 "out, every step's output released. A record of the first batch could be in the place of any later "
                 "one, so the noise hides its batch. A record is replaced or zeroed out. It is false for buffered or "
                 "fixed orders; shuffle-lower shows how loose it can be.",
    ),
    params=PARAMS, value=value, exact=exact, estimate=ESTIMATE,
    rtol=1.0)  # of δ, against the least value of the theorem for two batches: for more, nodes change ε by about 1 %
