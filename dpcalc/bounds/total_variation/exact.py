"""The exact total variation of a mechanism, in closed form."""

from typing import Any

from dpcalc.bounds.mechanisms import gaussian_exact, laplace_exact, randomized_response_exact
from dpcalc.bounds.mechanisms.total_variation_law import TotalVariationLaw
from dpcalc.core.bound import PointBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import up

TOTAL_VARIATIONS = {  # by the name of the mechanism, where it depends on one ratio
    "gaussian": gaussian_exact.TOTAL_VARIATION,
    "laplace": laplace_exact.TOTAL_VARIATION,
    "randomized-response": randomized_response_exact.TOTAL_VARIATION,
}


def value(mechanism: str, ratio: float, steps: int) -> dict[str, float]:
    """The total variation of T releases, rounded up. Raises OutOfScope for several releases without a closed form."""
    law = TOTAL_VARIATIONS[mechanism]
    total = _total(law, mechanism, ratio, steps)
    return {"tv": min(1.0, up(law.tv(total), 2e-15))}


def _total(law: TotalVariationLaw, mechanism: str, ratio: float, steps: int) -> float:
    """The ratio that T releases together have."""
    if steps == 1:
        return ratio
    if law.composed is None:
        raise OutOfScope("unsupported", f"no closed form is known for {steps} releases with --mechanism {mechanism}",
                         "--steps")
    return law.composed(ratio, steps)


def exact(mp: Any, mechanism: str, ratio: float, steps: int) -> Any:
    return {"tv": TOTAL_VARIATIONS[mechanism].exact(mp, mp.mpf(ratio) * (mp.sqrt(steps) if steps > 1 else 1))}


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
