"""The privacy profile of shuffled batches that have the same order in all epochs, and leave out at least one record.

Setting. As in shuffle_profile.py, but the uniformly random order is drawn once, before the first epoch, so that every
epoch has the same batches and leaves out the same records. All vectors have norm at most 1.

Theorem. Let W, X and X′ be independent, W = exp(μG − μ²/2) with a standard normal G, and X and X′ alike. With E epochs,
w = r/b and independent copies for j = 1, …, t, in the two directions
    δ(ε) <= E(w(1 − γ) + Σ_j W_j (X_j − γ))₊/(t + w)  and  E(w(1 − γ) + Σ_j W_j (1 − γX_j))₊/(t + w)
where a record is zeroed out, with μ = √(2E)/σ, and where one is replaced, in both directions,
    δ(ε) <= E(w(1 − γ) + Σ_j W_j (X_j − γX′_j))₊/(t + w), with μ = √(3E)/σ.

Proof. By (1) of shuffle_profile.py let H be given: the record is in one of the r places that are left out (J = 0) with
probability w/(t + w), and in batch i, in place of y_i, with probability 1/(t + w) (J = i); J is the same in all epochs.
Let a = √2, and let there be a point in the plane for each step and epoch, with independent noise N(0, σ²I): at (a, 0)
for the batches i ≠ J; and for batch J at (0, a) on one data set, and at (0, 0) on the other. The output of step i in an
epoch can be made from its point without knowing J: the linear map with (a, 0) ↦ y_i and (0, a) ↦ x_i, the vectors of
this step, does not lengthen any vector, as (|u| + |v|)/√2 <= √(u² + v²); after it, noise is added, so that its
covariance is σ²I again. The vectors are functions of earlier outputs, which were made from earlier points. So a run is
at most as bad as its points. Let the base be J = 0. The E points of batch i together have the likelihood ratio W_i of
(0, 0) against (a, 0), and X_i of (0, a) against (0, 0), with μ = a√E/σ; the two coordinates are independent. Where a
record is replaced, points are in space, at √3 on one axis each for y_i, x_i and x′_i: (|u| + |v| + |w|)/√3 <= √(u² + v²
+ w²). ∎

Both are at most the profile of one step on all records in every epoch, as in shuffle_no_amplification.py, too.
"""

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.swapped_exact import cdf
from dpcalc.bounds.sampling.shuffle_no_amplification import NEIGHBOURS, NOISE
from dpcalc.bounds.sampling.shuffle_profile import FIXED, in_norms, of_records
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

ONE_ORDER = "one uniformly random order of all n records for all epochs, drawn before the first one"
LEFT_OUT = "every epoch leaves out at least one record, at the end of that order (not a part that was cut off before)"


def value(noise_of_record: float, n: int | None, batch_size: int | None, drop_last: bool, replaced: bool,
          clipped: bool, epochs: int, group_size: int, tail: float) -> "Parts":
    """The dominating pair of all epochs together. `tail` is about the P-mass that may become infinite. Raises
    OutOfScope where no record is left out, and where a record is replaced and vectors are not clipped."""
    from dpcalc.pld import shuffled_epoch

    if n is None or batch_size is None or not drop_last or n % batch_size == 0:
        raise OutOfScope("out-of-range", "is about epochs that leave out at least one record, as with --n, --drop-last "
                                         "and a --batch-size that does not divide n", "--batch-size")
    if replaced and not clipped:
        raise OutOfScope("out-of-range", "needs vectors that are clipped to a norm: give --noise-multiplier", "--sigma")
    sigma, (batches, rest) = in_norms(noise_of_record, replaced), divmod(n, batch_size)

    def of_one(tail: float) -> "Parts":
        return ((shuffled_epoch.one_order(sigma, batches, batch_size, rest, replaced, epochs, tail), 1),)

    return of_records(of_one, group_size, tail)


def exact(mp: Any, epsilon: float, noise_of_record: float, n: int, batch_size: int, drop_last: bool, replaced: bool,
          clipped: bool, epochs: int, group_size: int, tail: float) -> Any:
    """The larger δ of both directions, for one batch and a zeroed record at ε > 0: an integral over the value of X."""
    if replaced or n // batch_size > 1 or group_size > 1 or epsilon == 0:
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--batch-size")
    mu, w = mp.sqrt(mp.mpf(2 * epochs)) / mp.mpf(noise_of_record), mp.mpf(n % batch_size) / batch_size
    gamma = mp.exp(mp.mpf(epsilon))
    level = w * (gamma - 1)

    def mean(sign: int) -> Any:
        def inner(s: Any) -> Any:
            """The mean over W where y = X − γ is e^s, or y = 1 − γX is 1/(1 + e^s), times the density in s."""
            u = mp.exp(s)
            y, x, slope = (u, gamma + u, u / (gamma + u)) if sign > 0 else (1 / (1 + u), u / (1 + u) / gamma, 1 / (1 + u))
            g = mp.log(x) / mu + mu / 2
            k = mp.log(level / y) / mu
            return mp.npdf(g) * slope / mu * (y * cdf(mp, mu / 2 - k) - level * cdf(mp, -mu / 2 - k))

        return mp.quad(inner, [-80, -40, -20, -10, -5, -2, 0, 2, 5, 10, 20, 40, 80])

    found = max(mean(1), mean(-1)) / (1 + w)
    return min(found, gaussian_exact.theta(mp, epsilon, mp.sqrt(mp.mpf(epochs)) / mp.mpf(noise_of_record)))


BOUND = CompositionBound(
    Theorem(
        name="shuffle-profile-one-order",
        example="subsample --scheme shuffle --reshuffle once --n 60000 --batch-size 256 --drop-last --epochs 15 "
                "--noise-multiplier 8 --delta 1e-5",
        statement="δ(ε) ≤ E(w(1 − e^ε) + Σ_j W_j (X_j − e^ε))₊/(t + w), and with 1 − e^ε X_j in place of X_j − e^ε, "
                  "for t batches of b in each of E epochs and r = wb ≥ 1 other records; W_j and X_j independent, "
                  "exp(μG − μ²/2) with μ = √(2E)/σ and G ~ N(0, 1); where a record is replaced, X_j − e^ε X′_j and "
                  "μ = √(3E)/σ",
        source="proof in dpcalc/bounds/sampling/shuffle_profile_one_order.py",
        assumptions=(ONE_ORDER, LEFT_OUT, FIXED, NEIGHBOURS, NOISE, OWN_GRADIENT),
        released="every step's output",
        in_words="A record that is always left out could have been in the place of any other one; where the noise is "
                 "large against the root of the number of epochs, that hides it.",
    ),
    params=("noise_of_record", "n", "batch_size", "drop_last", "replaced", "clipped", "epochs", "group_size", "tail"),
    value=value,
    exact=exact,
    rtol=5e-2,  # of δ: grids and chords
)
