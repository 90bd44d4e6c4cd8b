"""From Rényi DP at one order to (ε, δ): a conversion that is exact for one order in one direction.

Among all pairs with E_{e^ε} >= δ the least Rényi divergence is attained on two outcomes, (p, 1−p) against
(q, 1−q) with q = (p−δ)e^{−ε}. With x = p − δ,

    H(x) = p^α q^{1−α} + (1−p)^α (1−q)^{1−α}

is convex (each term is a perspective of a convex power along a line), so its minimum over x is one root of H′.
(ε, δ) follows if e^{(α−1)ε(α)} <= min H. Where the divergence is known in one direction of the neighbours only, it
follows in no other case; where it is known in both, it may: at δ = 0.46, α = 2 and ε(2) = log 2 this theorem gives
ε = 0.080, while the total variation, which is at most 0.448 (tv-rdp), gives 0.

A minimum found too high would be unsound: the root is enclosed, and the value used is where the two tangents at the
ends of the enclosure meet, which lies below the minimum. Newton's method finds ε and the root together, and ε is then
proven by one enclosure; where it fails, every ε of a search is.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import exp, expm1, inf, log, log1p
from typing import Any

from dpcalc.bounds.conversions import rdp_improved
from dpcalc.bounds.conversions.two_outcomes import log_minimizer, log_minimum, rounding, stationary
from dpcalc.core.bound import Conversion, Theorem
from dpcalc.numerics.mp.root import root
from dpcalc.numerics.root import Unreachable, boundary

_LEAST_LOG_DELTA = -700.0  # e^−700 is a double; for smaller δ the improved conversion is as good to (αδ)^{1/α}
_LEAST_MOMENT = 1e-290  # of (α−1)ε(α); below it H − 1 and its derivatives may be subnormal doubles, which lose digits
_PRODUCT_ERROR = 4e-16  # relative, above that of a product of two rounded numbers
_TIGHT, _TIGHT_LOG_DELTA = 2e-13, 2e-14  # relative, by which ε or log δ may be larger than the least that is proven


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """Least ε >= 0 for which (α, ε(α))-RDP implies (ε, δ)-DP: never less, and tight (see rtol)."""
    rdp = _raised_next_to_one(alpha, rdp)
    top = rdp_improved.value(alpha, rdp, log_delta)
    if top == 0 or log_delta <= _LEAST_LOG_DELTA or (alpha - 1) * rdp < _LEAST_MOMENT:
        return top
    delta = exp(log_delta) * (1 - 3e-16 * (1 + abs(log_delta)))  # rounded down: a smaller δ needs a larger ε
    if alpha * delta >= 1:
        return min(top, max(0.0, rdp + log1p(-delta) + _PRODUCT_ERROR * rdp))

    def residual(epsilon: float, u: float) -> float:
        return (alpha - 1) * rdp * (1 + _PRODUCT_ERROR) - log_minimum(alpha, epsilon, delta, u)

    near = stationary(alpha, rdp, top, log_delta, "epsilon")
    if near and near.epsilon > 0:
        spare = rounding(alpha, near.epsilon, delta, near.u, (alpha - 1) * rdp) / near.growth
        found = _feasible_near(lambda epsilon: residual(epsilon, near.u), near.epsilon, near.growth, spare, 0.0, inf)
        if found is not None:
            return min(found, top)
    u = log(alpha - 1) + log_delta

    def slow_residual(epsilon: float) -> float:
        nonlocal u  # the minimizer at the last ε is near that at the next one
        u = log_minimizer(alpha, epsilon, delta, u)
        return residual(epsilon, u)

    try:
        return boundary(slow_residual, top, 0.0, _TIGHT)
    except Unreachable:  # rounding errors next to the improved conversion, which is proven
        return top


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """Least log δ for which (ε, δ)-DP follows, at most 0."""
    rdp = _raised_next_to_one(alpha, rdp)
    top = rdp_improved.log_delta(alpha, rdp, epsilon)
    if top <= _LEAST_LOG_DELTA or (alpha - 1) * rdp < _LEAST_MOMENT:
        return top

    def rounded_up(x: float) -> float:
        return min(top, x + 4e-14 * abs(x) + 1e-15)  # δ itself is rounded where it is near 1

    closed = _closed_log_delta(alpha, rdp, epsilon)
    if closed is not None:
        return rounded_up(closed)

    def residual(x: float, u: float) -> float:
        return (alpha - 1) * rdp * (1 + _PRODUCT_ERROR) - log_minimum(alpha, epsilon, exp(x), u)

    near = stationary(alpha, rdp, epsilon, min(top, _below_closed(alpha)), "log_delta")
    if near and near.log_delta > _LEAST_LOG_DELTA:
        spare = rounding(alpha, epsilon, exp(near.log_delta), near.u, (alpha - 1) * rdp) / near.growth
        found = _feasible_near(lambda x: residual(x, near.u), near.log_delta, near.growth, spare, _LEAST_LOG_DELTA,
                               _below_closed(alpha))
        if found is not None:
            return rounded_up(found)

    @cache
    def slow_residual(x: float) -> float:
        delta = exp(x)
        if alpha * delta >= 1:
            return rdp - (epsilon - log1p(-delta)) if delta < 1 else -inf
        return residual(x, log_minimizer(alpha, epsilon, delta, log(alpha - 1) + x))

    feasible, step = top, 0.5  # the improved conversion is seldom far above
    while (low := max(feasible - step, _LEAST_LOG_DELTA)) > _LEAST_LOG_DELTA and slow_residual(low) <= 0:
        feasible, step = low, 4 * step
    try:
        return rounded_up(boundary(slow_residual, feasible, low, _TIGHT_LOG_DELTA))
    except Unreachable:
        return top


def estimate(alpha: float, rdp: float, log_delta: float) -> float:
    """The ε of `value` by Newton's method alone, to about 1e-12 but not proven, for a search over orders."""
    top = rdp_improved.value(alpha, rdp, log_delta)
    in_range = log_delta > _LEAST_LOG_DELTA and (alpha - 1) * rdp >= _LEAST_MOMENT
    if top > 0 and in_range and log_delta < _below_closed(alpha):
        near = stationary(alpha, rdp, top, log_delta, "epsilon")
        if near and near.epsilon > 0:
            return near.epsilon
    return value(alpha, rdp, log_delta)


def estimate_log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """The log δ of `log_delta` by Newton's method alone, to about 1e-12 but not proven: which a search over orders
    compares."""
    top = rdp_improved.log_delta(alpha, rdp, epsilon)
    if top <= _LEAST_LOG_DELTA or (alpha - 1) * rdp < _LEAST_MOMENT:
        return top
    closed = _closed_log_delta(alpha, rdp, epsilon)
    if closed is not None:
        return closed
    near = stationary(alpha, rdp, epsilon, min(top, _below_closed(alpha)), "log_delta")
    return near.log_delta if near else log_delta(alpha, rdp, epsilon)


def _feasible_near(residual: Callable[[float], float], x: float, growth: float, spare: float, low: float,
                   high: float) -> float | None:
    """A feasible x in [low, high] near the given one, at which the residual is about 0; the residual falls by `growth`
    a unit. It is above the boundary by at most _TIGHT of itself plus thrice the rounding error `spare`. None where no
    such x is found soon."""
    enough = _TIGHT * abs(x) + 3 * spare
    x += 1.5 * spare
    for _ in range(4):  # one or two evaluations are usual
        if not low <= x <= high:
            return None
        above = residual(x) / growth
        if -enough <= above <= 0:
            return x
        x += above + spare
    return None


def _closed_log_delta(alpha: float, rdp: float, epsilon: float) -> float | None:
    """log δ of the closed form ε = ε(α) + log(1 − δ), where αδ >= 1 by it."""
    log_rest = epsilon - rdp  # log(1 − δ)
    if log_rest >= 0 or -alpha * expm1(log_rest) < 1:
        return None
    return log1p(-exp(log_rest)) if log_rest < -1 else log(-expm1(log_rest))


def _below_closed(alpha: float) -> float:
    """A log δ with αδ < 1, so that the closed form does not apply."""
    return -log(alpha) - 0.1


def _raised_next_to_one(alpha: float, rdp: float) -> float:
    """The divergence, which is raised at orders next to 1, where (α−1)ε(α) has a relative error of up to 5e-9."""
    return rdp * (1 + 5e-9) if alpha - 1 < 1e-12 else rdp


def condition(mp: Any, alpha: float, rdp: Any, delta: Any, epsilon: Any) -> Any:
    """(α−1)(ε − ε(α)) + log min_p […] of the printed condition: (ε, δ) follows where it is >= 0. The minimum is taken
    at the root of H′."""
    a, d, e = mp.mpf(alpha), mp.mpf(delta), mp.mpf(epsilon)
    if d >= 1:
        return mp.inf
    if a * d >= 1:
        return (a - 1) * (e - mp.log1p(-d) - mp.mpf(rdp))
    beyond = mp.expm1(e) + d

    def parts(odds: Any) -> tuple[Any, Any]:
        """p and 1 − p, both to all digits."""
        grown = mp.exp(-odds)
        return 1 / (1 + grown), grown / (1 + grown)

    def slope(odds: Any) -> Any:
        """H′ at p."""
        p, q = parts(odds)
        share = q / (beyond + q)
        return (p / (p - d)) ** a * (1 - d * a / p) - share ** (a - 1) * (a - (a - 1) * share)

    p, q = parts(_root_of_slope(mp, slope, mp.log(a * d / (1 - a * d))))
    return mp.log(p**a * (p - d) ** (1 - a) + q**a * (beyond + q) ** (1 - a)) + (a - 1) * (e - mp.mpf(rdp))


def _root_of_slope(mp: Any, slope: Callable[[Any], Any], low: Any) -> Any:
    """log(p/(1 − p)) above `low`, where the slope is 0, to half the digits: the error of H is about its square. For
    orders next to 1 it may be millions."""
    high, step = low + 1, mp.one
    while slope(high) < 0 and step < 1e30:  # the end is for slopes that do not change sign in these digits
        low, high, step = high, high + 2 * step, 2 * step
    for _ in range(50):  # until the slope is nearly straight, so that a secant converges
        mid = (low + high) / 2
        low, high = (mid, high) if slope(mid) < 0 else (low, mid)
    return root(mp, slope, low, high, mp.dps // 2 + 10)


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    """The ε at which the printed condition just holds."""

    def residual(epsilon: Any) -> Any:
        return condition(mp, alpha, rdp, delta, epsilon)

    if residual(mp.mpf(0)) >= 0:
        return mp.mpf(0)
    return root(mp, residual, mp.mpf(0), rdp_improved.exact(mp, alpha, rdp, delta) * mp.mpf("1.001"))


BOUND = Conversion(
    Theorem(
        name="rdp-optimal",
        example="convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5",
        statement="(ε, δ) follows from (α, ε(α))-RDP if ε(α) ≤ ε + log min over p in (δ, 1) of [p^α(p−δ)^(1−α) + "
                  "(1−p)^α(e^ε−p+δ)^(1−α)] / (α−1); from ε(α) in one direction of the neighbours only, exactly then",
        in_words="From the Rényi divergence at one order to (ε, δ): from a divergence that is known in one direction "
                 "of the neighbours only, no smaller ε follows. It holds for every mechanism. Where the divergence is "
                 "known in both directions a smaller ε may follow, and also where the privacy profile is known, as one "
                 "order does not say everything about a mechanism.",
        source="Asoodeh, Liao, Calmon, Kosut & Sankar 2021, Theorem 3, arXiv:2008.06529v2",
        assumptions=(),
    ),
    params=(), value=value, exact=exact, rtol=2e-8, log_delta=log_delta, condition=condition)
BOUND = replace(BOUND, estimate=replace(BOUND, value=estimate, log_delta=estimate_log_delta))
