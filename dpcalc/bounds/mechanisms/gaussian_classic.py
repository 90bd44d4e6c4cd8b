"""The classic calibration of the Gaussian mechanism, for 0 < ε < 1, where its theorem holds."""

from math import log, sqrt
from typing import Any

from dpcalc.bounds.mechanisms.gaussian_exact import ratio
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

_LOG_FIVE_QUARTERS = log(1.25)
_REASON = "the classic formula holds for 0 < ε < 1 only (Dwork & Roth 2014, Theorem A.1); use gaussian-exact"


def value(epsilon: float, sigma: float, sensitivity: float, steps: int) -> float:
    """log δ, rounded up, with σ = (s√T/ε)√(2 log(1.25/δ)). Raises OutOfScope unless 0 < ε < 1."""
    if not 0 < epsilon < 1:
        raise OutOfScope("out-of-range", f"{epsilon:g} is not in (0, 1): {_REASON}", "--epsilon")
    x = epsilon / ratio(sigma, sensitivity, steps)
    square = x * (x / 2) * (1 - 2e-15)
    return min(_LOG_FIVE_QUARTERS - square + 3e-16 * (1 + square), 0.0)


def inverse(log_delta: float, sigma: float, sensitivity: float, steps: int) -> float:
    """ε = (s√T/σ)√(2 log(1.25/δ)), rounded up. Raises OutOfScope where that is not below 1."""
    epsilon = up(ratio(sigma, sensitivity, steps) * sqrt(2 * (_LOG_FIVE_QUARTERS - log_delta)), 4e-15)
    if epsilon >= 1:
        raise OutOfScope("out-of-range", f"the formula gives ε = {epsilon:g}: {_REASON}", "--bound")
    return epsilon


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps: int) -> Any:
    x = mp.mpf(epsilon) * mp.mpf(sigma) / (mp.mpf(sensitivity) * mp.sqrt(steps))
    return min(mp.mpf(5) / 4 * mp.exp(-x * x / 2), mp.mpf(1))


BOUND = ProfileBound(
    Theorem(
        name="gaussian-classic",
        example="rdp --sigma 20 --delta 1e-5",
        statement="σ = (s√T/ε) √(2 log(1.25/δ)) gives (ε, δ)-DP for 0 < ε < 1",
        source="Dwork & Roth 2014, Theorem A.1; Berthier 2019, Proposition 2.2",
        assumptions=("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)",
                     "0 < ε < 1"),
        errata=(
            "Berthier 2019, Prop. 2.2, omits ε < 1 and is unsound above: at δ = 1e-5 it first fails at ε = 8.42, and "
            "at "
            "ε = 16 the true δ is 33.6 times the target.",
            "The proof in the CS5562 lecture bounds the tail under the wrong measure; a correct Markov argument proves "
            "only ε ≤ 2 log 1.25 ≈ 0.446. The formula itself is right on (0, 1).",
        ),
    ),
    params=("sigma", "sensitivity", "steps"),
    value=value,
    exact=exact,
    rtol=1e-13,
    inverse=inverse,
)
