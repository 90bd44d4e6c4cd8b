"""Composition of zero-concentrated differential privacy."""

from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import ratio_up


def value(rho: float, steps: int) -> dict[str, float]:
    """Tρ, rounded up exactly."""
    return {"rho": ratio_up((rho, steps))}


def exact(mp: Any, rho: float, steps: int) -> Any:
    return {"rho": mp.mpf(rho) * steps}


BOUND = PointBound(
    Theorem(
        name="zcdp-composition",
        example="convert --from zcdp --rho 0.5 --steps 4 --to zcdp",
        statement="T releases that are ρ-zCDP each are Tρ-zCDP together",
        source="Bun & Steinke 2016, Lemma 1.7, arXiv:1605.02065v1",
        assumptions=("adaptive composition is allowed",),
    ),
    gives=("rho",),
    params=("rho", "steps"),
    value=value,
    exact=exact,
    rtol=2.3e-16,
)
