"""Random allocation where one record is replaced: each record takes part in one of the t steps of an epoch, chosen
uniformly and afresh in every epoch, and the value of one record changes.

The pair of one epoch is P = (1/t) Σ N(e_i, Z²I) and Q = (1/t) Σ N(−e_i, Z²I) on R^t, with the basis vectors e_i. The
reflection y ↦ −y exchanges both, so the two directions have the same δ, and δ(−ε) = 1 − e^{−ε} + e^{−ε}·δ(ε).

Proof. Let the clipping norm be 1, so that σ = Z. Take a run of T steps in which the record takes part in a random set B
of steps, whose law π depends on nothing. Let γ > 0, and let E_γ be the hockey-stick divergence.

(1) The likelihoods. The steps of the other records, and whatever else gradients draw at random, have the same law on
both data sets, independent of B. E_γ is jointly convex, so let them be fixed. Given the past outputs, the sum of the
others is known in step i; subtract it, and call the rest y_i. Let g_i and g'_i be the gradients of the record and of
its substitute. They depend on past outputs and have norm at most 1. Where the record takes no part at all, the y_i are
independent N(0, σ²I). Relative to this law the outputs on both data sets have the densities
    S = Σ_B π(B) Π_{i∈B} X_i,  S' = Σ_B π(B) Π_{i∈B} X'_i,  X_i = exp(⟨g_i, y_i⟩/σ² − |g_i|²/2σ²),
with g'_i in X'_i. So E_γ of the two laws of outputs is E(S − γS')₊ with y_i ~ N(0, σ²I).

(2) One step. Let m = 1/σ, and X* = exp(mz − m²/2), X'* = exp(−mz − m²/2) with z ~ N(0, 1). For a, a' >= 0, real c and
|g|, |g'| <= 1, E(c + aX − a'X')₊ <= E(c + aX* − a'X'*)₊. To see this write p, q and n for N(g, σ²I), N(g', σ²I) and
N(0, σ²I): the left side is the largest a·p(R) − a'·q(R) + c·n(R) over all regions R. By Neyman and Pearson the power of
a test of level u between two such laws at a distance d is at most Φ(Φ⁻¹(u) + d/σ), and the distances are |g − g'| <= 2,
|g| <= 1 and |g'| <= 1.
    c <= 0: with p(R) = u, q(R) >= Φ(Φ⁻¹(u) − 2m) and n(R) >= Φ(Φ⁻¹(u) − m).
    c >= 0: with q(R) = u, p(R) <= Φ(Φ⁻¹(u) + 2m) and n(R) <= Φ(Φ⁻¹(u) + m).
On a line with g = 1 and g' = −1 all half-lines R = (r, ∞) attain both inequalities at once, at every u.

(3) All steps. Given all other y_i, S = A_0 + A_1·X_T and S' = A'_0 + A'_1·X'_T with A, A' >= 0 that depend on earlier
outputs. By (2), applied to each past, E(S − γS')₊ rises where X_T and X'_T are replaced by X* and X'* of a new z_T that
is independent of the past. Then the same holds for step T − 1, given the other y_i and z_T, and so on: steps that were
replaced no longer depend on the outputs. After all steps E(S − γS')₊ is E_γ(P‖Q) for P = Σ π(B) N(1_B, σ²I) and
Q = Σ π(B) N(−1_B, σ²I). Constant gradients 1 and −1, with no others, attain it.

(4) One epoch with one participation has the sets {i} with π = 1/t. The mean of t independent copies of
D = X* − e^ε·X'* has E(·)₊ = δ(ε). Epochs are independent, so the pair of all of them is the product of their pairs.

(5) k participations, t = kf + r with r < k. A uniform k-subset of the steps is one step from each block of a uniform
random partition of the steps into k − r blocks of f and r blocks of f + 1. The partitions of all epochs have the same
law on both data sets. Fix them, as E_γ is jointly convex. Then π is a product over epochs and blocks, and so (3),
applied to the whole run, gives the product of the pairs of all blocks, on coordinates in some order, which does not
depend on the partitions.

(6) Two steps. With u = (z_1 + z_2)/√2 and s = m/√2, D_1 + D_2 is a positive factor times e^{su} − e^ε·e^{−su}, and P
and Q have the same conditional law given u; so the pair is that of N(√2m, 1) and N(0, 1).

(7) More steps are safer: the mean of t + 1 copies of D is the mean over i of the means without the i-th. ∎

A lower bound, from a run whose loss is the largest. Proof. Where the gradients of the record and of its substitute are
a unit vector and its opposite, the same at every step, and the others contribute nothing, the noisy sums are those of
this pair. (The pair that is computed has 1/Z rounded down. That is the run with shorter gradients, which by (3) loses
less.) An event R, possibly at random, has the probabilities P(R) and Q(R) under the pair, and the reflected event 1 −
Q(R) and 1 − P(R). So the trade-off curve of the pair is above all these points, and above their concave hull. The pair
whose curve this hull is follows from the outputs by post-processing (Blackwell 1953, Theorem 10). So its loss is a
lower bound for one epoch, and for every composition of epochs. ∎ """

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.bounds.sampling.allocation_profile import ASSUMPTIONS as SHARED
from dpcalc.bounds.sampling.allocation_profile import blocks, refuse_participations
from dpcalc.core.bound import CompositionBound, Theorem
from dpcalc.core.errors import OutOfScope

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

ASSUMPTIONS = (
    *SHARED[:3],
    OWN_GRADIENT,
    "neighbours differ in the value of one record, whose gradients are clipped to the same norm; the steps in which it "
    "takes part have the same law on both data sets",
)


def value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """The dominating pairs of one epoch and their counts. `tail` is about the P-mass that may become infinite."""
    from dpcalc.pld.allocation_replaced import dominating_pair

    return tuple((dominating_pair(noise_multiplier, steps, tail), count)
                 for steps, count in blocks(steps_per_epoch, participations))


def exact(mp: Any, epsilon: float, noise_multiplier: float, steps_per_epoch: int, participations: int,
          tail: float) -> Any:
    """δ of one epoch of one or two steps: that of Gaussian noise, by (6) of the proof."""
    if participations != 1 or steps_per_epoch > 2:
        raise OutOfScope("unsupported", "the integral over all ratios has too many dimensions", "--steps-per-epoch")
    return theta(mp, epsilon, 2 / (mp.sqrt(mp.mpf(steps_per_epoch)) * mp.mpf(noise_multiplier)))


def lower_value(noise_multiplier: float, steps_per_epoch: int, participations: int, tail: float) -> "Parts":
    """A pair that one epoch dominates where the gradients of the record are the same at every step."""
    from dpcalc.pld.allocation_replaced import dominated_pair

    refuse_participations(participations)
    return ((dominated_pair(noise_multiplier, steps_per_epoch, tail), 1),)


BOUND = CompositionBound(
    Theorem(
        name="allocation-replace-one-profile",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--adjacency replace-one --delta 1e-6",
        statement="one epoch: δ(ε) = E(D_1 + … + D_t)₊/t, D_i = exp(z_i/Z − 1/(2Z²)) − e^ε·exp(−z_i/Z − 1/(2Z²)), "
                  "z_i ~ N(0, 1) independent; k participations are at most k epochs of ⌊t/k⌋ or ⌈t/k⌉ steps; epochs "
                  "are composed numerically",
        in_words="DP-SGD where every record takes part in k randomly chosen steps of an epoch, independently of all "
                 "other records, and one record is replaced. Epochs are composed numerically. For one participation "
                 "it is tight up to the numerical error: opposite gradients of the clipping norm attain it. It is "
                 "false for shuffled batches, where the records depend on each other.",
        source="after Chua et al. 2025, arXiv:2412.16802, and Feldman & Shenfeld 2025, arXiv:2502.08202 (gradients "
               "that are zeroed out); proof in dpcalc/bounds/sampling/allocation_replace_one_profile.py",
        assumptions=ASSUMPTIONS,
        released="every step's output",
    ),
    params=("noise_multiplier", "steps_per_epoch", "participations", "tail"), value=value, exact=exact,
    # Of δ >= 1e-12 where Z >= 1: grids and chords change δ by about a hundredth. With less noise one uniform grid is
    # too coarse for losses that vary so much, and δ may be several times larger.
    rtol=2e-2)

LOWER = CompositionBound(
    Theorem(
        name="allocation-replace-one-lower",
        example="subsample --scheme random-allocation --steps-per-epoch 1000 --epochs 10 --noise-multiplier 1 "
                "--adjacency replace-one --delta 1e-6",
        statement="the pair of allocation-replace-one-profile with outcomes merged: some data sets and gradients lose "
                  "this much",
        in_words="This is a lower bound, and no guarantee: the loss of a run with random allocation in which the "
                 "record and its substitute have opposite gradients of the clipping norm, and all others contribute "
                 "nothing. A bound for all runs with one participation cannot be smaller. Its distance to "
                 "allocation-replace-one-profile is the numerical error.",
        source=BOUND.source,
        assumptions=(*ASSUMPTIONS[:3], "the gradient of the record is the same vector of the clipping "
                     "norm at every step, that of its substitute is the opposite vector, and the other records "
                     "contribute nothing", ASSUMPTIONS[-1]),
        status="lower",
        released="every step's output",
    ),
    params=BOUND.params, value=lower_value, exact=exact, rtol=BOUND.rtol)  # of δ

BOUNDS = (BOUND, LOWER)
