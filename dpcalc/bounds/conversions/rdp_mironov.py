"""From Rényi DP at one order to (ε, δ): the original conversion."""

from typing import Any

from dpcalc.core.bound import Conversion, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, rdp: float, log_delta: float) -> float:
    """ε = ε(α) + log(1/δ)/(α−1)."""
    return up(rdp - log_delta / (alpha - 1), 5e-16)


def log_delta(alpha: float, rdp: float, epsilon: float) -> float:
    """log δ = (α−1)(ε(α) − ε), at most 0."""
    x = (alpha - 1) * (rdp - epsilon)
    return min(0.0, x + 6e-16 * (alpha - 1) * (rdp + epsilon))


def exact(mp: Any, alpha: float, rdp: Any, delta: float) -> Any:
    return mp.mpf(rdp) - mp.log(mp.mpf(delta)) / (mp.mpf(alpha) - 1)


BOUND = Conversion(
    Theorem(
        name="rdp-mironov",
        example="convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5",
        statement="(α, ε(α))-RDP implies (ε(α) + log(1/δ)/(α−1), δ)-DP",
        source="Mironov 2017, Proposition 3, arXiv:1702.07476v3; Altschuler & Talwar 2022, Lemma 2.5",
        assumptions=(),
        errata=("Sordello, Bu & Dong 2021, §5, uses it backwards, from (ε, δ) to RDP; it has no converse, and the "
                "printed "
                "formula is negative (−10.5 at ε = 1, δ = 1e-5, α = 2).",),
    ),
    params=(),
    value=value,
    exact=exact,
    rtol=2e-15,
    log_delta=log_delta,
)
