"""Output perturbation of shuffled SGD: the mean of the exact privacy profiles over positions."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.output import (
    ASSUMPTIONS,
    OUTPUT,
    RELEASED,
    SOURCE,
    ratios,
    ratios_exact,
    unchecked_ratios,
)
from dpcalc.bounds.pnsgd._engine.positions import COARSE, FINE, average_exact, average_theta
from dpcalc.core.bound import Blocks, ProfileBound, Theorem


def value(epsilon: float, n: int, **p: float) -> float:
    """log of (1/n)Σ_m θ(ε, 2ηL c^m/σ), rounded up by blocks."""
    return average_theta(epsilon, ratios(**p), n)


def blocks(epsilon: Any, fine: int, n: int, ways: dict[float, Any] | None = None, **p: float) -> Any:
    """`value` of an array of ε, rounded up by blocks of at most 1/fine of the positions before them."""
    from dpcalc.bounds.pnsgd._engine.averages import average_theta as average

    return average(epsilon, ratios(**p), n, fine if fine <= COARSE else FINE, ways)


def exact(mp: Any, epsilon: float, n: int, way: int | None = None, **p: float) -> Any:
    return average_exact(mp, epsilon, ratios_exact(mp, **p), unchecked_ratios(**p), n, way)


BOUND = ProfileBound(
    Theorem(
        name="output-perturbation-shuffled-exact",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--strong-convexity 0.1 --epsilon 1 --bound output-perturbation",
        statement="δ(ε) ≤ (1/n)Σ_{m<n} θ(ε, 2ηL c^m/σ), c = max(|1−ηρ|, |1−ηβ|); the sum is taken from above in "
                  "blocks, by chords of θ, at most 1.6 % above it (exact to n = 64)",
        source=f"{SOURCE}; joint convexity",
        assumptions=(*ASSUMPTIONS, "the order is uniformly random and secret"),
        released=RELEASED,
        riskier=("learning_rate",),
    ),
    params=(*OUTPUT, "n"),
    value=value,
    exact=exact,
    rtol=2e-10,
    blocks=Blocks(FINE, blocks),
)
