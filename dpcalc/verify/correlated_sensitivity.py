"""The sensitivity that a record of dpcalc correlated states as a claim: the bound's whole-number computation proves it,
at any number of steps, without the sums in double precision."""

from __future__ import annotations

from typing import Any

from dpcalc.bounds.correlated import correlated_once
from dpcalc.commands.correlated_design import design as design_of
from dpcalc.core.bound import ProfileBound
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer
from dpcalc.core.validate import validate
from dpcalc.verify.claim import Claim, claim_upper_bound
from dpcalc.verify.records import Record, is_number, to_float
from dpcalc.verify.replay import command_of


def claim_of_sensitivity(answer: Answer, record: Record) -> tuple[ProfileBound, Claim] | None:
    """Return the bound of the headline, or that of one step of a record in sampled batches, and the claim that the
    sensitivity is at most the recorded one; None for a record that states none."""
    stated = record["result"].get("sensitivity")
    if answer.command != "correlated" or not answer.rows or not is_number(stated):
        return None
    given = validate(command_of(record), record["options"])
    design, change = design_of(given), RELATIONS[given["adjacency"]].sensitivity
    head = answer.rows[0].route.bound
    bound = head if "design" in head.params and isinstance(head, ProfileBound) else correlated_once.BOUND

    def exact(mp: Any) -> Any:
        assert bound.mu is not None and bound.mu.exact is not None
        return bound.mu.exact(mp, design, change, 1.0)

    return bound, claim_upper_bound("sensitivity", to_float(stated), exact)
