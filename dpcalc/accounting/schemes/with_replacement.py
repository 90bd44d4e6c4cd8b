"""Sampling with replacement: every one of the b entries of a batch is drawn uniformly from all n records, by itself."""

from typing import Any

from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import COUNT, NOT_SHUFFLED, Scheme, Values
from dpcalc.bounds.sampling import with_replacement_lower, with_replacement_profile
from dpcalc.core.checks import Needed, Rule, Test
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

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
    return {"n": int(n), "batch_size": int(b), "replaced": SCHEME.is_replaced(values),
            "steps": by_rate.number_of_steps(values, b / n)}


SCHEME = Scheme(
    name="with-replacement",
    words="batches drawn with replacement",
    bases={REPLACE_ONE: Base(REPLACE_ONE, described=True), ZERO_OUT: Base(ZERO_OUT, of_sum=True)},
    refusal="where one record more changes all draws",
    options=("n", "batch_size", "sampling_rate", "steps", "epochs"),
    checks=_CHECKS,
    params=_params,
    routes=lambda run, relation: (Route(with_replacement_profile.BOUND), Route(with_replacement_lower.BOUND)),
    sentence=lambda text: (f"Each of the {text['batch_size']} entries of a batch is drawn uniformly from all "
                           f"{text['n']} records, independently and afresh at every step, so that a record may be in a "
                           f"batch several times; n is public, and {NOT_SHUFFLED}"),
    fields={"n": COUNT, "batch_size": COUNT},
    pair=lambda use: with_replacement_profile.pair(use.sampling["n"], use.sampling["batch_size"], use.noise_multiplier,
                                                   use.is_replaced),
    only=("gaussian",),
    note="a record may be drawn several times into one batch; the number n of records is public",
    companions={"steps": "steps"},
)
