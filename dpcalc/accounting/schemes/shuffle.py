"""Shuffled batches: in every epoch the records are put in a new random order, which is cut into batches."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import COUNT, Scheme, Use, Values, mechanisms_guarantee
from dpcalc.bounds.sampling import (
    allocation_profile,
    shuffle_lower,
    shuffle_lower_allocation,
    shuffle_no_amplification,
    shuffle_profile,
    shuffle_profile_one_order,
    shuffle_profile_used,
)
from dpcalc.bounds.sampling._engine import chain
from dpcalc.core import noise_multiplier
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Needed, Rule, Test
from dpcalc.core.errors import flag
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import quotient_up, ratio_down

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair
    from dpcalc.pld.pilot import Parts


_CHECKS: tuple[Test, ...] = (
    by_rate.STEPS_OR_EPOCHS,
    Check(("unknown",), lambda x: flag(x) if x in by_rate.BY_SIZE else "", "{it}: for shuffled batches ε depends on "
          "how many records an epoch leaves out, which jumps up and down with it; solve for noise-multiplier or epochs",
          "unknown-value", "--solve"),
    *by_rate.EITHER_STEPS_PER_EPOCH,
    Rule(lambda run: run["drop_last"] and not run.sets(*by_rate.BY_SIZE), "--drop-last needs --n and --batch-size, "
         "from which follows how many records are left out", "missing", "--n"),
    Rule(lambda run: not run.sets("steps_per_epoch", *by_rate.BY_SIZE), "add --n and --batch-size, or "
         "--steps-per-epoch", "missing", "--n"),
    Needed(by_rate.BY_SIZE, "for the number of batches in an epoch", by_rate.BY_SIZE),
    by_rate.BATCH_SIZE,
    by_rate.needs_steps(lambda run: run.sets(*by_rate.BY_SIZE), "--epochs, or --steps (the steps of all epochs)"),
)


def _params(values: Values) -> dict[str, Any]:
    """The parameters of the bounds, which are about the whole run: `steps` is 1. An unfinished epoch counts for the
    guarantee, and not for the loss that is shown from below. A last, smaller batch is none of the T of an epoch: where
    the steps are given, it is dropped, which can only make the number of epochs larger. `all_steps` counts it."""
    n, b = values.get("n"), values.get("batch_size")
    if b is None:
        batches, dropped = int(values["steps_per_epoch"]), 0.0
    else:
        n, b = int(values["n"]), int(b)
        batches, dropped = n // b, quotient_up(n % b, n)
    steps = int(values.get("steps") or max(1, ceil(Fraction(values.get("epochs") or 1) * batches)))
    whole, unfinished = divmod(steps, batches)
    epochs = whole + (unfinished > 0)
    has_smaller = dropped > 0 and not values.get("drop_last") and not values.get("steps")
    return {"steps": 1, "epochs": epochs, "whole_epochs": whole, "unfinished": unfinished,
            "all_steps": steps + whole * has_smaller, "steps_per_epoch": batches, "dropped": dropped,
            "sigma": values.get("sigma"), "sensitivity": values.get("sensitivity"), "n": n, "batch_size": b,
            "drop_last": bool(values.get("drop_last")),
            "replaced": SCHEME.is_replaced(values),
            "tail": allocation_profile.tail_of(values.get("delta"), epochs, SCHEME.words)}


def _of_mechanism(use: Use) -> dict[str, Any]:
    """The noise relative to what a group of records moves the sums of an epoch, and to what one does, and whether that
    is a norm that all vectors are clipped to."""
    return {"noise_multiplier": ratio_down((use.noise_multiplier,), (float(use.group_size),)),
            "noise_of_record": use.noise_multiplier, "clipped": use.of_sum}


def _routes_of_any_order(run: Values, relation: str) -> tuple[Route, ...]:
    return (Route(shuffle_no_amplification.BOUND), *_LIKELIHOOD[relation], Route(shuffle_lower_allocation.BOUND))


_FRESH = Route(shuffle_profile.BOUND), Route(shuffle_profile_used.BOUND)
_LIKELIHOOD = {ZERO_OUT: (Route(shuffle_lower.BOUND),), REPLACE_ONE: ()}


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    """Whole epochs and an unfinished one."""
    n, b, t = params["n"], params["batch_size"], params["steps_per_epoch"]
    if n is None:
        return _guarantee_without_amplification(values, params)
    steps = t if params["drop_last"] else -(-n // b)
    uses = tuple(({"scheme": SCHEME.name, "n": n, "batch_size": b, "steps": k}, count)
                 for k, count in ((steps, params["whole_epochs"]), (params["unfinished"], 1)) if k and count)
    return mechanisms_guarantee(SCHEME, values, uses, says_sum=params["replaced"]) | {"upper_bound": True}


def _guarantee_of_one_order(values: Values, params: Params) -> dict[str, Any]:
    """All epochs together."""
    n, b, epochs = params["n"], params["batch_size"], params["epochs"]
    if n is None or not shuffle_profile.leaves_out(n, b, params["drop_last"]):
        return _guarantee_without_amplification(values, params)
    uses = (({"scheme": ONE_ORDER.name, "n": n, "batch_size": b, "epochs": epochs}, 1),)
    return mechanisms_guarantee(ONE_ORDER, values, uses) | {"upper_bound": True}


def _guarantee_without_amplification(values: Values, params: Params) -> dict[str, Any]:
    """One use of the mechanism on all records for every epoch, which loses no less than the run."""
    mechanism = MECHANISMS[values["mechanism"]]
    return {"kind": "mechanisms", "adjacency": SCHEME.relation(values), "upper_bound": True,
            "mechanisms": [mechanism.as_part(SCHEME.with_sigma(values), None, params["epochs"])]}


def _pair(use: Use) -> Pair:
    """The pair of an epoch of so many steps: all records are used, or the others are left out."""
    n, b, steps = (use.sampling[name] for name in ("n", "batch_size", "steps"))
    sigma = shuffle_profile.in_norms(use.noise_multiplier, use.is_replaced)

    def of_one(tail: float) -> Parts:
        if steps * b < n:
            return ((shuffle_profile.left_out(sigma, steps, n, b, use.is_replaced, tail), 1),)
        return ((shuffle_profile_used.whole_epoch(use.noise_multiplier, n, b, use.is_replaced, use.of_sum, tail), 1),)

    ((pair, _),) = chain.of_records(of_one, use.group_size, allocation_profile.DEFAULT_TAIL)
    return pair


def _pair_of_one_order(use: Use) -> Pair:
    """The pair of all epochs together, which leave out the records that do not fill a batch."""
    ((pair, _),) = shuffle_profile_one_order.value(
        use.noise_multiplier, use.sampling["n"], use.sampling["batch_size"], True, use.is_replaced,
        use.sampling["epochs"], use.group_size, allocation_profile.DEFAULT_TAIL)
    return pair


def note_on_a_pass(n: int, batch_size: int) -> str:
    """How many records one pass over shuffled or ordered records uses."""
    batches, rest = divmod(n, batch_size)
    left = f"; the other {rest} {'records are' if rest > 1 else 'record is'} not used in it" if rest else ""
    return f"a pass is {_number_of_batches(batches)} of {batch_size}{left}"


def note_on_an_epoch(n: int, batch_size: int, drop_last: bool) -> str:
    """How many records an epoch of shuffled batches uses."""
    batches, rest = divmod(n, batch_size)
    if drop_last and not rest:
        return f"{batch_size} divides {n}, so that --drop-last leaves out no record: every epoch uses all"
    if rest and not drop_last:
        return (f"an epoch is {_number_of_batches(batches)} of {batch_size}, and a last one of {rest} with the same "
                "noise on its sum")
    return note_on_a_pass(n, batch_size)


def _number_of_batches(batches: int) -> str:
    return "1 batch" if batches == 1 else f"{batches} batches"


def _notes(values: Values) -> tuple[str, ...]:
    if values.get("n") is None:
        return ()
    return (note_on_an_epoch(int(values["n"]), int(values["batch_size"]), bool(values.get("drop_last"))),)


def size_that_leaves_out(n: int, batch_size: int) -> int | None:
    """The batch size nearest to this one that does not divide n, of two the smaller one; None where n has none."""
    sizes = (size for k in range(batch_size) for size in (batch_size - k, batch_size + k))
    return next((size for size in sizes if size < n and n % size), None)


def _sentence(text: Mapping[str, str]) -> str:
    size = f"{text['steps_per_epoch']} batches" if "steps_per_epoch" in text else (
        f"batches of {text['batch_size']} of {text['n']} records")
    if text.get("reshuffle") == "once":
        same = f"Every epoch takes {size} in a secret order of the records that is the same in all epochs"
        if "n" in text and shuffle_profile.leaves_out(int(text["n"]), int(text["batch_size"]), "drop_last" in text):
            return f"{same}, and leaves out those at the end of that order, which do not fill a batch."
        return f"{same}."
    afresh = f"Every epoch takes {size} in a secret order of the records that is shuffled afresh"
    if "n" not in text:
        return f"{afresh}."
    n, b = int(text["n"]), int(text["batch_size"])
    if shuffle_profile.leaves_out(n, b, "drop_last" in text):
        return f"{afresh}, and leaves out those at the end of that order, which do not fill a batch. {_NOT_COVERED}"
    last = "; the last, smaller batch has the same noise on its sum" if n % b else ""
    return f"{afresh}, and uses each of them once{last}. {_NOT_COVERED}"


_NOT_COVERED = ("Not covered are a buffered shuffle, records that are cut off before the order is drawn or go on in "
                "the next epoch, and records that are used a second time to fill a batch.")


SCHEME = Scheme(
    name="shuffle",
    words="shuffled batches",
    bases={ZERO_OUT: Base(ZERO_OUT), REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="where one record more would change the other batches",
    ways_out={"sampling_rate": "give --epochs, and --n and --batch-size or --steps-per-epoch (1/q at a sampling rate "
              "q)"},
    options=("n", "batch_size", "steps_per_epoch", "steps", "epochs", "drop_last", "reshuffle"),
    checks=_CHECKS,
    params=_params,
    routes=lambda run, relation: (*_FRESH, *_routes_of_any_order(run, relation)),
    own_guarantee=_guarantee,
    sentence=_sentence,
    fields={"n": COUNT, "batch_size": COUNT, "steps": COUNT},
    pair=_pair,
    of_mechanism=_of_mechanism,
    group_routes=dict.fromkeys((ZERO_OUT, REPLACE_ONE), (*_FRESH, Route(shuffle_no_amplification.BOUND))),
    only=("gaussian",),
    promise="every epoch must put all n records in a new, uniformly random order and cut it into batches; only the end "
            "of that order may be left out (no buffered shuffle, no records cut off before, no order that goes on in "
            "the next epoch, no record twice)",
    unit="epoch",
    notes=_notes,
    companions={"steps_per_epoch": "steps_per_epoch", "epochs": "epochs", "steps": "all_steps"},
)

# One order for all epochs. What a run loses at least is shown by its first epoch alone.
ONE_ORDER = SCHEME._replace(
    name=noise_multiplier.ONE_ORDER,
    words="batches from one shuffled order",
    params=lambda values: (found := _params(values)) | {"whole_epochs": min(found["whole_epochs"], 1)},
    routes=lambda run, relation: (Route(shuffle_profile_one_order.BOUND), *_routes_of_any_order(run, relation)),
    group_routes=dict.fromkeys((ZERO_OUT, REPLACE_ONE), (Route(shuffle_profile_one_order.BOUND),
                                                         Route(shuffle_no_amplification.BOUND))),
    own_guarantee=_guarantee_of_one_order,
    fields={"n": COUNT, "batch_size": COUNT, "epochs": COUNT},
    pair=_pair_of_one_order,
    promise="one uniformly random order of all n records, drawn before the first epoch, must be cut into the same "
            "batches in all epochs; only its end may be left out",
)
