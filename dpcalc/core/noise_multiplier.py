"""The noise multiplier Z of DP-SGD: the standard deviation of the noise on the sum of a batch's clipped gradients over
the clipping norm.

In units of the clipping norm the noise is σ = Z. The sensitivity of the sum, in the same units, is 1 where a record is
added or removed, and 2 where a record is replaced.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import plain
from dpcalc.core.relations import RELATIONS
from dpcalc.numerics.rounding import ratio_down

if TYPE_CHECKING:
    from dpcalc.accounting.mechanisms import Mechanism
    from dpcalc.core.command import Given

NAME = "noise_multiplier"
REPLACED = "replacing a record moves the sum by 2C; this factor is applied"  # a note; C is the clipping norm
_MICRO = ("one record moves the clipped mean of a micro-batch by 2C (TF-privacy): give half the noise multiplier, "
          "unless every micro-batch is one record")
_PARTS = ("noise is added once per optimizer step: --batch-size is all records of such a step (those of a part times "
          "the accumulation steps), and --steps counts these steps")
# Options of other tools on batches that are computed in parts: what to write here instead.
PARTS_OF_BATCHES = {
    **dict.fromkeys(("num-microbatches", "microbatches", "microbatch", "micro-batch", "num-micro-batches",
                     "micro-batches", "microbatch-size", "micro-batch-size", "used-microbatching",
                     "no-used-microbatching"), _MICRO),
    **dict.fromkeys(("gradient-accumulation-steps", "accumulation-steps", "gradient-accumulation", "grad-accum",
                     "accumulation", "virtual-batch-size", "max-physical-batch-size", "physical-batch-size"), _PARTS),
}
_SHUFFLED = "for a loader that shuffles write --scheme shuffle; Poisson batches are the default"
_BY_BOUND = ("every accountant that covers the run answers; --bound poisson-profile is that of privacy loss "
             "distributions (PLD, PRV), --bound poisson-rdp that of Rényi DP")
# Options of other tools on training runs: what to write here instead.
OF_TRAINING = {
    **PARTS_OF_BATCHES,
    **dict.fromkeys(("shuffle", "no-shuffle", "no-poisson", "no-poisson-sampling", "poisson-sampling", "poisson",
                     "sampler", "loader"), _SHUFFLED),
    **dict.fromkeys(("accountant", "accountant-type", "method"), _BY_BOUND),
    **dict.fromkeys(("clients", "num-clients", "clients-per-round", "num-clients-per-round", "users"),
                    "a client is a record: --n all clients, --batch-size those of a round, --steps the rounds, and the "
                    "noise relative to the norm that an update is clipped to"),
    **dict.fromkeys(("images-per-patient", "images-per-person", "max-per-user", "examples-per-user"),
                    "write --group-size N, the largest number of records of a user"),
    "noise": "write --noise-multiplier Z, or --mechanism for another kind of noise",
}
TRUNCATED = "truncated-poisson"  # the scheme of Poisson batches with a maximal size
ONE_ORDER = "shuffle-once"  # the scheme of batches from one shuffled order for all epochs


def scheme_name(values: Mapping[str, Any]) -> str:
    """The sampling scheme of a call; Poisson batches where it has none."""
    name = str(values.get("scheme") or "poisson")
    if name == "shuffle" and values.get("reshuffle") == "once" and not _is_one_pass(values):
        return ONE_ORDER
    return TRUNCATED if name == "poisson" and values.get("max_batch_size") is not None else name


def _is_one_pass(values: Mapping[str, Any]) -> bool:
    """Whether a run is known to take at most one pass, so that one order is a new one."""
    epochs, steps, b = (values.get(name) for name in ("epochs", "steps", "batch_size"))
    if epochs is not None:
        return bool(epochs <= 1)
    batches = values.get("steps_per_epoch") if b is None else values.get("n", 0) // b
    return steps is not None and batches is not None and bool(steps <= batches)


def is_used(given: Given, unknown: str | None) -> bool:
    """Whether the noise is given, or solved for, as a noise multiplier."""
    return given.has(NAME) or unknown == NAME


def with_sigma(values: Mapping[str, Any], between: str) -> Mapping[str, Any]:
    """The parameters, in which a noise multiplier becomes σ and the sensitivity of a sum, in clipping norms, between
    data sets (of a mechanism on random batches: between batches) of this relation."""
    multiplier = values.get(NAME)
    return values if multiplier is None else {**values, "sigma": multiplier,
                                              "sensitivity": RELATIONS[between].sensitivity}


def companion(values: Mapping[str, Any], between: str, of_sum: bool) -> dict[str, float]:
    """The noise multiplier that is printed beside a result, by its name.

    It is the given one, or computed from σ and rounded down where σ is the noise on the sum of a batch.
    """
    if values.get(NAME) is not None:
        return {NAME: values[NAME]}
    if not of_sum or values.get("sigma") is None or values.get("mechanism") != "gaussian":
        return {}
    return {NAME: RELATIONS[between].sensitivity * ratio_down((values["sigma"],), (values["sensitivity"],))}


def options(mechanism: Mechanism, given: Given, unknown: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The required and the optional options of a mechanism.

    A noise multiplier takes the place of σ and the sensitivity, and a clipping norm may be given beside it. Raises
    DpcalcError for a clipping norm without a noise multiplier: it would have to change the sensitivity.
    """
    if mechanism.name != "gaussian":
        return mechanism.options, mechanism.optional
    if is_used(given, unknown):
        return (NAME,), ("clipping_norm",)
    if given.has("clipping_norm"):
        raise DpcalcError("contradictory", _clipping_norm_advice(given, unknown), "--clipping-norm")
    return mechanism.options, mechanism.optional


def _clipping_norm_advice(given: Given, unknown: str | None) -> str:
    """Why a clipping norm is not used, and what to write instead."""
    if unknown == "sigma":
        return "not used with --solve sigma; use --solve noise-multiplier instead"
    if not given.has("sigma"):
        return "not used without --noise-multiplier, which is relative to the clipping norm"
    sigma, norm = given["sigma"], given["clipping_norm"]
    return (f"not used with --sigma; if {plain(sigma)} is the noise multiplier, as in Opacus or TF-privacy, write "
            f"--noise-multiplier {plain(sigma)}; if it is the noise on the sum of a batch, write "
            f"--noise-multiplier {sigma / norm:.6g} (σ/C)")


def notes(given: Given, values: Mapping[str, Any], between: str) -> tuple[str, ...]:
    """What a reader must know about a noise multiplier: the factor of replace-one, and that no norm is needed."""
    if values.get(NAME) is None:
        return ()
    replaced = (REPLACED,) if RELATIONS[between].sensitivity > 1 else ()
    unused = (f"{flag('clipping_norm')} changes nothing: the noise multiplier is relative to it",)
    return (*replaced, *(unused if given.has("clipping_norm") else ()))


# The options that set the same parameter as another one, and exclude it.
EXCLUDES = {NAME: ("sigma", "sensitivity"), "sigma": (NAME,), "sensitivity": (NAME,)}


def refuse_others(name: str, provided: Container[str]) -> None:
    """Raises DpcalcError where an option, given or solved for, stands beside one that sets the same parameter."""
    for other in EXCLUDES.get(name, ()):
        if other in provided:
            words = "--sigma with --sensitivity" if other == "sensitivity" or "sensitivity" in provided else "--sigma"
            raise DpcalcError("contradictory", f"give --noise-multiplier or {words}, not both",
                              flag(other if name == NAME else name))
