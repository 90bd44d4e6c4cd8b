"""What batches of fixed size with a record that is zeroed out lose at least, every step released: the loss of a run
whose other contributions all point away from the record's.

Proof. Let all contributions be numbers: that of the record C on one data set and 0 on the other, and those of all other
records −C. A batch of b records without the record has the sum −bC, and one with it (2−b)C or (1−b)C; it is in the
batch with probability q, independently in every step. So, with bC added to the sums and in units of the noise σ, every
step releases (1−q)N(0, 1) + qN(2/z, 1) or (1−q)N(0, 1) + qN(1/z, 1), z = σ/C. Looking only at the cell of an interval
that the outcome is in cannot raise a hockey-stick divergence, and a smaller ratio 1/z only lowers it, as adding noise
to the outcomes shows. ∎ """

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling import wor_zero_out_profile
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.bounds.sampling._engine.assumptions import FIXED_SIZE
from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

INSTANCE = "the run whose other contributions all are opposite to the record's; the loss of this run, not a guarantee"


def value(sampling_rate: float, noise_multiplier: float) -> Parts:
    from dpcalc.bounds.sampling._engine.repeated_draws_array import attained_pair
    from dpcalc.pld.pair import gaussian_from_below

    if sampling_rate == 1:
        return ((gaussian_from_below(noise_multiplier), 1),)
    return ((attained_pair(noise_multiplier, repeated_draws.once(sampling_rate), 2), 1),)


def exact(mp: Any, epsilon: float, sampling_rate: float, noise_multiplier: float) -> Any:
    """The larger δ of both directions of one step."""
    if sampling_rate == 1:
        return wor_zero_out_profile.exact(mp, epsilon, sampling_rate, noise_multiplier)
    return repeated_draws.delta_of_cells(mp, epsilon, *exact_step(mp, sampling_rate, noise_multiplier))


def exact_step(mp: Any, sampling_rate: float, noise_multiplier: float) -> tuple[Any, ...]:
    """The cuts of the outcomes, 1/z, the draws and their reach, for a rate below 1."""
    from dpcalc.bounds.sampling._engine.repeated_draws_array import attained_cuts

    cuts = attained_cuts(noise_multiplier, repeated_draws.once(sampling_rate), 2).tolist()
    return cuts, 1 / mp.mpf(noise_multiplier), repeated_draws.exact_once(mp, sampling_rate), 2


BOUND = CompositionBound(
    Theorem(
        name="wor-zero-out-lower",
        example="subsample --scheme without-replacement --sampling-rate 0.01 --noise-multiplier 1 --steps 100 "
                "--adjacency zero-out --delta 1e-5",
        statement="δ(ε) is at least that of (1−q)N(0, 1) + qN(2/z, 1) against (1−q)N(0, 1) + qN(1/z, 1) in both "
                  "directions, in cells of outcomes",
        in_words="This is a lower bound, and no guarantee: the loss of a run with batches of fixed size in which all "
                 "other gradients are opposite to that of the record, which is zeroed out on one data set. A bound "
                 "for all runs cannot be smaller. Other runs may lose more than this one.",
        source="proof in dpcalc/bounds/sampling/wor_zero_out_lower.py, from Balle, Barthe & Gaboardi 2018, "
               "arXiv:1807.01647v2 (the sampler)",
        assumptions=(INSTANCE, FIXED_SIZE, wor_zero_out_profile.ZEROED),
        status="lower",
        released="every step's output",
    ),
    params=("sampling_rate", "noise_multiplier"), value=value, exact=exact, rtol=1e-9)
