"""The lower ends of brackets: no part of a guarantee, but a claim too. A certificate of our own proves them, or they
are left open."""

from __future__ import annotations

from typing import Any

from dpcalc.core.results import Answer, Row
from dpcalc.verify import composition_grids, composition_parts
from dpcalc.verify.arb.context import once
from dpcalc.verify.claims import Claim

_ENDS = {"epsilon_lower": "epsilon", "delta_lower": "delta", "tv_lower": "tv"}


def of(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """That nothing smaller is a guarantee: δ(ε) >= δ at a lower ε, or at the ε asked about."""
    found = [(name, x) for name, x in row.result.items() if name in _ENDS and x > 0]
    if not found or not composition_parts.is_composed(row):
        return ()
    uses, grid = composition_parts.grounds(row, answer)
    return tuple(_claim(name, x, uses, grid, answer) for name, x in found)


def _claim(name: str, x: float, uses: Any, grid: Any, answer: Answer) -> Claim:
    question = answer.question
    if name == "epsilon_lower":
        at, delta = x, question.delta or 0.0
    else:
        at, delta = (0.0 if name == "tv_lower" else question.epsilon or 0.0), x
    exact = once(lambda mp: composition_grids.delta_from_below(mp, uses, grid, at, delta))
    return Claim(name, x, lambda mp: exact(mp) - mp.mpf(delta), exact, "δ", least=True)
