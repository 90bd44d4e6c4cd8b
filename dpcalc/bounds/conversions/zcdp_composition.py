"""Composition of zero-concentrated differential privacy."""

from fractions import Fraction
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import decimal, quotient_up


def value(rho: float, steps: int) -> dict[str, float]:
    """Tρ, rounded up exactly: 1 for ten times 0.1."""
    found = _total(rho, steps)
    return {"rho": quotient_up(found.numerator, found.denominator)}


def _total(rho: float, steps: int) -> Fraction:
    return decimal(rho) * steps


def exact(mp: Any, rho: float, steps: int) -> Any:
    found = _total(rho, steps)
    return {"rho": mp.mpf(found.numerator) / found.denominator}


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
