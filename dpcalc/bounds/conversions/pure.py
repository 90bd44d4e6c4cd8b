"""What pure differential privacy implies, with randomised response as its worst case: Rényi DP, Gaussian DP, zCDP and
total variation.

Proof of pure-gdp. Thresholding N(0,1) against N(μ,1) at μ/2 is randomised response with p = Φ(μ/2), and every ε-DP pair
is a post-processing of randomised response with p = e^ε/(1+e^ε). So μ = 2Φ⁻¹(e^ε/(1+e^ε)) suffices, and since the
trade-off curves touch at that point, no smaller μ does.

Proof of bounded-range-zcdp. A mechanism has range ε (is ε-bounded-range) if its privacy loss lies in an interval of
length ε, which may differ from one pair of neighbouring data sets to another. The exponential mechanism that is ε-DP by
its usual calibration is one; an ε-DP mechanism as such has range 2ε only. Let L = log dP/dQ lie in an interval of
length ε and K(t) = log E_Q e^{tL}, so that K(0) = K(1) = 0 and D_α(P‖Q) = K(α)/(α−1). K″(t) is the variance of L under
a law on that interval, hence at most ε²/4. So K(t) − ε²t(t−1)/8 is concave and 0 at 0 and 1, thus at most 0 beyond 1:
D_α <= ε²α/8. The reverse pair has the range of −L, the same; and ρ adds up over adaptive composition.
"""

from fractions import Fraction
from math import exp, log1p, pi, sqrt, tanh
from typing import Any

from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.mechanisms import finite
from dpcalc.core.bound import PointBound, RdpBound, Theorem
from dpcalc.numerics.normal import log_tail
from dpcalc.numerics.root import boundary, bracket
from dpcalc.numerics.rounding import quotient_up, up

_PURE = ("pure differential privacy (δ = 0)",)


def gdp(step_epsilon: float, steps: int) -> dict[str, float]:
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


def exact_gdp(mp: Any, step_epsilon: float, steps: int) -> Any:
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


def gdp_condition(mp: Any, mu: float, step_epsilon: float, steps: int) -> Any:
    """1 − (1 + e^ε)·Q(μ/(2√T)), which is >= 0 where the claimed μ is large enough."""
    return 1 - (1 + mp.exp(mp.mpf(step_epsilon))) * mp.erfc(mp.mpf(mu) / (2 * mp.sqrt(mp.mpf(2) * steps))) / 2


def _share_of_squares(points: Points, part: int) -> float:
    """Σε_i²/part, for a whole number `part`, rounded up exactly."""
    total = sum((Fraction(epsilon) ** 2 * count for epsilon, _, count in points), Fraction(0)) / part
    return quotient_up(total.numerator, total.denominator)


def _squares(mp: Any, points: Points) -> Any:
    return mp.fsum(count * mp.mpf(epsilon) ** 2 for epsilon, _, count in points)


def tv(step_epsilon: float, step_delta: float) -> dict[str, float]:
    """TV <= (e^ε − 1 + 2δ)/(e^ε + 1) = tanh(ε/2) + 2δ/(e^ε + 1)."""
    decay = exp(-step_epsilon)
    return {"tv": min(1.0, up(tanh(step_epsilon / 2) + 2 * step_delta * decay / (1 + decay), 1e-15))}


def exact_tv(mp: Any, step_epsilon: float, step_delta: float) -> Any:
    e = mp.exp(mp.mpf(step_epsilon))
    return {"tv": (e - 1 + 2 * mp.mpf(step_delta)) / (e + 1)}


RDP = RdpBound(
    Theorem(
        name="pure-rdp",
        example="convert --from dp --epsilon 1 --delta 0 --alpha 4",
        statement="ε-DP is (α, ε(α))-RDP with the curve of randomised response, p = e^ε/(1+e^ε)",
        in_words="The largest Rényi divergence of all ε-DP mechanisms, which randomised response attains. A given "
                 "mechanism may have less: Laplace noise does. It needs δ to be 0: from (ε, δ)-DP with a larger δ no "
                 "Rényi divergence follows at all.",
        source="Kairouz, Oh & Viswanath 2015, Theorem 2.1 (every ε-DP pair is a post-processing of randomised "
               "response), with Mironov 2017, Proposition 5",
        assumptions=_PURE,
    ),
    params=("step_epsilon",), value=finite.rdp_of_pure,
    exact=lambda mp, alpha, step_epsilon: finite.exact_rdp(mp, alpha, finite.binary(mp, mp.mpf(step_epsilon))),
    rtol=3e-14)

GDP = PointBound(
    Theorem(
        name="pure-gdp",
        example="convert --from dp --epsilon 1 --delta 0 --to gdp",
        statement="T releases that are ε-DP each are μ-GDP together with μ = −2Φ⁻¹(1/(1+e^ε))·√T",
        in_words="The least μ for which every ε-DP mechanism is μ-GDP; T releases together have √T times it. It needs "
                 "δ to be 0. It forgets that pure DP has δ = 0 from some ε on: converted back at a very small δ, it "
                 "gives more than the sum of the ε.",
        source="proof in dpcalc/bounds/conversions/pure.py, from Kairouz, Oh & Viswanath 2015, Theorem 2.1, and "
               "Dong, Roth & Su 2022",
        assumptions=_PURE,
    ),
    gives=("mu",), params=("step_epsilon", "steps"), value=gdp, exact=exact_gdp, condition=gdp_condition, rtol=5e-12)

ZCDP = PointBound(
    Theorem(
        name="pure-zcdp",
        example="convert --from dp --epsilon 1 --delta 0 --to zcdp",
        statement="releases that are ε_i-DP are ρ-zCDP together with ρ = Σε_i²/2",
        in_words="The zCDP that follows from releases with pure DP, whose squares of ε add up: it holds for every "
                 "mechanism. Where ε is above 2 it is loose: ρ = ε holds as well, and is smaller than ε²/2. For the "
                 "exponential mechanism, bounded-range-zcdp has a quarter of it. It needs δ to be 0.",
        source="Bun & Steinke 2016, Proposition 1.4 and Lemma 1.7, arXiv:1605.02065v1",
        assumptions=_PURE,
    ),
    gives=("rho",), params=("points",), value=lambda points: {"rho": _share_of_squares(points, 2)},
    exact=lambda mp, points: {"rho": _squares(mp, points) / 2}, rtol=2.3e-16)

BOUNDED_RANGE_LOSS = ("the privacy loss of each release must lie in an interval of length ε, as that of the "
                      "exponential mechanism does")
BOUNDED_RANGE_ZCDP = PointBound(
    Theorem(
        name="bounded-range-zcdp",
        example="convert --from dp --epsilon 1 --delta 0 --to zcdp --bound bounded-range-zcdp",
        statement="releases whose privacy losses have ranges of length ε_i are ρ-zCDP together with ρ = Σε_i²/8",
        in_words="The zCDP of releases whose privacy loss lies in an interval of length ε, as that of the exponential "
                 "mechanism with ε-DP does: a quarter of what holds for every ε-DP mechanism. It is false for other "
                 "ε-DP mechanisms, such as Laplace noise or randomised response, whose losses reach from −ε to ε.",
        source="Cesar & Rogers 2021, arXiv:2004.07223; Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range); "
               "proof in dpcalc/bounds/conversions/pure.py",
        assumptions=("the privacy loss of each release lies in an interval of length ε, as that of the ε-DP "
                     "exponential mechanism does; not every ε-DP mechanism is of this kind",),
    ),
    gives=("rho",), params=("points",), value=lambda points: {"rho": _share_of_squares(points, 8)},
    exact=lambda mp, points: {"rho": _squares(mp, points) / 8}, rtol=2.3e-16)

TV = PointBound(
    Theorem(
        name="dp-tv",
        example="convert --from dp --epsilon 1 --delta 1e-6 --to tv",
        statement="(ε, δ)-DP has total variation at most (e^ε − 1 + 2δ)/(e^ε + 1)",
        in_words="The largest total variation of all (ε, δ)-DP mechanisms: no attacker who decides which of two "
                 "neighbouring data sets was used has a true-positive rate that exceeds the false-positive rate by "
                 "more. Some mechanism attains it, but a mechanism whose privacy profile is known may have less: δ at "
                 "ε = 0 is its total variation.",
        source="Kairouz, Oh & Viswanath 2015, Remark 2.2 and Theorem 2.1, arXiv:1311.0776v4",
        assumptions=(),
        errata=("Berthier 2019, §5.2, says that ε-DP implies ε-uniform stability; that needs bounded losses. In an "
                "interval of length R the stability is tanh(ε/2)·R, which is at most ε up to R = 2; the mean of cθ "
                "under Laplace noise changes by c times the sensitivity, for any c.",),
    ),
    gives=("tv",), params=("step_epsilon", "step_delta"), value=tv, exact=exact_tv, rtol=4e-15)

BOUNDS = (RDP, GDP, ZCDP, BOUNDED_RANGE_ZCDP, TV)
