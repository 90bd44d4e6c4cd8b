"""A lower bound for random allocation, from a run whose loss is the largest.

Proof. Where the gradient of the record is the same unit vector at every step and the others contribute nothing, the
noisy sums are those of the pair in allocation_profile.py. A law of S whose atoms are merged at their mean belongs to
the pair with outcomes merged: a post-processing, which cannot raise δ, for one epoch and for every composition. ∎ """

from typing import TYPE_CHECKING

from dpcalc.bounds.sampling import allocation_profile
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts


def value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """A pair that one epoch dominates where the gradients of the record are the same at every step."""
    from dpcalc.pld.allocation import dominated_pair

    if participations > 1:
        raise OutOfScope("unsupported", "several participations have an upper bound only", "--participations")
    return ((dominated_pair(noise_multiplier, steps_per_epoch, tail), 1),)


BOUND = CompositionBound(
    Theorem(
        name="allocation-lower",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--delta 1e-6",
        statement="the pair of allocation-profile with outcomes merged: some data sets and gradients lose this much",
        source=allocation_profile.BOUND.source,
        assumptions=(*allocation_profile.ASSUMPTIONS[:3], "the gradient of the record is the same vector of the "
                     "clipping norm at every step, and the other records contribute nothing",
                     allocation_profile.ASSUMPTIONS[-1]),
        status="lower",
        released="every step's output",
    ),
    params=allocation_profile.BOUND.params,
    value=value,
    exact=allocation_profile.exact,
    rtol=3e-2,  # of δ, as for allocation-profile
)
