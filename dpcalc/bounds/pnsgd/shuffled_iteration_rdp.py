"""Rényi DP of shuffled projected noisy SGD, by amplification by iteration and the mean over positions."""

from collections.abc import Callable
from math import exp, expm1, inf
from typing import Any

from dpcalc.bounds.pnsgd import shuffled_iteration as iteration
from dpcalc.bounds.pnsgd._engine.iteration import ratios
from dpcalc.bounds.pnsgd._engine.nonconvex import log_mean_exp
from dpcalc.bounds.pnsgd._engine.positions import log_share
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_EXPONENT
from dpcalc.bounds.pnsgd._engine.step import factor_exact
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int) -> float:
    """(1/(α−1)) log((1/n)Σ_m e^{(α−1)αμ_m²/2}), rounded up; μ_m² is completely monotone in j = m + 1."""
    first, log_c = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)
    return log_mean_exp(alpha, up(alpha / 2 * first * first, 1e-15),
                        lambda j: exp(max(log_share(log_c, j - 1), LEAST_EXPONENT)), _log_slope(-2 * log_c), n)


def _log_slope(s: float) -> Callable[[float], float]:
    """The derivative of log μ_m² by j = m + 1, from s = −2 log c."""
    if s == 0:
        return lambda j: -1 / j
    return lambda j: s / expm1(-s * j) if s < inf else 0.0


def exact(mp: Any, alpha: float, n: int, **p: float) -> Any:
    a1, rdp = mp.mpf(alpha) - 1, rdp_exact(mp, alpha, **p)
    return mp.log1p(smooth_sum(mp, lambda j: mp.expm1(a1 * rdp(j)), 1, n) / n) / a1


def rdp_exact(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
              strong_convexity: float) -> Callable[[Any], Any]:
    """The function j → αμ_m²/2, j = m + 1, at high precision; j need not be whole."""
    peak = 2 * mp.mpf(alpha) * (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    c = factor_exact(mp, learning_rate, strong_convexity)
    if c == 1:
        return lambda j: peak / j
    if not c > 0:
        return lambda j: peak if j <= 1 else 0 * peak
    s = -2 * mp.log(c)
    return lambda j: peak * mp.exp(-s * (j - 1)) * mp.expm1(-s) / mp.expm1(-s * j)


BOUND = RdpBound(
    Theorem(
        name=f"{iteration.BOUND.name}-rdp",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--alpha 8",
        statement="ε(α) = (1/(α−1)) log((1/n)Σ_{m<n} e^((α−1)αμ_m²/2)), μ_m as in shuffled-iteration",
        source=f"{iteration.BOUND.source.removesuffix('; joint convexity')}; Berthier 2019, Lemma 3.1",
        assumptions=iteration.BOUND.theorem.assumptions,
    ),
    params=iteration.BOUND.params,
    value=value,
    exact=exact,
    rtol=1e-9,
)
