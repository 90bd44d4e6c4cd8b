"""Rényi DP of sampling a batch without replacement, or with bounded weights: the general bound."""

from collections.abc import Callable
from math import exp, expm1, inf, isqrt, log, log1p, sqrt
from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.core.bound import LARGEST_WHOLE, Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import log_choose
from dpcalc.numerics.elementary import log_sum
from dpcalc.numerics.rounding import up

_ERROR, _ULPS = 1e-11, 1e-15
_SHARE = 100.0  # times its own part of the largest summand, what stands for all around one
_EDGE = 24  # summands at each end that are always computed
_NEGLIGIBLE = 45.0
_PROBES, _FEW = 24, 1000  # summands
# standard deviations; so many of these are seen of a peak on either side, or summands at an end
_APART, _PEAK, _MANY = 0.7, 12, 200


def value(alpha: float, sampling_rate: float, base: Curve) -> float:
    """ε′(α) = log{1 + q²C(α,2)·min[4(e^{ε(2)}−1), e^{ε(2)}min(2,(e^{ε(∞)}−1)²)]
    + Σ_{j=3}^α q^j C(α,j) e^{(j−1)ε(j)} min(2,(e^{ε(∞)}−1)^j)}/(α−1), capped by ε(α)."""
    return _value(alpha, log(sampling_rate), base, every=True)


def coarse(alpha: float, sampling_rate: float, base: Curve) -> float:
    """About that: of many summands those at the ends, and the largest one with its width."""
    return _value(alpha, log(sampling_rate), base, every=alpha <= _FEW)


def _value(alpha: float, log_q: float, base: Curve, every: bool) -> float:
    order, unsampled = whole(alpha), base.rdp(alpha)

    def term(j: int) -> float:
        return _term(j, order, log_q, base)

    # Ends and the largest summand come first, so that the rest can be seen to be nothing, or too much.
    head, tail = min(order, _EDGE), max(_EDGE + 1, order - _EDGE)
    ends = (*range(3, head + 1), *range(tail, order + 1))
    terms = [_second(order, log_q, base)] + [term(j) for j in ends]
    low, high = head + 1, min(tail - 1, order)
    highest, at = _highest(low, high, term)
    if (largest := max(*terms, highest)) / (alpha - 1) >= unsampled:
        return unsampled
    seen = (*terms, highest)
    total = log_sum(terms
                    + (_middle(low, high, order, log_q, base, largest) if every else _peak(low, high, order, term, at)))
    if every:
        total += _ULPS * max((_size(j, order, log_q, base) * min(1.0, _SHARE * exp(x - largest))
                              for x, j in zip(seen, (2, *ends, at), strict=True) if x > -inf), default=0.0)
    sampled = (log1p(exp(total)) if total < 700 else total) / (alpha - 1)
    return min(max(up(sampled, _ERROR), 5e-324 if total > -inf else 0.0), unsampled)


def _size(j: int, order: int, log_q: float, base: Curve) -> float:
    """Of what cancels in the logarithm of a summand."""
    return j * (abs(log_q) + base.rdp(j)) + log_choose(order, j)


def _highest(low: int, high: int, term: Callable[[int], float]) -> tuple[float, int]:
    """About the largest of low..high, and where: of some of them, of some next to that one, and so on; −∞ where there
    is none."""
    best = -inf, low
    while low <= high:
        step = max(1, (high - low) // _PROBES)
        found, at = max((term(j), j) for j in range(low, high + 1, step))
        best = max(best, (found, at))
        if step == 1:
            break
        low, high = max(low, at - step), min(high, at + step)
    return best


def _peak(low: int, high: int, order: int, summand: Callable[[int], float], at: int) -> list[float]:
    """About the summands of low..high, where they fall as a Gaussian's values do around the largest one: of a few,
    evenly apart (the trapezoidal rule), as many times as there are others next to them."""
    def term(j: int) -> float:
        return summand(min(max(j, low), high))

    aside = max(1, isqrt(order))
    bend = 2 * term(at) - term(at - aside) - term(at + aside)
    apart = max(1, int(_APART * aside / sqrt(bend))) if bend > 0 else 1
    first, last = at - _PEAK * apart, at + _PEAK * apart
    if first < low or last > high:  # at an end there is no peak: one by one
        first, last, apart = max(low, at - _MANY), min(high, at + _MANY), 1
    return [log(apart) + term(j) for j in range(first, last + 1, apart)]


def _term(j: int, order: int, log_q: float, base: Curve) -> float:
    """log of the j-th summand."""
    return j * log_q + log_choose(order, j) + (j - 1) * base.rdp(j) + _log_min_two(base.pure, j)


def _middle(low: int, high: int, order: int, log_q: float, base: Curve, largest: float) -> list[float]:
    """The summands of low..high: one by one where they matter, a block's upper bound where it does not.

    In a block every factor is at most its value at one end (or at α/2 for the binomial coefficient), since ε(j) and so
    (j−1)ε(j) increase in j. A block is taken whole where that bound is below e^{−45} of a summand.
    """
    terms, blocks = [], [(low, high)] if low <= high else []
    while blocks:
        a, b = blocks.pop()
        widest = min(max(order // 2, a), b)
        most = (log(b - a + 1) + a * log_q + log_choose(order, widest) + (b - 1) * base.rdp(b)
                + max(_log_min_two(base.pure, a), _log_min_two(base.pure, b)))
        if most < largest - _NEGLIGIBLE or a == b:
            terms.append(most)
            largest = max(largest, most) if a == b else largest
        else:
            mid = (a + b) // 2
            blocks += [(a, mid), (mid + 1, b)]
    return terms


def whole(alpha: float) -> int:
    """α as a whole order; raises OutOfScope otherwise."""
    if alpha < 2 or alpha != int(alpha) or alpha > LARGEST_WHOLE:
        raise OutOfScope("out-of-range", f"{alpha:g} is not a whole order from 2 to {LARGEST_WHOLE}; "
                         "Theorem 9 (Wang, Balle & Kasiviswanathan 2019) is stated for those", "--alpha")
    return int(alpha)


def _second(order: int, log_q: float, base: Curve) -> float:
    two = base.rdp(2.0)
    log_gap = _log_expm1(two)
    return 2 * log_q + log(order * (order - 1) / 2) + min(log(4) + log_gap, two + _log_min_two(base.pure, 2))


def _log_min_two(pure: float, power: int) -> float:
    """log min(2, (e^{ε(∞)} − 1)^j)."""
    return min(log(2), power * _log_expm1(pure))


def _log_expm1(x: float) -> float:
    """log(e^x − 1), −inf at 0."""
    if x == 0:
        return -inf
    return log(expm1(x)) if x < 700 else x


def exact(mp: Any, alpha: float, sampling_rate: float, base: Curve) -> Any:
    a, q = int(alpha), mp.mpf(sampling_rate)

    def least(j: int) -> Any:
        return mp.mpf(2) if base.pure == inf else min(mp.mpf(2), mp.expm1(mp.mpf(base.pure)) ** j)

    e2 = base.exact(mp, 2)
    total = 1 + q**2 * mp.binomial(a, 2) * min(4 * mp.expm1(e2), mp.exp(e2) * least(2))
    for j in range(3, a + 1):
        total += q**j * mp.binomial(a, j) * mp.exp((j - 1) * base.exact(mp, j)) * least(j)
    return min(mp.log(total) / (a - 1), base.exact(mp, alpha))


BOUND = Bound(
    name="wor-rdp",
    example="subsample --scheme without-replacement --sampling-rate 0.01 --sigma 2 --steps 1000 --alpha 8",
    kind="rdp",
    statement="ε′(α) = log(1 + q²C(α,2) min[4(e^ε(2) − 1), e^ε(2) min(2, (e^ε(∞) − 1)²)] + "
    "Σ_{j=3..α} q^j C(α,j) e^((j−1)ε(j)) min(2, (e^ε(∞) − 1)^j)) / (α−1), at most ε(α)",
    source="Wang, Balle & Kasiviswanathan 2019, Theorem 9, arXiv:1808.00087v2; Berthier 2019, Theorem 3.2",
    assumptions=("batches of fixed size b = qn drawn uniformly without replacement, afresh each step",
                 "neighbours differ by replacing one record", "whole orders α >= 2"),
    params=("sampling_rate", "base"),
    value=value,
    exact=exact,
    rtol=3e-11,
    integer_orders=True,
    coarse=coarse,
)
