"""Noisy SGD over a stream, a Gaussian noise level for each step: the guarantee of one index, by iteration."""

from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.online._engine.levels import Levels
from dpcalc.bounds.online._engine.setting import ASSUMPTIONS, STREAM
from dpcalc.bounds.online._engine.shift import finite, record_ratio, sums_exact
from dpcalc.bounds.pnsgd._engine.laws import gaussian_inverse, log_gaussian
from dpcalc.bounds.pnsgd._engine.step import factor_exact
from dpcalc.core.bound import GaussianDp, ProfileBound, Theorem


def mu(levels: Levels, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float, n: float,
       index: int) -> float:
    """μ_i, rounded up."""
    return record_ratio(levels, lipschitz, learning_rate, smoothness, strong_convexity, finite(n), index)


def value(epsilon: float, levels: Levels, **p: Any) -> float:
    """log θ(ε, μ_i)."""
    return log_gaussian(epsilon, mu(levels, **p))


def inverse(log_delta: float, **p: Any) -> float:
    return gaussian_inverse(log_delta, mu(**p))


def exact(mp: Any, epsilon: float, levels: Levels, lipschitz: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int, index: int) -> Any:
    c = factor_exact(mp, learning_rate, strong_convexity)
    total = sums_exact(mp, levels, c, index, n)
    return theta(mp, epsilon, 2 * mp.mpf(lipschitz) * c ** (n - index) / mp.sqrt(total))


BOUND = ProfileBound(
    Theorem(
        name="online-iteration",
        example="online-noise --decay 2 --c1 9 --c2 9 --lipschitz 1 --diameter 1 --smoothness 1 --learning-rate 0.1 "
                "--n 1e6 --index 2 --epsilon 1",
        statement="the record at index i is μ-GDP, μ = 2L c^(n−i)/√(Σ_{t=i..n} c^(2(n−t)) σ_t²), c = 1 − ηρ; for c < "
                  "1 beyond 512 steps the sum is taken from below in blocks of at most 1/512 of the steps before them",
        source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, arXiv:1808.06651; Bok, Su & Altschuler 2024, "
               "arXiv:2403.00278",
        assumptions=(*ASSUMPTIONS, "Gaussian noise"),
    ),
    params=tuple(p for p in STREAM if p != "diameter"),
    value=value,
    exact=exact,
    rtol=5e-9,
    inverse=inverse,
    mu=GaussianDp(mu),
)
