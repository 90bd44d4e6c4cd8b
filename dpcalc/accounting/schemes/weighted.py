"""Weighted sampling: one record a step, each with a probability that may differ from record to record."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.routes import converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import (
    RATE,
    Scheme,
    Use,
    Values,
    curve_guarantee,
    mechanisms_guarantee,
)
from dpcalc.bounds import curve
from dpcalc.bounds.curve import Curve
from dpcalc.bounds.sampling import weighted_rdp
from dpcalc.core.bound import Params
from dpcalc.core.checks import Needed
from dpcalc.core.relations import REPLACE_ONE, Base


def _params(values: Values) -> dict[str, Any]:
    weight = values["max_weight"]
    return {"max_weight": weight, "steps": by_rate.number_of_steps(values, weight)}


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    if "curve" in values:
        return curve_guarantee(weighted_rdp.BOUND, params)
    return mechanisms_guarantee(SCHEME, values, (({"scheme": SCHEME.name, "rate": params["max_weight"]},
                                                  params["steps"]),))


def _curve(use: Use) -> Curve:
    return curve.of_bound(weighted_rdp.BOUND, max_weight=use.sampling["rate"], base=use.mechanism.rdp_curve(use.params))


SCHEME = Scheme(
    name="weighted",
    words="weighted batches",
    bases={REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="whose batches have a fixed size",
    options=("max_weight", "steps", "epochs"),
    checks=(by_rate.STEPS_OR_EPOCHS, Needed(("max_weight",), "with --scheme weighted")),
    params=_params,
    routes=lambda run, relation: converted(weighted_rdp.BOUND),
    guarantee=_guarantee,
    sentence=lambda text: (f"A record is in a batch with a probability of at most {text['max_weight']} that does not "
                           "depend on the data."),
    fields={"rate": RATE},
    curve=_curve,
    companions={"sampling_rate": "max_weight", "steps": "steps"},
)
