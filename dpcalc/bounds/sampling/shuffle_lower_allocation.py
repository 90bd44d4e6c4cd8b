"""The least privacy loss of shuffled batches, every step released: of a run in which one batch of an epoch is shifted.

Proof. The gradients are numbers. Where neighbours replace a record, its gradient is C on one data set and −C on the
other, and those of all other records are −C, so that the sum of a full batch is −bC, and (2 − b)C if the record is in
it with gradient C. Where neighbours zero out a record, its gradient is C on one data set and 0 on the other, and those
of all other records are 0, so that the sum is 0, or C. In units of the difference s, an epoch of t batches releases t
Gaussian numbers of standard deviation z = σ/s: on one data set that of the record's batch has mean 1, and all others
have mean 0 on both. The batch is uniform by the permutation: that is random allocation with noise multiplier z, the
pair P = (1/t) Σ N(e_i, z²I) and Q = N(0, z²I). Where b does not divide n, the record is with probability ρ = 1 − tb/n
in none of the t full batches, and (1−ρ)P + ρQ takes the place of P; the sum of a last, smaller batch is left out,
so that this batch may be dropped or not. Every epoch has a new permutation and new noise, so the epochs are
independent. ∎
"""

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling.shuffle_lower import FRESH, INSTANCE, PARAMS, noise_of_whole_epochs
from dpcalc.bounds.sampling.shuffle_no_amplification import NEIGHBOURS, NOISE, ONCE
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

TAIL = 1e-20  # P-mass of one epoch that is merged with its neighbours: far below any δ in use


def value(sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float, whole_epochs: int) -> "Parts":
    """The pair of one epoch, from below, and the number of epochs."""
    from dpcalc.pld.allocation import dominated_pair

    z = noise_of_whole_epochs(sigma, sensitivity, whole_epochs)
    return ((dominated_pair(z, steps_per_epoch, TAIL, dropped), whole_epochs),)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps_per_epoch: int, dropped: float,
          whole_epochs: int) -> Any:
    """The larger δ of both directions, for one epoch of one batch: E((1−ρ)w + ρ − e^ε)₊ and E(1 − e^ε((1−ρ)w + ρ))₊
    of one log-normal ratio w. Raises OutOfScope for more, which are integrals over all ratios."""
    if steps_per_epoch * whole_epochs > 1:
        raise OutOfScope("out-of-range", "is evaluated as printed for one batch only", "--epochs")
    mu, used, factor = mp.mpf(sensitivity) / mp.mpf(sigma), 1 - mp.mpf(dropped), mp.exp(mp.mpf(epsilon))
    removed = used * theta(mp, mp.log((factor - (1 - used)) / used), mu)
    level = (1 / factor - (1 - used)) / used
    return max(removed, used * factor * (theta(mp, mp.log(level), mu) + level - 1)) if level > 0 else removed


BOUND = CompositionBound(
    Theorem(
        name="shuffle-lower-allocation",
        example="subsample --scheme shuffle --steps-per-epoch 234 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
        statement="δ(ε) is at least that of random allocation to t steps in every epoch, P = (1/t) Σ N(e_i, z²I) "
                  "against Q = N(0, z²I), z = σ/s; where b does not divide n, (1−ρ)P + ρQ against Q, ρ = 1 − tb/n",
        in_words="This is a lower bound, and no guarantee: the loss of a run with shuffled batches in which all "
                 "batches without the record have the same sum, which is the loss of random allocation. A record is "
                 "replaced or zeroed out. A bound for all shuffled runs cannot be smaller. Other runs may lose more: "
                 "shuffle-lower has one.",
        source="proof in dpcalc/bounds/sampling/shuffle_lower_allocation.py, in the manner of Chua, Ghazi, "
               "Kamath, Kumar, Manurangsi, Sinha & Zhang 2024, arXiv:2403.17673v2",
        assumptions=(ONCE, FRESH, NEIGHBOURS, NOISE, INSTANCE),
        released="every step's output",
        scheme="shuffle",
        status="lower",
    ),
    params=PARAMS, value=value, exact=exact, rtol=1e-9)
