"""Runs that are described by a sampling rate and a number of steps or epochs: their options and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcalc.core.checks import Check, Needed, Rule, Test, excludes
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.accounting.schemes.record import Values
    from dpcalc.core.run import Run

NO_RATE = "add --sampling-rate, or --n and --batch-size"
OPTIONS = ("sampling_rate", "n", "batch_size", "steps", "epochs")
BY_SIZE = ("n", "batch_size")


def has_no_steps(run: Run) -> bool:
    """Whether no number of steps or epochs is given or solved for."""
    return not run.sets("steps", "epochs")


def needs_steps(where: Callable[[Run], bool] = lambda run: True,
                needed: str = "--steps (number of steps) or --epochs; --steps 1 asks for one step") -> Rule:
    """The rule that a run says its number of steps or epochs."""
    return Rule(lambda run: where(run) and has_no_steps(run), f"add {needed}", "missing",
                needed.split()[0].rstrip(","))


STEPS_OR_EPOCHS = excludes("steps", "epochs", "give --steps or --epochs, not both")
BATCH_SIZE = Check(("batch_size", "n"), lambda b, n: b > n, "{batch_size} is above n = {n}, the number of records")
EITHER_RATE = tuple(excludes("sampling_rate", name, "give --sampling-rate, or --n and --batch-size, not both")
                    for name in BY_SIZE)
EITHER_STEPS_PER_EPOCH = tuple(excludes("steps_per_epoch", name, "give --steps-per-epoch, or --n and --batch-size, not "
                                        "both") for name in BY_SIZE)
# What is read from JSON is amplified once, at a rate.
STEPS = needs_steps(lambda run: not run.given.inputs or not run.sets("sampling_rate"))
CHECKS: tuple[Test, ...] = (
    STEPS_OR_EPOCHS,
    *EITHER_RATE,
    Needed(BY_SIZE, "for the sampling rate b/n", BY_SIZE),
    BATCH_SIZE,
    Rule(lambda run: not run.sets("sampling_rate", *BY_SIZE), NO_RATE, "missing", "--sampling-rate"),
    STEPS,
)


def sampling_rate(values: Values) -> float:
    """The probability q that a record is in a batch: --sampling-rate, or b/n rounded up."""
    if values.get("sampling_rate") is not None:
        return float(values["sampling_rate"])
    n, b = values.get("n"), values.get("batch_size")
    if n is None or b is None:
        raise DpcalcError("missing", NO_RATE, "--sampling-rate")
    if b > n:
        raise OutOfScope("no-solution", f"{b} is above n = {n}, the number of records", "--batch-size")
    return ratio_up((b,), (n,))


def rate_text(text: Mapping[str, str]) -> str:
    """The sampling rate in a statement, from the options as text."""
    return text.get("sampling_rate") or f"{text['batch_size']}/{text['n']}"


def params(values: Values) -> dict[str, Any]:
    """The sampling rate and the number of steps."""
    rate = sampling_rate(values)
    return {"sampling_rate": rate, "steps": number_of_steps(values, rate)}


def number_of_steps(values: Values, rate: float) -> int:
    """The number of steps T: as given, or of E epochs ⌈E·n/b⌉ or ⌈E/q⌉, computed exactly. A rate q that is the double
    of a simple ratio such as 1/49 is taken to be that ratio."""
    epochs = values.get("epochs")
    if epochs is None:
        return int(values.get("steps") or 1)
    a, b = float(epochs).as_integer_ratio()
    if values.get("sampling_rate") is None and values.get("batch_size"):
        a, b = a * values["n"], b * values["batch_size"]
    else:
        # a million: more batches in a pass than anybody writes as a ratio, and far from the 2^53 of doubles
        simple = Fraction(rate).limit_denominator(10**6)
        p, r = (simple if float(simple) == rate else Fraction(rate)).as_integer_ratio()
        a, b = a * r, b * p
    return max(1, -(-a // b))
