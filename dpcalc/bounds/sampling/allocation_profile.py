"""Random allocation: each record takes part in one of the t steps of an epoch, chosen uniformly and afresh in every
epoch.

The statement is exact for one epoch and one participation. The laws of the ratio S that are composed are a little above
it; dpcalc/pld/log_normal_sums.py says why. The allowance for rounding is about 7e-13·t of every mass, so brackets are
wide where that is not small against 1/(Z√t), the spread of log S: at Z = 10 and t = 1e6 that of ε is 1.6e-2 of it.

Proof. (1) Let the others' contributions to the steps not depend on the record. From y ~ P or Q = N(0, σ²I_t) the run is
rebuilt step by step: output i is the others' sum plus g_i·y_i plus N(0, σ²(I − g_i g_iᵀ)), where |g_i| <= 1 is the
gradient of the record, which depends on earlier outputs only. This is one post-processing of P and of Q, so the pair
dominates the epoch in both directions, and constant unit gradients attain it. Epochs compose adaptively.
(2) dP/dQ = (1/t) Σ exp(y_i/σ² − 1/(2σ²)) = S with independent terms under Q. Then E_γ(P‖Q) = E(S − γ)₊ and E_γ(Q‖P) =
E(1 − γS)₊ by definition.
(3) k participations, t = kf + r with r < k. A uniform k-subset of the steps is one step from each block of a uniform
random partition of the steps into k − r blocks of f and r blocks of f + 1. E_γ is jointly convex, so it is at most that
of a fixed partition, y ∈ R^t being a product of the pairs of the blocks in some order of coordinates; the run is the
post-processing of (1) of the whole y, in its own order of time. Convexity is used for y, where all partitions have the
same divergence.
(4) More steps are safer: the mean of t + 1 ratios is the mean over i of the means without the i-th, so by Jensen's
inequality E φ(S) falls with t for every convex φ. ∎

A lower bound, from a run whose loss is the largest. Proof. Where the gradient of the record is the same unit vector at
every step and the others contribute nothing, the noisy sums are those of this pair. A law of S whose atoms are merged
at their mean belongs to the pair with outcomes merged: a post-processing, which cannot raise δ, for one epoch and for
every composition. ∎ """

from math import ceil, log10
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling._engine.swapped_exact import cdf
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

TAIL_SHARE = 1e-4  # of δ, which truncated laws may add in one epoch up to 40 times: this changes ε by less than 1e-3
DEFAULT_TAIL = 1e-20  # where δ is not known yet
SMALLEST_TAIL = 1e-100  # products of smaller masses underflow

ASSUMPTIONS = (
    "each record takes part in so many of the steps of an epoch, chosen uniformly, independently of all other records "
    "and afresh in every epoch",
    "independent noise N(0, σ²I) on the sum of a batch, with σ = Z times the clipping norm, the same at every step",
    "only the noisy sums are released, divided by a fixed number if at all: not the batches or their sizes",
    OWN_GRADIENT,
    "neighbours differ by adding or removing one record, or by the gradients of one record being replaced by 0",
)


def value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """The dominating pairs of one epoch and their counts. `tail` is about the P-mass that may become infinite."""
    from dpcalc.pld.allocation import dominating_pair

    return tuple((dominating_pair(noise_multiplier, steps, tail), count)
                 for steps, count in blocks(steps_per_epoch, participations))


def blocks(steps_per_epoch: int, participations: int) -> tuple[tuple[int, int], ...]:
    """(number of steps, count) of the blocks with one participation each, into which the steps are divided. Raises
    OutOfScope where there are fewer steps than participations."""
    if participations > steps_per_epoch:
        raise OutOfScope("out-of-range", f"{participations} is above {steps_per_epoch}, the number of steps of an "
                                         "epoch", "--participations")
    steps, rest = divmod(steps_per_epoch, participations)
    return tuple(block for block in ((steps, participations - rest), (steps + 1, rest)) if block[1])


def tail_of(delta: float | None, count: int, of: str = "random allocation") -> float:
    """The P-mass of one block of steps that laws may move to infinity, for an answer at this δ. The count of blocks
    in all epochs is rounded up to a power of ten, so that a search over it computes few laws."""
    if not delta:
        return DEFAULT_TAIL
    tail = TAIL_SHARE * delta / 10.0 ** ceil(log10(count))
    if tail < SMALLEST_TAIL:
        raise OutOfScope("out-of-range",
                         f"δ = {delta:g} is too small: {of} is computed for δ over the number of times "
                         f"that a record takes part of at least {SMALLEST_TAIL / TAIL_SHARE:.0e}", "--delta")
    return tail


def exact(mp: Any, epsilon: float, noise_multiplier: float, steps_per_epoch: int, participations: int,
          tail: float) -> Any:
    """The larger δ of both directions, of one epoch of two steps, by an integral.

    With u = (z_1 + z_2)/√2 and v = (z_1 − z_2)/√2, S = cosh(sv)·exp(su − s²), s = μ/√2: log-normal for each v. """
    if (steps_per_epoch, participations) != (2, 1):
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--steps-per-epoch")
    gamma, s = mp.exp(mp.mpf(epsilon)), 1 / (mp.mpf(noise_multiplier) * mp.sqrt(mp.mpf(2)))

    def integrand(v: Any, side: int) -> Any:
        mean = (mp.exp(s * v) + mp.exp(-s * v)) / 2 * mp.exp(-s * s / 2)
        if side > 0:
            d = mp.log(gamma / mean) / s + s / 2
            inside = mean * cdf(mp, s - d) - gamma * cdf(mp, -d)
        else:
            d = mp.log(gamma * mean) / s - s / 2  # S < 1/γ for u < −d
            inside = cdf(mp, -d) - gamma * mean * cdf(mp, -d - s)
        return inside * mp.exp(-v * v / 2)

    points = [mp.mpf(x) for x in range(0, 2 * ceil(20 + float(s)), 2)]
    return max(mp.quad(lambda v, side=side: integrand(v, side), points) for side in (+1, -1)) * mp.sqrt(2 / mp.pi)


def lower_value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """A pair that one epoch dominates where the gradients of the record are the same at every step."""
    from dpcalc.pld.allocation import dominated_pair

    refuse_participations(participations)
    return ((dominated_pair(noise_multiplier, steps_per_epoch, tail), 1),)


def refuse_participations(participations: int) -> None:
    """Raises OutOfScope for several participations."""
    if participations > 1:
        raise OutOfScope("unsupported", "several participations have an upper bound only", "--participations")


BOUND = CompositionBound(
    Theorem(
        name="allocation-profile",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--delta 1e-6",
        statement="one epoch: δ(ε) = E(S − e^ε)₊ for a record removed and E(1 − e^ε S)₊ for one added, S = (w_1 + … + "
                  "w_t)/t, w_i = exp(z_i/Z − 1/(2Z²)), z_i ~ N(0, 1) independent; k participations are at most k "
                  "epochs of ⌊t/k⌋ or ⌈t/k⌉ steps; epochs are composed numerically, each direction by itself",
        in_words="DP-SGD where every record takes part in k randomly chosen steps of an epoch, independently of all "
                 "other records, every step's output released. A record is added, removed or zeroed out; epochs are "
                 "composed numerically. For one participation it is tight up to the numerical error. It is false for "
                 "shuffled batches, where the records depend on each other.",
        source="Chua et al. 2025, arXiv:2412.16802 (the pair); Feldman & Shenfeld 2025, arXiv:2502.08202 (several "
               "participations); its laws by convex order are proven in the code",
        assumptions=ASSUMPTIONS,
        released="every step's output",
    ),
    params=("noise_multiplier", "steps_per_epoch", "participations", "tail"), value=value, exact=exact,
    # Of δ >= 1e-50, at two steps with Z <= 50: 2.3e-2 at most in 24 random cases, 5e-3 of δ >= 1e-20. It is smaller at
    # more steps, as long as 1e-12·t is small against 1/(Z√t).
    rtol=3e-2)

LOWER = CompositionBound(
    Theorem(
        name="allocation-lower",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--delta 1e-6",
        statement="the pair of allocation-profile with outcomes merged: some data sets and gradients lose this much",
        in_words="This is a lower bound, and no guarantee: the loss of a run with random allocation in which the "
                 "record has the same gradient of the clipping norm at every step, and all others contribute nothing. "
                 "A bound for all runs with one participation cannot be smaller. Its distance to allocation-profile "
                 "is the numerical error.",
        source=BOUND.source,
        assumptions=(*ASSUMPTIONS[:3], "the gradient of the record is the same vector of the "
                     "clipping norm at every step, and the other records contribute nothing",
                     ASSUMPTIONS[-1]),
        status="lower",
        released="every step's output",
    ),
    params=BOUND.params, value=lower_value, exact=exact, rtol=3e-2)  # of δ, as for allocation-profile

BOUNDS = (BOUND, LOWER)
