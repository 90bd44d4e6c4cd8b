"""Randomised response: the mechanism answers the true bit with probability p, and the other one else."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.mechanisms.record import REPORT, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import randomized_response_exact, randomized_response_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import exact, product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route


def _pure(p: Params) -> float:
    return randomized_response_exact.pure(p["probability"], 1)


def _profile(p: Params) -> Profile:
    def pair() -> Any:
        from dpcalc.pld.atoms import approximate_dp

        return approximate_dp(_pure(p))

    own = (p["probability"], 1)
    return Profile(lambda e: randomized_response_exact.value(e, *own),
                   lambda mp, e: randomized_response_exact.exact(mp, e, *own), pair)


_ROUTES = (Route(randomized_response_exact.BOUND), *converted(randomized_response_rdp.BOUND))

MECHANISM = Mechanism(
    name="randomized-response",
    words="randomised response",
    sentence=lambda text: (f"Every respondent gives the true answer with probability {text('probability')}, and else "
                           "the other one."),
    query=REPORT,
    notes=(),
    options=("probability",),
    optional=(),
    once=_ROUTES,
    often=_ROUTES,
    curve=lambda p: curve.of_bound(randomized_response_rdp.BOUND, _pure(p), probability=p["probability"]),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"probability": Number(below=1.0)}, write=lambda p: {"probability": p["probability"]}),
    tv=TotalVariation(
        once=(Route(exact.BOUND),),
        often=(Route(randomized_response_exact.BOUND), Route(product.BOUND)),
        profile=randomized_response_exact.BOUND,
        ratio=_pure,
    ),
)
