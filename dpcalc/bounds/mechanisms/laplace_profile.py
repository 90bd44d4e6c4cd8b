"""The privacy profile of composed Laplace releases, computed numerically from the exact profile of one release."""

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import laplace_exact
from dpcalc.core.bound import ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def value(epsilon: float, scale: float, sensitivity: float) -> float:
    """log δ(ε) of one release."""
    return laplace_exact.value(epsilon, scale, sensitivity)


def pair(scale: float, sensitivity: float) -> "Pair":
    from dpcalc.pld.pair import Laplace

    return Laplace(laplace_exact.pure(scale, sensitivity))


def exact(mp: Any, epsilon: float, scale: float, sensitivity: float) -> Any:
    return laplace_exact.exact(mp, epsilon, scale, sensitivity)


BOUND = ProfileBound(
    Theorem(
        name="laplace-profile",
        example="rdp --mechanism laplace --scale 20 --steps 100 --delta 1e-5",
        statement="the profile max(0, 1 − e^((ε − s/v)/2)) of each release, composed numerically through its "
                  "dominating pair",
        source="Sordello, Bu & Dong 2021, eq. 5; Zhu, Dong & Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition)",
        assumptions=("the query changes by at most s in ℓ1 between neighbouring data sets",
                     "noise Laplace(0, v) per coordinate"),
    ),
    params=("scale", "sensitivity"),
    value=value,
    exact=exact,
    rtol=1e-14,
    pair=pair,
)
