"""Shuffled batches: in every epoch the records are put in a new random order, which is cut into batches."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import by_rate
from dpcalc.accounting.schemes.record import Scheme, Use, Values
from dpcalc.bounds.sampling import shuffle_lower, shuffle_lower_allocation, shuffle_no_amplification
from dpcalc.core.bound import Params
from dpcalc.core.command import require
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.relations import REPLACE_ONE, ZERO_OUT, Base
from dpcalc.core.results import Route
from dpcalc.numerics.rounding import quotient_up, ratio_down

if TYPE_CHECKING:
    from dpcalc.core.command import Given


def _check(given: Given, unknown: str | None) -> None:
    if {"steps", "epochs"} <= given.provided | {unknown}:
        raise DpcalcError("contradictory", "give --steps or --epochs, not both", "--steps")
    if unknown in ("n", "batch_size"):
        raise DpcalcError("unknown-value", f"{flag(unknown)} does not change what is proven for shuffled batches, "
                                           "where every epoch counts as one step on all records", "--solve")
    by_size = given.provided & {"n", "batch_size"}
    if by_size and given.has("steps_per_epoch"):
        raise DpcalcError("contradictory", "give --steps-per-epoch, or --n and --batch-size, not both",
                          "--steps-per-epoch")
    if not by_size and not given.has("steps_per_epoch"):
        raise DpcalcError("missing", "add --n and --batch-size, or --steps-per-epoch", "--n")
    if by_size:
        require(given, ("n", "batch_size"), "for the number of batches in an epoch", unknown)
        by_rate.check_batch_size(given)
        by_rate.require_steps(given, unknown, "--epochs, or --steps (the steps of all epochs)")


def _params(values: Values) -> dict[str, Any]:
    """The parameters of the bounds, which are about the whole run: `steps` is 1. An incomplete epoch counts for the
    guarantee, and not for the loss that is shown from below. A last, smaller batch is none of the T of an epoch: where
    the steps are given, it is dropped."""
    if values.get("batch_size") is None:
        batches, dropped = int(values["steps_per_epoch"]), 0.0
    else:
        n, b = int(values["n"]), int(values["batch_size"])
        batches, dropped = n // b, quotient_up(n % b, n)
    steps = int(values.get("steps") or max(1, ceil(Fraction(values.get("epochs") or 1) * batches)))
    epochs = Fraction(steps, batches)
    return {"steps": 1, "epochs": ceil(epochs), "whole_epochs": floor(epochs), "all_steps": steps,
            "steps_per_epoch": batches, "dropped": dropped, "sigma": values.get("sigma"),
            "sensitivity": values.get("sensitivity")}


def _of_group(use: Use) -> dict[str, Any]:
    """The noise relative to what a group of records moves the sums of an epoch."""
    return {"noise_multiplier": ratio_down(use.noise_multiplier, float(use.group_size))}


def _routes(given: Given, relation: str) -> tuple[Route, ...]:
    upper = Route(shuffle_no_amplification.BOUND)
    # μ-GDP, and mechanisms that are only an upper bound, may lose less than the noise that stands for them.
    attained = all(base.kind == "mechanisms" and not base.upper_bound for base in given.inputs)
    if not attained:
        return (upper,)
    return (upper, *_LARGEST_SUM[relation], Route(shuffle_lower_allocation.BOUND))


_LARGEST_SUM = {ZERO_OUT: (Route(shuffle_lower.BOUND),), REPLACE_ONE: ()}


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    """One use of the mechanism on all records for every epoch, which loses no less than the run."""
    mechanism = MECHANISMS[values["mechanism"]]
    return {"kind": "mechanisms", "adjacency": SCHEME.relation(values), "upper_bound": True,
            "mechanisms": [mechanism.as_part(SCHEME.with_sigma(values), None, params["epochs"])]}


def note_on_a_pass(n: int, batch_size: int) -> str:
    """How many records one pass over shuffled or ordered records uses."""
    batches, rest = divmod(n, batch_size)
    left = f"; the other {rest} {'records are' if rest > 1 else 'record is'} not used in it" if rest else ""
    return f"a pass is {'1 batch' if batches == 1 else f'{batches} batches'} of {batch_size}{left}"


def _notes(values: Values) -> tuple[str, ...]:
    return () if values.get("n") is None else (note_on_a_pass(int(values["n"]), int(values["batch_size"])),)


def _sentence(text: Mapping[str, str]) -> str:
    size = f"{text['steps_per_epoch']} batches" if "steps_per_epoch" in text else (
        f"batches of {text['batch_size']} of {text['n']} records")
    return f"Every epoch takes {size} in a secret order of the records that is shuffled afresh."


SCHEME = Scheme(
    name="shuffle",
    words="shuffled batches",
    bases={ZERO_OUT: Base(ZERO_OUT), REPLACE_ONE: Base(REPLACE_ONE)},
    refusal="where one record more would change the other batches",
    ways_out={"sampling_rate": "give --epochs, and --n and --batch-size or --steps-per-epoch (1/q at a sampling rate "
              "q)"},
    options=("n", "batch_size", "steps_per_epoch", "steps", "epochs"),
    check=_check,
    params=_params,
    routes=_routes,
    guarantee=_guarantee,
    sentence=_sentence,
    of_mechanism=_of_group,
    group_routes=dict.fromkeys((ZERO_OUT, REPLACE_ONE), (Route(shuffle_no_amplification.BOUND),)),
    only=("gaussian",),
    unit="epoch",
    notes=_notes,
    companions={"steps_per_epoch": "steps_per_epoch", "epochs": "epochs", "steps": "all_steps"},
)
