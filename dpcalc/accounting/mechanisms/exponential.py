"""The exponential mechanism, and every other mechanism whose privacy loss has a range of length η: one selection."""

from dpcalc.accounting.mechanisms.record import SELECTION, Number, Part, of_bounds
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds.conversions.zcdp import BOUNDED_RANGE
from dpcalc.bounds.mechanisms import exponential
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_up

MECHANISM = of_bounds(
    exponential.EXACT, exponential.RDP, exponential.PROFILE,
    name="exponential",
    words="exponential mechanism",
    sentence=lambda text: ("One of several candidates is selected, as by the exponential mechanism, with a privacy "
                           f"loss that lies in an interval of length {text('step_epsilon')}."),
    query=SELECTION,
    notes=("η = ε for Pr[y] proportional to e^(εu(y)/(2Δ)); it is half of that where all scores change in the same "
           "direction, as counts do when a record is added: then give half of ε",),
    ways_out={name: f"--step-epsilon already counts {counts}: for Pr[y] proportional to e^(c·u(y)), with Δ the "
              "sensitivity of the scores u, give 2cΔ, or cΔ where all scores change in the same direction; or use "
              "--mechanism noisy-max-gumbel, the same with Gumbel noise of scale 1/c, which takes --scale, "
              "--sensitivity and --queries"
              for name, counts in (("scale", "it"), ("sensitivity", "it"), ("queries", "that"))},
    options=("step_epsilon",),
    often=(*PURE_COMPOSITION, *converted(exponential.RDP), Route(exponential.PROFILE), Route(exponential.LOWER)),
    part=Part({"step_epsilon": Number(description="range η of the privacy loss of one selection")}),
    zcdp=lambda p: ((p["step_epsilon"], p["step_epsilon"]), BOUNDED_RANGE),
    group=lambda p, size: {**p, "step_epsilon": ratio_up((p["step_epsilon"], float(size)))},
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(p["step_epsilon"], rate),
)
