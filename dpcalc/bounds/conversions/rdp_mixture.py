"""Rényi DP of an algorithm that draws one of several mechanisms at random, and runs it."""

from collections.abc import Sequence
from math import exp, expm1, fsum, inf, log, log1p
from typing import Any

from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.elementary import log_sum
from dpcalc.numerics.rounding import up

_TINY = -40.0  # e^−40 is below the rounding error of 1
_SMALL = 1e-6  # below it, log((e^x − 1)/x) is x/2 but for x²/24


def value(alpha: float, rdps: Sequence[float], weights: Sequence[float]) -> float:
    """ε(α) = log(Σ_j q_j e^{(α−1)ε_j})/(α−1), at most the largest ε_j. The weights q_j are scaled to add up to 1.

    Computed as log(1 + Σ_j q_j(e^{(α−1)ε_j} − 1)), where nothing cancels. """
    terms = [log(q) + _log_expm1(alpha - 1, d) for q, d in zip(weights, rdps, strict=True) if q]
    total = log_sum(terms) - log(fsum(weights))
    raw = (log1p(exp(total)) if total < 700 else total) / (alpha - 1)
    if total < _TINY:  # log(1 + x) <= x; the quotient may be in the range of doubles where x is not
        raw = exp(total - log(alpha - 1))
    return min(max(up(raw, 4e-12), 5e-324 if total > -inf else 0.0), max(rdps))


def _log_expm1(a: float, d: float) -> float:
    """log(e^{ad} − 1), also where the product ad underflows; −inf at d = 0."""
    if d == 0:
        return -inf
    if (x := a * d) < _SMALL:
        return log(a) + log(d) + x / 2 + x * x / 24
    return log(expm1(x)) if x < 700 else x


def exact(mp: Any, alpha: float, rdps: Sequence[float], weights: Sequence[float]) -> Any:
    a, q = mp.mpf(alpha), [mp.mpf(w) for w in weights]
    total = mp.fsum(w * mp.expm1((a - 1) * mp.mpf(d)) for w, d in zip(q, rdps, strict=True))
    return mp.log1p(total / mp.fsum(q)) / (a - 1)


BOUND = RdpBound(
    Theorem(
        name="rdp-mixture",
        example="convert --from rdp --alpha 8 --rdp 0.5,0.1 --weights 1/4,3/4",
        statement="ε(α) = log(Σ_j q_j e^((α−1)ε_j)) / (α−1) for an algorithm that runs mechanism j, whose RDP at α is "
                  "ε_j, with probability q_j",
        source="Chen, Lee & Kifer 2019; Berthier 2019, Lemma 3.1",
        assumptions=("which mechanism is drawn does not depend on the data",
                     "all mechanisms use the same notion of neighbouring data sets"),
        in_words="It holds even where the output shows which mechanism was drawn.",
    ),
    params=("rdps", "weights"),
    value=value,
    exact=exact,
    rtol=1e-11,
)
