"""The privacy profile of shuffled batches of a fixed size, every step released, without amplification by the shuffling.

Proof. Fix the permutations of all epochs. The record is then in at most one batch of every epoch, the same one on both
data sets. The steps without it are equal, given the outputs before them; the step with it is a Gaussian mechanism of
sensitivity s, chosen in view of the outputs before it. E adaptive Gaussian steps are dominated by one of sensitivity
s√E (Dong, Roth & Su 2022, Corollary 3.3). As the permutations do not depend on the record, both runs are mixtures with
equal weights, and a hockey-stick divergence of mixtures is at most the mean of the divergences (joint convexity). ∎

Of a group of K records, c_t are in step t, Σ c_t <= K in an epoch (a record that is left over is in none). Its steps
have the sensitivities c_t·s, so that the epoch is dominated by one step of sensitivity s√Σc_t² <= Ks: the noise
multiplier z/K stands in place of z.

The order of the records need not be random for this.
"""

from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling._engine.assumptions import OWN_GRADIENT
from dpcalc.core.bound import Theorem

ORDER = "the order of the records is fixed, or drawn without looking at the data"
ONCE = "a record is in at most one batch of an epoch; a last, smaller batch may be dropped or not"
NOISE = "Gaussian noise of the same σ at every step, on the sum of a batch; the sums may be divided by a fixed number"
NEIGHBOURS = ("neighbours have equally many records: one is replaced, or its gradients are zeroed out; one record more "
              "would change the other batches")


def mu(noise_multiplier: float, epochs: int) -> float:
    """μ = √E/z, rounded up."""
    return gaussian.ratio(noise_multiplier, 1.0, epochs)


def exact_mu(mp: Any, noise_multiplier: float, epochs: int) -> Any:
    return mp.sqrt(mp.mpf(epochs)) / mp.mpf(noise_multiplier)


BOUND = gaussian_bound(
    Theorem(
        name="shuffle-no-amplification",
        example="subsample --scheme shuffle --steps-per-epoch 234 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
        statement="δ(ε) ≤ θ(ε, √E/z), the profile of one Gaussian mechanism for E epochs, z the noise multiplier "
                  "relative to the sensitivity (σ/C if a record is zeroed out, σ/2C if it is replaced)",
        source="proof in dpcalc/bounds/sampling/shuffle_no_amplification.py, from Dong, Roth & Su 2022, Corollary 3.3, "
               "arXiv:1905.02383v3",
        assumptions=(ONCE, ORDER, NEIGHBOURS, NOISE, OWN_GRADIENT),
        released="every step's output",
        scheme="shuffle",
        in_words="Shuffled batches, every step's output released, counted as if each epoch were one step on all "
                 "records: nothing is gained from the secret order. It holds for any order that does not depend on "
                 "the data, where a record is replaced or zeroed out. It is false where a record is in two batches of "
                 "an epoch, and may be loose where the noise is large.",
    ),
    params=("noise_multiplier", "epochs"), mu=mu, exact_mu=exact_mu, rtol=2e-12)
