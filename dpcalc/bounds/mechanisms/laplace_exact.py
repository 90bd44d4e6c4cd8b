"""The exact privacy profile of the Laplace mechanism (one release)."""

from math import expm1, inf, nextafter
from typing import Any

from dpcalc.bounds.mechanisms.total_variation_law import TotalVariationLaw
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.rounding import ratio_up, up


def pure(scale: float, sensitivity: float) -> float:
    """ε = s/v with δ = 0, rounded up exactly."""
    return ratio_up((sensitivity,), (scale,))


def value(epsilon: float, scale: float, sensitivity: float) -> float:
    """log δ(ε) = log(1 − e^{(ε − s/v)/2})₊, rounded up; −inf from ε = s/v on."""
    difference = epsilon - pure(scale, sensitivity)
    # Near δ = 1 log δ is −e^{difference/2}, so that the rounding of the difference decides: it goes down.
    return up(log1mexp(nextafter(difference, -inf) / 2), 4e-16) if difference < 0 else -inf


def inverse(log_delta: float, scale: float, sensitivity: float) -> float:
    """ε = (s/v + 2 log(1 − δ))₊, rounded up."""
    t = pure(scale, sensitivity)
    return min(t, max(0.0, t + 2 * log1mexp(log_delta) + 1e-15 * t))


def exact(mp: Any, epsilon: float, scale: float, sensitivity: float) -> Any:
    return max(-mp.expm1((mp.mpf(epsilon) - mp.mpf(sensitivity) / mp.mpf(scale)) / 2), mp.mpf(0))


BOUND = ProfileBound(
    Theorem(
        name="laplace-exact",
        example="rdp --mechanism laplace --scale 2 --epsilon 0.1",
        statement="δ(ε) = max(0, 1 − e^((ε − s/v)/2)); pure ε = s/v",
        source="Sordello, Bu & Dong 2021, eq. 5; Berthier 2019, Proposition 2.1 (pure)",
        assumptions=("the query changes by at most s in ℓ1 between neighbouring data sets",
                     "noise Laplace(0, v) per coordinate",
                     "one release"),
    ),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=1e-14,
    pure=pure,
    inverse=inverse,
)

TOTAL_VARIATION = TotalVariationLaw(lambda r: -expm1(-r / 2), lambda mp, r: -mp.expm1(-r / 2))  # as a function of s/v
