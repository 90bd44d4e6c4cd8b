"""Projected noisy SGD in a fixed order, by amplification by iteration."""

from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd.iteration import CONSTANT, FELDMAN, ratios, ratios_exact
from dpcalc.bounds.pnsgd.laws import log_gaussian
from dpcalc.bounds.pnsgd.step import SETTING
from dpcalc.numerics.hockey_stick import epsilon_for


def value(epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
          n: int, index: int) -> float:
    """log θ(ε, μ_m), m = n − i."""
    return log_gaussian(epsilon, ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)(n - index))


def inverse(log_delta: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
            n: int, index: int) -> float:
    ratio = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)(n - index)
    return epsilon_for(log_delta * (1 + (5e-13 if log_delta > -0.5 else 6e-15)), ratio)


def exact(mp: Any, epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
          n: int, index: int) -> Any:
    return theta(mp, epsilon, ratios_exact(mp, level, lipschitz, learning_rate, strong_convexity)(n - index))


BOUND = Bound(
    name="fixed-order-iteration",
    kind="profile",
    statement="the record at position i is μ-GDP, μ = (2L/σ)·c^m/√(Σ_{k<=m} c^(2k)), m = n − i, c = 1 − ηρ",
    source=FELDMAN,
    assumptions=(*SETTING, "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-11,
    inverse=inverse,
)
