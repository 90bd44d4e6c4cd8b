"""The privacy profile of several rounds of shuffled reports, composed numerically from that of one round.

The profile of one round need not be symmetric. But x₀ and x₁ may be exchanged, so both directions satisfy the bound at
ε >= 0, and each gives the mirror images for the other one: δ(−ε) = 1 − e^{−ε}(1 − δ′(ε)).
"""

from math import exp, sqrt, tanh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import shuffled_ldp_exact
from dpcalc.core.bound import ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

POINTS = 10  # a standard deviation of the loss, at which the profile of a round is known: adds about 1e-3 to ε
REACH = 12  # standard deviations of the loss that have points


def value(epsilon: float, n: int, step_epsilon: float) -> float:
    """log δ(ε) of one round."""
    return shuffled_ldp_exact.value(epsilon, n, step_epsilon)


def epsilons(n: int, step_epsilon: float) -> list[float]:
    """The ε at which the profile of a round is known. Any choice is valid."""
    coins = 1 + (n - 1) * 2 / (exp(min(step_epsilon, 700.0)) + 1)
    deviation = min(step_epsilon, 2 * tanh(step_epsilon / 2) / sqrt(coins))
    points = (deviation * k / POINTS for k in range(REACH * POINTS))
    return [*(x for x in points if x < step_epsilon), step_epsilon]


def pair(n: int, step_epsilon: float) -> "Pair":
    from dpcalc.pld.atoms import profile_at_points

    points = epsilons(n, step_epsilon)
    return profile_at_points(points, [value(x, n, step_epsilon) for x in points])


def exact(mp: Any, epsilon: float, n: int, step_epsilon: float) -> Any:
    return shuffled_ldp_exact.exact(mp, epsilon, n, step_epsilon)


BOUND = ProfileBound(
    Theorem(
        name="shuffled-ldp-profile",
        example="rdp --mechanism shuffled-ldp --n 10000 --step-epsilon 2 --steps 10 --delta 1e-6",
        statement="the profile of each round, known at points, composed numerically through the pair whose profile is "
                  "linear in e^ε between them",
        source="Feldman, McMillan & Talwar 2023, arXiv:2208.04591; proof in "
               "dpcalc/bounds/mechanisms/shuffled_ldp_exact.py; Doroshenko et al. 2022, Theorem 3.3, "
               "arXiv:2207.04380v3; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=shuffled_ldp_exact.ASSUMPTIONS,
    ),
    params=("n", "step_epsilon"),
    value=value,
    exact=exact,
    rtol=2e-8,
    pair=pair,
)
