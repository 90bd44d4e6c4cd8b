"""Shuffled reports: everybody applies a local randomiser to their own record, and the reports are released in a
uniformly random order. One use is one round."""

from dpcalc.accounting.mechanisms.record import SHUFFLED_REPORTS, Number, Part, of_bounds
from dpcalc.accounting.routes import PURE_COMPOSITION
from dpcalc.bounds.mechanisms import shuffled_ldp, shuffled_ldp_lower
from dpcalc.core.results import Route

_LOWER = Route(shuffled_ldp_lower.BOUND)

MECHANISM = of_bounds(
    shuffled_ldp.EXACT, None, shuffled_ldp.PROFILE,
    name="shuffled-ldp",
    words="shuffled local reports",
    sentence=lambda text: (f"Each of {text('n')} people applies the same {text('step_epsilon')}-differentially private "
                           "randomiser to their own record, and only the reports in a uniformly random order are "
                           "released."),
    query=SHUFFLED_REPORTS,
    notes=("the guarantee holds against whoever sees the shuffled reports; whoever sees a person's report before it is "
           "shuffled has the ε of --step-epsilon",),
    options=("step_epsilon", "n"),
    once=(Route(shuffled_ldp.EXACT), _LOWER),
    often=(*PURE_COMPOSITION, Route(shuffled_ldp.PROFILE), _LOWER),
    part=Part({"n": Number(least=1, description="number of reports"),
               "step_epsilon": Number(description="ε₀ of the local randomiser")}),
)
