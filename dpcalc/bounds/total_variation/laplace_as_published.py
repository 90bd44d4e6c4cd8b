"""The published Laplace calibration to total variation, which is false."""

from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.numerics.rounding import up


def value(scale: float, sensitivity: float) -> dict[str, float]:
    """s/(2v²), as printed."""
    return {"tv": min(1.0, up(sensitivity / scale / scale / 2, 1e-15))}


def exact(mp: Any, scale: float, sensitivity: float) -> Any:
    return {"tv": min(mp.mpf(sensitivity) / (2 * mp.mpf(scale) ** 2), mp.mpf(1))}


BOUND = PointBound(
    Theorem(
        name="tv-laplace-as-published",
        example="tv --mechanism laplace --scale 50 --bound tv-laplace-as-published",
        statement="TV ≤ s/(2v²), from v = √(s/(2·TV)): FALSE, the exact value is 1 − e^(−s/(2v))",
        source="Berthier 2019, Proposition 2.4",
        assumptions=("noise Laplace(0, v) per coordinate",),
        status="as-published",
        errata=("The proof bounds a difference of densities at a point instead of its integral. At s = 1 the scale for "
                "TV "
                "= 0.01 has TV = 0.0683 (6.8 times), the one for 1e-5 has 0.00223 (223 times).",),
    ),
    gives=("tv",),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=4e-15,
)
