"""The discrete Laplace mechanism: an integer with noise on the integers, Pr[X = x] proportional to e^(−|x|/v)."""

from __future__ import annotations

from dpcalc.accounting.mechanisms.record import NUMBER, Mechanism, Number, Part, TotalVariation, of_larger_sensitivity
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import discrete_laplace_exact, discrete_laplace_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route


def _pure(p: Params) -> float:
    return discrete_laplace_exact.pure(p["scale"], p["sensitivity"])


def _profile(p: Params) -> Profile:
    own = (p["scale"], p["sensitivity"])
    return Profile(lambda e: discrete_laplace_exact.value(e, *own),
                   lambda mp, e: discrete_laplace_exact.exact(mp, e, *own), lambda: discrete_laplace_exact.pair(*own))


_EXACT = Route(discrete_laplace_exact.BOUND)

MECHANISM = Mechanism(
    name="discrete-laplace",
    words="discrete Laplace noise",
    sentence=lambda text: f"Discrete Laplace noise of scale {text('scale')}",
    query=NUMBER,
    notes=("the noise is x with probability proportional to e^(−|x|/v), for one query with integer values",),
    options=("scale",),
    optional=("sensitivity",),
    once=(_EXACT, *converted(discrete_laplace_rdp.BOUND)),
    often=(*PURE_COMPOSITION, *converted(discrete_laplace_rdp.BOUND), _EXACT),
    curve=lambda p: curve.of_bound(discrete_laplace_rdp.BOUND, _pure(p), scale=p["scale"],
                                   sensitivity=p["sensitivity"]),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"scale": Number(), "sensitivity": Number(least=1)},
              write=lambda p: {"scale": p["scale"], "sensitivity": int(p["sensitivity"])}),
    tv=TotalVariation((_EXACT,), (_EXACT, Route(product.BOUND)), discrete_laplace_exact.BOUND),
    group=of_larger_sensitivity,
    whole_sensitivity=True,
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_discrete_laplace(p["scale"], p["sensitivity"], rate),
)
