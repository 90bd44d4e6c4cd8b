"""Rényi differential privacy of unary encoding (RAPPOR, OUE)."""

from typing import Any

from dpcalc.bounds.mechanisms import three_losses
from dpcalc.bounds.mechanisms.unary_exact import ASSUMPTIONS, exact_losses, pure, weight
from dpcalc.core.bound import RdpBound, Theorem


def value(alpha: float, probability: float, flip_probability: float) -> float:
    """ε(α), rounded up, and at most ε₀."""
    return three_losses.rdp(alpha, pure(probability, flip_probability), weight(probability, flip_probability))


def exact(mp: Any, alpha: float, probability: float, flip_probability: float) -> Any:
    return three_losses.exact_rdp(mp, alpha, *exact_losses(mp, probability, flip_probability))


BOUND = RdpBound(
    Theorem(
        name="unary-rdp",
        example="rdp --mechanism unary --probability 0.75 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( p^α(1−p)^(1−α)·q^(1−α)(1−q)^α + pq + (1−p)(1−q) + "
                  "q^α(1−q)^(1−α)·p^(1−α)(1−p)^α ) / (α−1)",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Wang, Blocki, Li "
               "& Jha 2017",
        assumptions=ASSUMPTIONS,
    ),
    params=("probability", "flip_probability"),
    value=value,
    exact=exact,
    rtol=5e-14,
)
