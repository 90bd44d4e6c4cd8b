"""What batches drawn with replacement lose at least, every step released: the loss of a run whose other
contributions all point away from the record's.

Proof. Let all contributions be numbers: those of all other records −C, and that of the record C on one data set, and on
the other −C where it is replaced, or 0 where it is zeroed out. A batch of b draws in which the record is k times has
the sum (2k−b)C on the former, and −bC or (k−b)C on the latter. So, with bC added to the sums and in units of the noise
σ, every step releases a mixture with the weights π_k = Bin(b, 1/n): Σ π_k N(k/z, 1) or N(0, 1) with z = σ/2C, where
contributions of norm at most C differ by at most s = 2C; or Σ π_k N(2k/z, 1) or Σ π_k N(k/z, 1) with z = σ/C. Looking
only at the cell of an interval that the outcome is in cannot raise a hockey-stick divergence, and a smaller ratio 1/z
only lowers it, as adding noise to the outcomes shows. ∎

Numbers of draws that no double tells from impossible ones count as mass in every cell for the data set whose masses are
rounded up, and in none for the other. """

from __future__ import annotations

from math import nextafter
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling import with_replacement_profile
from dpcalc.bounds.sampling._engine import repeated_draws
from dpcalc.bounds.sampling.with_replacement_profile import draws, reach_of
from dpcalc.bounds.sampling.wor_zero_out_lower import INSTANCE
from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts


def value(n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> Parts:
    from dpcalc.bounds.sampling._engine.repeated_draws_array import attained_pair
    from dpcalc.pld.pair import Gaussian, gaussian_from_below

    if n == 1:
        return ((Gaussian(nextafter(batch_size * gaussian_from_below(noise_multiplier).mu, 0.0)), 1),)
    return ((attained_pair(noise_multiplier, draws(n, batch_size), reach_of(+1, replaced)), 1),)


def exact(mp: Any, epsilon: float, n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> Any:
    """The larger δ of both directions of one step."""
    own = (n, batch_size, noise_multiplier, replaced)
    if n == 1:
        return with_replacement_profile.exact(mp, epsilon, *own)
    return repeated_draws.delta_of_cells(mp, epsilon, *exact_step(mp, *own))


def exact_step(mp: Any, n: int, batch_size: int, noise_multiplier: float, replaced: bool) -> tuple[Any, ...]:
    """The cuts of the outcomes, 1/z, the draws and their reach, for n > 1."""
    from dpcalc.bounds.sampling._engine.repeated_draws_array import attained_cuts

    reach = reach_of(+1, replaced)
    cuts = attained_cuts(noise_multiplier, draws(n, batch_size), reach).tolist()
    return cuts, 1 / mp.mpf(noise_multiplier), with_replacement_profile.exact_draws(mp, int(n), int(batch_size)), reach


BOUND = CompositionBound(
    Theorem(
        name="with-replacement-lower",
        example="subsample --scheme with-replacement --n 1000 --batch-size 10 --noise-multiplier 1 --steps 10 --delta "
                "1e-5",
        statement="δ(ε) is at least that of Σ π_k N(k/z, 1) against N(0, 1) where a record is replaced, z = σ/s, or of "
                  "Σ π_k N(2k/z, 1) against Σ π_k N(k/z, 1) where it is zeroed out, in both directions and in cells of "
                  "outcomes; π_k = C(b,k) n^(−k) (1−1/n)^(b−k)",
        in_words="This is a lower bound, and no guarantee: the loss of a run with batches drawn with replacement in "
                 "which all other gradients are opposite to that of the record, which is replaced or zeroed out. A "
                 "bound for all runs cannot be smaller. Other runs may lose more than this one.",
        source="proof in dpcalc/bounds/sampling/with_replacement_lower.py, from Balle, Barthe & Gaboardi 2018, "
               "arXiv:1807.01647v2 (the sampler)",
        assumptions=(INSTANCE, with_replacement_profile.SAMPLER, with_replacement_profile.NEIGHBOURS),
        status="lower",
        released="every step's output",
    ),
    params=("n", "batch_size", "noise_multiplier", "replaced"), value=value, exact=exact, rtol=1e-9)
