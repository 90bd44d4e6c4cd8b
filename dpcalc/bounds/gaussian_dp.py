"""Bounds that say: the run is μ-GDP, for a μ of its parameters. Their profile is that of one Gaussian mechanism."""

from collections.abc import Callable
from typing import Any

from dpcalc.bounds.conversions import gdp
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.core.bound import NO_CHOICES, Choices, GaussianDp, ProfileBound, Theorem


def gaussian_bound(theorem: Theorem, params: tuple[str, ...], mu: Callable[..., float], exact_mu: Callable[..., Any],
                   rtol: float, choices: Choices = NO_CHOICES) -> ProfileBound:
    """The bound of a theorem by its μ: `mu` rounds it up, and `exact_mu`, whose first argument is mp, has it as stated.

    Where `choices` are searched for a value, μ depends on them too, and is not proven again from the parameters alone.
    """

    def value(epsilon: float, **own: Any) -> float:
        return gdp.value(epsilon, mu(**own), 1)

    def inverse(log_delta: float, **own: Any) -> float:
        return gdp.inverse(log_delta, mu(**own), 1)

    def rdp(alpha: float, **own: Any) -> float:
        return gdp.rdp(alpha, mu(**own))

    def exact(mp: Any, epsilon: float, **own: Any) -> Any:
        return gaussian.theta(mp, epsilon, exact_mu(mp, **own))

    return ProfileBound(theorem=theorem, params=params, value=value, exact=exact, rtol=rtol, inverse=inverse, rdp=rdp,
                        choices=choices, mu=GaussianDp(mu, exact_mu))
