"""The Gaussian mechanism: N(0, σ²I) added to a query that changes by at most s in ℓ2."""

from typing import Any

from dpcalc.accounting.mechanisms.record import NUMBER, Number, Part, TotalVariation, of_bounds, zcdp_of_noise
from dpcalc.accounting.routes import converted
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down


def _ratio(p: Params) -> float:
    return gaussian.ratio(p["sigma"], p["sensitivity"], 1)


def _pair(p: Params) -> Any:
    from dpcalc.pld.pair import Gaussian

    return Gaussian(_ratio(p))


_ROUTES = (Route(gaussian.EXACT), *converted(gaussian.RDP), Route(gaussian.CLASSIC))
_TV = (Route(closed_forms.EXACT), Route(closed_forms.PINSKER))

MECHANISM = of_bounds(
    gaussian.EXACT, gaussian.RDP, pair=_pair,
    name="gaussian",
    words="Gaussian noise",
    sentence=lambda text: f"Gaussian noise of standard deviation {text('sigma')}",
    query=NUMBER,
    noise="gaussian",
    options=("sigma",),
    optional=("sensitivity",),
    once=_ROUTES,
    often=_ROUTES,
    part=Part(
        {"noise_multiplier": Number(description="σ over the sensitivity between neighbours; where one record is "
                                                "replaced by another, half of what --noise-multiplier is")},
        lambda p: {"noise_multiplier": ratio_down((p["sigma"],), (p["sensitivity"],))},
        read=lambda fields: {**fields, "sigma": fields["noise_multiplier"]},
    ),
    tv=TotalVariation(_TV, _TV, gaussian.EXACT, _ratio),
    zcdp=zcdp_of_noise,
    in_l2=True,
    releases=lambda _: 1,
)
