"""An epoch of noisy SGD on smooth losses in a fixed order, without convexity: Gaussian DP of one position."""

from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, SOURCE, ratios, ratios_exact
from dpcalc.core.bound import GaussianDp, ProfileBound, Theorem


def mu(level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int, index: int) -> float:
    """μ of the record at the position, rounded up."""
    return ratios(level, lipschitz, learning_rate, smoothness)(n - index)


def mu_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int,
             index: int) -> Any:
    """The parameter μ at high precision."""
    return ratios_exact(mp, level, lipschitz, learning_rate, smoothness)(n - index)


def value(epsilon: float, **p: Any) -> float:
    """log θ(ε, μ), rounded up."""
    return log_gaussian(epsilon, mu(**p))


def exact(mp: Any, epsilon: float, **p: Any) -> Any:
    return theta(mp, epsilon, mu_exact(mp, **p))


BOUND = ProfileBound(
    Theorem(
        name="smooth-nonconvex-exact",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--index 500 --epsilon 1",
        statement="the record at position i is μ-GDP, μ² = (4L²/σ²)(1 − C^(−2))/(1 − C^(−2(n−i+1))), C = 1 + ηβ",
        source=f"{SOURCE} (the shift lemma in f-DP: Bok, Su & Altschuler 2024, arXiv:2403.00278)",
        assumptions=ASSUMPTIONS,
        riskier=("learning_rate",),
    ),
    params=(*SMOOTH, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-11,
    mu=GaussianDp(mu, mu_exact),
)
