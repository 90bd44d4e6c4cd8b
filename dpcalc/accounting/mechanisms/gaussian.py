"""The Gaussian mechanism: N(0, σ²I) added to a query that changes by at most s in ℓ2."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.mechanisms.record import (
    NUMBER,
    Mechanism,
    Number,
    Part,
    TotalVariation,
    of_larger_sensitivity,
    zcdp_of_noise,
)
from dpcalc.accounting.routes import converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import gaussian_classic, gaussian_exact, gaussian_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import exact, pinsker
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down


def _profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.pair import Gaussian

        return Gaussian(gaussian_exact.ratio(p["sigma"], p["sensitivity"], 1))

    own = (p["sigma"], p["sensitivity"], 1)
    return Profile(lambda e: gaussian_exact.value(e, *own), lambda mp, e: gaussian_exact.exact(mp, e, *own), pair)


_ROUTES = (Route(gaussian_exact.BOUND), *converted(gaussian_rdp.BOUND), Route(gaussian_classic.BOUND))
_TV = (Route(exact.BOUND), Route(pinsker.BOUND))

MECHANISM = Mechanism(
    name="gaussian",
    words="Gaussian noise",
    sentence=lambda text: f"Gaussian noise of standard deviation {text('sigma')}",
    query=NUMBER,
    notes=(),
    options=("sigma",),
    optional=("sensitivity",),
    once=_ROUTES,
    often=_ROUTES,
    curve=lambda p: curve.of_bound(gaussian_rdp.BOUND, sigma=p["sigma"], sensitivity=p["sensitivity"]),
    profile=_profile,
    pure=None,
    part=Part(
        fields={"noise_multiplier": Number(description="σ over the sensitivity between neighbours; where one record is "
                                                       "replaced by another, half of what --noise-multiplier is")},
        write=lambda p: {"noise_multiplier": ratio_down((p["sigma"],), (p["sensitivity"],))},
        read=lambda fields: {**fields, "sigma": fields["noise_multiplier"]},
    ),
    tv=TotalVariation(_TV, _TV, gaussian_exact.BOUND, lambda p: gaussian_exact.ratio(p["sigma"], p["sensitivity"], 1)),
    group=of_larger_sensitivity,
    zcdp=zcdp_of_noise,
)
