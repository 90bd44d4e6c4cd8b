"""The least privacy loss of shuffled batches, every step released: of a run whose other gradients point away.

Proof. The gradients are numbers. That of the record is C on one data set and 0 on the other, those of all other records
are −C, so the sum of a full batch without the record is −bC, and of the batch with it (2 − b)C or (1 − b)C. In units of
the noise, with (b − 1)C added to every sum and m = C/σ, an epoch of t batches releases t normal numbers of variance 1:
that of the record's batch has mean m or 0, and the others have mean −m. The batch is uniform by the permutation. Where
b does not divide n, the record is with probability ρ = 1 − tb/n in none of the t full batches; the sum of a last,
smaller batch is left out, so that this batch may be dropped or not. So P and Q are mixtures over the batch i, of N(m,
1) or N(0, 1) in place i, with the weight 1 − ρ, and N(−m, 1) in all others. Every epoch has a new permutation and new
noise, so the epochs are independent. An event R has a probability P(R) and Q(R), and the trade-off curve of (P, Q) is
above all these points, and above their concave hull. The pair whose curve this hull is follows from the outputs by
post-processing (Blackwell 1953, Theorem 10). So its loss is a lower bound for one epoch, and for every composition of
epochs. ∎
"""

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling._engine.swapped_exact import Quadratic
from dpcalc.bounds.sampling.shuffle_no_amplification import NOISE, ONCE
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

FRESH = "a new, uniformly random permutation of the records at the beginning of every epoch"
INSTANCE = "a lower bound: the loss of one run, not a guarantee"
PARAMS = ("sigma", "sensitivity", "steps_per_epoch", "dropped", "whole_epochs")


def noise_of_whole_epochs(sigma: float, sensitivity: float, whole_epochs: int) -> float:
    """z = σ/s, rounded up, and at least SMALLEST_NOISE, as more noise loses less. Raises OutOfScope for less than one
    epoch, and for so much noise that there is nothing to show."""
    from dpcalc.pld.pair import LARGEST_NOISE, SMALLEST_NOISE

    if whole_epochs < 1:
        raise OutOfScope("out-of-range", "is about whole epochs, and there is none", "--epochs")
    if sigma > LARGEST_NOISE * sensitivity:
        raise OutOfScope("out-of-range", f"no lower bound is computed for a noise multiplier above {LARGEST_NOISE:g}",
                         "--noise-multiplier")
    return max(ratio_up((sigma,), (sensitivity,)), SMALLEST_NOISE)


def value(sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float, whole_epochs: int,
          tail: float) -> "Parts":
    """The pair of one epoch, from below, and the number of epochs. Losses with less than about `tail` count as 0."""
    from dpcalc.pld.shuffled_epoch import dominated_pair

    z = noise_of_whole_epochs(sigma, sensitivity, whole_epochs)
    if steps_per_epoch == 1:
        raise OutOfScope("out-of-range", "is about several batches in an epoch", "--batch-size")
    return ((dominated_pair(z, steps_per_epoch, dropped, tail), whole_epochs),)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float,
          whole_epochs: int, tail: float) -> Any:
    """The larger δ of both directions, for one epoch of two batches: E(V_1 + V_2)₊/2 for two independent copies of the
    difference V of the likelihood ratios of one number, with u = e^{my}, y ~ N(−m, 1): u² or u·e^{m²/2}, times 1 − ρ,
    plus ρ. Raises OutOfScope for more, which are integrals over all numbers."""
    if steps_per_epoch != 2 or whole_epochs != 1:
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--epochs")
    m, unused, gamma = mp.mpf(sensitivity) / mp.mpf(sigma), mp.mpf(dropped), mp.exp(mp.mpf(epsilon))
    square, linear = 1 - unused, (1 - unused) * mp.exp(m * m / 2)
    c = 2 * unused * (gamma - 1)
    return max(Quadratic(mp, m, square, gamma * linear).with_record(c),
               gamma * Quadratic(mp, m, square, linear / gamma).without_record(c / gamma)) / 2


BOUND = CompositionBound(
    Theorem(
        name="shuffle-lower",
        example="subsample --scheme shuffle --n 60000 --batch-size 256 --drop-last --epochs 15 --noise-multiplier 1.1 "
                "--adjacency zero-out --delta 1e-5",
        statement="δ(ε) is at least that of t numbers with the law N(−1, z²) in every epoch, one of which, drawn "
                  "uniformly, is N(1, z²) with the record and N(0, z²) without it, or is as the others with "
                  "probability ρ = 1 − tb/n, with outcomes merged",
        in_words="This is a lower bound, and no guarantee: the loss of a run with shuffled batches in which all other "
                 "gradients are opposite to that of the record, which is zeroed out on one data set. A bound for all "
                 "shuffled runs cannot be smaller; it shows where accounting shuffled batches as Poisson batches is "
                 "wrong. Other runs may lose more.",
        source="proof in dpcalc/bounds/sampling/shuffle_lower.py, from Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & "
               "Zhang 2024, arXiv:2403.17673v2; arXiv:2411.04205",
        assumptions=(ONCE, FRESH, "neighbours have equally many records, and the gradients of one are zeroed out",
                     NOISE, INSTANCE),
        released="every step's output",
        scheme="shuffle",
        status="lower",
    ),
    params=(*PARAMS, "tail"), value=value, exact=exact, rtol=2e-2)  # of δ >= 1e-12: from below
