"""The exact privacy profile of the discrete Gaussian mechanism.

With P centred at 0 and Q at −s, the outcome x has the loss ℓ(x) = (s² + 2sx)/(2σ²), which is above ε from
t = εσ²/s − s/2 on. So δ(ε) = Σ_{x > t} p(x)(1 − e^(ε−ℓ(x))), a sum of positive terms.

Smaller differences j <= s are covered: the noise is log-concave, so δ_j(ε) = max_t(Pr[X > t] − e^ε Pr[X > t + j]),
which rises in j.
"""

from itertools import count
from math import ceil, exp, expm1, floor, fsum, log, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import discrete_gaussian_law as law
from dpcalc.bounds.mechanisms.discrete_gaussian_law import (
    ASSUMPTIONS,
    exact_total,
    exact_weights,
    log_total,
    sensitivity_and_sigma,
)
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

_REACH = 9.0  # standard deviations: beyond lies 1e-18 of a Gaussian sum
# log of the tails that a pair counts as infinite losses: for up to 1e22 uses they add up to less than 5e-324, the least
# positive double, and so to no lower end above 0.
_LOG_CUT = -800.0
_MOST_LOSSES = 2**18  # of a pair: a composition of so many takes seconds
_GUARD_DIGITS = 15  # of a sum of up to 1e6 products of as many factors
_LARGEST_THRESHOLD = 2.0**52  # larger doubles do not distinguish it from the next integer; log δ is below −1e21 there


def value(epsilon: float, sigma: float, sensitivity: float) -> float:
    """log δ(ε), rounded up. The threshold t is rounded down: that gives the δ of an ε that is smaller by rounding."""
    s, v = sensitivity_and_sigma(sigma, sensitivity)
    t = epsilon * v * v / s - s / 2 - 1e-15 * (epsilon * v * v / s + s / 2)
    t = min(t, _LARGEST_THRESHOLD)
    first, lowest = floor(t) + 1, -ceil(_REACH * v)
    rest = 0.0
    if first < lowest:  # all that is below counts in full, and is less than 1e-18
        first, rest = lowest, exp(-lowest * lowest / (2 * v * v)) / -expm1((2 * lowest - 1) / (2 * v * v))
    base = max(first, 0)  # the terms are relative to g(base)
    last = base + 1 + ceil(min(_REACH * v, _REACH * _REACH * v * v / max(base, 1)))
    terms = [exp((base - x) * (base + x) / (2 * v * v)) * -expm1(-s * (x - t) / (v * v))
             for x in range(first, last + 1)]
    if terms[-1] > 0:  # the ratio of neighbouring terms falls, so that a geometric series bounds all further terms
        rest += terms[-1] * (terms[-1] / terms[-2]) / (1 - terms[-1] / terms[-2])
    log_delta = log(fsum(terms) + rest) - (base / v) * (base / v) / 2 - log_total(v)
    return min(0.0, up(log_delta, 4e-15) + 1e-14)


def pair(sigma: float, sensitivity: float) -> "Pair":
    """The dominating pair of one release. Outcomes that P and Q both give with less than e^−800 count as infinite
    losses. Raises OutOfScope where too many losses are left to be composed."""
    import numpy as np

    from dpcalc.pld.atoms import Atoms, approximate_dp
    from dpcalc.pld.sampled import MAX_BASE_LOSS

    s, v = sensitivity_and_sigma(sigma, sensitivity)
    if s / v * (s / v) > 2 * MAX_BASE_LOSS:
        return approximate_dp(0.0, 0.0)  # an upper bound: the answer is revealed
    reach = ceil(v * sqrt(-2 * _LOG_CUT)) + 1
    if (number := min(2 * reach + s, 4 * reach + 1) + 1) > _MOST_LOSSES:
        raise OutOfScope("too-large", f"{number} privacy losses matter at this σ and sensitivity, too many to be "
                                      f"composed numerically (at most {_MOST_LOSSES})", "--sigma")
    near_p, near_q = np.arange(-reach, reach + 1), np.arange(-reach - s, min(reach - s, -reach - 1) + 1)
    x = np.concatenate((near_q, near_p)).astype(float)
    log_p = -((x / v) ** 2) / 2 - log_total(v)
    log_infinite = log(2) - ((reach + 1) / v) ** 2 / 2 - log_total(v) - log(-expm1(-(2 * reach + 3) / (2 * v * v)))
    return Atoms(tuple((s * (s + 2 * x) / (2 * v * v)).tolist()), tuple(log_p.tolist()), log_infinite, attained=True)


def exact(mp: Any, epsilon: float, sigma: float, sensitivity: float) -> Any:
    """Pr[X > t] − e^ε Pr[X > t + s], term by term."""
    with mp.workdps(mp.dps + _GUARD_DIGITS):
        s, v = sensitivity_and_sigma(sigma, sensitivity)
        e, v = mp.mpf(epsilon), mp.mpf(v)
        return _exact_sum(mp, float(e * v**2 / s - mp.mpf(s) / 2), s, v, mp.exp(e))


def _exact_sum(mp: Any, t: float, s: int, v: Any, growth: Any) -> Any:
    """Σ_{x > t} (p(x) − e^ε p(x + s)). A term at the threshold counts where it is positive, which needs no comparison
    as (y + |y|)/2. What is left out at both ends is added as an upper bound."""
    enough = 0.7 * (mp.prec + 20)  # e^−enough is less than 2^−bits
    rounding = 1e-9 * (1 + abs(t))  # more than the error of t as a double
    lowest, start = -ceil(float(v) * sqrt(2 * enough)), floor(t - rounding) + 1
    first, base, scale = max(start, lowest), max(start, 0), 2 * float(v) ** 2
    total = next(exact_weights(mp, v, lowest)) * (1 + v**2 / -lowest) if first > start else mp.mpf(0)
    for x, p, q in zip(count(first), exact_weights(mp, v, first), exact_weights(mp, v, first + s), strict=False):
        y = p - growth * q
        total += (y + abs(y)) / 2 if x < t + rounding else y
        if x > t + rounding and x > 0 and (x - base) * (x + base) / scale > enough:
            return (total + p * (v**2 / x)) / exact_total(mp, v)  # Σ_{k > x} g(k) <= g(x)σ²/x
    raise AssertionError("the loop ends where the terms are small")


def exact_outcomes(mp: Any, sigma: float, sensitivity: float) -> tuple[list[tuple[Any, ...]], Any]:
    s, v = sensitivity_and_sigma(sigma, sensitivity)
    return law.exact_outcomes(mp, v, (0, s))


BOUND = ProfileBound(
    Theorem(
        name="discrete-gaussian-exact",
        example="rdp --mechanism discrete-gaussian --sigma 2 --delta 1e-6",
        statement="δ(ε) = Pr[X > εσ²/s − s/2] − e^ε Pr[X > εσ²/s + s/2] for discrete Gaussian X; several releases are "
                  "composed numerically",
        source="Canonne, Kamath & Steinke 2020, Theorem 7, arXiv:2004.00010v3; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=ASSUMPTIONS,
    ),
    params=("sigma", "sensitivity"),
    value=value,
    exact=exact,
    rtol=1e-13,
    pair=pair,
    outcomes=exact_outcomes,
)
