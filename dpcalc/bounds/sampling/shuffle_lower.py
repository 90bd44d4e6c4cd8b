"""The least privacy loss of shuffled batches, every step released: of a run whose other gradients point away.

Proof. The gradients are numbers. That of the record is C on one data set and 0 on the other, those of all other records
are −C, so the sum of a full batch without the record is −bC, and of the batch with it (2 − b)C or (1 − b)C. In units of
C, with bC added to every sum, an epoch of t batches releases t Gaussian numbers of standard deviation z = σ/C: that of
the record's batch has mean 2 or 1, and the others have mean 0. The batch is uniform by the permutation. Where b does
not divide n, the record is with probability ρ = 1 − tb/n in none of the t full batches; the sum of a last, smaller
batch is left out, so that this batch may be dropped or not. Every epoch has a new permutation and new noise, so
the epochs are independent. Looking only at the largest number of each epoch, and at the slice that it is in, cannot
raise a hockey-stick divergence. What is left is a product of discrete pairs, one for each whole epoch. ∎
"""

from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling.shuffle_no_amplification import NOISE, ONCE
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

FRESH = "a new, uniformly random permutation of the records at the beginning of every epoch"
INSTANCE = "a lower bound: the loss of one run, not a guarantee"
SMALLEST_NOISE = 1e-10  # of a noise multiplier: losses are 1e20, and their squares within the range of doubles
LARGEST_NOISE = 1e10  # of a noise multiplier: losses of a step are below 1e-9, and rounding errors nearly as large
PARAMS = ("sigma", "sensitivity", "steps_per_epoch", "dropped", "whole_epochs")


def noise_of_whole_epochs(sigma: float, sensitivity: float, whole_epochs: int) -> float:
    """z = σ/s, rounded up, and at least SMALLEST_NOISE, as more noise loses less. Raises OutOfScope for less than one
    epoch, and for so much noise that there is nothing to show."""
    if whole_epochs < 1:
        raise OutOfScope("out-of-range", "is about whole epochs, and there is none", "--epochs")
    if sigma > LARGEST_NOISE * sensitivity:
        raise OutOfScope("out-of-range", f"no lower bound is computed for a noise multiplier above {LARGEST_NOISE:g}",
                         "--noise-multiplier")
    return max(ratio_up((sigma,), (sensitivity,)), SMALLEST_NOISE)


def value(sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float, whole_epochs: int) -> "Parts":
    """The pair of one epoch, from below, and the number of epochs."""
    from dpcalc.pld import largest_sum

    z = noise_of_whole_epochs(sigma, sensitivity, whole_epochs)
    return ((largest_sum.slices(z, steps_per_epoch, dropped), whole_epochs),)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float,
          whole_epochs: int) -> Any:
    """The larger δ of both directions: the sum of (P − e^ε Q)₊ over all sequences of slices, of a few epochs only."""
    z = noise_of_whole_epochs(sigma, sensitivity, whole_epochs)
    one, outcomes = masses(mp, z, steps_per_epoch, dropped), [(mp.mpf(1), mp.mpf(1))]
    for _ in range(whole_epochs):
        outcomes = [(a * p, b * q) for a, b in outcomes for p, q in one]
    factor = mp.exp(mp.mpf(epsilon))
    gains = ([p - factor * q for p, q in pair] for pair in (outcomes, [(q, p) for p, q in outcomes]))
    return max(mp.fsum(x for x in each if x > 0) for each in gains)


def masses(mp: Any, z: float, batches: int, dropped: float) -> list[tuple[Any, Any]]:
    """The masses under P and Q of the slices of the largest number, by the formula."""
    from dpcalc.pld import largest_sum

    ends, rest = [-inf, *largest_sum.cuts(z, batches).tolist(), inf], mp.mpf(dropped)
    columns = []
    for mean in largest_sum.OWN_SUM:
        column = _slice_masses(mp, ends, z, batches - 1, mean)
        if dropped:
            without = _slice_masses(mp, ends, z, batches, None)
            column = [(1 - rest) * x + rest * y for x, y in zip(column, without, strict=True)]
        columns.append(column)
    return list(zip(*columns, strict=True))


def _slice_masses(mp: Any, ends: list[float], z: float, others: int, mean: float | None) -> list[Any]:
    """F(b) − F(a) of F(c) = Φ((c − m)/z)·Φ(c/z)^others, as a difference of tails where F is near 1."""

    def log_phi(x: Any) -> Any:
        tail = mp.erfc(abs(x) / mp.sqrt(mp.mpf(2))) / 2
        return mp.log1p(-tail) if x >= 0 else mp.log(tail)

    def log_cdf(c: float) -> Any:
        own = log_phi((mp.mpf(c) - mean) / z) if mean is not None else 0
        return own + others * log_phi(mp.mpf(c) / z)

    logs = [log_cdf(c) for c in ends[1:-1]]
    below = [mp.mpf(0), *(mp.exp(x) for x in logs), mp.mpf(1)]
    above = [mp.mpf(1), *(-mp.expm1(x) for x in logs), mp.mpf(0)]
    return [b - a if b < 0.5 else s - t for a, b, s, t in zip(below, below[1:], above, above[1:], strict=False)]


BOUND = CompositionBound(
    Theorem(
        name="shuffle-lower",
        example="subsample --scheme shuffle --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --adjacency "
                "zero-out --delta 1e-5",
        statement="δ(ε) is at least that of the largest of t Gaussian numbers with σ = z in every epoch: one of them, "
                  "drawn uniformly, has mean 2, or 1 where the record is zeroed out, and the others have mean 0; with "
                  "probability ρ = 1 − tb/n all have mean 0",
        source="proof in dpcalc/bounds/sampling/shuffle_lower.py, from Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & "
               "Zhang 2024, arXiv:2403.17673v2; arXiv:2411.04205",
        assumptions=(ONCE, FRESH, "neighbours have equally many records, and the gradients of one are zeroed out",
                     NOISE, INSTANCE),
        released="every step's output",
        status="lower",
    ),
    params=PARAMS,
    value=value,
    exact=exact,
    rtol=1e-9,
)
