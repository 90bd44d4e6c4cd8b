"""The least privacy loss of shuffled batches, every step released: one run in which a record's gradient is zeroed out.

Proof. The gradients are numbers. That of the record is C on one data set and 0 on the other, those of all other records
are −C, so the sum of a full batch without the record is −bC, and of the batch with it (2 − b)C or (1 − b)C. In units of
C, with bC added to every sum, an epoch of T batches releases T Gaussian numbers of standard deviation z = σ/C: that of
the record's batch has mean 2 or 1, and the others have mean 0. The batch is uniform by the permutation, and with
probability ρ the record is in the last, smaller batch: the number of this batch is not looked at, so that it may be
dropped or not. Every epoch has a new permutation and new noise, so the epochs are independent. Looking at the largest
number of each epoch only, and at the slice that it is in, cannot raise a hockey-stick divergence. What is left is a
product of E discrete pairs. The loss of this run is at most that of the mechanism. ∎
"""

from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling.shuffle_no_amplification import ONCE
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

FRESH = "a new, uniformly random permutation of the records at the beginning of every epoch"
INSTANCE = "a lower bound: the loss of one run, not a guarantee"


def value(sigma: float, sensitivity: float, batches: int, dropped: float, epochs: int) -> "Parts":
    """The pair of one epoch, from below, and E. More noise loses less, so z = σ/s is rounded up."""
    from dpcalc.pld import largest_sum

    return ((largest_sum.slices(ratio_up((sigma,), (sensitivity,)), batches, dropped), epochs),)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, batches: int, dropped: float, epochs: int) -> Any:
    """The larger δ of both directions: the sum of (P − e^ε Q)₊ over all sequences of slices, of a few epochs only."""
    one, outcomes = masses(mp, ratio_up((sigma,), (sensitivity,)), batches, dropped), [(mp.mpf(1), mp.mpf(1))]
    for _ in range(epochs):
        outcomes = [(a * p, b * q) for a, b in outcomes for p, q in one]
    factor = mp.exp(mp.mpf(epsilon))
    removed, added = ([p - factor * q for p, q in pair] for pair in (outcomes, [(q, p) for p, q in outcomes]))
    return max(mp.fsum(x for x in gains if x > 0) for gains in (removed, added))


def masses(mp: Any, noise_multiplier: float, batches: int, dropped: float) -> list[tuple[Any, Any]]:
    """The masses under P and Q of the slices of the largest number, by the formula."""
    from dpcalc.pld import largest_sum

    z, rest = mp.mpf(noise_multiplier), mp.mpf(dropped)
    ends = [-inf, *largest_sum.cuts(noise_multiplier, batches).tolist(), inf]
    columns = []
    for mean in largest_sum.OWN_SUM:
        with_record = _slice_masses(mp, ends, z, batches - 1, mean)
        without = _slice_masses(mp, ends, z, batches, None) if dropped else with_record
        columns.append([(1 - rest) * x + rest * y for x, y in zip(with_record, without, strict=True)])
    return list(zip(*columns, strict=True))


def _slice_masses(mp: Any, ends: list[float], z: Any, others: int, mean: float | None) -> list[Any]:
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
                "zero-out --delta 1e-5 --bound shuffle-lower",
        statement="δ(ε) is at least that of the largest of T Gaussian numbers with σ = z, in E epochs: one number of "
                  "each epoch, drawn uniformly, has mean 2, or 1 if the record is zeroed out, and the others have mean "
                  "0; where b does not divide n, with probability ρ = 1 − Tb/n none has another mean",
        source="proof in dpcalc bounds/sampling/shuffle_lower.py from Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & "
               "Zhang 2024, arXiv:2403.17673v2 and arXiv:2411.04205",
        assumptions=(ONCE, FRESH, "the gradient of one record is zeroed out, with equally many records",
                     "Gaussian noise of the same σ at every step, the sum of a batch released", INSTANCE),
        released="every step's output",
        status="lower",
    ),
    params=("sigma", "sensitivity", "batches", "dropped", "epochs"),
    value=value,
    exact=exact,
    rtol=1e-9,
)
