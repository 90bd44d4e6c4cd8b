"""k-ary randomised response: the true category out of K with probability e^ε₀/(e^ε₀ + K − 1), and else another one."""

from __future__ import annotations

from dpcalc.accounting.mechanisms.record import REPORT, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import k_randomized_response_exact, k_randomized_response_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route


def _pure(p: Params) -> float:
    return float(p["step_epsilon"])


def _profile(p: Params) -> Profile:
    own = (p["step_epsilon"], p["categories"])
    return Profile(lambda e: k_randomized_response_exact.value(e, *own),
                   lambda mp, e: k_randomized_response_exact.exact(mp, e, *own),
                   lambda: k_randomized_response_exact.pair(*own))


_EXACT = Route(k_randomized_response_exact.BOUND)

MECHANISM = Mechanism(
    name="k-randomized-response",
    words="k-ary randomised response",
    sentence=lambda text: (f"Every respondent reports one of {text('categories')} categories, the true one e^ε₀ times "
                           f"as likely as each other one, with ε₀ = {text('step_epsilon')}."),
    query=REPORT,
    notes=(),
    options=("step_epsilon", "categories"),
    optional=(),
    once=(_EXACT, *converted(k_randomized_response_rdp.BOUND)),
    often=(*PURE_COMPOSITION, *converted(k_randomized_response_rdp.BOUND), _EXACT),
    curve=lambda p: curve.of_bound(k_randomized_response_rdp.BOUND, _pure(p), step_epsilon=p["step_epsilon"],
                                   categories=p["categories"]),
    profile=_profile,
    pure=_pure,
    part=Part(fields={"step_epsilon": Number(), "categories": Number(least=2)},
              write=lambda p: {"step_epsilon": p["step_epsilon"], "categories": p["categories"]}),
    tv=TotalVariation((_EXACT,), (_EXACT, Route(product.BOUND)), k_randomized_response_exact.BOUND),
)
