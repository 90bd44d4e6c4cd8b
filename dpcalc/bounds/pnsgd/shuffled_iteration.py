"""Shuffled projected noisy SGD: the privacy profile by amplification by iteration, averaged over positions."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.iteration import CONSTANT, FELDMAN, ratios, ratios_exact, unchecked_ratios
from dpcalc.bounds.pnsgd._engine.positions import FINE, average_exact, average_theta, invert_average
from dpcalc.bounds.pnsgd._engine.step import SETTING
from dpcalc.core.bound import Blocks, ProfileBound, Theorem


def value(epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int) -> float:
    """log of (1/n)Σ_m θ(ε, μ_m), rounded up by blocks."""
    return average_theta(epsilon, ratios(level, lipschitz, learning_rate, smoothness, strong_convexity), n)


def inverse(log_delta: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
            strong_convexity: float, n: int) -> float:
    """The least ε with (1/n)Σ_m θ(ε, μ_m) <= δ, never less."""
    return invert_average(log_delta, ratios(level, lipschitz, learning_rate, smoothness, strong_convexity), n)


def blocks(epsilon: Any, fine: int, level: float, lipschitz: float, learning_rate: float, smoothness: float,
         strong_convexity: float, n: int, ways: dict[float, Any] | None = None) -> Any:
    """`value` of an array of ε, rounded up by blocks of at most 1/fine of the positions before them."""
    from dpcalc.bounds.pnsgd._engine.averages import average_theta as average

    return average(epsilon, ratios(level, lipschitz, learning_rate, smoothness, strong_convexity), n, fine, ways)


def exact(mp: Any, epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int, way: int | None = None) -> Any:
    p = level, lipschitz, learning_rate, strong_convexity
    return average_exact(mp, epsilon, ratios_exact(mp, *p), unchecked_ratios(*p), n, way)


BOUND = ProfileBound(
    Theorem(
        name="shuffled-iteration",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--epsilon 1",
        statement="δ(ε) ≤ (1/n)Σ_{m<n} θ(ε, μ_m), μ_m = (2L/σ)·c^m/√(Σ_{k≤m} c^(2k)), c = 1 − ηρ; the sum is taken "
                  "from above in blocks, by chords of θ, at most 1.6 % above it (exact to n = 64; less than .5 % "
                  "where ε ≤ 15 and nηρ ≤ 1/4)",
        source=f"{FELDMAN}; joint convexity",
        assumptions=(*SETTING, "the order is uniformly random and secret", "η ≤ 2/(β+ρ)", "Gaussian noise"),
    ),
    params=(*CONSTANT, "n"),
    value=value,
    exact=exact,
    rtol=2e-11,
    inverse=inverse,
    blocks=Blocks(FINE, blocks),
)
