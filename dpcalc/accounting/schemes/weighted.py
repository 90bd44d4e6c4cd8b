"""Weighted sampling: one record a step, each with a probability that may differ from record to record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.accounting.routes import converted
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import RATE, Scheme, Values
from dpcalc.bounds import curve
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.command import require
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import REPLACE_ONE, Base

if TYPE_CHECKING:
    from dpcalc.core.command import Given


def _check(given: Given, unknown: str | None) -> None:
    if {"steps", "epochs"} <= given.provided | {unknown}:
        raise DpcalcError("contradictory", "give --steps or --epochs, not both", "--steps")
    require(given, ("max_weight",), "with --scheme weighted", unknown)


def _params(values: Values) -> dict[str, Any]:
    weight = values["max_weight"]
    return {"max_weight": weight, "steps": by_rate.number_of_steps(values, weight)}


SCHEME = Scheme(
    name="weighted",
    words="weighted batches",
    bases={REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="whose batches have a fixed size",
    options=("max_weight", "steps", "epochs"),
    check=_check,
    params=_params,
    routes=lambda given, relation: converted(wor_rdp.WEIGHTED),
    rdp_bound=wor_rdp.WEIGHTED,
    sentence=lambda text: (f"A record is in a batch with a probability of at most {text['max_weight']} that does not "
                           "depend on the data."),
    fields={"rate": RATE},
    curve=lambda use: curve.of_bound(wor_rdp.WEIGHTED, max_weight=use.sampling["rate"],
                                     base=use.mechanism.rdp_curve(use.params)),
    companions={"sampling_rate": "max_weight", "steps": "steps"},
)
