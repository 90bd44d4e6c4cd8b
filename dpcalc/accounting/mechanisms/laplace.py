"""The Laplace mechanism: noise of density e^(−|x|/v)/(2v) added to every coordinate of a query that changes by at most
s in ℓ1."""

from dpcalc.accounting.mechanisms.record import NUMBER, Number, Part, TotalVariation, of_bounds
from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import laplace
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_down

MECHANISM = of_bounds(
    laplace.EXACT, laplace.RDP, laplace.PROFILE,
    name="laplace",
    words="Laplace noise",
    sentence=lambda text: f"Laplace noise of scale {text('scale')}",
    query=NUMBER,
    noise="laplace",
    options=("scale",),
    optional=("sensitivity",),
    part=Part({"scale": Number()}, lambda p: {"scale": ratio_down((p["scale"],), (p["sensitivity"],))}),
    tv=TotalVariation(
        once=(Route(closed_forms.EXACT), Route(closed_forms.LAPLACE_AS_PUBLISHED, on_request=True)),
        often=(Route(laplace.PROFILE), Route(closed_forms.PRODUCT), Route(composition_optimal.BOUND)),
        profile=laplace.EXACT,
        ratio=lambda p: laplace.pure(p["scale"], p["sensitivity"]),
    ),
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_laplace(p["scale"], p["sensitivity"], rate),
)
