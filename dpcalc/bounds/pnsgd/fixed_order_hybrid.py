"""Projected noisy SGD in a fixed order, by iteration and contraction together: the sharpest bound here."""

from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.chain import follow
from dpcalc.bounds.pnsgd.iteration import CONSTANT, path, walk_exact
from dpcalc.bounds.pnsgd.step import SETTING


def _later(n: int, index: int) -> int:
    return n - index + 1


def value(epsilon: float, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int, index: int) -> float:
    """log d_m, m = n − i."""
    along = path(_later(n, index), level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    return follow(epsilon, along)[0][-1]


def exact(mp: Any, epsilon: float, level: float, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int, index: int) -> Any:
    along = path(_later(n, index), level, lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    links = follow(epsilon, along)[1]
    return walk_exact(mp, epsilon, links, along.nodes, level, lipschitz, diameter, learning_rate, strong_convexity)[-1]


BOUND = Bound(
    name="fixed-order-hybrid",
    kind="profile",
    statement="δ(ε) <= d_m, m = n − i; d_0 = θ(ε, 2L/σ), d_m = min{θ(ε, μ_m), F_k(d_{m−k})} over block lengths k, "
    "F_k(d) = d·θ(log(1 + (e^ε−1)/d), κ_k), κ_k = (D/(ησ))·c^k/√(Σ_{j<k} c^(2j)), c = 1 − ηρ",
    source="dpcalc, bounds/pnsgd/chain.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*SETTING, "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "diameter", "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-9,
    margin=3e-10,
)
