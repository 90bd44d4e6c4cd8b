"""The privacy profile of shuffled batches that have the same order in all epochs, and leave out at least one record.

Setting. As in shuffle_profile.py, but the uniformly random order is drawn once, before the first epoch, so that every
epoch has the same batches and leaves out the same r >= 1 records.

Theorem. Let W, X and X′ be independent, W = exp(μG − μ²/2) with a standard normal G and μ = q√E/σ for E epochs, and X
and X′ alike with μ = p√E/σ. Let w = r/b, and take independent copies for j = 1, …, t. Where a record is zeroed out, let
1/p² + 1/q² <= 1. Then, with the record against without it, and without it against with it,
    δ(ε) <= E(w(1 − γ) + Σ_j W_j (X_j − γ))₊/(t + w)  and  δ(ε) <= E(w(1 − γ) + Σ_j W_j (1 − γX_j))₊/(t + w).
Where a record is replaced, let q² + p²/2 >= 4 and p² + p²q²/(p² + q²) >= 4. Then, in both directions,
    δ(ε) <= E(w(1 − γ) + Σ_j W_j (X_j − γX′_j))₊/(t + w).

Proof. By (1) of shuffle_profile.py let H be given: the record is in one of the r places that are left out (J = 0) with
probability w/(t + w), and in batch i, in place of y_i, with probability 1/(t + w) (J = i); J is the same in all epochs.
Let there be a point in the plane for each step and epoch, with independent noise N(0, σ²I): at (q, 0) for all batches i
≠ J; and for batch J at (0, p) on one data set, and at (0, 0) on the other. The output of step i in an epoch can be made
from its point without knowing J: the linear map with (q, 0) ↦ y_i and (0, p) ↦ x_i, the vectors of this step, does not
lengthen any vector, as |u|/q + |v|/p <= √(u² + v²); after it, noise is added, so that its covariance is σ²I again, and
then the sum of the vectors of the other records of the batch, which H and the earlier outputs give. The vectors are
functions of earlier outputs, which were made from earlier points. So a run is at most as bad as its points. Let the
base be J = 0. The E points of batch i together have the likelihood ratio W_i of (0, 0) against (q, 0), and X_i of (0,
p) against (0, 0); the two coordinates are independent. Where a record is replaced, the points are in space, at q on the
first axis for i ≠ J, and for J at p on the second or the third axis. Project them to the plane of these three points,
and map it by the affine map to y_i, x_i and x′_i. A difference of points with the coordinates c_1 q, c_2 p and c_3 p,
c_1 + c_2 + c_3 = 0, becomes c_1 y_i + c_2 x_i + c_3 x′_i, of length at most |c_1| + |c_2| + |c_3|, as any two of the
vectors are at most 2 apart. Its square is at most q²c_1² + p²(c_2² + c_3²): where c_2 and c_3 have the same sign, it is
4(c_2 + c_3)², and c_2² + c_3² >= (c_2 + c_3)²/2; else the largest of the three is c_2 or c_3, say c_2, its square times
4 is the square of the length, and q²c_1² + p²c_3² >= c_2² p²q²/(p² + q²). ∎

The profile is also at most that of one step on all records in every epoch (shuffle_no_amplification.py). Neither bound
is always the smaller one.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.chain import of_records
from dpcalc.bounds.sampling._engine.swapped_exact import cdf
from dpcalc.bounds.sampling.shuffle_no_amplification import NEIGHBOURS, NOISE
from dpcalc.bounds.sampling.shuffle_profile import FIXED, in_norms, leaves_out
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

ONE_ORDER = "one uniformly random order of all n records for all epochs, drawn before the first one"
LEFT_OUT = "every epoch leaves out at least one record: the last ones of that order (not a part removed before)"


def value(noise_of_record: float, n: int | None, batch_size: int | None, drop_last: bool, replaced: bool, epochs: int,
          group_size: int, tail: float) -> "Parts":
    """The dominating pair of all epochs together. `tail` is about the P-mass that may become infinite. Raises
    OutOfScope where no record is left out."""
    from dpcalc.pld import shuffled_epoch

    if n is None or batch_size is None or n < batch_size or not leaves_out(n, batch_size, drop_last):
        raise OutOfScope("out-of-range", "is about epochs that leave out at least one record, as with --n, --drop-last "
                                         "and a --batch-size that does not divide n", "--batch-size")
    sigma, (batches, rest) = in_norms(noise_of_record, replaced), divmod(n, batch_size)

    def of_one(tail: float) -> "Parts":
        return ((shuffled_epoch.one_order(sigma, batches, batch_size, rest, replaced, epochs, tail), 1),)

    return of_records(of_one, group_size, tail)


def exact(mp: Any, epsilon: float, noise_of_record: float, n: int, batch_size: int, drop_last: bool, replaced: bool,
          epochs: int, group_size: int, tail: float) -> Any:
    """The larger δ of both directions, for one batch and a zeroed record at ε > 0: an integral over the value of X. It
    is for the p and q that the calculator takes, whose pair has the convex minorant of this and of no amplification."""
    from dpcalc.pld.shuffled_epoch import axes

    if replaced or n // batch_size > 1 or group_size > 1 or epsilon == 0:
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--batch-size")
    m, w = mp.sqrt(mp.mpf(epochs)) / mp.mpf(noise_of_record), mp.mpf(n % batch_size) / batch_size
    p2 = mp.mpf(axes(sqrt(epochs) / noise_of_record, replaced)[1])
    mu, outer = m * mp.sqrt(p2), m * mp.sqrt(p2 / (p2 - 1))
    gamma = mp.exp(mp.mpf(epsilon))
    level = w * (gamma - 1)

    def mean(sign: int) -> Any:
        def inner(s: Any) -> Any:
            """The mean over W where y = X − γ is e^s, or y = 1 − γX is 1/(1 + e^s), times the density in s."""
            u = mp.exp(s)
            share = 1 / (1 + u)
            y, x, slope = (u, gamma + u, u / (gamma + u)) if sign > 0 else (share, u * share / gamma, share)
            g = mp.log(x) / mu + mu / 2
            k = mp.log(level / y) / outer
            return mp.npdf(g) * slope / mu * (y * cdf(mp, outer / 2 - k) - level * cdf(mp, -outer / 2 - k))

        return mp.quad(inner, [-80, -40, -20, -10, -5, -2, 0, 2, 5, 10, 20, 40, 80])

    found = max(mean(1), mean(-1)) / (1 + w)
    return min(found, gaussian.theta(mp, epsilon, mp.sqrt(mp.mpf(epochs)) / mp.mpf(noise_of_record)))


BOUND = CompositionBound(
    Theorem(
        name="shuffle-profile-one-order",
        example="subsample --scheme shuffle --reshuffle once --n 60000 --batch-size 256 --drop-last --epochs 15 "
                "--noise-multiplier 8 --delta 1e-5",
        statement="δ(ε) ≤ E(w(1 − e^ε) + Σ_j W_j (X_j − e^ε))₊/(t + w), and with 1 − e^ε X_j in place of X_j − e^ε, "
                  "for t batches of b in each of E epochs and r = wb ≥ 1 other records; W_j and X_j independent, "
                  "exp(μG − μ²/2) with G ~ N(0, 1), μ = q√E/σ for W_j and p√E/σ for X_j, σ in clipping norms, "
                  "1/p² + 1/q² = 1; where a record is replaced, X_j − e^ε X′_j, q² + p²/2 ≥ 4 and "
                  "p² + p²q²/(p² + q²) ≥ 4",
        source="proof in dpcalc/bounds/sampling/shuffle_profile_one_order.py",
        assumptions=(ONE_ORDER, LEFT_OUT, FIXED, NEIGHBOURS, NOISE, OWN_GRADIENT),
        released="every step's output",
        scheme="shuffle",
        in_words="DP-SGD on batches from one secret order that all epochs share, whose last records are never used. "
                 "One of these could be in the place of any other record; where the noise is large for the number of "
                 "epochs, that hides the record. A record is replaced or zeroed out. It is false where the order is "
                 "known or nothing is left out.",
    ),
    params=("noise_of_record", "n", "batch_size", "drop_last", "replaced", "epochs", "group_size", "tail"), value=value,
    exact=exact, rtol=5e-2)  # of δ: grids and chords
