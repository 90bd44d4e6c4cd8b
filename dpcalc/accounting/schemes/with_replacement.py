"""Sampling with replacement: every one of the b entries of a batch is drawn uniformly from all n records, by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import COUNT, NOT_SHUFFLED, Scheme, Use, Values, mechanisms_guarantee
from dpcalc.bounds.sampling import with_replacement_lower, with_replacement_profile
from dpcalc.core.bound import Params
from dpcalc.core.checks import Needed, Rule, Test
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

_IS_REPLACED = {REPLACE_ONE: True, ZERO_OUT: False}


_CHECKS: tuple[Test, ...] = (
    Rule(lambda run: run.sets("sampling_rate"), "--scheme with-replacement needs --n and --batch-size: how often a "
         "record is drawn depends on both", "unneeded", "--sampling-rate"),
    by_rate.STEPS_OR_EPOCHS,
    Needed(by_rate.BY_SIZE, "with --scheme with-replacement: the number of records, and that of draws"),
    by_rate.needs_steps(),
)


def _params(values: Values) -> dict[str, Any]:
    n, b = values.get("n"), values.get("batch_size")
    if n is None or b is None:
        raise DpcalcError("missing", "add --n and --batch-size", "--n")
    return {"n": int(n), "batch_size": int(b), "replaced": _IS_REPLACED[SCHEME.relation(values)],
            "steps": by_rate.number_of_steps(values, b / n)}


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    sampling = {"scheme": SCHEME.name, "n": params["n"], "batch_size": params["batch_size"]}
    return mechanisms_guarantee(SCHEME, values, ((sampling, params["steps"]),))


def _pair(use: Use) -> Pair:
    return with_replacement_profile.pair(use.sampling["n"], use.sampling["batch_size"], use.noise_multiplier,
                                         _IS_REPLACED[use.relation])


SCHEME = Scheme(
    name="with-replacement",
    words="batches drawn with replacement",
    bases={REPLACE_ONE: Base(REPLACE_ONE, described=True), ZERO_OUT: Base(ZERO_OUT, of_sum=True)},
    refusal="where one record more changes all draws",
    options=("n", "batch_size", "sampling_rate", "steps", "epochs"),
    checks=_CHECKS,
    params=_params,
    routes=lambda run, relation: (Route(with_replacement_profile.BOUND), Route(with_replacement_lower.BOUND)),
    guarantee=_guarantee,
    sentence=lambda text: (f"Each of the {text['batch_size']} entries of a batch is drawn uniformly from all "
                           f"{text['n']} records, independently and afresh at every step, so that a record may be in a "
                           f"batch several times; n is public, and {NOT_SHUFFLED}"),
    fields={"n": COUNT, "batch_size": COUNT},
    pair=_pair,
    only=("gaussian",),
    note="a record may be drawn several times into one batch; the number n of records is public",
    companions={"steps": "steps"},
)
