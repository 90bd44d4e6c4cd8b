"""From Rényi DP at one order to (ε, δ): the improved conversion (the default), and the original one."""

from math import log, log1p
from typing import Any

from dpcalc.core.bound import Conversion, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """ε = ε(α) + log((α−1)/α) − (log δ + log α)/(α−1), at least 0.

    A negative ε is a stronger guarantee than ε = 0, so 0 is safe.
    """
    a1 = alpha - 1
    gain = log1p(-1 / alpha) if alpha > 2 else log(a1 / alpha)
    tail = (log_delta + log(alpha)) / a1
    # Each term is good to 2 ulp; their sum may cancel, so the error is that of the largest.
    return max(0.0, rdp + gain - tail + 6e-16 * (rdp - gain + (log(alpha) - log_delta) / a1))


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """log δ = (α−1)(ε(α) − ε) + α log(1 − 1/α) − log(α−1), at most 0."""
    a1 = alpha - 1
    loss = a1 * (rdp - epsilon)
    gain = alpha * (log1p(-1 / alpha) if alpha > 2 else log(a1 / alpha)) - log(a1)
    return min(0.0, loss + gain + 8e-16 * (a1 * (rdp + epsilon) + abs(gain) + alpha))


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    a = mp.mpf(alpha)
    return max(mp.mpf(rdp) + mp.log((a - 1) / a) - (mp.log(mp.mpf(delta)) + mp.log(a)) / (a - 1), mp.mpf(0))


def original(alpha: float, rdp: float, log_delta: float) -> float:
    """ε = ε(α) + log(1/δ)/(α−1)."""
    return up(rdp - log_delta / (alpha - 1), 5e-16)


def original_log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """log δ = (α−1)(ε(α) − ε), at most 0."""
    x = (alpha - 1) * (rdp - epsilon)
    return min(0.0, x + 6e-16 * (alpha - 1) * (rdp + epsilon))


IMPROVED = Conversion(
    Theorem(
        name="rdp-improved",
        example="convert --from rdp --alpha 8 --rdp 0.5 --epsilon 2",
        statement="(α, ε(α))-RDP implies (ε, δ)-DP with ε = ε(α) + log((α−1)/α) − (log δ + log α)/(α−1)",
        in_words="From the Rényi divergence at one order to (ε, δ) by one formula, which holds for every mechanism; "
                 "the best order of a curve is sought. Its ε is always below that of rdp-mironov and never below that "
                 "of rdp-optimal, to which it is usually near. It has no converse: no RDP follows from (ε, δ).",
        source="Canonne, Kamath & Steinke 2020, Proposition 12, arXiv:2004.00010v3; Balle et al. 2020, Theorem 21",
        assumptions=(),
    ),
    params=(), value=value, exact=exact, rtol=2e-15, log_delta=log_delta, default=True)

ORIGINAL = Conversion(
    Theorem(
        name="rdp-mironov",
        example="convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5",
        statement="(α, ε(α))-RDP implies (ε(α) + log(1/δ)/(α−1), δ)-DP",
        in_words="The original conversion from the Rényi divergence at one order to (ε, δ), which holds for every "
                 "mechanism. It is loose: rdp-improved gives a smaller ε at every order and δ. It serves to reproduce "
                 "the numbers of older papers and programs.",
        source="Mironov 2017, Proposition 3, arXiv:1702.07476v3; Altschuler & Talwar 2022, Lemma 2.5",
        assumptions=(),
        errata=("Sordello, Bu & Dong 2021, §5, uses it backwards, from (ε, δ) to RDP; it has no converse, and the "
                "printed formula is negative (−10.5 at ε = 1, δ = 1e-5, α = 2).",),
    ),
    params=(), value=original,
    exact=lambda mp, alpha, rdp, delta: mp.mpf(rdp) - mp.log(mp.mpf(delta)) / (mp.mpf(alpha) - 1), rtol=2e-15,
    log_delta=original_log_delta)

BOUNDS = (IMPROVED, ORIGINAL)
