"""E epochs that are μ-GDP each, with the outputs of all epochs released: they compose to √E·μ-GDP."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.pnsgd._engine.laws import gaussian_inverse, log_gaussian
from dpcalc.core.bound import Bound
from dpcalc.core.least_epsilon import least_epsilon
from dpcalc.numerics.rounding import up


@lru_cache(maxsize=16)
def composed(bound: Bound) -> Bound:
    """The bound for `steps` epochs in closed form, from one for an epoch that has `mu` and `mu_exact`."""
    one, one_exact = bound.mu, bound.mu_exact
    assert one is not None and one_exact is not None

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

    return bound._replace(params=(*bound.params, "steps"), value=value, inverse=inverse, exact=exact, mu=mu,
                          mu_exact=mu_exact,
                          statement=f"{bound.statement}; E epochs are √E·μ-GDP",
                          source=f"{bound.source}; epochs: Dong, Roth & Su 2022, Corollary 3.3, arXiv:1905.02383v3",
                          assumptions=(*bound.assumptions, "the outputs of all epochs are released"))
