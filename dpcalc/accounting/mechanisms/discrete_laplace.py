"""The discrete Laplace mechanism: an integer with noise on the integers, Pr[X = x] proportional to e^(−|x|/v)."""

from dpcalc.accounting.mechanisms.record import NUMBER, Number, Part, of_bounds
from dpcalc.bounds.mechanisms import discrete_laplace
from dpcalc.bounds.sampling import poisson_replace_one_comonotone

MECHANISM = of_bounds(
    discrete_laplace.EXACT, discrete_laplace.RDP,
    name="discrete-laplace",
    words="discrete Laplace noise",
    sentence=lambda text: f"Discrete Laplace noise of scale {text('scale')}",
    query=NUMBER,
    noise="discrete-laplace",
    notes=("the noise is x with probability proportional to e^(−|x|/v), on each value, which must be an integer; for "
           "several values give --max-keys and --per-key",),
    options=("scale",),
    optional=("sensitivity",),
    part=Part({"scale": Number(), "sensitivity": Number(least=1)}),
    whole_sensitivity=True,
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_discrete_laplace(p["scale"], p["sensitivity"], rate),
)
