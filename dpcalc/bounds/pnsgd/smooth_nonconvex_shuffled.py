"""Rényi DP of an epoch of shuffled noisy SGD on smooth losses, without convexity, by the mean over positions."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, SOURCE, log_mean_exp, log_spread, share_and_slope
from dpcalc.bounds.pnsgd.smooth_nonconvex import exact as fixed_exact
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int) -> float:
    """(1/(α−1)) log((1/n)Σ_t e^{(α−1)ε_t(α)}), rounded up."""
    peak = up(2 * alpha * (lipschitz / level) ** 2, 2e-15)
    return log_mean_exp(alpha, peak, *share_and_slope(log_spread(learning_rate, smoothness)), n)


def exact(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
          n: int) -> Any:
    a1 = mp.mpf(alpha) - 1

    def term(j: Any) -> Any:
        return mp.expm1(a1 * fixed_exact(mp, alpha, level, lipschitz, learning_rate, smoothness, n, n + 1 - j))

    return mp.log1p(smooth_sum(mp, term, 1, n) / n) / a1


BOUND = RdpBound(
    Theorem(
        name="smooth-nonconvex-shuffled",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--alpha 8",
        statement="ε(α) = (1/(α−1)) log((1/n)Σ_t e^((α−1)ε_t(α))), ε_t(α) = (2αL²/σ²)(1 − C^(−2))/(1 − "
                  "C^(−2(n−t+1))), C = 1 + ηβ",
        source=f"Berthier 2019, Lemma 3.1 with Theorem 3.6; {SOURCE.split('; ')[1]}",
        assumptions=(*ASSUMPTIONS, "the order is uniformly random and secret"),
        riskier=("learning_rate",),
        errata=("Berthier 2019, Proposition 3.1, prints asymptotic forms that are not bounds: with η = 1/(βn) the sum "
                "is "
                "(log n + 1.739)/n, "
                "25 % above the print at n = 1000; with η = 1/(β√n) the true order is 2/√n, without the logarithm.",),
    ),
    params=(*SMOOTH, "n"),
    value=value,
    exact=exact,
    rtol=1e-9,
)
