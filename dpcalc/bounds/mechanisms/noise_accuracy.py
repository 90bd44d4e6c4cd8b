"""How large the noise of an answer is: its standard deviation, and the half-width of an interval around 0 that it lies
in with a given probability.

Proof of noise-accuracy. The half-width a of one answer is the least number with Pr[|X| > a] <= b, where b = 1 − P, by
definition. Of m answers with independent noises all are within a with probability (1 − Pr[|X| > a])^m, which is at
least P if and only if Pr[|X| > a] <= b = 1 − P^{1/m}. Pr[|X| > a] is e^(−a/v) for Laplace noise, 2Q(a/σ) for Gaussian
noise, and for whole numbers a it is 2e^(−(a+1)/v)/(1 + e^(−1/v)) for discrete Laplace noise, and a sum for discrete
Gaussian noise. ∎ """

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, exp, expm1, fsum, inf, log, log1p, pi, sinh, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms import discrete_gaussian
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.normal import log_tail, two_sided_quantile
from dpcalc.numerics.rounding import decimal, up

_RTOL = 1e-13  # relative: more than the rounding errors of a quantile


class Inside(NamedTuple):
    """The probability p that the noise of one answer is within a half-width, and 1 − p, both without cancellation."""

    p: float
    complement: float


def of_each(accuracy: float, answers: int) -> Inside:
    """The probability that each of so many answers needs, so that all of them are within their half-widths at once."""
    log_all = log(accuracy) if accuracy < 0.5 else log1p(-float(1 - decimal(accuracy)))
    return Inside(exp(log_all / answers), -expm1(log_all / answers))


# --- the kinds of noise ----------------------------------------------------------------------------------------------


def _gaussian_width(level: float, inside: Inside) -> float:
    return level * two_sided_quantile(inside.p, inside.complement)


def _log_outside_of_one(inside: Inside) -> float:
    return log(inside.complement) if inside.p >= 0.5 else log1p(-inside.p)


def _laplace_width(level: float, inside: Inside) -> float:
    return level * -_log_outside_of_one(inside)


def _discrete_laplace_width(level: float, inside: Inside) -> float:
    """The least whole a with 2e^(−(a+1)/v)/(1 + e^(−1/v)) <= b, by (1 + e^(−1/v))/2 = 1 + (e^(−1/v) − 1)/2."""
    enough = -level * (_log_outside_of_one(inside) + log1p(expm1(-1 / level) / 2))
    return float(max(0, ceil(up(enough, 1e-15)) - 1))


def _discrete_gaussian_width(level: float, inside: Inside) -> float:
    discrete_gaussian.sensitivity_and_sigma(level, 1.0)  # raises OutOfScope for too long a sum
    a, target = max(0, ceil(_gaussian_width(level, inside) - 1.5)), log(inside.complement)
    while _log_outside(level, a) > target:
        a += 1
    while a > 0 and _log_outside(level, a - 1) <= target:
        a -= 1
    return float(a)


@lru_cache(maxsize=64)
def _log_outside(sigma: float, a: int) -> float:
    """log Pr[|X| > a] of discrete Gaussian noise, a sum relative to its first term."""
    first = a + 1
    last = first + ceil(min(9 * sigma, 81 * sigma * sigma / first)) + 1  # the terms beyond are below e^−40 of the first
    terms = fsum(exp((first - x) * (first + x) / (2 * sigma * sigma)) for x in range(first, last + 1))
    return log(2 * terms) - (first / sigma) ** 2 / 2 - discrete_gaussian.log_total(sigma)


def _discrete_gaussian_deviation(sigma: float) -> float:
    """√E[X²], by Poisson's summation formula, or by the sum itself where σ is small."""
    if sigma >= 0.4:
        waves = [(j, exp(-2 * (pi * sigma * j) ** 2)) for j in range(1, 6)]
        share = 8 * (pi * sigma) ** 2 * sum(j * j * t for j, t in waves) / (1 + 2 * sum(t for _, t in waves))
        return sigma * sqrt(1 - share)
    terms = [(k, exp(-((k / sigma) ** 2) / 2)) for k in range(1, 6)]
    return sqrt(2 * sum(k * k * g for k, g in terms) / (1 + 2 * sum(g for _, g in terms)))


def _discrete_laplace_deviation(scale: float) -> float:
    half = 1 / (2 * scale)
    return 1 / (sqrt(2) * sinh(half)) if half < 700 else 0.0  # below e^−700


def _exact_outside_of_gaussian_sum(mp: Any, sigma: Any, a: Any) -> Any:
    """1 − Pr[|X| <= a], a sum over 2a + 1 outcomes, with as many more digits as cancel."""
    with mp.workdps(mp.dps + 15 + int((float(a) + 1) ** 2 / (4 * float(sigma) ** 2))):
        weights = mp.fsum(mp.exp(-((k / sigma) ** 2) / 2) for k in range(-int(a), int(a) + 1))
        return 1 - weights / discrete_gaussian.exact_total(mp, sigma)


class Noise(NamedTuple):
    """The noise of a mechanism, by its level σ or v. `outside` is Pr[|X| > a] at high precision, and `log_outside` its
    logarithm; of discrete noise for whole numbers a."""

    deviation: Callable[[float], float]  # level → standard deviation
    width: Callable[[float, Inside], float]  # level, probability → half-width
    log_outside: Callable[[float, Any], float]  # (level, a >= 0) → log Pr[|X| > a]
    outside: Callable[[Any, Any, Any], Any]  # (mp, level, a)
    is_discrete: bool = False


NOISES = {
    "gaussian": Noise(lambda sigma: sigma, _gaussian_width, lambda sigma, a: log(2) + log_tail(a / sigma),
                      lambda mp, s, a: mp.erfc(a / s / mp.sqrt(2))),
    "laplace": Noise(lambda v: sqrt(2) * v, _laplace_width, lambda v, a: -a / v, lambda mp, v, a: mp.exp(-a / v)),
    "discrete-gaussian": Noise(_discrete_gaussian_deviation, _discrete_gaussian_width,
                               lambda sigma, a: _log_outside(sigma, int(a)), _exact_outside_of_gaussian_sum, True),
    "discrete-laplace": Noise(_discrete_laplace_deviation, _discrete_laplace_width,
                              lambda v, a: log(2) - (a + 1) / v - log1p(exp(-1 / v)),
                              lambda mp, v, a: 2 * mp.exp(-(a + 1) / v) / (1 + mp.exp(-1 / v)), True),
}


def half_of_outside(noise: str, x: float) -> tuple[float, bool]:
    """The a >= 0 with which Pr[X >= x] is half of Pr[|X| > a], or, where that is False, 1 less this half."""
    if not NOISES[noise].is_discrete:
        return abs(x), x >= 0
    return (float(ceil(x) - 1), True) if x > 0 else (float(-ceil(x)), False)


# --- the theorem -----------------------------------------------------------------------------------------------------


def half_width(noise: str, noise_level: float, accuracy: float, answers: int) -> float:
    """The half-width a, rounded up. Raises OutOfScope where a double does not hold it."""
    known = NOISES[noise]
    found = known.width(noise_level, of_each(accuracy, answers))
    if found == inf:
        raise OutOfScope("out-of-range", "the half-width exceeds the largest double", "--accuracy")
    return found if known.is_discrete else up(found, _RTOL / 2)


def value(noise: str, noise_level: float, accuracy: float, answers: int) -> dict[str, float]:
    return {"noise_within": half_width(noise, noise_level, accuracy, answers)}


def condition(mp: Any, claimed: float, noise: str, noise_level: float, accuracy: float, answers: int) -> Any:
    """What is at least 0 where all answers are within the claimed half-width with that probability."""
    outside = NOISES[noise].outside(mp, mp.mpf(noise_level), mp.mpf(claimed))
    each = decimal(accuracy)
    return answers * mp.log1p(-outside) - mp.log(mp.mpf(each.numerator) / each.denominator)


def exact(mp: Any, noise: str, noise_level: float, accuracy: float, answers: int) -> dict[str, Any]:
    """The least half-width that meets the condition: a root, or a whole number."""
    near = half_width(noise, noise_level, accuracy, answers)

    def residual(a: Any) -> Any:
        return condition(mp, a, noise, noise_level, accuracy, answers)

    if NOISES[noise].is_discrete:
        while residual(mp.mpf(near)) < 0:
            near += 1
        while near > 0 and residual(mp.mpf(near - 1)) >= 0:
            near -= 1
        return {"noise_within": mp.mpf(near)}
    with mp.workdps(mp.dps + 20):
        return {"noise_within": root(mp, residual, mp.mpf(near) * (1 - mp.mpf("1e-9")),
                                     mp.mpf(near) * (1 + mp.mpf("1e-9")))}


BOUND = PointBound(
    Theorem(
        name="noise-accuracy",
        example="rdp --sigma 2 --accuracy 0.95",
        statement="the noises of m answers are all within ±a with probability P, for the least a with Pr[|X| > a] ≤ 1 "
                  "− P^(1/m)",
        in_words="How large the noise of an answer is, at a probability that you choose; it says nothing of privacy. "
                 "The half-width is the least a for which all m independent noises lie within ±a with at least this "
                 "probability. The error of sampling people, and that of clamping what they contribute, are not in it.",
        source="proof in dpcalc/bounds/mechanisms/noise_accuracy.py",
        assumptions=("the noises of several answers are independent",),
        released="no number",
    ),
    gives=("noise_within",), params=("noise", "noise_level", "accuracy", "answers"), value=value, exact=exact,
    condition=condition, rtol=_RTOL)
