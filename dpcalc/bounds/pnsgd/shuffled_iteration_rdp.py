"""Shuffled projected noisy SGD, by amplification by iteration: Rényi DP by the mean over positions."""

from collections.abc import Callable
from math import exp, expm1, inf
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.iteration import CONSTANT, FELDMAN, ratios
from dpcalc.bounds.pnsgd.nonconvex import log_mean_exp
from dpcalc.bounds.pnsgd.positions import LOWEST
from dpcalc.bounds.pnsgd.step import SETTING, factor_exact
from dpcalc.numerics.mpsum import smooth_sum
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
          n: int) -> float:
    """(1/(α−1)) log((1/n)Σ_m e^{(α−1)αμ_m²/2})."""
    ratio = ratios(level, lipschitz, learning_rate, smoothness, strong_convexity)
    return log_mean_exp(alpha, up(alpha / 2 * ratio.first * ratio.first, 1e-15), *_share_and_slope(-2 * ratio.log_c), n)


def _share_and_slope(s: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """j = m + 1 → c^{2m}/Σ_{k<=m} c^{2k}, completely monotone, and the derivative of its log; s = −2 log c."""
    if s == 0:
        return (lambda j: 1 / j), (lambda j: -1 / j)
    if s == inf:
        return (lambda j: float(j <= 1)), (lambda j: 0.0)
    return (lambda j: exp(max(-s * (j - 1), LOWEST)) * (expm1(-s) / expm1(-s * j))), (lambda j: s / expm1(-s * j))


def exact(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float,
          n: int) -> Any:
    a, share = mp.mpf(alpha), share_exact(mp, learning_rate, strong_convexity)
    peak = 2 * a * (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.log1p(smooth_sum(mp, lambda j: mp.expm1((a - 1) * peak * share(j)), 1, n) / n) / (a - 1)


def share_exact(mp: Any, learning_rate: float, strong_convexity: float) -> Callable[[Any], Any]:
    """The same share at high precision."""
    c = factor_exact(mp, learning_rate, strong_convexity)
    if c == 1:
        return lambda j: 1 / mp.mpf(j)
    if not c > 0:
        return lambda j: mp.mpf(j <= 1)
    s = -2 * mp.log(c)
    return lambda j: mp.exp(-s * (j - 1)) * mp.expm1(-s) / mp.expm1(-s * j)


BOUND = Bound(
    name="shuffled-iteration-rdp",
    kind="rdp",
    statement="ε(α) = (1/(α−1)) log((1/n)Σ_{m<n} e^((α−1)αμ_m²/2)), μ_m as in shuffled-iteration",
    source=f"{FELDMAN}; Berthier 2019, Lemma 3.1",
    assumptions=(*SETTING, "the order is uniformly random and secret", "η <= 2/(β+ρ)", "Gaussian noise"),
    params=(*CONSTANT, "n"),
    value=value,
    exact=exact,
    rtol=1e-9,
)
