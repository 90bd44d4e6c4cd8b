"""Upper bounds of total variation by a Kullback–Leibler divergence."""

from math import expm1, sqrt
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import up


def value(kl: float, steps: int) -> dict[str, float]:
    """min(√(KL/2), √(1 − e^{−KL})), rounded up, with the sum of the divergences of T releases as KL."""
    total = steps * kl
    return {"tv": min(1.0, up(min(sqrt(total) * sqrt(0.5), sqrt(-expm1(-total))), 1e-15))}


def exact(mp: Any, kl: float, steps: int) -> Any:
    total = steps * mp.mpf(kl)
    return {"tv": min(mp.sqrt(total / 2), mp.sqrt(-mp.expm1(-total)))}


BOUND = PointBound(
    Theorem(
        name="tv-kl",
        example="tv --kl 0.02 --steps 4",
        statement="TV ≤ min( √(KL/2), √(1 − e^(−KL)) ); KL is at most the RDP at any order, and at most ρ under "
                  "ρ-zCDP",
        source="Pinsker's inequality, and Bretagnolle & Huber 1979; Tsybakov 2009, Lemmas 2.5 and 2.6 (the second in "
               "its sharper form)",
        assumptions=("the divergence holds for both orders of the neighbours, whatever the releases before were",),
    ),
    gives=("tv",),
    params=("kl", "steps"),
    value=value,
    exact=exact,
    rtol=4e-15,
)
