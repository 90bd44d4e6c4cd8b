"""The exponential mechanism, and every other mechanism whose privacy loss has a range of length η: one selection."""

from __future__ import annotations

from dpcalc.accounting.mechanisms.record import SELECTION, Mechanism, Number, Part, TotalVariation
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.conversions.zcdp_sum import BOUNDED_RANGE
from dpcalc.bounds.mechanisms import exponential_exact, exponential_lower, exponential_profile, exponential_rdp
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling import poisson_replace_one_comonotone
from dpcalc.bounds.total_variation import product
from dpcalc.core.bound import Params
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import ratio_up


def _eta(p: Params) -> float:
    return float(p["step_epsilon"])


def _profile(p: Params) -> Profile:
    eta = _eta(p)
    return Profile(lambda e: exponential_exact.value(e, eta), lambda mp, e: exponential_exact.exact(mp, e, eta),
                   lambda: exponential_profile.pair(eta))


MECHANISM = Mechanism(
    name="exponential",
    words="exponential mechanism",
    sentence=lambda text: ("One of several candidates is selected, as by the exponential mechanism, with a privacy "
                           f"loss that lies in an interval of length {text('step_epsilon')}."),
    query=SELECTION,
    notes=("η = ε for Pr[y] proportional to e^(εu(y)/(2Δ)); it is half of that where all scores change in the same "
           "direction, as counts do when a record is added: then give half of ε",),
    ways_out={name: f"--step-epsilon already counts {counts}: for Pr[y] proportional to e^(c·u(y)), with Δ the "
              "sensitivity of the scores u, give 2cΔ, or cΔ where all scores change in the same direction"
              for name, counts in (("sensitivity", "it"), ("queries", "that"))},
    options=("step_epsilon",),
    optional=(),
    once=(Route(exponential_exact.BOUND), *converted(exponential_rdp.BOUND)),
    often=(*PURE_COMPOSITION, *converted(exponential_rdp.BOUND), Route(exponential_profile.BOUND),
           Route(exponential_lower.BOUND)),
    curve=lambda p: curve.of_bound(exponential_rdp.BOUND, _eta(p), step_epsilon=_eta(p)),
    profile=_profile,
    pure=_eta,
    part=Part(fields={"step_epsilon": Number(description="range η of the privacy loss of one selection")},
              write=lambda p: {"step_epsilon": _eta(p)}),
    tv=TotalVariation(
        once=(Route(exponential_exact.BOUND),),
        often=(Route(exponential_profile.BOUND), Route(product.BOUND), Route(composition_optimal.BOUND)),
        profile=exponential_exact.BOUND,
    ),
    zcdp=lambda p: ((_eta(p), _eta(p)), BOUNDED_RANGE),
    group=lambda p, size: {**p, "step_epsilon": ratio_up((_eta(p), float(size)))},
    replaced=lambda p, rate: poisson_replace_one_comonotone.of_pure(_eta(p), rate),
)
