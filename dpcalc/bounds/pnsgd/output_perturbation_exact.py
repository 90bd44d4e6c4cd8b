"""Output perturbation of SGD in a fixed order: the privacy profile of one position."""

from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.bounds.pnsgd._engine.output import ASSUMPTIONS, OUTPUT, RELEASED, SOURCE, ratios, ratios_exact
from dpcalc.core.bound import GaussianDp, ProfileBound, Theorem


def mu(n: int, index: int, **p: float) -> float:
    """2ηL c^{n−i}/σ, rounded up."""
    return ratios(**p)(n - index)


def mu_exact(mp: Any, n: int, index: int, **p: float) -> Any:
    """The parameter μ at high precision."""
    return ratios_exact(mp, **p)(n - index)


def value(epsilon: float, **p: Any) -> float:
    """log θ(ε, 2ηL c^{n−i}/σ), rounded up."""
    return log_gaussian(epsilon, mu(**p))


def exact(mp: Any, epsilon: float, **p: Any) -> Any:
    return theta(mp, epsilon, mu_exact(mp, **p))


BOUND = ProfileBound(
    Theorem(
        name="output-perturbation-exact",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--strong-convexity 0.1 --index 500 --epsilon 1 --bound output-perturbation",
        statement="the record at position i changes the output by at most 2ηL c^(n−i), c = max(|1−ηρ|, |1−ηβ|): δ(ε) "
                  "= θ(ε, 2ηL c^(n−i)/σ)",
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        released=RELEASED,
        riskier=("learning_rate",),
    ),
    params=(*OUTPUT, "n", "index"),
    value=value,
    exact=exact,
    rtol=2e-11,
    mu=GaussianDp(mu, mu_exact),
)
