"""Shuffled reports: everybody applies a local randomiser to their own record, and the reports are released in a
uniformly random order. One use is one round."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.mechanisms.record import SHUFFLED_REPORTS, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import PURE_COMPOSITION
from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import shuffled_ldp_exact, shuffled_ldp_lower, shuffled_ldp_profile
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route


def _own(p: Params) -> tuple[int, float]:
    return int(p["n"]), float(p["step_epsilon"])


def _profile(p: Params) -> Profile:
    own = _own(p)
    return Profile(lambda e: shuffled_ldp_exact.value(e, *own), lambda mp, e: shuffled_ldp_exact.exact(mp, e, *own),
                   lambda: shuffled_ldp_profile.pair(*own))


def _as_fields(p: Params) -> dict[str, Any]:
    n, step_epsilon = _own(p)
    return {"n": n, "step_epsilon": step_epsilon}


MECHANISM = Mechanism(
    name="shuffled-ldp",
    words="shuffled local reports",
    sentence=lambda text: (f"Each of {text('n')} people applies the same {text('step_epsilon')}-differentially private "
                           "randomiser to their own record, and only the reports in a uniformly random order are "
                           "released."),
    query=SHUFFLED_REPORTS,
    notes=("the guarantee holds against whoever sees the shuffled reports; whoever sees a person's report before it is "
           "shuffled has the ε of --step-epsilon",),
    options=("step_epsilon", "n"),
    optional=(),
    once=(Route(shuffled_ldp_exact.BOUND), Route(shuffled_ldp_lower.BOUND)),
    often=(*PURE_COMPOSITION, Route(shuffled_ldp_profile.BOUND), Route(shuffled_ldp_lower.BOUND)),
    curve=None,
    profile=_profile,
    pure=lambda p: float(p["step_epsilon"]),
    part=Part(fields={"n": Number(least=1, description="number of reports"),
                      "step_epsilon": Number(description="ε₀ of the local randomiser")},
              write=_as_fields),
    tv=TotalVariation(
        once=(Route(shuffled_ldp_exact.BOUND),),
        often=(Route(shuffled_ldp_profile.BOUND), Route(product.BOUND), Route(composition_optimal.BOUND)),
        profile=shuffled_ldp_exact.BOUND,
    ),
)
