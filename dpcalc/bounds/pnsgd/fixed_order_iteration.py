"""Projected noisy SGD in a fixed order, by amplification by iteration: the privacy profile of one position."""

from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.iteration import CONSTANT, FELDMAN, ratios, ratios_exact
from dpcalc.bounds.pnsgd._engine.laws import gaussian_inverse, log_gaussian
from dpcalc.bounds.pnsgd._engine.step import SETTING
from dpcalc.core.bound import GaussianDp, ProfileBound, Theorem


def mu(level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float, n: int,
       index: int) -> float:
    """μ_m, m = n − i, rounded up."""
    return ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)(n - index)


def mu_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
             n: int, index: int) -> Any:
    """μ_m at high precision."""
    return ratios_exact(mp, level, lipschitz, learning_rate, strong_convexity)(n - index)


def value(epsilon: float, **p: Any) -> float:
    """log θ(ε, μ_m), rounded up."""
    return log_gaussian(epsilon, mu(**p))


def inverse(log_delta: float, **p: Any) -> float:
    """The least ε with θ(ε, μ_m) <= δ, rounded up."""
    return gaussian_inverse(log_delta, mu(**p))


def exact(mp: Any, epsilon: float, **p: Any) -> Any:
    return theta(mp, epsilon, mu_exact(mp, **p))


BOUND = ProfileBound(
    Theorem(
        name="fixed-order-iteration",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --epsilon 1",
        statement="the record at position i is μ-GDP, μ = (2L/σ)·c^m/√(Σ_{k≤m} c^(2k)), m = n − i, c = 1 − ηρ",
        source=FELDMAN,
        assumptions=(*SETTING, "η ≤ 2/(β+ρ)", "Gaussian noise"),
    ),
    params=(*CONSTANT, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-11,
    inverse=inverse,
    mu=GaussianDp(mu, mu_exact),
)
