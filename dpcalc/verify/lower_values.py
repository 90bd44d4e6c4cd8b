"""Claims about the lower ends of brackets, and about compositions that are bounds from below. Such a number is not part
of a guarantee. It is proven by a lower bound of δ that is computed here, or left undecided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcalc.core.results import Answer, Row
from dpcalc.verify import composition_grids, composition_parts
from dpcalc.verify.arb.context import compute_once
from dpcalc.verify.claim import Claim, claim_always_true
from dpcalc.verify.composition_grids import Parts


def claims_of_lower_ends(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return the claim that δ at the lower end of ε is at least the question's δ, or that δ at the question's ε is at
    least its lower end; nothing where the row has no bracket."""
    lower_ends = [(name, x) for name, x in row.result.items()
                  if name in ("epsilon_lower", "delta_lower", "tv_lower") and x > 0]
    if not lower_ends or not composition_parts.is_composed(row):
        return ()
    uses, witness = composition_parts.parts_and_grids(row, answer)
    return tuple(_claim(name, x, uses, witness, answer) for name, x in lower_ends)


def claims_from_below(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return the claims of a row whose bound is a composition of pairs that the mechanism dominates: its numbers are at
    most those of the composition."""
    uses, witness = composition_parts.parts_and_grids(row, answer)
    names = [name for name in ("epsilon", "delta", "tv") if name == answer.question.asks]
    return tuple(_claim(name, row.result[name], uses, witness, answer) if row.result[name] > 0
                 else claim_always_true(name, 0.0, 0, "δ")._replace(is_lower=True) for name in names)


def _claim(name: str, x: float, uses: Parts, witness: Mapping[str, Any], answer: Answer) -> Claim:
    question = answer.question
    if name in ("epsilon", "epsilon_lower"):
        epsilon, delta = x, question.delta or 0.0
    else:
        epsilon, delta = (0.0 if name in ("tv", "tv_lower") else question.epsilon or 0.0), x
    exact = compute_once(lambda mp: composition_grids.delta_from_below(mp, uses, witness, epsilon, delta))
    return Claim(name, x, lambda mp: exact(mp) - mp.mpf(delta), exact, "δ", is_lower=True)
