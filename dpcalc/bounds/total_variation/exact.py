"""The exact total variation of a mechanism, in closed form."""

from collections.abc import Callable
from math import erf, expm1, sqrt, tanh
from typing import Any

from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

# By mechanism: the total variation as a function of the one ratio that its output depends on, in doubles and as printed
CLOSED_FORMS: dict[str, tuple[Callable[[float], float], Callable[[Any, Any], Any]]] = {
    "gaussian": (lambda r: erf(r / sqrt(8.0)), lambda mp, r: mp.erf(r / mp.sqrt(8))),  # of s/σ
    "laplace": (lambda r: -expm1(-r / 2), lambda mp, r: -mp.expm1(-r / 2)),  # of s/v
    "randomized-response": (lambda r: tanh(r / 2), lambda mp, r: mp.tanh(r / 2)),  # of log(p/(1−p))
}


def value(mechanism: str, ratio: float, steps: int) -> dict[str, float]:
    """The total variation of T releases, rounded up; T Gaussian ones are like one with the ratio √T times as large.
    Raises OutOfScope for several releases without a closed form."""
    if steps > 1 and mechanism != "gaussian":
        raise OutOfScope("unsupported", f"no closed form is known for {steps} releases with --mechanism {mechanism}",
                         "--steps")
    return {"tv": min(1.0, up(CLOSED_FORMS[mechanism][0](ratio * sqrt(steps)), 2e-15))}


def exact(mp: Any, mechanism: str, ratio: float, steps: int) -> Any:
    return {"tv": CLOSED_FORMS[mechanism][1](mp, mp.mpf(ratio) * (mp.sqrt(steps) if steps > 1 else 1))}


BOUND = PointBound(
    Theorem(
        name="tv-exact",
        example="tv --mechanism gaussian --sigma 50",
        statement="TV = erf(s√T/(2√2σ)) for T Gaussian releases; 1 − e^(−s/(2v)) for Laplace noise in any dimension; "
                  "|2p − 1| for a randomised bit",
        source="δ at ε = 0 of the exact profiles: Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Sordello, Bu & "
               "Dong 2021, eq. 5; Warner 1965",
        assumptions=("the query changes by at most s between neighbouring data sets: in ℓ2 for Gaussian, in ℓ1 for "
                     "Laplace",
                     ),
    ),
    gives=("tv",),
    params=("mechanism", "ratio", "steps"),
    value=value,
    exact=exact,
    rtol=6e-15,
)
