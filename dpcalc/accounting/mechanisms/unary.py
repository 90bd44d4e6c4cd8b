"""Unary encoding: a category as one bit for every category, each bit randomised (RAPPOR).

The options are the probabilities p = Pr[1 is reported as 1] and q = Pr[0 is reported as 1], where q is 1 − p unless it
is given (RAPPOR without Bloom filters has p = 1 − f/2).
"""

from math import exp
from typing import Any

from dpcalc.accounting.mechanisms.record import REPORT, Number, Part, of_bounds
from dpcalc.bounds.mechanisms import unary
from dpcalc.core.bound import Params
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import LARGEST_EXPONENT


def _probabilities(p: Params) -> dict[str, Any]:
    """p and q from the options, or from the parameters of the bounds; q is rounded down, which is less private."""
    if p.get("probability") is None:
        if p["step_epsilon"] > LARGEST_EXPONENT:
            raise OutOfScope("out-of-range", f"{p['step_epsilon']:g} is above {LARGEST_EXPONENT:g}: 1/(e^ε₀ + 1) is "
                                             "outside the range of double precision", "--step-epsilon")
        rare = exp(-p["step_epsilon"])
        return {"probability": 0.5, "flip_probability": rare / (1 + rare) * (1 - 5e-16)}
    flip = p.get("flip_probability")
    return {"probability": p["probability"], "flip_probability": 1 - p["probability"] if flip is None else flip}


MECHANISM = of_bounds(
    unary.EXACT, unary.RDP, bound_params=_probabilities,
    name="unary",
    words="unary encoding",
    sentence=lambda text: (
        "Every respondent reports one bit for every category. The bit of the true category is reported as 1 with "
        f"probability {text('probability')}, and every other bit with probability "
        + (text("flip_probability") or f"1 − {text('probability')}") + ", all of them independently."),
    query=REPORT,
    options=("probability",),
    optional=("flip_probability",),
    part=Part({"probability": Number(below=1.0), "flip_probability": Number(below=1.0)}, _probabilities),
)
