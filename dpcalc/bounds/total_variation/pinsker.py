"""The total variation of Gaussian noise by Pinsker's inequality."""

from math import sqrt
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import up


def value(ratio: float, steps: int) -> dict[str, float]:
    """TV <= s√T/(2σ), where that is below 1."""
    return {"tv": min(1.0, up(ratio * sqrt(steps) / 2, 1e-15))}


def exact(mp: Any, ratio: float, steps: int) -> Any:
    return {"tv": min(mp.mpf(ratio) * mp.sqrt(steps) / 2, mp.mpf(1))}


BOUND = PointBound(
    Theorem(
        name="tv-pinsker",
        example="tv --mechanism gaussian --sigma 50",
        statement="TV ≤ s√T/(2σ): the root of the sum of the squares over the releases; 25 % more noise than the "
                  "exact value needs",
        source="Berthier 2019, Proposition 2.5 and its composition rule in §2.4.2",
        assumptions=("the query changes by at most s in ℓ2 between neighbouring data sets", "noise N(0, σ²I)"),
    ),
    gives=("tv",),
    params=("ratio", "steps"),
    value=value,
    exact=exact,
    rtol=4e-15,
)
