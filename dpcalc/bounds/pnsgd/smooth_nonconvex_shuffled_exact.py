"""An epoch of shuffled noisy SGD on smooth losses, without convexity: the mean of the profiles over positions."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, SOURCE, ratios, ratios_exact
from dpcalc.bounds.pnsgd._engine.positions import FINE, average_exact, average_theta, invert_average
from dpcalc.core.bound import Blocks, ProfileBound, Theorem


def value(epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int) -> float:
    """log of (1/n)Σ_t θ(ε, μ_t), rounded up by blocks."""
    return average_theta(epsilon, ratios(level, lipschitz, learning_rate, smoothness), n)


def inverse(log_delta: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int) -> float:
    """The least ε with (1/n)Σ_t θ(ε, μ_t) <= δ, never less."""
    return invert_average(log_delta, ratios(level, lipschitz, learning_rate, smoothness), n)


def blocks(epsilon: Any, fine: int, level: float, lipschitz: float, learning_rate: float, smoothness: float,
         n: int, ways: dict[float, Any] | None = None) -> Any:
    """`value` of an array of ε, rounded up by blocks of at most 1/fine of the positions before them."""
    from dpcalc.bounds.pnsgd._engine.averages import average_theta as average

    return average(epsilon, ratios(level, lipschitz, learning_rate, smoothness), n, fine, ways)


def exact(mp: Any, epsilon: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int,
          way: int | None = None) -> Any:
    p = level, lipschitz, learning_rate, smoothness
    return average_exact(mp, epsilon, ratios_exact(mp, *p), ratios(*p), n, way)


BOUND = ProfileBound(
    Theorem(
        name="smooth-nonconvex-shuffled-exact",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--epsilon 1",
        statement="δ(ε) ≤ (1/n)Σ_t θ(ε, μ_t), μ_t² = (4L²/σ²)(1 − C^(−2))/(1 − C^(−2(n−t+1))), C = 1 + ηβ; the sum "
                  "is taken from above in blocks, by chords of θ, at most 1.6 % above it (exact to n = 64; less than "
                  ".5 % where ε ≤ 15)",
        source=f"{SOURCE}; joint convexity",
        assumptions=(*ASSUMPTIONS, "the order is uniformly random and secret"),
        riskier=("learning_rate",),
    ),
    params=(*SMOOTH, "n"),
    value=value,
    exact=exact,
    rtol=2e-11,
    inverse=inverse,
    blocks=Blocks(FINE, blocks),
)
