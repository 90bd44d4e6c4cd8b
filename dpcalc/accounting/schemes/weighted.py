"""Weighted sampling: one record a step, each with a probability that may differ from record to record."""

from __future__ import annotations

from typing import Any

from dpcalc.accounting.routes import converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import RATE, Scheme, Values
from dpcalc.bounds import curve
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.checks import Needed
from dpcalc.core.relations import REPLACE_ONE, Base


def _params(values: Values) -> dict[str, Any]:
    weight = values["max_weight"]
    return {"max_weight": weight, "steps": by_rate.number_of_steps(values, weight)}


SCHEME = Scheme(
    name="weighted",
    words="weighted batches",
    bases={REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="whose batches have a fixed size",
    options=("max_weight", "steps", "epochs"),
    checks=(by_rate.STEPS_OR_EPOCHS, Needed(("max_weight",), "with --scheme weighted")),
    params=_params,
    routes=lambda run, relation: converted(wor_rdp.WEIGHTED),
    rdp_bound=wor_rdp.WEIGHTED,
    sentence=lambda text: (f"A record is in a batch with a probability of at most {text['max_weight']} that does not "
                           "depend on the data."),
    fields={"rate": RATE},
    curve=lambda use: curve.of_bound(wor_rdp.WEIGHTED, max_weight=use.sampling["rate"],
                                     base=use.mechanism.rdp_curve(use.params)),
    companions={"sampling_rate": "max_weight", "steps": "steps"},
)
