"""Rényi DP of pure differential privacy: randomised response is the worst case."""

from typing import Any

from dpcalc.bounds.mechanisms.finite import DOUBLES, binary, exact_rdp, rdp
from dpcalc.core.bound import RdpBound, Theorem


def value(alpha: float, step_epsilon: float) -> float:
    """ε(α) of randomised response with log odds ε."""
    return rdp(alpha, binary(DOUBLES, step_epsilon), step_epsilon)


def exact(mp: Any, alpha: float, step_epsilon: float) -> Any:
    return exact_rdp(mp, alpha, binary(mp, mp.mpf(step_epsilon)))


BOUND = RdpBound(
    Theorem(
        name="pure-rdp",
        example="convert --from dp --epsilon 1 --delta 0 --alpha 4",
        statement="ε-DP is (α, ε(α))-RDP with the curve of randomised response, p = e^ε/(1+e^ε)",
        source="Kairouz, Oh & Viswanath 2015, Theorem 2.1 (every ε-DP pair is a post-processing of randomised "
               "response), with Mironov 2017, Proposition 5",
        assumptions=("pure differential privacy (δ = 0)",),
    ),
    params=("step_epsilon",),
    value=value,
    exact=exact,
    rtol=3e-14,
)
