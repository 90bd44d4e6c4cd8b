"""Gaussian differential privacy of pure differential privacy.

Proof. Thresholding N(0,1) against N(μ,1) at μ/2 is randomised response with p = Φ(μ/2), and every ε-DP pair is a
post-processing of randomised response with p = e^ε/(1+e^ε). So μ = 2Φ⁻¹(e^ε/(1+e^ε)) suffices, and since the
trade-off curves touch at that point, no smaller μ does.
"""

from math import exp, log1p, pi, sqrt
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.normal import log_tail
from dpcalc.numerics.root import boundary, bracket
from dpcalc.numerics.rounding import up


def value(step_epsilon: float, steps: int) -> dict[str, float]:
    """μ = −2Φ⁻¹(1/(1+e^ε))·√T: the least that covers every ε-DP mechanism, composed T times."""
    return {"mu": up(_mu_of_one(step_epsilon) * sqrt(steps), 5e-16)}


def _mu_of_one(step_epsilon: float) -> float:
    if step_epsilon < 1e-3:
        # 2Φ(μ/2) − 1 = tanh(ε/2), both odd: μ = ε√(π/2)(1 + (π/48 − 1/12)ε² + O(ε⁴)), a correction below 0.
        return up(step_epsilon * sqrt(pi / 2) * (1 + step_epsilon**2 * (pi / 48 - 1 / 12)), 1e-14)
    target = -step_epsilon - log1p(exp(-step_epsilon))  # log Q(μ/2) = log(1/(1+e^ε))

    def residual(x: float) -> float:
        return log_tail(x) - target

    feasible, infeasible = bracket(residual, 1.0, +1, 1e-4, 1e150)
    return up(2 * boundary(residual, feasible, infeasible, 1e-15), 1e-12)


def exact(mp: Any, step_epsilon: float, steps: int) -> Any:
    """The root of Q(μ/2) = 1/(1+e^ε)."""
    e = mp.mpf(step_epsilon)
    with mp.workdps(mp.dps + 15 + int(e)):
        one = 2 * mp.sqrt(2) * mp.erfinv(mp.tanh(e / 2)) if e < 200 else _by_newton(mp, e)
        return {"mu": one * mp.sqrt(steps)}


def _by_newton(mp: Any, e: Any) -> Any:
    """The root of log Q(μ/2) = −log(1+e^ε), where ε is large, from x²/2 = ε on."""
    x = mp.sqrt(2 * e)
    for _ in range(60):
        q = mp.erfc(x / mp.sqrt(2)) / 2
        x -= (mp.log(q) + e + mp.log1p(mp.exp(-e))) / (-mp.npdf(x) / q)
    return 2 * x


def condition(mp: Any, mu: float, step_epsilon: float, steps: int) -> Any:
    """1 − (1 + e^ε)·Q(μ/(2√T)), which is >= 0 where the claimed μ is large enough."""
    return 1 - (1 + mp.exp(mp.mpf(step_epsilon))) * mp.erfc(mp.mpf(mu) / (2 * mp.sqrt(mp.mpf(2) * steps))) / 2


BOUND = PointBound(
    Theorem(
        name="pure-gdp",
        example="convert --from dp --epsilon 1 --delta 0 --to gdp",
        statement="T releases that are ε-DP each are μ-GDP together with μ = −2Φ⁻¹(1/(1+e^ε))·√T",
        source="proof in dpcalc/bounds/conversions/pure_gdp.py, from Kairouz, Oh & Viswanath 2015, Theorem 2.1, and "
               "Dong, Roth & Su 2022",
        assumptions=("pure differential privacy (δ = 0)",),
    ),
    gives=("mu",),
    params=("step_epsilon", "steps"),
    value=value,
    exact=exact,
    condition=condition,
    rtol=5e-12,
)
