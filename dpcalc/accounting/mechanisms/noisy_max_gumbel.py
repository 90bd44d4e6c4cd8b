"""Report noisy max with Gumbel noise, which is the exponential mechanism: its range η follows from the scale."""

from dpcalc.accounting.mechanisms import exponential
from dpcalc.accounting.mechanisms.record import Number, Part, of_bounds
from dpcalc.accounting.mechanisms.report_noisy_max import PEELING, SCORES, changes, ratio, read_scale, relative_scale
from dpcalc.bounds.conversions.zcdp import BOUNDED_RANGE
from dpcalc.bounds.mechanisms import exponential as bounds
from dpcalc.bounds.sampling import poisson_replace_one_comonotone

MECHANISM = of_bounds(
    bounds.EXACT, bounds.RDP, bounds.PROFILE, bound_params=ratio,
    name="noisy-max-gumbel",
    words="report noisy max with Gumbel noise",
    sentence=lambda text: (f"Gumbel noise of scale {text('scale')} is added to the scores of several candidates, and "
                           f"only the candidate with the largest noisy score is released. {changes(text)}"),
    query=SCORES,
    notes=("it is the exponential mechanism with η = 2Δ/b, or Δ/b for monotone scores, where b is the scale of the "
           "Gumbel noise and Δ the sensitivity of the scores", PEELING),
    ways_out={"step_epsilon": "give --scale and --sensitivity, or use --mechanism exponential, the same by its ε"},
    options=("scale",),
    optional=("sensitivity", "queries"),
    often=exponential.MECHANISM.often,
    part=Part({"scale": Number(description="of the Gumbel noise on every score")}, relative_scale, read=read_scale),
    zcdp=lambda p: ((ratio(p)["step_epsilon"], ratio(p)["step_epsilon"]), BOUNDED_RANGE),
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(ratio(p)["step_epsilon"], rate),
)
