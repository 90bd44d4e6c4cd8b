"""The notes of dpcalc correlated: the sensitivity, the errors of prefix sums, and the conventions of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpcalc.core.noise_multiplier import REPLACED
from dpcalc.core.numbers import human, human_claimed

if TYPE_CHECKING:
    from dpcalc.bounds.correlated._engine.design import Design
    from dpcalc.core.command import Given
    from dpcalc.core.results import Row

SLACK = 1e-12  # relative: a sensitivity that is above a short decimal by at most this is printed as that decimal

ONE_PASS = "each record takes part in one step: one pass over the data; for more, add --separation"


def notes(design: Design, head: Row, numbers: Mapping[str, float], given: Given) -> tuple[str, ...]:
    """What a reader must know to use the numbers."""
    replaced = (REPLACED,) if given["adjacency"] == "replace-one" else ()
    return (_sensitivity(design, head, numbers), errors(numbers), *replaced, *_participation(design, given))


def is_exact(design: Design, head: Row) -> bool:
    """Whether some run attains the sensitivity, by the theorem of the headline."""
    name, strategy = head.route.bound.name, design.strategy
    if name == "correlated-separated":
        return strategy.is_nonincreasing
    if name == "correlated-cyclic":
        return strategy.is_nonnegative and design.participations == design.most
    return True


def _sensitivity(design: Design, head: Row, numbers: Mapping[str, float]) -> str:
    how = "exactly" if is_exact(design, head) else "at most"
    norm = human_claimed(numbers["sensitivity"], SLACK)
    return (f"the sensitivity is {how} {norm} clipping norms; σ is in clipping norms too, and "
            f"{multiplier(numbers)} times the sensitivity (1/μ), as accountants of one Gaussian release take it")


def multiplier(numbers: Mapping[str, float]) -> str:
    """σ over the sensitivity, rounded down."""
    return human(numbers["sigma"] / numbers["sensitivity"] * (1 + SLACK), upward=False)


def errors(numbers: Mapping[str, float]) -> str:
    """The errors of prefix sums, and the comparison with independent noise."""
    ratio = numbers.get("ratio_to_independent")
    than = f", {ratio:.4g} times that of independent noise with the same privacy" if ratio else ""
    return (f"prefix sums of the gradients have an RMSE of {human(numbers['rmse'])} clipping norms{than}; the largest "
            f"error is {human(numbers['max_error'])}")


def _participation(design: Design, given: Given) -> tuple[str, ...]:
    found = []
    if design.order == "once":
        found.append(ONE_PASS)
    else:
        b = design.separation
        shuffled = "; passes that are shuffled anew do not ensure it" if b > 1 else ""
        found.append(f"a separation of {b} is the difference j − i of two steps with the same record; a tool that "
                     f"counts the steps between them calls it {b - 1}{shuffled}")
    if given.has("participations") and given["participations"] > design.participations:
        found.append(f"{design.steps} steps leave room for {design.participations} participations only")
    if design.participations > 1 and not design.is_banded:
        found.append("columns of this strategy overlap, so the cross terms between a record's steps are counted: to "
                     "add up squared column norms would be too little")
    return tuple(found)
