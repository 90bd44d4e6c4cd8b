"""The privacy profile of an epoch of shuffled batches that leaves out at least one record, every step released.

Setting. In every epoch a new, uniformly random order of all n records is cut into t batches of b records; the other
r = n − tb >= 1 records of that order are not used in the epoch. Step i releases the sum over its batch of the vectors
g_i(record; earlier outputs), each of norm at most 1 (the clipping norm is the unit), plus N(0, σ²I). The functions g_i
are the same on both data sets, and may draw at random, as augmentation does: for every record and step, whether or not
it is in the batch, and independently of the orders and the noise. By joint convexity these draws may be known. The
vectors do not depend on the order or on the other records of the batch. The noise is independent of the orders and
between steps. One record is zeroed out, or replaced, on one of two neighbouring data sets; n, b, t and σ are the same
on both. Where a record is replaced, only distances are used: any two vectors of a step are at most 2 apart.

Let φ_u be the density of N(u, σ²I), m = 1/σ, and γ = e^ε. In one step let the record have the vector x on one data
set, and x′ on the other, x′ = 0 where it is zeroed out, and let it take the place of a record with the vector y. With
outputs drawn from φ_y let D = (φ_x − γφ_x′)/φ_y, or D = (φ_x′ − γφ_x)/φ_y in the other direction. Let C*(k) be the
largest E(D − k)₊ over all such vectors, for each k.

Lemma. C* is that of one variable D*, whose law is in dpcalc/pld/swapped_record.py; ED* = 1 − γ.
Proof. E(D − k)₊ is the largest P_x(R) − γP_x′(R) − kP_y(R) over all regions R, P_u being N(u, σ²I). By Neyman and
Pearson, a region with P_u(R) = p has P_v(R) between Φ(Φ⁻¹(p) − |u − v|/σ) and Φ(Φ⁻¹(p) + |u − v|/σ). Let x′ = 0. For
k >= 0 and P_x(R) = p: P_0(R) >= Φ(Φ⁻¹(p) − m) and P_y(R) >= Φ(Φ⁻¹(p) − 2m), as |x| <= 1 and |x − y| <= 2. Half-spaces
across x attain both at once, at every p, where |x| = 1 and y = −x. For k < 0 and P_0(R) = p: P_x(R) and P_y(R) are at
most Φ(Φ⁻¹(p) + m), attained at y = x and |x| = 1. In the other direction x and 0 change places: y = x for k >= 0, and
y = −x for k < 0. Where the record is replaced, all distances are at most 2: x′ = −x, with y = x′ for k >= 0 and y = x
for k < 0. So C* is a maximum of convex functions of k, its slopes are between −1 and 0, and it is 0 at ∞ and
1 − γ − k at −∞. ∎ If D has E(D − k)₊ <= C*(k) for all k, and ED = 1 − γ, then Ef(D) <= Ef(D*) for every convex f with
bounded slopes.

Theorem. With w = r/b, and independent copies D*_j, one epoch has δ(ε) <= E(w(1 − γ) + D*_1 + … + D*_t)₊/(t + w) in
each direction, for every ε.

Proof. (1) Let A be the arrangement of the n records on the tb places in batches and the r other places: uniform. If
the record is in one of the r places, draw one place s_i in each batch, uniformly, and let A_0 = A. If it is in place
s_i of batch i, draw one of the r places and a place s_k in each other batch, uniformly, and let A_0 be A with the
record and the one in the drawn place exchanged. With H = (A_0, s_1, …, s_t), the probability of H and the record being
in one of the r places is b^(−t)/n!, and that of H and the record being in batch i is b^(−(t−1))/(r·n!). So given H the
record is in one of the r places with probability w/(t + w), and in each batch with probability 1/(t + w). H has the
same law on both data sets. As hockey-stick divergences are jointly convex, it is enough to bound them given H.
(2) Given H, let y_i be the record in place s_i of A_0. If the record of interest is in batch i, it is there in place of
y_i, which is left out, and all other batches are as in A_0. Let the base be the law of the outputs if it is left out:
it is the same on both data sets. If it is in batch i, only the law of output i given the earlier ones is another one:
its mean has the vector of the record in place of that of y_i. So the divergence given H is
E(w(1 − γ) + D_1 + … + D_t)₊/(t + w) under the base, where D_i, given the earlier outputs, is a D of the Lemma: its
vectors are functions of them.
(3) Let V_t(s) = s₊, and V_{i−1}(s) = E V_i(s + D*). These functions are convex, with slopes from 0 to 1. Given the
outputs before step i, by the Lemma, E V_i(s + D_i) <= V_{i−1}(s). By induction from the last step, the mean is at most
V_0(w(1 − γ)). ∎

Composition. Given the order, the record is in one step of an epoch only, so the profile is at most C*(0), too. Let
upper bounds in a direction be known at some γ. The largest convex function of γ >= 0 that is 1 at γ = 0, at most these
bounds, and constant after the last one is at least the profile, which is convex, does not increase, and is at least
(1 − γ)₊; and it is the profile of a pair. For γ < 1 the bounds are those of the other direction, by
E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P). So each epoch, given the past, is dominated by one pair in each direction, and the run
by the product of these pairs (Zhu, Dong & Wang 2022, Theorem 10).

An epoch that ends after t′ batches, with t′b < n and t′ fixed before it begins, is covered with t = t′ and
r = n − t′b, whether b divides n or not. Where the end depends on outputs of the epoch, the bound of the whole epoch
holds, as stopping is a function of its outputs.

For a group of K records, all zeroed out or all replaced, the bound of the run holds between neighbours on a chain of
data sets that differ in one record each, and group_privacy.py says what follows for its ends.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.chain import of_records
from dpcalc.bounds.sampling._engine.swapped_exact import mean_of_positive_part
from dpcalc.bounds.sampling.shuffle_lower import FRESH
from dpcalc.bounds.sampling.shuffle_no_amplification import NEIGHBOURS, NOISE
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair
    from dpcalc.pld.pilot import Parts

LEFT_OUT = ("every epoch leaves out at least one record: the last ones of an order of all n records that is drawn "
            "afresh (not a fixed part that was removed before, a buffered shuffle, or an order that goes on in the "
            "next epoch)")
FIXED = "n, b and the number of steps are public, and fixed before the run"
ASSUMPTIONS = (FRESH, LEFT_OUT, FIXED, NEIGHBOURS, NOISE, OWN_GRADIENT)
PARAMS = ("noise_of_record", "n", "batch_size", "drop_last", "replaced", "whole_epochs", "unfinished", "group_size",
          "tail")


def in_norms(noise_multiplier: float, replaced: bool) -> float:
    """σ in clipping norms, from σ over the sensitivity."""
    return noise_multiplier * (2 if replaced else 1)


def value(noise_of_record: float, n: int | None, batch_size: int | None, drop_last: bool, replaced: bool,
          whole_epochs: int, unfinished: int, group_size: int, tail: float, coarse: bool = False) -> "Parts":
    """The dominating pairs of one epoch and of the steps of an unfinished one, and their counts; for a group of records
    one pair of the run. `tail` is about the P-mass that may become infinite. A `coarse` pair has a few δ of an epoch
    only. Raises OutOfScope where an epoch leaves out no record."""
    n, batch_size = known(n, batch_size)
    if whole_epochs and not leaves_out(n, batch_size, drop_last):
        raise OutOfScope("out-of-range", "is about epochs that leave out at least one record, as with --drop-last and "
                                         "a batch size that does not divide n", "--batch-size")
    sigma = in_norms(noise_of_record, replaced)

    def of_one(tail: float) -> "Parts":
        batches = n // batch_size
        whole = (((left_out(sigma, batches, n, batch_size, replaced, tail, coarse), whole_epochs),) if whole_epochs
                 else ())
        return (*whole, *unfinished_part(sigma, n, batch_size, replaced, unfinished, tail))

    return of_records(of_one, group_size, tail)


def known(n: int | None, batch_size: int | None) -> tuple[int, int]:
    """n and b. Raises OutOfScope where they are not given."""
    if n is None or batch_size is None:
        raise OutOfScope("out-of-range", "needs --n and --batch-size", "--n")
    return n, batch_size


def leaves_out(n: int, batch_size: int, drop_last: bool) -> bool:
    """Whether a whole epoch leaves out at least one record."""
    return drop_last and n % batch_size > 0


def left_out(sigma: float, steps: int, n: int, batch_size: int, replaced: bool, tail: float,
             coarse: bool = False) -> "Pair":
    """The pair of an epoch of so many full batches, of which the other records are left out."""
    from dpcalc.pld import shuffled_epoch

    return shuffled_epoch.left_out(sigma, steps, batch_size, n - steps * batch_size, replaced, tail,
                                   shuffled_epoch.COARSE if coarse else 1.0)


def unfinished_part(sigma: float, n: int, batch_size: int, replaced: bool, unfinished: int, tail: float) -> "Parts":
    """The pair of the steps of an epoch that ends early, if there are any."""
    return ((left_out(sigma, unfinished, n, batch_size, replaced, tail), 1),) if unfinished else ()


def exact(mp: Any, epsilon: float, noise_of_record: float, n: int, batch_size: int, drop_last: bool, replaced: bool,
          whole_epochs: int, unfinished: int, group_size: int, tail: float) -> Any:
    """The larger δ of both directions, for one epoch of one step or two: C*(w(γ − 1))/(1 + w), or an integral."""
    steps = unfinished or n // batch_size
    if whole_epochs + (unfinished > 0) > 1 or steps > 2 or group_size > 1:
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--epochs")
    rest = mp.mpf(n - steps * batch_size)
    return exact_epoch(mp, epsilon, in_norms(noise_of_record, replaced), replaced, steps, rest / batch_size)


def exact_epoch(mp: Any, epsilon: float, sigma: float, replaced: bool, steps: int, w: Any) -> Any:
    """The larger E(w(1 − γ) + D*_1 + …)₊/(t + w) of both directions, for t = 1 or 2 steps."""
    gamma, directions = mp.exp(mp.mpf(epsilon)), (0,) if replaced else (1, -1)
    return max(mean_of_positive_part(mp, side, gamma, 1 / mp.mpf(sigma), steps, w * (gamma - 1)) / (steps + w)
               for side in directions)


_BOUND = CompositionBound(
    Theorem(
        name="shuffle-profile",
        example="subsample --scheme shuffle --n 60000 --batch-size 256 --drop-last --epochs 15 --noise-multiplier 1.1 "
                "--delta 1e-5",
        statement="one epoch of t batches that leaves out r = wb ≥ 1 records: δ(ε) ≤ E(w(1 − e^ε) + D_1 + … + "
                  "D_t)₊/(t + w), D_i independent differences of the likelihood ratios of one step on the two data "
                  "sets when the record takes the place of the worst other one; epochs are composed numerically",
        source="proof in dpcalc/bounds/sampling/shuffle_profile.py; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
        released="every step's output",
        scheme="shuffle",
        in_words="DP-SGD on batches from a fresh secret order in every epoch, the last records of which are left out, "
                 "every step's output released. A record that is left out could be in the place of any other one, so "
                 "the noise hides its batch. A record is replaced or zeroed out. It is false for buffered or fixed "
                 "orders, and where records are added or removed.",
    ),
    params=PARAMS, value=value, exact=exact,
    rtol=3e-2)  # of δ, by chords and grids, where Z >= 0.5; with less noise grids are too coarse for small δ
BOUND = replace(_BOUND, estimate=replace(_BOUND, value=partial(value, coarse=True)))
