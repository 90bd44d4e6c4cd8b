"""The exact total variation of a mechanism, in closed form."""

from collections.abc import Callable
from math import erf, expm1, sqrt, tanh
from typing import Any, NamedTuple

from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

_ROOT_EIGHT = sqrt(8.0)


class Law(NamedTuple):
    """TV at a ratio: s/σ (Gaussian), s/v (Laplace), log(p/(1−p)) (randomised response).

    `composed` gives the ratio of T releases where they are a release of the same kind.
    """

    tv: Callable[[float], float]
    exact: Callable[[Any, Any], Any]
    composed: Callable[[float, int], float] | None = None


LAWS = {
    "gaussian": Law(lambda r: erf(r / _ROOT_EIGHT), lambda mp, r: mp.erf(r / mp.sqrt(8)),
                    lambda r, steps: r * sqrt(steps)),
    "laplace": Law(lambda r: -expm1(-r / 2), lambda mp, r: -mp.expm1(-r / 2)),
    "randomized-response": Law(lambda r: tanh(r / 2), lambda mp, r: mp.tanh(r / 2)),
}


def value(mechanism: str, ratio: float, steps: int) -> dict[str, float]:
    """TV of T releases. Raises OutOfScope for several releases without a closed form."""
    law = LAWS[mechanism]
    total = _total(law, mechanism, ratio, steps)
    return {"tv": min(1.0, up(law.tv(total), 2e-15))}


def _total(law: Law, mechanism: str, ratio: float, steps: int) -> float:
    if steps == 1:
        return ratio
    if law.composed is None:
        raise OutOfScope("unsupported", f"no closed form is known for {steps} releases of the {mechanism} mechanism", "--steps")
    return law.composed(ratio, steps)


def exact(mp: Any, mechanism: str, ratio: float, steps: int) -> Any:
    return {"tv": LAWS[mechanism].exact(mp, mp.mpf(ratio) * (mp.sqrt(steps) if steps > 1 else 1))}


BOUND = Bound(
    name="tv-exact",
    kind="point",
    gives=("tv",),
    statement="TV = erf(s√T/(2√2σ)) for T Gaussian releases; 1 − e^(−s/(2v)) for Laplace noise in any dimension; |2p − 1| for a "
    "randomised bit",
    source="δ at ε = 0 of the exact profiles: Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Sordello, Bu & Dong 2021, eq. 5; "
    "Warner 1965",
    assumptions=("the query changes by at most s between neighbouring data sets: in ℓ2 for Gaussian, in ℓ1 for Laplace",),
    params=("mechanism", "ratio", "steps"),
    value=value,
    exact=exact,
    rtol=6e-15,
)
