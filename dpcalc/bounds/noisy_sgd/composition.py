"""Rényi DP of all T iterates of noisy SGD on random batches, by composition: the bound grows with T without limit."""

from typing import Any

from dpcalc.bounds.noisy_sgd._engine import sampled_step
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import ratio_down, ratio_up, up


def noise_multiplier(sigma: float, batch_size: int, lipschitz: float) -> float:
    """The noise multiplier z = bσ/(2L), rounded down: replacing one record moves the mean gradient of b records by at
    most 2L/b."""
    return ratio_down(1.0, ratio_up((2.0, lipschitz), (float(batch_size), sigma)))


def value(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> float:
    """T·S_r(α, b/n, bσ/(2L))."""
    step = sampled_step.value(alpha, ratio_up((float(batch_size),), (float(n),)),
                              noise_multiplier(sigma, batch_size, lipschitz))
    return up(iterations * step)


def exact(mp: Any, alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> Any:
    """T·S_r(α, b/n, bσ/(2L)) at high precision."""
    z = batch_size * mp.mpf(sigma) / (2 * mp.mpf(lipschitz))
    return iterations * sampled_step.exact(mp, alpha, mp.mpf(batch_size) / n, z)


PLAIN = ("w ← Π[w − η(g + N(0, σ²I))] with fresh noise, g the mean of the batch's gradients at w: no momentum, "
         "adaptive step, normalisation or clipping to a norm that depends on the data; η, σ, the batch size and T are "
         "fixed without it")
SETTING = (
    "each record's loss is convex, L-Lipschitz and β-smooth, the step size at most 2/β",
    GRADIENTS,
    "neighbours differ by replacing one record",
    START,
    PLAIN,
)
HELD = ("the iterates are projected on a closed convex set of diameter D that does not depend on the data, or two runs "
        "that differ in one record are surely within D of each other at every step, whatever the batches and the "
        "noise, which they share")
FRESH = ("batches of b records out of n, uniformly without replacement, drawn afresh at every step "
         "(batches cut from a shuffled epoch are not covered)",)

BOUND = RdpBound(
    Theorem(
        name="composition",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --alpha 8",
        statement="T·S_r(α, b/n, bσ/(2L)), S_r the Rényi divergence of one step",
        source="Mironov 2017, Proposition 1; Balle, Barthe & Gaboardi 2018, Theorem 2; as in Altschuler & Talwar "
               "2022, eq. 1.1",
        assumptions=("each record's gradient is at most L in ℓ2 (clipped, say)", *SETTING[1:], *FRESH,
                     "all T iterates may be released"),
    ),
    params=("n", "batch_size", "iterations", "lipschitz", "sigma"),
    value=value,
    exact=exact,
    rtol=2e-10,
)
