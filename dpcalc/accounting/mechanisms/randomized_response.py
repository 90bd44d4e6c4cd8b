"""Randomised response: the mechanism answers the true bit with probability p, and the other one else."""

from dpcalc.accounting.mechanisms.record import REPORT, Number, Part, TotalVariation, of_bounds
from dpcalc.bounds.mechanisms import finite, randomized_response
from dpcalc.bounds.total_variation import closed_forms
from dpcalc.core.results import Route

MECHANISM = of_bounds(
    randomized_response.EXACT, randomized_response.RDP,
    pair=lambda p: finite.pair(randomized_response.atoms(finite.DOUBLES, p["probability"])),
    name="randomized-response",
    words="randomised response",
    sentence=lambda text: (f"Every respondent gives the true answer with probability {text('probability')}, and else "
                           "the other one."),
    query=REPORT,
    options=("probability",),
    part=Part({"probability": Number(below=1.0)}),
    tv=TotalVariation(
        once=(Route(closed_forms.EXACT),),
        often=(Route(randomized_response.EXACT), Route(closed_forms.PRODUCT)),
        profile=randomized_response.EXACT,
        ratio=lambda p: randomized_response.pure(p["probability"], 1),
    ),
)
