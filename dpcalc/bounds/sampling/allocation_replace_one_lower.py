"""A lower bound for random allocation where one record is replaced, from a run whose loss is the largest.

Proof. Where the gradients of the record and of its substitute are a unit vector and its opposite, the same at every
step, and the others contribute nothing, the noisy sums are those of the pair in allocation_replace_one_profile.py. (The
pair that is computed has 1/Z rounded down. That is the run with shorter gradients, which by (3) there loses less.) An
event R, possibly at random, has the probabilities P(R) and Q(R) under the pair, and the reflected event 1 − Q(R) and
1 − P(R). So the trade-off curve of the pair is above all these points, and above their concave hull. The pair whose
curve this hull is follows from the outputs by post-processing (Blackwell 1953, Theorem 10). So its loss is a lower
bound for one epoch, and for every composition of epochs. ∎ """

from typing import TYPE_CHECKING

from dpcalc.bounds.sampling import allocation_replace_one_profile
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

_UPPER = allocation_replace_one_profile.BOUND


def value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """A pair that one epoch dominates where the gradients of the record are the same at every step."""
    from dpcalc.pld.allocation_replaced import dominated_pair

    if participations > 1:
        raise OutOfScope("unsupported", "several participations have an upper bound only", "--participations")
    return ((dominated_pair(noise_multiplier, steps_per_epoch, tail), 1),)


BOUND = CompositionBound(
    Theorem(
        name="allocation-replace-one-lower",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--adjacency replace-one --delta 1e-6",
        statement="the pair of allocation-replace-one-profile with outcomes merged: some data sets and gradients lose "
                  "this much",
        source=_UPPER.source,
        assumptions=(*_UPPER.theorem.assumptions[:3], "the gradient of the record is the same vector of the clipping "
                     "norm at every step, that of its substitute is the opposite vector, and the other records "
                     "contribute nothing", _UPPER.theorem.assumptions[-1]),
        status="lower",
        released="every step's output",
    ),
    params=_UPPER.params,
    value=value,
    exact=_UPPER.exact,
    rtol=_UPPER.rtol,  # of δ
)
