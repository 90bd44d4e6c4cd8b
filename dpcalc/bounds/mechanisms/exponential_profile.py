"""The privacy profile of composed selections of bounded range, computed numerically from that of one selection."""

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import exponential_exact
from dpcalc.core.bound import ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def value(epsilon: float, step_epsilon: float) -> float:
    """log δ(ε) of one selection."""
    return exponential_exact.value(epsilon, step_epsilon)


def pair(step_epsilon: float) -> "Pair":
    from dpcalc.pld.pair import BoundedRange

    return BoundedRange(step_epsilon)


def exact(mp: Any, epsilon: float, step_epsilon: float) -> Any:
    return exponential_exact.exact(mp, epsilon, step_epsilon)


BOUND = ProfileBound(
    Theorem(
        name="exponential-profile",
        example="rdp --mechanism exponential --step-epsilon 0.1 --steps 100 --delta 1e-6",
        statement="the profile (e^(η/2) − e^(ε/2))²/(e^η − 1) of each selection, composed numerically through its "
                  "dominating pair",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (bounded range); proof in "
               "dpcalc/bounds/mechanisms/exponential_exact.py; Zhu, Dong & Wang 2022, Theorem 10, "
               "arXiv:2106.08567v4 (composition)",
        assumptions=(exponential_exact.RANGE,),
    ),
    params=("step_epsilon",),
    value=value,
    exact=exact,
    rtol=2e-14,
    pair=pair,
)
