"""Poisson sampling with a maximal batch size: of more records that are drawn, a uniform subset of that size stays."""

from math import log
from typing import Any

from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import COUNT, NOT_SHUFFLED, POISSON_ONLY, RATE, Scheme, Values
from dpcalc.bounds.sampling import truncated_poisson_lower, truncated_poisson_profile
from dpcalc.core.checks import Needed, Rule, Test, excludes
from dpcalc.core.noise_multiplier import TRUNCATED
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route

NEGLIGIBLE = 1e-3  # of δ: what truncation may add before a larger batch size is advised; ε then grows by 1e-4 of it
USUAL_DELTA = 1e-6  # where the question gives none


# As for Poisson batches, but n is needed beside a sampling rate, too.
_CHECKS: tuple[Test, ...] = (
    excludes("sampling_rate", "batch_size", "give --sampling-rate or --batch-size, not both"),
    Needed(("n",), "with --max-batch-size: how often a batch is truncated depends on the number of records"),
    by_rate.STEPS_OR_EPOCHS,
    Rule(lambda run: not run.sets("sampling_rate", "batch_size"), "needed for the sampling rate b/n", "missing",
         "--batch-size"),
    by_rate.BATCH_SIZE,
    by_rate.STEPS,
)


def _params(values: Values) -> dict[str, Any]:
    return {**by_rate.params(values), "n": values["n"], "max_batch_size": values["max_batch_size"],
            "replaced": SCHEME.is_replaced(values)}


def _notes(values: Values) -> tuple[str, ...]:
    """Where truncation is not negligible: from which batch size on it is.

    A step truncates a batch that holds the record with probability κ, on both data sets. So by joint convexity T steps
    have at most the δ(ε) of Poisson batches and Tκ."""
    found, delta = _params(values), values.get("delta") or USUAL_DELTA
    n, rate = found["n"], found["sampling_rate"]
    log_most = log(NEGLIGIBLE * delta / found["steps"])

    def is_negligible(size: int) -> bool:
        return size >= n or truncated_poisson_profile.weights(n, rate, size).log_truncated <= log_most

    if is_negligible(low := values["max_batch_size"]):
        return ()
    high = n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_negligible(middle) else (middle, high)
    return (f"with --max-batch-size {high} or more, truncation adds at most a thousandth to δ; where large batches are "
            "taken in parts whose gradients are added up, none is needed",)


SCHEME = Scheme(
    name=TRUNCATED,
    words="Poisson batches of a maximal size",
    bases={ZERO_OUT: Base(ADD_REMOVE, of_sum=True), REPLACE_ONE: Base(ADD_REMOVE, described=True)},
    refusal="whose batches are truncated: its theorem needs a fixed number of records, and sizes of batches that are "
            "not released",
    options=(*by_rate.OPTIONS, "max_batch_size"),
    checks=_CHECKS,
    params=_params,
    routes=lambda run, relation: (Route(truncated_poisson_profile.BOUND), Route(truncated_poisson_lower.BOUND)),
    sentence=lambda text: ("Batches are truncated Poisson samples: each record is drawn with probability "
                           f"{by_rate.rate_text(text)}, independently, and of more than {text['max_batch_size']} drawn "
                           f"records a uniform subset of that size stays; the sizes of batches are not released, and "
                           f"{NOT_SHUFFLED}"),
    fields={"rate": RATE, "n": COUNT, "max_batch_size": COUNT},
    pair=lambda use: truncated_poisson_profile.pair(*(use.sampling[name] for name in ("n", "rate", "max_batch_size")),
                                                    use.noise_multiplier, use.is_replaced),
    only=("gaussian",),
    notes=_notes,
    promise=POISSON_ONLY,
)
