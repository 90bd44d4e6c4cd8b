"""How an RDP bound becomes (ε, δ), and how pure or approximate DP composes: the routes that many questions share."""

from dpcalc.bounds.conversions import composition_basic, composition_optimal, rdp_improved, rdp_optimal
from dpcalc.bounds.total_variation import rdp as tv_rdp
from dpcalc.core.bound import Bound
from dpcalc.core.results import Route


def converted(bound: Bound, by_conversion: bool = False) -> tuple[Route, ...]:
    """An RDP bound, through each conversion."""
    return (
        Route(bound, rdp_optimal.BOUND, by_conversion=by_conversion),
        Route(bound, rdp_improved.IMPROVED, by_conversion=by_conversion),
        Route(bound, rdp_improved.ORIGINAL, on_request=not by_conversion, by_conversion=by_conversion),
    )


def to_total_variation(bound: Bound) -> tuple[Route, ...]:
    """The total variation of an RDP bound, and its δ at ε = 0 through each conversion, which is never smaller."""
    return (Route(bound, tv_rdp.BOUND, by_conversion=True), *converted(bound, by_conversion=True))


COMPOSITION = (Route(composition_optimal.BOUND), Route(composition_basic.ADVANCED), Route(composition_basic.BOUND))
PURE_COMPOSITION = (Route(composition_optimal.BOUND), Route(composition_basic.BOUND))
