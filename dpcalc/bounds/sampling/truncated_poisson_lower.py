"""What truncated Poisson batches lose at least, every step released: the loss of a run whose other gradients are 0.

Proof. Let all gradients be numbers, that of the record C on one data set and 0 on the other (−C where it is replaced),
and those of all other records 0. The sum of a batch is then C or 0, by whether the record is in the batch and has its
gradient. It is in the batch with the same probability on both data sets, independently in every step: with q if fewer
than B others are drawn, and with qB/(N+1) if N >= B are, which is

    q′ = q·Pr[Bin(n−1, q) < B] + (B/n)·Pr[Bin(n, q) > B] = E[min(Bin(n, q), B)]/n

in all. So every step releases (1−q′)N(0, σ²) + q′N(C, σ²), or N(0, σ²), or (1−q′)N(0, σ²) + q′N(−C, σ²): the
run is that of Poisson batches of rate q′.
A smaller rate or ratio only lowers δ: replacing the outcome by fresh N(0, σ²) with probability 1 − q″/q′ maps the pair
of q′ to that of q″, and adding noise maps the pair of μ = C/σ to that of a smaller one. ∎

Other gradients that point away from the record's, all −C, let the record make a larger change in a full batch, but then
the sum also varies with the number of the others drawn. Which run loses more depends on the parameters; where batches
are nearly always full it is often that one. It is not used here, so that this end alone does not say how loose the
upper one is. """

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling import poisson_profile, poisson_replace_one_profile, truncated_poisson_profile
from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts


def kept_rate(n: float, sampling_rate: float, max_batch_size: float) -> float:
    """q′, the probability that a record is in the truncated batch, rounded down."""
    if max_batch_size >= n:
        return sampling_rate
    ordinary, _, kappa = truncated_poisson_profile.log_tails_of(n, sampling_rate, max_batch_size)
    rate = sampling_rate * exp(ordinary.log - ordinary.error) + exp(kappa.log - kappa.error)
    return max(0.0, min(rate * (1 - truncated_poisson_profile.ROUNDING), sampling_rate))


def exact_rate(mp: Any, n: float, sampling_rate: float, max_batch_size: float) -> Any:
    """q′ by its formula."""
    ordinary, _, kappa = truncated_poisson_profile.exact_weights(mp, int(n), sampling_rate, int(max_batch_size))
    return mp.mpf(sampling_rate) * ordinary + kappa


def value(n: float, sampling_rate: float, max_batch_size: float, noise_multiplier: float, replaced: bool) -> Parts:
    from dpcalc.pld import sampled
    from dpcalc.pld.mixtures import poisson_replaced
    from dpcalc.pld.pair import gaussian_from_below

    one, rate = gaussian_from_below(noise_multiplier), kept_rate(n, sampling_rate, max_batch_size)
    return ((poisson_replaced(one.mu, rate, 1) if replaced else sampled.poisson(one, rate), 1),)


def exact(mp: Any, epsilon: float, n: float, sampling_rate: float, max_batch_size: float,
          noise_multiplier: float, replaced: bool) -> Any:
    """The larger δ of both directions of one step."""
    rate = exact_rate(mp, n, sampling_rate, max_batch_size)
    if replaced:
        return poisson_replace_one_profile.exact(mp, epsilon, rate, noise_multiplier, 1)
    one = truncated_poisson_profile.gaussian_profile(noise_multiplier)
    return max(poisson_profile.sided_exact(mp, epsilon, side, rate, one) for side in (+1, -1))


BOUND = CompositionBound(
    Theorem(
        name="truncated-poisson-lower",
        example="subsample --n 60000 --batch-size 256 --max-batch-size 320 --steps 3516 --noise-multiplier 1.1 "
                "--delta 1e-5",
        statement="δ(ε) is at least that of Poisson batches with the rate q′ = q·Pr[Bin(n−1, q) < B] + "
                  "(B/n)·Pr[Bin(n, q) > B], the probability that a record is in the truncated batch",
        in_words="This is a lower bound, and no guarantee: the loss of a run with truncated Poisson batches in which "
                 "all other gradients are 0, so that only a batch with the record has a sum at all. A bound for all "
                 "runs cannot be smaller. Other runs may lose more than this one.",
        source="proof in dpcalc/bounds/sampling/truncated_poisson_lower.py, from Ganesh 2025, arXiv:2508.15089v1 (the "
               "sampler)",
        assumptions=("the run whose other gradients are all 0; the loss of this run, not a guarantee",
                     truncated_poisson_profile.SAMPLER,
                     truncated_poisson_profile.NEIGHBOURS),
        status="lower",
        released="every step's output",
    ),
    params=("n", "sampling_rate", "max_batch_size", "noise_multiplier", "replaced"), value=value, exact=exact,
    rtol=1e-9)
