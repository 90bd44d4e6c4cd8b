"""E epochs that are μ-GDP each, with the outputs of all epochs released: they compose to √E·μ-GDP."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import gaussian_inverse, log_gaussian
from dpcalc.core.bound import GaussianDp, ProfileBound
from dpcalc.core.least_epsilon import least_epsilon
from dpcalc.numerics.rounding import up


@lru_cache(maxsize=16)
def composed(bound: ProfileBound) -> ProfileBound:
    """The bound for `steps` epochs in closed form, from one for an epoch that is exactly μ-GDP."""
    assert bound.mu is not None and bound.mu.exact is not None
    one, one_exact = bound.mu.mu, bound.mu.exact

    def mu(steps: int, **p: Any) -> float:
        return up(one(**p) * sqrt(steps), 5e-16) if steps > 1 else one(**p)

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return log_gaussian(epsilon, mu(steps, **p)) if steps > 1 else float(bound.value(epsilon, **p))

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return gaussian_inverse(log_delta, mu(steps, **p)) if steps > 1 else least_epsilon(bound, log_delta, p)

    def mu_exact(mp: Any, steps: int, **p: Any) -> Any:
        return one_exact(mp, **p) * mp.sqrt(steps)

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return theta(mp, epsilon, mu_exact(mp, steps, **p))

    once = bound.theorem
    theorem = once._replace(statement=f"{once.statement}; E epochs are √E·μ-GDP",
                            source=f"{once.source}; epochs: Dong, Roth & Su 2022, Corollary 3.3, arXiv:1905.02383v3",
                            assumptions=(*once.assumptions, "the outputs of all epochs are released"))
    return replace(bound, theorem=theorem, params=(*bound.params, "steps"), value=value, inverse=inverse, exact=exact,
                   mu=GaussianDp(mu, mu_exact))
