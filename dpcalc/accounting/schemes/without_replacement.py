"""Sampling without replacement: at every step b of the n records, drawn afresh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.routes import PURE_COMPOSITION, converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import (
    NOT_SHUFFLED,
    RATE,
    Sampling,
    Scheme,
    Values,
    curve_guarantee,
    mechanisms_guarantee,
)
from dpcalc.bounds import curve
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import amplification, wor_profile, wor_rdp
from dpcalc.core.bound import Params
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.core.command import Given
    from dpcalc.pld.pair import Pair


def _routes(given: Given) -> tuple[Route, ...]:
    if "curve" in given.values:
        return converted(wor_rdp.BOUND)
    pure = PURE_COMPOSITION if MECHANISMS[given["mechanism"]].pure is not None else ()
    return (*converted(wor_rdp.BOUND), *pure, Route(wor_profile.BOUND))


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    if "curve" in values:
        return curve_guarantee(wor_rdp.BOUND, params)
    return mechanisms_guarantee(values, (({"scheme": SCHEME.name, "rate": params["sampling_rate"]}, params["steps"]),))


def _pair(base: Pair, sampling: Sampling) -> Pair:
    from dpcalc.pld import sampled

    return sampled.without_replacement(base, sampling["rate"])


def _curve(base: Curve, sampling: Sampling, params: Params) -> Curve:
    return curve.of_bound(wor_rdp.BOUND, sampling_rate=sampling["rate"], base=base)


def _sentence(text: Mapping[str, str]) -> str:
    of = (f"the share {text['sampling_rate']} of the records" if "sampling_rate" in text else
          f"{text['batch_size']} of {text['n']} records")
    return f"A batch holds {of}, drawn uniformly without replacement and afresh at every step; {NOT_SHUFFLED}"


SCHEME = Scheme(
    name="without-replacement",
    words="batches drawn without replacement",
    refusal="whose batches have a fixed size",
    options=by_rate.OPTIONS,
    check=by_rate.check,
    params=by_rate.params,
    routes=_routes,
    guarantee=_guarantee,
    sentence=_sentence,
    fields={"rate": RATE},
    pair=_pair,
    curve=_curve,
    pure=lambda epsilon, sampling: float(amplification.value(epsilon, 0.0, sampling["rate"])["epsilon"]),
)
