"""Rényi DP of one position in output perturbation of SGD in a fixed order."""

from typing import Any

from dpcalc.bounds.pnsgd._engine.output import ASSUMPTIONS, ERRATUM, OUTPUT, RELEASED, SOURCE, ratios, ratios_exact
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.numerics.rounding import up


def value(alpha: float, n: int, index: int, **p: float) -> float:
    """αs²/(2σ²), s = 2ηL c^{n−i}, rounded up."""
    ratio = ratios(**p)(n - index)
    return max(up(alpha / 2 * ratio * ratio, 1e-15), 5e-324 if ratio > 0 else 0.0)  # the square may underflow


def exact(mp: Any, alpha: float, n: int, index: int, **p: float) -> Any:
    return mp.mpf(alpha) * ratios_exact(mp, **p)(n - index) ** 2 / 2


BOUND = RdpBound(
    Theorem(
        name="output-perturbation",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--strong-convexity 0.1 --index 500 --alpha 8 --bound output-perturbation",
        statement="ε(α) = αs²/(2σ²), s = 2ηL c^(n−i), c = max(|1−ηρ|, |1−ηβ|), for the record at position i",
        source=SOURCE,
        assumptions=ASSUMPTIONS,
        released=RELEASED,
        riskier=("learning_rate",),
        errata=ERRATUM,
    ),
    params=(*OUTPUT, "n", "index"),
    value=value,
    exact=exact,
    rtol=1e-10,
)
