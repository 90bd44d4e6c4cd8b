"""The exact privacy profile of the Gaussian mechanism and of its compositions."""

from math import erf, sqrt
from sys import float_info
from typing import Any

from dpcalc.bounds.mechanisms.total_variation_law import TotalVariationLaw
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta
from dpcalc.numerics.rounding import up

_MOST_DIGITS = 20_000  # decimal digits of an evaluation at high precision: more take seconds


def _relative_error(log_theta: float) -> float:
    """The relative error of log θ: near θ = 1 the exponent of 1 − θ (up to 700) costs two digits."""
    return 3e-13 if log_theta > -0.5 else 4e-15


def ratio(sigma: float, sensitivity: float, steps: int) -> float:
    """r = s√T/σ, rounded up, as θ increases in r; at least the least normal double times √T."""
    return up(max(sensitivity / sigma, float_info.min) * sqrt(steps), 5e-16)


def value(epsilon: float, sigma: float, sensitivity: float, steps: int) -> float:
    """log δ(ε) = log θ(ε, s√T/σ)."""
    log_delta = log_theta(epsilon, ratio(sigma, sensitivity, steps))
    return up(log_delta, _relative_error(log_delta))


def inverse(log_delta: float, sigma: float, sensitivity: float, steps: int) -> float:
    """The least ε with δ(ε) <= δ, at most 1e-13 above it and never below."""
    return epsilon_for(log_delta * (1 + 1.5 * _relative_error(log_delta)), ratio(sigma, sensitivity, steps))


def theta(mp: Any, epsilon: Any, r: Any) -> Any:
    """θ(ε, r) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2) as printed, at high precision."""

    def tail(x: Any) -> Any:
        return mp.erfc(x / mp.sqrt(2)) / 2

    e, r = mp.mpf(epsilon), mp.mpf(r)
    if r == 0:
        return r
    if hasattr(mp, "theta") and (enclosed := mp.theta(e, r)) is not None:  # ball arithmetic has a form of its own
        return enclosed
    # The two terms agree to about r/a relative: so many more digits are needed as cancel (0.302 of a digit a bit).
    a = abs(e / r - r / 2) + 1
    extra = int(0.302 * (2 * abs(mp.mag(r)) + 3 * mp.mag(a))) + 15
    if extra > _MOST_DIGITS:
        raise OverflowError("a ratio too far from 1 to be evaluated as printed")
    with mp.workdps(mp.dps + extra):
        return tail(e / r - r / 2) - mp.exp(e) * tail(e / r + r / 2)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float, steps: int) -> Any:
    return theta(mp, epsilon, mp.mpf(sensitivity) * mp.sqrt(steps) / mp.mpf(sigma))


BOUND = ProfileBound(
    Theorem(
        name="gaussian-exact",
        example="rdp --sigma 1 --delta 1e-5",
        statement="δ(ε) = Q(ε/r − r/2) − e^ε Q(ε/r + r/2), r = s√T/σ",
        source="Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Sordello, Bu & Dong 2021, eq. 3",
        assumptions=("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)",
                     "T adaptive releases compose to one with sensitivity s√T"),
        errata=("The CS5562 lecture defines (ε, δ)-DP by Pr[loss > ε] < δ, which is sufficient, not necessary: at s = "
                "σ = 1, δ = 1e-5 it asks for ε = 4.765 where 4.377 holds. Pr[y|x] ≤ e^ε Pr[y|x′] + δ for single "
                "outputs y, as it goes on, is necessary, not sufficient: two disjoint uniform laws on 1/δ outputs "
                "satisfy it at ε = 0.",),
    ),
    params=("sigma", "sensitivity", "steps"),
    value=value,
    exact=exact,
    rtol=2e-12,
    inverse=inverse,
)

TOTAL_VARIATION = TotalVariationLaw(  # as a function of s/σ
    lambda r: erf(r / sqrt(8.0)), lambda mp, r: mp.erf(r / mp.sqrt(8)), lambda r, steps: r * sqrt(steps))
