"""The discrete Gaussian mechanism: an integer with noise on the integers, Pr[X = x] proportional to e^(−x²/(2σ²)).

In d dimensions, with independent noise on every coordinate and the sensitivity s in ℓ2, only the RDP bound αs²/(2σ²)
holds. It is that of Gaussian noise: --mechanism gaussian --bound gaussian-rdp.
"""

from dpcalc.accounting.mechanisms.record import NUMBER, Number, Part, of_bounds, zcdp_of_noise
from dpcalc.bounds.mechanisms import discrete_gaussian
from dpcalc.bounds.sampling import poisson_replace_one_comonotone

MECHANISM = of_bounds(
    discrete_gaussian.EXACT, discrete_gaussian.RDP,
    name="discrete-gaussian",
    words="discrete Gaussian noise",
    sentence=lambda text: f"Discrete Gaussian noise of parameter σ = {text('sigma')}",
    query=NUMBER,
    noise="discrete-gaussian",
    notes=("the noise is x with probability proportional to e^(−x²/(2σ²)), on each value, which must be an integer; "
           "for several values give --max-keys and --per-key",),
    options=("sigma",),
    optional=("sensitivity",),
    part=Part({"sigma": Number(), "sensitivity": Number(least=1)}),
    zcdp=zcdp_of_noise,
    whole_sensitivity=True,
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_discrete_gaussian(p["sigma"], p["sensitivity"], rate),
)
