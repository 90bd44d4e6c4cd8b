"""The optimal composition of (ε, δ)-DP: exact for the worst mechanisms with that guarantee."""

from math import exp, inf, log, log1p, sqrt
from typing import Any

from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import log_binomial_pmf
from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.rounding import ratio_up, up

_LARGEST = 10**10  # beyond it the sum would take more than 2e6 terms
_ERROR = 1e-10


def pure(step_epsilon: float, step_delta: float, steps: int) -> float:
    """Tε, with δ = 0 where each step has δ = 0."""
    if step_delta > 0:
        raise OutOfScope("no-solution", "δ of each step is positive, so the total δ is", "--delta")
    return ratio_up((steps, step_epsilon))


def value(epsilon: float, step_epsilon: float, step_delta: float, steps: int) -> float:
    """log δ(ε) = log(1 − (1−δ)^T (1 − h)), h = Σ_l C(T,l)[e^{(T−l)ε₀} − e^{ε + lε₀}]₊/(1+e^{ε₀})^T."""
    if steps > _LARGEST:
        raise OutOfScope("out-of-range", f"{steps:g} > 1e10 steps: the sum of composition-optimal is too long",
                         "--steps")
    log_h = _log_excess(float(epsilon), float(step_epsilon), steps)
    none = steps * log1p(-step_delta)  # log (1−δ)^T
    if log_h == -inf:  # nothing but what is infinite
        return min(0.0, up(log1mexp(none), 1e-15 * (1 + abs(none))))
    return min(0.0, up(log_add(log1mexp(none), none + log_h), _ERROR / 4) + _ERROR / 4)


def _log_excess(epsilon: float, step_epsilon: float, steps: int) -> float:
    """log h: the binomial law of the number l of unlikely answers, times (1 − e^{ε − (T−2l)ε₀})₊, positive terms
    only."""
    import numpy as np

    first = _margin(steps, step_epsilon, epsilon)
    if step_epsilon == 0 or first <= 0:
        return -inf
    # l = 0 has all the mass but T·e^{−300}, and the factor falls in l: it is a tight upper bound
    if step_epsilon > 300:
        return log1mexp(-first)
    decay = exp(-step_epsilon)
    p, q = decay / (1 + decay), 1 / (1 + decay)
    log_q = -log1p(decay)
    mean, spread = steps * p, sqrt(steps * p * q)
    # Above the mean by 10σ + 60 the law holds less than e^{−45}, and its terms are smaller still.
    start = int(min((steps - epsilon / step_epsilon) / 2 + 1, steps, mean + 10 * spread + 60))
    while _margin(steps - 2 * start, step_epsilon, epsilon) <= 0:
        start -= 1
    reach = int(min(start, 10 * spread + 60 + max(0.0, start - mean)))
    below = np.arange(start, start - reach - 1, -1, dtype=float)
    ratios = np.log(below[:-1]) - np.log(steps - below[:-1] + 1) + step_epsilon
    weights = np.concatenate(([0.0], np.cumsum(ratios)))
    # The margin at the first term is exact; the others add positive amounts to it.
    excess = -np.expm1(-(_margin(steps - 2 * start, step_epsilon, epsilon) + 2 * (start - below) * step_epsilon))
    top = float(weights.max())
    total = float((np.exp(weights - top) * excess).sum())
    at_start = log_binomial_pmf(start, steps, -step_epsilon + log_q, log_q, p, q)
    # What lies further below is less than e^{−45} of the largest term.
    return at_start + top + log(total) + 1e-15


def _margin(count: int, step_epsilon: float, epsilon: float) -> float:
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
    none = steps * mp.log1p(-mp.mpf(step_delta))  # log (1−δ)^T; 1 − (1−δ)^T(1 − h) without what cancels
    return -mp.expm1(none) + mp.exp(none) * h


BOUND = Bound(
    name="composition-optimal",
    example="convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15",
    kind="profile",
    statement="T releases that are (ε₀, δ₀)-DP each have total δ(ε) = 1 − (1−δ₀)^T(1 − h), "
    "h = Σ_l C(T,l)[e^((T−l)ε₀) − e^(ε+lε₀)]₊/(1+e^ε₀)^T, and no smaller value holds for all of them",
    source="Kairouz, Oh & Viswanath 2015, Theorem 3.3, arXiv:1311.0776v4",
    assumptions=("adaptive composition is allowed",),
    params=("step_epsilon", "step_delta", "steps"),
    value=value,
    exact=exact,
    rtol=3e-10,
    pure=pure,
    exact_steps=100_000,
)
