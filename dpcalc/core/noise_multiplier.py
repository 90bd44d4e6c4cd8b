"""The noise multiplier Z of DP-SGD: the standard deviation of the noise on the sum of a batch's clipped gradients over
the clipping norm.

In units of the clipping norm the noise is σ = Z. Adding or removing a record moves the sum by at most 1 of them, and
replacing one by at most 2, which is the sensitivity of the Gaussian mechanism there. """

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import plain
from dpcalc.numerics.rounding import ratio_down

if TYPE_CHECKING:
    from dpcalc.accounting.mechanisms import Mechanism
    from dpcalc.core.command import Given

NAME = "noise_multiplier"
SENSITIVITY = {"add-remove": 1.0, "replace-one": 2.0}  # of the sum of a batch, in clipping norms
# where --adjacency is not given
NEIGHBOURS = {"poisson": "add-remove", "without-replacement": "replace-one", "weighted": "replace-one"}


def adjacency_of(values: Mapping[str, Any]) -> str:
    """Which data sets are neighbours: as --adjacency says, or else as is usual for the sampling scheme; add-remove
    without sampling."""
    return str(values.get("adjacency") or NEIGHBOURS[values.get("scheme") or "poisson"])


def is_used(given: Given, unknown: str | None) -> bool:
    """Whether the noise is given, or solved for, as a noise multiplier."""
    return given.has(NAME) or unknown == NAME


def with_sigma(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters with a noise multiplier written as σ and the sensitivity of a batch's sum, in clipping norms."""
    multiplier = values.get(NAME)
    return values if multiplier is None else {**values, "sigma": multiplier,
                                              "sensitivity": SENSITIVITY[adjacency_of(values)]}


def companion(values: Mapping[str, Any], of_sum: bool) -> dict[str, float]:
    """The noise multiplier beside a result: as given, or where σ is the noise on the sum of a batch, what it means,
    rounded down."""
    if values.get(NAME) is not None:
        return {NAME: values[NAME]}
    if not of_sum or values.get("sigma") is None or values.get("mechanism") != "gaussian":
        return {}
    return {NAME: SENSITIVITY[adjacency_of(values)] * ratio_down(values["sigma"], values["sensitivity"])}


def options(mechanism: Mechanism, given: Given, unknown: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(required, optional) options of a mechanism: the noise multiplier takes the place of σ and the sensitivity, and a
    clipping norm may stand beside it. Raises DpcalcError for a clipping norm beside σ, which would have to change the
    sensitivity."""
    if "sigma" not in mechanism.options:
        return mechanism.options, mechanism.optional
    if is_used(given, unknown):
        return (NAME,), ("clipping_norm",)
    if given.has("clipping_norm"):
        raise DpcalcError("contradictory", _way_out(given, unknown), "--clipping-norm")
    return mechanism.options, mechanism.optional


def _way_out(given: Given, unknown: str | None) -> str:
    means = "--noise-multiplier Z is the noise on the sum of a batch's clipped gradients over the clipping norm"
    if unknown == "sigma":
        return f"not used with --solve sigma; {means}, which --solve noise-multiplier finds"
    if not given.has("sigma"):
        return f"not used without a noise multiplier; {means}"
    sigma, norm = given["sigma"], given["clipping_norm"]
    return (f"not used with --sigma; if {plain(sigma)} is the noise multiplier, as in Opacus, JAX-privacy or "
            f"TF-privacy, write "
            f"--noise-multiplier {plain(sigma)}; only if it is the noise on the sum of a batch itself, "
            f"--noise-multiplier {sigma / norm:.6g} (σ/C)")


def notes(given: Given, values: Mapping[str, Any]) -> tuple[str, ...]:
    """What Z is, for these neighbours."""
    if values.get(NAME) is None:
        return ()
    replaced = "; replacing a record moves that sum by twice the norm, so that σ/s = Z/2" if adjacency_of(values) == "replace-one" else ""
    found = [f"the noise multiplier Z is the noise on the sum of a batch's clipped gradients over the clipping "
             f"norm{replaced}"]
    if given.has("clipping_norm"):
        found.append(f"{flag('clipping_norm')} changes nothing: the noise multiplier is relative to it")
    return tuple(found)


EXCLUDES = {NAME: ("sigma", "sensitivity"), "sigma": (NAME,), "sensitivity": (NAME,)}  # each says the other


def refuse_others(name: str, said: Container[str]) -> None:
    """Raises DpcalcError where an option, given or solved for, is said in other words too."""
    for other in EXCLUDES.get(name, ()):
        if other in said:
            first, second = (name, other) if name == NAME else (other, name)
            raise DpcalcError("contradictory", f"{flag(first)} already says {flag(second)}", flag(second))
