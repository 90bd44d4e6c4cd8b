"""The Laplace mechanism: noise of density e^(−|x|/v)/(2v) added to every coordinate of a query that changes by at most
s in ℓ1."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.mechanisms.record import NUMBER, Mechanism, Number, Part, TotalVariation, of_larger_sensitivity
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import laplace_exact, laplace_profile, laplace_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import exact, laplace_as_published, product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down


def _pure(p: Params) -> float:
    return laplace_exact.pure(p["scale"], p["sensitivity"])


def _profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.pair import Laplace

        return Laplace(_pure(p))

    own = (p["scale"], p["sensitivity"])
    return Profile(lambda e: laplace_exact.value(e, *own), lambda mp, e: laplace_exact.exact(mp, e, *own), pair)


MECHANISM = Mechanism(
    name="laplace",
    words="Laplace noise",
    sentence=lambda text: f"Laplace noise of scale {text('scale')}",
    query=NUMBER,
    notes=("v is the scale of the Laplace noise; its standard deviation is v√2",),
    options=("scale",),
    optional=("sensitivity",),
    once=(Route(laplace_exact.BOUND), *converted(laplace_rdp.BOUND)),
    often=(*PURE_COMPOSITION, *converted(laplace_rdp.BOUND), Route(laplace_profile.BOUND)),
    curve=lambda p: curve.of_bound(laplace_rdp.BOUND, _pure(p), scale=p["scale"], sensitivity=p["sensitivity"]),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"scale": Number()}, write=lambda p: {"scale": ratio_down((p["scale"],), (p["sensitivity"],))}),
    tv=TotalVariation(
        once=(Route(exact.BOUND), Route(laplace_as_published.BOUND, on_request=True)),
        often=(Route(laplace_profile.BOUND), Route(product.BOUND), Route(composition_optimal.BOUND)),
        profile=laplace_exact.BOUND,
        ratio=_pure,
    ),
    group=of_larger_sensitivity,
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_laplace(p["scale"], p["sensitivity"], rate),
)
