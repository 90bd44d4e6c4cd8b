"""Rényi DP of an epoch of shuffled noisy SGD on smooth losses with much noise: twice the mean over positions."""

from math import sqrt
from typing import Any

from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, log_spread, share_and_slope
from dpcalc.bounds.pnsgd._engine.smooth_sums import total
from dpcalc.bounds.pnsgd.smooth_nonconvex import exact as fixed_exact
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up


def value(alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float, n: int) -> float:
    """(2/n)Σ_t ε_t(α), rounded up. Raises OutOfScope where σ < L√(2α(α−1))."""
    refuse_little_noise(alpha, level, lipschitz)
    share, slope = share_and_slope(log_spread(learning_rate, smoothness))
    mean = total(share, lambda j: share(j) * slope(j), n) / n
    return up(4 * alpha * (lipschitz / level) ** 2 * mean, 4e-15)


def refuse_little_noise(alpha: float, level: float, lipschitz: float) -> None:
    """Raises OutOfScope where σ < L√(2α(α−1)), which the theorem does not cover."""
    least = lipschitz * sqrt(2 * alpha * (alpha - 1))
    if level < least:
        raise OutOfScope("out-of-range",
                         f"{plain(level)} < L√(2α(α−1)) = {human(least)}; Section 3.3.2 (Berthier 2019) needs "
                         "that much noise",
                         "--sigma")


def exact(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float, smoothness: float,
          n: int) -> Any:
    refuse_little_noise(alpha, level, lipschitz)
    return 2 * smooth_sum(mp, lambda j: fixed_exact(mp, alpha, level, lipschitz, learning_rate, smoothness, n,
                                                    n + 1 - j), 1, n) / n


BOUND = RdpBound(
    Theorem(
        name="smooth-nonconvex-high-noise",
        example="shuffle-pnsgd --sigma 50 --lipschitz 1 --learning-rate 0.01 --smoothness 0.5 --n 1000 --alpha 8 "
                "--bound smooth-nonconvex-high-noise",
        statement="ε(α) = (2/n)Σ_t ε_t(α) where σ ≥ L√(2α(α−1)); there (α−1)ε_t ≤ 1, and the mean of "
                  "smooth-nonconvex-shuffled is at most e − 1 times the plain one",
        source="Berthier 2019, Section 3.3.2; Feldman, Mironov, Talwar & Thakurta 2018, Lemma 25, arXiv:1808.06651",
        assumptions=(*ASSUMPTIONS, "the order is uniformly random and secret", "σ ≥ L√(2α(α−1))"),
        riskier=("learning_rate",),
    ),
    params=(*SMOOTH, "n"),
    value=value,
    exact=exact,
    rtol=1e-9,
)
