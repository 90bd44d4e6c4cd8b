"""Bounds from one function, m → μ_m: the Gaussian-DP parameter of the record that m more steps follow.

At a known place the record is μ_m-GDP. In a secret uniform order the profile is at most the mean of those of all places
(joint convexity), and e^{(α−1)ε(α)} at most the mean of e^{(α−1)αμ_m²/2} (Berthier 2019, Lemma 3.1).
"""

from collections.abc import Callable
from math import exp, expm1, log, log1p
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, LEAST_RATIO, gaussian_inverse, log_gaussian
from dpcalc.bounds.pnsgd._engine.positions import FINE, average_exact, average_theta, invert
from dpcalc.bounds.pnsgd._engine.shares import Powers, Ratio, Shares
from dpcalc.bounds.pnsgd._engine.smooth_sums import total
from dpcalc.core.bound import Blocks, GaussianDp, ProfileBound, RdpBound, Theorem
from dpcalc.numerics.mp.memo import cached_sequence
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


class Family(NamedTuple):
    """A kind of run by its μ_m. Every function takes the parameters by name."""

    params: tuple[str, ...]
    kind: type[Shares] | type[Powers]  # how μ_m depends on μ_0 and c
    start: Callable[..., tuple[float, float]]  # μ_0 and log c, rounded up; raises OutOfScope
    start_exact: Callable[..., tuple[Any, Any]]  # (mp, *params) → μ_0 and c at high precision

    def ratios(self, **p: float) -> Ratio:
        """The function m → μ_m, rounded up."""
        return self.kind(*self.start(**p))

    def ratios_exact(self, mp: Any, **p: float) -> Callable[[int], Any]:
        """The same at high precision."""
        return _ratios_exact(mp, self, **p)

    def rdp_exact(self, mp: Any, alpha: float, **p: float) -> Callable[[Any], Any]:
        """The function j → αμ_m²/2, j = m + 1, at high precision; j need not be whole."""
        first, c = self.start_exact(mp, **p)
        share = self.kind.share_exact(mp, c)
        return lambda j: mp.mpf(alpha) * first**2 / 2 * share(j)

    def fixed(self, theorem: Theorem) -> ProfileBound:
        """The profile of the record at a known place."""

        def mu(n: int, index: int, **p: float) -> float:
            return self.ratios(**p)(n - index)

        def mu_exact(mp: Any, n: int, index: int, **p: float) -> Any:
            return self.ratios_exact(mp, **p)(n - index)

        return ProfileBound(theorem, (*self.params, "n", "index"), lambda epsilon, **p: log_gaussian(epsilon, mu(**p)),
                            lambda mp, epsilon, **p: theta(mp, epsilon, mu_exact(mp, **p)), rtol=2e-11,
                            inverse=lambda log_delta, **p: gaussian_inverse(log_delta, mu(**p)),
                            mu=GaussianDp(mu, mu_exact))

    def fixed_rdp(self, theorem: Theorem, rtol: float) -> RdpBound:
        """Rényi DP of the record at a known place."""

        def value(alpha: float, n: int, index: int, **p: float) -> float:
            """αμ_m²/2, rounded up; at least LEAST_RATIO except for an exact 0, as it may underflow."""
            mu, m = self.ratios(**p), n - index
            error = 1e-15 * (4 + min(2 * m * max(-mu.log_c, 0.0), -LEAST_EXPONENT)) if m else 1e-15
            return max(up(alpha / 2 * mu.first * mu.first * mu.share(m + 1), error), LEAST_RATIO) if mu(m) else 0.0

        def exact(mp: Any, alpha: float, n: int, index: int, **p: float) -> Any:
            return mp.mpf(alpha) * self.ratios_exact(mp, **p)(n - index) ** 2 / 2

        return RdpBound(theorem, (*self.params, "n", "index"), value, exact, rtol)

    def shuffled(self, theorem: Theorem, rtol: float = 2e-11) -> ProfileBound:
        """The mean of the profiles over positions, in blocks, rounded up."""

        def value(epsilon: float, n: int, **p: float) -> float:
            return average_theta(epsilon, self.ratios(**p), n)

        def inverse(log_delta: float, n: int, start: float | None = None, **p: float) -> float:
            mu = self.ratios(**p)
            return invert(lambda e, fine: average_theta(e, mu, n, fine if fine < FINE else None), log_delta, start)

        def blocks(epsilon: Any, fine: int, n: int, ways: dict[float, Any] | None = None, **p: float) -> Any:
            from dpcalc.bounds.pnsgd._engine import averages

            return averages.average_theta(epsilon, self.ratios(**p), n, fine, ways)

        def exact(mp: Any, epsilon: float, n: int, way: int | None = None, **p: float) -> Any:
            return average_exact(mp, epsilon, self.ratios_exact(mp, **p), self.ratios(**p), n, way)

        return ProfileBound(theorem, (*self.params, "n"), value, exact, rtol, inverse=inverse,
                            blocks=Blocks(FINE, blocks))

    def shuffled_rdp(self, theorem: Theorem) -> RdpBound:
        """Rényi DP by the mean over positions."""

        def value(alpha: float, n: int, **p: float) -> float:
            """(1/(α−1)) log((1/n)Σ_m e^{(α−1)αμ_m²/2}), rounded up; μ_m² is completely monotone in m."""
            return log_mean_exp(alpha, self.ratios(**p), n)

        def exact(mp: Any, alpha: float, n: int, **p: float) -> Any:
            a1, rdp = mp.mpf(alpha) - 1, self.rdp_exact(mp, alpha, **p)
            return mp.log1p(smooth_sum(mp, lambda j: mp.expm1(a1 * rdp(j)), 1, n) / n) / a1

        return RdpBound(theorem, (*self.params, "n"), value, exact, rtol=1e-9)


@cached_sequence
def _ratios_exact(mp: Any, family: Family, **p: float) -> Callable[[int], Any]:
    first, c = family.start_exact(mp, **p)
    return lambda m: family.kind.exact(mp, first, c, m)


def log_mean_exp(alpha: float, mu: Ratio, n: int) -> float:
    """(1/(α−1)) log((1/n)Σ_{j=1}^n e^{(α−1)ε_j}), rounded up, with ε_j = αμ_m²/2, j = m + 1."""
    share, slope = mu.share, mu.log_share_slope
    peak = up(alpha / 2 * mu.first * mu.first, 1e-15)
    x = (alpha - 1) * peak
    if x > 300:  # exponentials may overflow: in units of the largest term
        def term(j: float) -> float:
            return exp(max(x * (share(j) - 1), LEAST_EXPONENT))

        sums = total(term, lambda j: x * share(j) * slope(j) * term(j), n)
        return min(peak, up((x + log(sums) - log(n)) / (alpha - 1), 1e-12))
    sums = total(lambda j: expm1(x * share(j)), lambda j: x * share(j) * slope(j) * exp(x * share(j)), n)
    return min(peak, up(log1p(sums / n) / (alpha - 1), 1e-12))
