"""Rényi differential privacy of randomised response."""

from typing import Any

from dpcalc.bounds.mechanisms.binary import binary_rdp, binary_rdp_exact, log_odds
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, probability: float) -> float:
    """ε(α) = log(p^α(1−p)^{1−α} + (1−p)^α p^{1−α})/(α−1)."""
    t = log_odds(probability)
    return min(up(binary_rdp(alpha, t), 2e-14), up(t, 1e-15))


def exact(mp: Any, alpha: float, probability: float) -> Any:
    return binary_rdp_exact(mp, alpha, probability)


BOUND = RdpBound(
    Theorem(
        name="randomized-response-rdp",
        example="rdp --mechanism randomized-response --probability 0.7 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( p^α(1−p)^(1−α) + (1−p)^α p^(1−α) ) / (α−1)",
        source="Mironov 2017, Proposition 5, arXiv:1702.07476v3",
        assumptions=("one bit per person, answered truly with probability p and flipped otherwise",),
    ),
    params=("probability",),
    value=value,
    exact=exact,
    rtol=5e-14,
)
