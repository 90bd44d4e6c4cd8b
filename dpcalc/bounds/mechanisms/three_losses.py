"""Mechanisms with the privacy losses ε₀, 0 and −ε₀, of P-masses w, 1 − w − we^(−ε₀) and we^(−ε₀).

These are the reports of one person about a category: k-ary randomised response, and unary encoding (RAPPOR, OUE). Two
categories are distinguished only by the outcomes that favour one of them.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms

_ERROR = 4e-15  # more than the rounding errors of the few operations of a formula
LARGEST_EXPONENT = 700.0  # exp of a larger number is close to the overflow of doubles, at 709.8


def log_delta(epsilon: float, largest: float, weight: float) -> float:
    """log δ(ε) = log(w(1 − e^(ε − ε₀))), rounded up; −inf from the largest loss ε₀ on. The difference of ε and ε₀ is
    rounded down, and w is an upper bound."""
    if epsilon >= largest:
        return -inf
    difference = (epsilon - largest) - 3e-16 * largest
    return min(0.0, up(log(weight) + log1mexp(difference), _ERROR) + _ERROR)


def epsilon(log_delta: float, largest: float, weight: float) -> float:
    """The least ε >= 0 with δ(ε) <= δ, ε₀ + log(1 − δ/w), rounded up: for a smaller δ and a larger w."""
    log_share = log_delta - log(weight) - _ERROR * (1 + abs(log_delta))
    if log_share >= 0:
        return 0.0
    low = log1mexp(log_share)
    return min(largest, max(0.0, largest + low + _ERROR * (largest - low)))


def rdp(alpha: float, largest: float, weight: float) -> float:
    """ε(α) = log(1 + w(e^((α−1)ε₀) − 1)(1 − e^(−αε₀)))/(α−1), rounded up, and at most ε₀.

    The product is what the terms at ε₀ and −ε₀ add to Σ p(p/q)^(α−1) = 1 + …; its factors are positive.
    """
    b = alpha - 1
    if largest == 0:
        return 0.0
    if b * largest < LARGEST_EXPONENT:
        raw = log1p(weight * expm1(b * largest) * -expm1(-alpha * largest))
    else:
        raw = log_add(0.0, log(weight) + b * largest)
    return max(min(up(raw / b, 2e-14), largest), 5e-324)  # the product may underflow, but the divergence is positive


def pair(largest: float, log_weight: float, rest: float) -> Atoms:
    """The dominating pair of one report, which two categories attain; `rest` is the probability of the loss 0. All
    logs of probabilities have relative errors of a few ulp, in either direction, as bounds from above and from below
    are computed from a pair: where the loss 0 is likely, the log of its probability follows from the other two."""
    from dpcalc.pld.atoms import Atoms

    if largest == 0:
        return Atoms((0.0,), (0.0,), attained=True)
    others = exp(log_weight) * (1 + exp(-largest))
    log_rest = log1p(-others) if others < 0.5 else log(rest) if rest > 0 else -inf
    return Atoms((largest, 0.0, -largest), (log_weight, log_rest, log_weight - largest), attained=True)


def exact_delta(mp: Any, epsilon: Any, largest: Any, weight: Any) -> Any:
    """w(1 − e^(ε − ε₀)) where that is positive."""
    return max(-weight * mp.expm1(mp.mpf(epsilon) - largest), mp.mpf(0))


def exact_outcomes(mp: Any, largest: Any, weight: Any, rest: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """The (P-mass, Q-mass) of the three losses; `rest` is the probability of the loss 0."""
    low = weight * mp.exp(-largest)
    return [(weight, low), (rest, rest), (low, weight)], mp.mpf(0)


def exact_rdp(mp: Any, alpha: Any, largest: Any, weight: Any) -> Any:
    """log Σ p^α q^(1−α)/(α−1) over the three losses."""
    b = mp.mpf(alpha) - 1
    low = weight * mp.exp(-largest)
    total = weight * mp.exp(b * largest) + (1 - weight - low) + low * mp.exp(-b * largest)
    return mp.log(total) / b
