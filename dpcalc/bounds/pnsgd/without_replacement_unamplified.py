"""Gaussian DP of SGD without replacement in partial passes, each of which uses a record at most once.

Proof. Fix the orders of all passes, which do not depend on the record. It is used in at most k = ⌈E/τ⌉ steps, the same
ones on both data sets; the other steps are equal, given the outputs before them. Each of the k is a Gaussian mechanism
of sensitivity 2L, chosen in view of the outputs before it, so that all together are dominated by one of sensitivity
2L√k (Dong, Roth & Su 2022, Corollary 3.3). Random orders give a mixture of such pairs with equal weights, and a
hockey-stick divergence is jointly convex. ∎ """

from math import sqrt
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.pnsgd.without_replacement import ASSUMPTIONS, EXAMPLE, RUN, passes_begun
from dpcalc.core.bound import Theorem
from dpcalc.numerics.rounding import up


def mu(level: float, lipschitz: float, n: int, tau: float, passes: float) -> float:
    """2L√⌈E/τ⌉/σ, rounded up."""
    return up(2 * lipschitz / level * sqrt(passes_begun(passes, tau)), 5e-16)


def exact_mu(mp: Any, level: float, lipschitz: float, n: int, tau: float, passes: float) -> Any:
    return 2 * mp.mpf(lipschitz) / mp.mpf(level) * mp.sqrt(passes_begun(passes, tau))


BOUND = gaussian_bound(Theorem(
    name="without-replacement-unamplified", example=EXAMPLE,
    statement="μ = (2L/σ)√⌈E/τ⌉: each of E/τ passes, the last maybe only begun, is one Gaussian release of "
              "sensitivity 2L for the record; δ(ε) ≤ θ(ε, μ) and ε(α) = αμ²/2",
    source="proof in dpcalc/bounds/pnsgd/without_replacement_unamplified.py, from Dong, Roth & Su 2022, Corollary "
           "3.3, arXiv:1905.02383v3",
    assumptions=ASSUMPTIONS, released="every iterate",
), params=RUN, mu=mu, exact_mu=exact_mu, rtol=2e-12)
