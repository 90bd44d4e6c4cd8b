"""Batches of a fixed size: at every step b of the n records, drawn afresh without replacement; or one record, by
weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import NOT_SHUFFLED, RATE, Scheme, Use, Values
from dpcalc.bounds import curve
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import wor_profile, wor_rdp, wor_zero_out_lower, wor_zero_out_profile
from dpcalc.core.checks import Needed
from dpcalc.core.errors import OutOfScope
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair


def _routes_replaced(run: Values) -> tuple[Route, ...]:
    if "curve" in run:
        return converted(wor_rdp.BOUND)
    pure = PURE_COMPOSITION if MECHANISMS[run["mechanism"]].pure is not None else ()
    return (*converted(wor_rdp.BOUND), *pure, Route(wor_profile.BOUND))


def _pair_replaced(use: Use) -> Pair:
    from dpcalc.pld import sampled

    return sampled.without_replacement(use.mechanism.profile(use.params).pair(), use.sampling["rate"])


def _curve_replaced(use: Use) -> Curve:
    return curve.of_bound(wor_rdp.BOUND, sampling_rate=use.sampling["rate"], base=use.mechanism.rdp_curve(use.params))


def _no_curve(use: Use) -> Curve:
    raise OutOfScope("unsupported", "batches of a fixed size have no RDP bound where a record is zeroed out; ask with "
                                    "--delta", "--input")


_ROUTES: dict[str, Callable[[Values], tuple[Route, ...]]] = {
    REPLACE_ONE: _routes_replaced,
    ZERO_OUT: lambda run: (Route(wor_zero_out_profile.BOUND), Route(wor_zero_out_lower.BOUND))}
_PAIRS: dict[str, Callable[[Use], Pair]] = {
    REPLACE_ONE: _pair_replaced,
    ZERO_OUT: lambda use: wor_zero_out_profile.pair(use.sampling["rate"], use.noise_multiplier)}
_CURVES = {REPLACE_ONE: _curve_replaced, ZERO_OUT: _no_curve}


def _sentence(text: Mapping[str, str]) -> str:
    of = (f"the share {text['sampling_rate']} of the records" if "sampling_rate" in text else
          f"{text['batch_size']} of {text['n']} records")
    return f"A batch holds {of}, drawn uniformly without replacement and afresh at every step; {NOT_SHUFFLED}"


SCHEME = Scheme(
    name="without-replacement",
    words="batches drawn without replacement",
    bases={REPLACE_ONE: Base(REPLACE_ONE), ZERO_OUT: Base(ZERO_OUT, of_sum=True, only=("gaussian",))},
    refusal="whose batches have a fixed size",
    options=by_rate.OPTIONS,
    checks=by_rate.CHECKS,
    params=by_rate.params,
    routes=lambda run, relation: _ROUTES[relation](run),
    rdp_bound=wor_rdp.BOUND,
    sentence=_sentence,
    fields={"rate": RATE},
    pair=lambda use: _PAIRS[use.relation](use),
    curve=lambda use: _CURVES[use.relation](use),
    pure=Use.amplified,
)

# One record a step, each with a probability that may differ from record to record.
WEIGHTED = Scheme(
    name="weighted",
    words="weighted draws of one record",
    bases={REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="whose batches have a fixed size",
    options=("max_weight", "steps", "epochs"),
    checks=(by_rate.STEPS_OR_EPOCHS, Needed(("max_weight",), "with --scheme weighted")),
    params=lambda values: {"max_weight": values["max_weight"],
                           "steps": by_rate.number_of_steps(values, values["max_weight"])},
    routes=lambda run, relation: converted(wor_rdp.WEIGHTED),
    rdp_bound=wor_rdp.WEIGHTED,
    sentence=lambda text: (f"Every step draws one record, each with a probability of at most {text['max_weight']} that "
                           "does not depend on the data."),
    fields={"rate": RATE},
    curve=lambda use: curve.of_bound(wor_rdp.WEIGHTED, max_weight=use.sampling["rate"],
                                     base=use.mechanism.rdp_curve(use.params)),
    companions={"sampling_rate": "max_weight", "steps": "steps"},
)
