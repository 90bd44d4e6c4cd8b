"""Unary encoding: a category as one bit for every category, each bit randomised (RAPPOR).

The options are the probabilities p = Pr[1 is reported as 1] and q = Pr[0 is reported as 1], where q is 1 − p unless it
is given (RAPPOR without Bloom filters has p = 1 − f/2).
"""

from __future__ import annotations

from math import exp
from typing import Any

from dpcalc.accounting.mechanisms.record import REPORT, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import unary_exact, unary_rdp
from dpcalc.bounds.mechanisms.three_losses import LARGEST_EXPONENT
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.errors import OutOfScope
from dpcalc.core.results import Route


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


def _pure(p: Params) -> float:
    return unary_exact.pure(**_probabilities(p))


def _profile(p: Params) -> Profile:
    own = tuple(_probabilities(p).values())
    return Profile(lambda e: unary_exact.value(e, *own), lambda mp, e: unary_exact.exact(mp, e, *own),
                   lambda: unary_exact.pair(*own))


_EXACT = Route(unary_exact.BOUND)

MECHANISM = Mechanism(
    name="unary",
    words="unary encoding",
    sentence=lambda text: (
        "Every respondent reports one bit for every category. The bit of the true category is reported as 1 with "
        f"probability {text('probability')}, and every other bit with probability "
        + (text("flip_probability") or f"1 − {text('probability')}") + ", all of them independently."),
    query=REPORT,
    notes=(),
    options=("probability",),
    optional=("flip_probability",),
    once=(_EXACT, *converted(unary_rdp.BOUND)),
    often=(*PURE_COMPOSITION, *converted(unary_rdp.BOUND), _EXACT),
    curve=lambda p: curve.of_bound(unary_rdp.BOUND, _pure(p), **_probabilities(p)),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"probability": Number(below=1.0), "flip_probability": Number(below=1.0)}, write=_probabilities),
    tv=TotalVariation((_EXACT,), (_EXACT, Route(product.BOUND)), unary_exact.BOUND),
    bound_params=_probabilities,
)
