"""The largest total variation of an (ε, δ)-DP mechanism."""

from math import exp, tanh
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import up


def value(step_epsilon: float, step_delta: float) -> dict[str, float]:
    """TV <= (e^ε − 1 + 2δ)/(e^ε + 1) = tanh(ε/2) + 2δ/(e^ε + 1)."""
    decay = exp(-step_epsilon)
    return {"tv": min(1.0, up(tanh(step_epsilon / 2) + 2 * step_delta * decay / (1 + decay), 1e-15))}


def exact(mp: Any, step_epsilon: float, step_delta: float) -> Any:
    e = mp.exp(mp.mpf(step_epsilon))
    return {"tv": (e - 1 + 2 * mp.mpf(step_delta)) / (e + 1)}


BOUND = PointBound(
    Theorem(
        name="dp-tv",
        example="convert --from dp --epsilon 1 --delta 1e-6 --to tv",
        statement="(ε, δ)-DP has total variation at most (e^ε − 1 + 2δ)/(e^ε + 1)",
        source="Kairouz, Oh & Viswanath 2015, Remark 2.2 and Theorem 2.1, arXiv:1311.0776v4",
        assumptions=(),
        errata=("Berthier 2019, §5.2, says that ε-DP implies ε-uniform stability; that needs bounded losses. In an "
                "interval of length R the stability is tanh(ε/2)·R, which is at most ε up to R = 2; the mean of cθ "
                "under Laplace noise changes by c times the sensitivity, for any c.",),
    ),
    gives=("tv",),
    params=("step_epsilon", "step_delta"),
    value=value,
    exact=exact,
    rtol=4e-15,
)
