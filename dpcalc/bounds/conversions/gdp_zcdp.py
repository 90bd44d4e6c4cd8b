"""Zero-concentrated differential privacy of Gaussian differential privacy."""

from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import ratio_up


def value(mu: float, steps: int) -> dict[str, float]:
    """ρ = Tμ²/2, rounded up exactly."""
    return {"rho": ratio_up((mu, mu, steps), (2.0,))}


def exact(mp: Any, mu: float, steps: int) -> Any:
    return {"rho": mp.mpf(mu) ** 2 * steps / 2}


BOUND = PointBound(
    Theorem(
        name="gdp-zcdp",
        example="convert --from gdp --mu 1 --to zcdp",
        statement="T releases that are μ-GDP each are ρ-zCDP together with ρ = Tμ²/2",
        source="Dong, Roth & Su 2022, Corollary B.6, arXiv:1905.02383v3; Bun & Steinke 2016, Lemma 1.7, "
               "arXiv:1605.02065v1",
        assumptions=(),
    ),
    gives=("rho",),
    params=("mu", "steps"),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
