"""The discrete Gaussian mechanism: an integer with noise on the integers, Pr[X = x] proportional to e^(−x²/(2σ²)).

In d dimensions, with independent noise on every coordinate and the sensitivity s in ℓ2, only the RDP bound αs²/(2σ²)
holds. It is that of Gaussian noise: --mechanism gaussian --bound gaussian-rdp.
"""

from __future__ import annotations

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
from dpcalc.bounds.mechanisms import discrete_gaussian_exact, discrete_gaussian_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route


def _profile(p: Params) -> Profile:
    own = (p["sigma"], p["sensitivity"])
    return Profile(lambda e: discrete_gaussian_exact.value(e, *own),
                   lambda mp, e: discrete_gaussian_exact.exact(mp, e, *own), lambda: discrete_gaussian_exact.pair(*own))


_EXACT = Route(discrete_gaussian_exact.BOUND)
_ROUTES = (_EXACT, *converted(discrete_gaussian_rdp.BOUND))

MECHANISM = Mechanism(
    name="discrete-gaussian",
    words="discrete Gaussian noise",
    sentence=lambda text: f"Discrete Gaussian noise of parameter σ = {text('sigma')}",
    query=NUMBER,
    notes=("the noise is x with probability proportional to e^(−x²/(2σ²)), for one query with integer values; for "
           "several of them with ℓ2 sensitivity s, use --mechanism gaussian --bound gaussian-rdp",),
    options=("sigma",),
    optional=("sensitivity",),
    once=_ROUTES,
    often=_ROUTES,
    curve=lambda p: curve.of_bound(discrete_gaussian_rdp.BOUND, sigma=p["sigma"], sensitivity=p["sensitivity"]),
    profile=_profile,
    pure=None,
    part=Part(fields={"sigma": Number(), "sensitivity": Number(least=1)},
              write=lambda p: {"sigma": p["sigma"], "sensitivity": int(p["sensitivity"])}),
    tv=TotalVariation((_EXACT,), (_EXACT, Route(product.BOUND)), discrete_gaussian_exact.BOUND),
    group=of_larger_sensitivity,
    zcdp=zcdp_of_noise,
    whole_sensitivity=True,
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_discrete_gaussian(p["sigma"], p["sensitivity"], rate),
)
