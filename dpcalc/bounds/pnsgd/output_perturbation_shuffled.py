"""Rényi DP of output perturbation of shuffled SGD, by the mean of e^{(α−1)ε(α)} over positions."""

from math import exp
from typing import Any

from dpcalc.bounds.pnsgd._engine.nonconvex import log_mean_exp
from dpcalc.bounds.pnsgd._engine.output import (
    ASSUMPTIONS,
    ERRATUM,
    OUTPUT,
    RELEASED,
    SOURCE,
    log_factor,
    ratios,
    ratios_exact,
)
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_EXPONENT
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


def value(alpha: float, n: int, learning_rate: float, smoothness: float, strong_convexity: float, **p: float) -> float:
    """(1/(α−1)) log((1/n)Σ_m e^{(α−1)α(2ηL c^m/σ)²/2}), rounded up."""
    ratio = ratios(learning_rate=learning_rate, smoothness=smoothness, strong_convexity=strong_convexity, **p)(0)
    log_c = log_factor(learning_rate, smoothness, strong_convexity)
    peak = up(alpha / 2 * ratio * ratio, 1e-15)
    return log_mean_exp(alpha, peak, lambda j: exp(max(2 * (j - 1) * log_c, LEAST_EXPONENT)) if j > 1 else 1.0,
                        lambda j: 2 * log_c, n)


def exact(mp: Any, alpha: float, n: int, **p: float) -> Any:
    ratio, a = ratios_exact(mp, **p), mp.mpf(alpha)
    return mp.log1p(smooth_sum(mp, lambda j: mp.expm1((a - 1) * a * ratio(j - 1) ** 2 / 2), 1, n) / n) / (a - 1)


BOUND = RdpBound(
    Theorem(
        name="output-perturbation-shuffled",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--strong-convexity 0.1 --alpha 8 --bound output-perturbation",
        statement="ε(α) = (1/(α−1)) log((1/n)Σ_m e^((α−1)αs_m²/(2σ²))), s_m = 2ηL c^m, c = max(|1−ηρ|, |1−ηβ|)",
        source=f"Berthier 2019, Lemma 3.1; {SOURCE}",
        assumptions=(*ASSUMPTIONS, "the order is uniformly random and secret"),
        released=RELEASED,
        riskier=("learning_rate",),
        errata=ERRATUM,
    ),
    params=(*OUTPUT, "n"),
    value=value,
    exact=exact,
    rtol=1e-9,
)
