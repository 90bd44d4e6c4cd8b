"""The optimal composition of (ε, δ)-DP: exact for the worst mechanisms with that guarantee."""

from math import exp, inf, log, log1p, sqrt
from typing import Any

from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import log_binomial_pmf
from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.rounding import decimal, decimal_up, up

_ERROR = 2.5e-11  # of log δ, absolute and relative: far more than the rounding of the sum


def pure(step_epsilon: float, step_delta: float, steps: int) -> float:
    """Tε, with δ = 0 where each step has δ = 0."""
    if step_delta > 0:
        raise OutOfScope("no-solution", "0 is not possible, as the δ of each step is positive; give a positive δ",
                         "--delta")
    return decimal_up(steps * decimal(step_epsilon))  # 1 for ten times 0.1


def value(epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """log δ(ε) = log(1 − (1−δ)^T (1 − h)), h = Σ_l C(T,l)[e^{(T−l)ε₀} − e^{ε + lε₀}]₊/(1+e^{ε₀})^T."""
    if steps > 10**10:  # the sum has more than 2e6 terms, and takes seconds
        raise OutOfScope("out-of-range", f"{steps:g} is above 1e10, the most steps that composition-optimal sums",
                         "--steps")
    log_h = _log_finite_part(float(epsilon), float(step_epsilon), steps)
    log_none = steps * log1p(-step_delta)  # log (1−δ)^T, the probability that no loss is infinite
    if log_h == -inf:
        return min(0.0, up(log1mexp(log_none), 1e-15 * (1 + abs(log_none))))
    return min(0.0, up(log_add(log1mexp(log_none), log_none + log_h), _ERROR) + _ERROR)


def _log_finite_part(epsilon: float, step_epsilon: float, steps: int) -> float:
    """log h: of the binomial law of the number l of unlikely answers, times (1 − e^{ε − (T−2l)ε₀})₊."""
    import numpy as np

    largest = _excess_loss(steps, step_epsilon, epsilon)
    if step_epsilon == 0 or largest <= 0:
        return -inf
    if step_epsilon > 300:  # l = 0 has all the mass but T·e^{−300}, and the factor falls in l: a tight upper bound
        return log1mexp(-largest)
    decay = exp(-step_epsilon)
    p, q = decay / (1 + decay), 1 / (1 + decay)
    log_q = -log1p(decay)
    mean, width = steps * p, 10 * sqrt(steps * p * q) + 60  # beyond it the law has less than e^−45 on either side
    first = int(min((steps - epsilon / step_epsilon) / 2 + 1, steps, mean + width))
    while _excess_loss(steps - 2 * first, step_epsilon, epsilon) <= 0:
        first -= 1
    terms = int(min(first, width + max(0.0, first - mean)))
    answers = np.arange(first, first - terms - 1, -1, dtype=float)
    ratios = np.log(answers[:-1]) - np.log(steps - answers[:-1] + 1) + step_epsilon
    log_weights = np.concatenate(([0.0], np.cumsum(ratios)))
    # The loss above ε is exact at the first term; the others add positive amounts to it.
    loss = _excess_loss(steps - 2 * first, step_epsilon, epsilon) + 2 * (first - answers) * step_epsilon
    top = float(log_weights.max())
    total = float((np.exp(log_weights - top) * -np.expm1(-loss)).sum())
    log_first = log_binomial_pmf(first, steps, -step_epsilon + log_q, log_q, p, q)
    return log_first + top + log(total) + 1e-15


def _excess_loss(count: int, step_epsilon: float, epsilon: float) -> float:
    """count·ε₀ − ε, the subtraction done exactly."""
    (a, b), (c, d) = step_epsilon.as_integer_ratio(), epsilon.as_integer_ratio()
    return (count * a * d - c * b) / (b * d)


def exact(mp: Any, epsilon: float, step_epsilon: Any, step_delta: float, steps: int) -> Any:
    e, g = mp.mpf(step_epsilon), mp.mpf(epsilon)
    h = mp.mpf(0)
    for l in range(int(steps) + 1):
        term = mp.exp((steps - l) * e) - mp.exp(g + l * e)
        if term <= 0:
            break
        h += mp.binomial(steps, l) * term
    h /= (1 + mp.exp(e)) ** steps
    log_none = steps * mp.log1p(-mp.mpf(step_delta))  # log (1−δ)^T; 1 − (1−δ)^T(1 − h) without cancellation
    return -mp.expm1(log_none) + mp.exp(log_none) * h


BOUND = ProfileBound(
    Theorem(
        name="composition-optimal",
        example="convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15",
        statement="T releases that are (ε₀, δ₀)-DP each have total δ(ε) = 1 − (1−δ₀)^T(1 − h), h = Σ_l "
                  "C(T,l)[e^((T−l)ε₀) − e^(ε+lε₀)]₊/(1+e^ε₀)^T, and no smaller value holds for all of them",
        in_words="T releases of which nothing but the same (ε₀, δ₀) is known: the total δ at every ε, also where a "
                 "release is chosen in view of earlier outputs. It is tight: some mechanisms with this guarantee lose "
                 "as much. Where the mechanisms are known, such as Gaussian noise, their composition usually loses "
                 "much less.",
        source="Kairouz, Oh & Viswanath 2015, Theorem 3.3, arXiv:1311.0776v4",
        assumptions=("the guarantee of each release holds whatever the outputs before it were",),
    ),
    params=("step_epsilon", "step_delta", "steps"), value=value, exact=exact, rtol=3e-10, pure=pure,
    exact_steps=100_000)
