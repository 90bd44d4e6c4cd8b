"""Rényi differential privacy of k-ary randomised response."""

from typing import Any

from dpcalc.bounds.mechanisms import three_losses
from dpcalc.bounds.mechanisms.k_randomized_response_exact import ASSUMPTIONS, exact_weight, weight
from dpcalc.core.bound import RdpBound, Theorem


def value(alpha: float, step_epsilon: float, categories: int) -> float:
    """ε(α), rounded up, and at most ε₀."""
    return three_losses.rdp(alpha, step_epsilon, weight(step_epsilon, categories))


def exact(mp: Any, alpha: float, step_epsilon: float, categories: int) -> Any:
    return three_losses.exact_rdp(mp, alpha, mp.mpf(step_epsilon), exact_weight(mp, step_epsilon, categories))


BOUND = RdpBound(
    Theorem(
        name="k-randomized-response-rdp",
        example="rdp --mechanism randomized-response --categories 10 --step-epsilon 1 --alpha 4",
        statement="D_α(M(x) ‖ M(x′)) = log( (e^(αε₀) + e^((1−α)ε₀) + K − 2)/(e^ε₀ + K − 1) ) / (α−1)",
        source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition), for the mechanism of Kairouz, "
               "Bonawitz & Ramage 2016, arXiv:1602.07387",
        assumptions=ASSUMPTIONS,
    ),
    params=("step_epsilon", "categories"),
    value=value,
    exact=exact,
    rtol=5e-14,
)
