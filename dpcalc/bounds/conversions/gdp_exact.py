"""The privacy profile of Gaussian differential privacy."""

from typing import Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.core.bound import ProfileBound, Theorem


def value(epsilon: float, mu: float, steps: int) -> float:
    """log δ(ε) = log θ(ε, μ√T)."""
    return gaussian.value(epsilon, 1.0, mu, steps)


def inverse(log_delta: float, mu: float, steps: int) -> float:
    """The least ε with δ(ε) <= δ, rounded up."""
    return gaussian.inverse(log_delta, 1.0, mu, steps)


def exact(mp: Any, epsilon: float, mu: float, steps: int) -> Any:
    return gaussian.theta(mp, epsilon, mp.mpf(mu) * mp.sqrt(steps))


BOUND = ProfileBound(
    Theorem(
        name="gdp-exact",
        example="convert --from gdp --mu 1 --delta 1e-5",
        statement="μ-GDP is (ε, θ(ε, μ))-DP for every ε, and T of them compose to μ√T",
        source="Dong, Roth & Su 2022, Corollaries 2.13 and 3.3, arXiv:1905.02383v3",
        assumptions=(),
    ),
    params=("mu", "steps"),
    value=value,
    exact=exact,
    rtol=2e-12,
    inverse=inverse,
)
