"""Runs that are described by a sampling rate and a number of steps or epochs: their options and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpcalc.core.checks import require
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.accounting.schemes.record import Values
    from dpcalc.core.command import Given

ONE_RATE = "give --sampling-rate, or --n and --batch-size, not both"
NO_RATE = "add --sampling-rate, or --n and --batch-size"
OPTIONS = ("sampling_rate", "n", "batch_size", "steps", "epochs")


def has_no_steps(given: Given, unknown: str | None) -> bool:
    """Whether no number of steps or epochs is given or solved for."""
    return not {"steps", "epochs"} & (given.provided | {unknown})


def require_steps(given: Given, unknown: str | None,
                  needed: str = "--steps (number of steps) or --epochs; --steps 1 asks for one step") -> None:
    """Raises DpcalcError where a run says no number of steps or epochs."""
    if has_no_steps(given, unknown):
        raise DpcalcError("missing", f"add {needed}", needed.split()[0].rstrip(","))


def check(given: Given, unknown: str | None) -> None:
    """Raises DpcalcError where the sampling rate or the number of steps is missing or given twice."""
    if {"steps", "epochs"} <= given.provided | {unknown}:
        raise DpcalcError("contradictory", "give --steps or --epochs, not both", "--steps")
    by_batch = given.provided & {"n", "batch_size"} or unknown in ("n", "batch_size")
    if by_batch and (given.has("sampling_rate") or unknown == "sampling_rate"):
        raise DpcalcError("contradictory", ONE_RATE, "--sampling-rate")
    if by_batch:
        require(given, ("n", "batch_size"), "for the sampling rate b/n", unknown)
        check_batch_size(given)
    elif unknown != "sampling_rate" and given["sampling_rate"] is None:
        raise DpcalcError("missing", NO_RATE, "--sampling-rate")
    if by_batch or not given.inputs:  # what is read from JSON is amplified once, at a rate
        require_steps(given, unknown)


def check_batch_size(given: Given) -> None:
    """Raises DpcalcError where a batch is larger than the data set."""
    if given["n"] is not None and given["batch_size"] is not None and given["batch_size"] > given["n"]:
        raise DpcalcError("out-of-range", f"{given['batch_size']} is above n = {given['n']}, the number of records",
                          "--batch-size")


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
