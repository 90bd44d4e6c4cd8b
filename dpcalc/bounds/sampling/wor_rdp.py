"""Rényi DP of sampling a batch without replacement, or with non-uniform, data-independent weights: one bound, at the
sampling rate or at the largest weight."""

from collections.abc import Iterator
from math import exp, fsum, inf, isqrt, log, log1p
from typing import Any

from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling._engine.assumptions import FIXED_SIZE, REPLACED
from dpcalc.core.bound import LARGEST_WHOLE, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.binomial import log_choose
from dpcalc.numerics.elementary import log_expm1, log_sum
from dpcalc.numerics.rounding import up

_SUM_ERROR = 1e-11  # relative error of ε′: far above the rounding of its sum, and a third of the claimed error
_TERM_ERROR = 1e-15  # error of the logarithm of a summand, relative to the largest of the numbers it is made of
_NEGLIGIBLE = 45.0  # a block whose bound is e^{−45} = 3e-20 of a summand adds less than a rounding error


def value(alpha: float, sampling_rate: float, base: Curve) -> float:
    order, unsampled, log_q = whole_order(alpha), base.rdp(alpha), log(sampling_rate)
    second = _second_summand(order, log_q, base)
    largest = max(second, *(_summand(j, order, log_q, base) for j in _nodes(order)), -inf)
    if largest / (alpha - 1) >= unsampled:
        return unsampled
    summands = [(second, 2), *_summands(order, log_q, base, largest)]
    total = log_sum([term for term, _ in summands])
    if total > -inf:
        # The error of a summand's logarithm is relative to the sizes of the terms that it is the sum of.
        total += _TERM_ERROR * fsum(
            exp(term - total) * (j * (abs(log_q) + base.rdp(j)) + log_choose(order, j)) for term, j in summands
            if term > -inf)
    return _divergence(total, alpha, unsampled)


def coarse(alpha: float, sampling_rate: float, base: Curve) -> float:
    """`value` to about 1e-3, for the search over orders: the sum by the trapezoidal rule over few summands."""
    order, unsampled, log_q = whole_order(alpha), base.rdp(alpha), log(sampling_rate)
    nodes = list(_nodes(order))
    terms = [_second_summand(order, log_q, base)]
    for k, j in enumerate(nodes):
        before, after = nodes[k - 1] if k else j - 1, nodes[k + 1] if k + 1 < len(nodes) else j + 1
        terms.append(log((after - before) / 2) + _summand(j, order, log_q, base))
    return _divergence(log_sum(terms), alpha, unsampled)


def _divergence(log_total: float, alpha: float, unsampled: float) -> float:
    """log(1 + e^t)/(α−1) rounded up, positive where the sum is, and at most the divergence without sampling."""
    raw = log1p(exp(log_total)) if log_total < 700 else log_total
    return min(max(up(raw / (alpha - 1), _SUM_ERROR), 5e-324 if log_total > -inf else 0.0), unsampled)


def _nodes(order: int) -> Iterator[int]:
    """Indices from 3 to the order, at most 0.8 standard deviations of a binomial law apart.

    Around its largest value at j the summand is no narrower than the binomial coefficient, whose standard deviation is
    √(j(1 − j/α)), since (j−1)ε(j) is convex: so the trapezoidal rule is accurate to 1e-3 or better, and exact at both
    ends, where every index is a node. """
    j = 3
    while j <= order:
        yield j
        j += min(max(1, isqrt(min(j, order - j)) // 2), max(1, order - j))


def _summand(j: int, order: int, log_q: float, base: Curve) -> float:
    """The logarithm of the j-th summand, j >= 3."""
    return j * log_q + log_choose(order, j) + (j - 1) * base.rdp(j) + _log_min_two(base.pure, j)


def _second_summand(order: int, log_q: float, base: Curve) -> float:
    epsilon = base.rdp(2.0)
    factor = min(log(4) + log_expm1(epsilon), epsilon + _log_min_two(base.pure, 2))
    return 2 * log_q + log(order * (order - 1) / 2) + factor


def _summands(order: int, log_q: float, base: Curve, largest: float) -> Iterator[tuple[float, int]]:
    """(logarithm, index) of the summands from 3 on: each where it matters, else the upper bound of a block.

    In a block a..b every factor is at most its value at one end (or at α/2 for the binomial coefficient), since ε(j)
    and so (j−1)ε(j) increase in j. `largest` is one of the summands, or a lower bound of their maximum. """
    blocks = [(3, order)] if order >= 3 else []
    while blocks:
        a, b = blocks.pop()
        if a == b:
            yield _summand(a, order, log_q, base), a
            continue
        peak = min(max(order // 2, a), b)
        bound = (log(b - a + 1) + a * log_q + log_choose(order, peak) + (b - 1) * base.rdp(b)
                 + max(_log_min_two(base.pure, a), _log_min_two(base.pure, b)))
        if bound < largest - _NEGLIGIBLE:
            yield bound, b
        else:
            middle = (a + b) // 2
            blocks += [(a, middle), (middle + 1, b)]


def whole_order(alpha: float) -> int:
    """α as a whole number from 2 on. Raises OutOfScope where it is none, or too large."""
    if alpha < 2 or alpha != int(alpha) or alpha > LARGEST_WHOLE:
        raise OutOfScope("out-of-range", f"{alpha:g} is not a whole order from 2 to {LARGEST_WHOLE}; "
                         "Theorem 9 (Wang, Balle & Kasiviswanathan 2019) is stated for those", "--alpha")
    return int(alpha)


def _log_min_two(pure: float, power: int) -> float:
    """log min(2, (e^{ε(∞)} − 1)^j)."""
    return min(log(2), power * log_expm1(pure))


def exact(mp: Any, alpha: float, sampling_rate: float, base: Curve) -> Any:
    a, q = int(alpha), mp.mpf(sampling_rate)

    def least(j: int) -> Any:
        return mp.mpf(2) if base.pure == inf else min(mp.mpf(2), mp.expm1(mp.mpf(base.pure)) ** j)

    e2 = base.exact(mp, 2)
    total = 1 + q**2 * mp.binomial(a, 2) * min(4 * mp.expm1(e2), mp.exp(e2) * least(2))
    for j in range(3, a + 1):
        total += q**j * mp.binomial(a, j) * mp.exp((j - 1) * base.exact(mp, j)) * least(j)
    return min(mp.log(total) / (a - 1), base.exact(mp, alpha))


BOUND = RdpBound(
    Theorem(
        name="wor-rdp",
        example="subsample --scheme without-replacement --sampling-rate 0.01 --sigma 2 --steps 1000 --alpha 8",
        statement="ε′(α) = log(1 + q²C(α,2) min[4(e^ε(2) − 1), e^ε(2) min(2, (e^ε(∞) − 1)²)] + Σ_{j=3..α} q^j C(α,j) "
                  "e^((j−1)ε(j)) min(2, (e^ε(∞) − 1)^j)) / (α−1), at most ε(α)",
        in_words="A Rényi bound for batches of fixed size, drawn uniformly without replacement and afresh at every "
                 "step, where a record is replaced; it is for whole orders, and those of all steps add up. It is "
                 "loose for Gaussian noise: at the rate 0.01, noise multiplier 4, 1000 steps and δ = 1e-5, ε is 1.50, "
                 "where wor-profile has 0.72. It is false for shuffled batches.",
        source="Wang, Balle & Kasiviswanathan 2019, Theorem 9, arXiv:1808.00087v2; Berthier 2019, Theorem 3.2",
        assumptions=(FIXED_SIZE, REPLACED, "whole orders α ≥ 2"),
    ),
    params=("sampling_rate", "base"), value=value, exact=exact, rtol=3e-11, integer_orders=True, coarse=coarse)

WEIGHTED = RdpBound(
    Theorem(
        name="weighted-rdp",
        example="subsample --scheme weighted --max-weight 0.01 --sigma 2 --steps 1000 --delta 1e-5",
        statement="the bound of wor-rdp with q replaced by the largest weight c",
        in_words="A Rényi bound for weighted sampling: every step draws one record, with unequal probabilities of at "
                 "most c that do not depend on the data. A record is replaced. It is loose, as the bound of wor-rdp "
                 "is. It is false for probabilities that depend on the data, such as losses or gradient norms, and for "
                 "batches of several records that were formed beforehand.",
        source="Berthier 2019, Theorem 4.2",
        assumptions=("every step draws one record, the i-th with a probability w_i ≤ c that does not depend on the "
                     "data; batches of several records that were formed beforehand are not covered",
                     REPLACED, "whole orders α ≥ 2"),
        errata=("Berthier 2019, Theorem 4.2, prints the sum from j = 1; it must start at j = 3, as in Berthier & "
                "Karimireddy, Theorem 3.1.",),
    ),
    params=("max_weight", "base"), value=lambda alpha, max_weight, base: value(alpha, max_weight, base),
    exact=lambda mp, alpha, max_weight, base: exact(mp, alpha, max_weight, base), rtol=3e-11, integer_orders=True,
    coarse=lambda alpha, max_weight, base: coarse(alpha, max_weight, base))

BOUNDS = (BOUND, WEIGHTED)
