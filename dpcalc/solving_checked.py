"""What --solve tells of a value that it found with a margin: its own ε. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import inf
from typing import TYPE_CHECKING

from dpcalc.errors import OutOfScope
from dpcalc.evaluate import evaluate
from dpcalc.numerics.invert import boundary
from dpcalc.rows import Row
from dpcalc.solving_quick import quick

if TYPE_CHECKING:
    from dpcalc.solving import _Search

_MET = 2e-5  # of log δ, below the budget: as near as that it is met with equality
_FARTHEST = 0.5  # of an ε below the budget, at most
NEARLY = 1e-8  # of x, or ε, where a margin of ε is given: as near as that to where δ falls steeply or jumps
_OVER = 1.1  # of where a secant leads, to get beyond


def checked(search: _Search, x: float, gap: Callable[[float], float]) -> Row | None:
    """Where an ε takes many evaluations of a costly profile: one look whether x, found with a margin, meets the budget; at a cliff, or of a
    count, some more, whether smaller ε do. Where it meets it by far (the end of a range), its own ε is looked for."""
    question, unknown = search.question, search.question.unknown
    if not search.margin or unknown is None or question.target is None:
        return None
    near = max(_MET / -question.log_delta, 10 * search.met)
    if search.route.bound.kind == "profile" and gap(x) <= 0:
        below = 0.0 if gap(x) >= -near or question.target == 0 else _below(search, x, gap(x), min(near, search.margin))
        epsilon = _far_below(search, x) if below is None else question.target * (1 - search.margin - below)
        if epsilon is not None:
            return Row(search.route, {"epsilon": epsilon, "delta": question.delta or 0.0}, params={unknown.name: x})
    row = search.forward(x)
    return row._replace(params={unknown.name: x}) if row.result[question.asks] <= question.target else None


def _below(search: _Search, x: float, gap: float, near: float) -> float | None:
    """How far an ε that x meets may be below the budget, relative: nearly the farthest, which x meets by `near` at most; None where that is
    far."""
    least = fails = max(NEARLY, search.margin)
    at = cache(lambda kept: (search.gap(x, 1 - kept) if kept < 1 else gap) + near / 2)
    meets = 0.0
    while (here := at(1 - fails)) <= near / 2:
        if here >= -near / 2:
            return fails
        secant = _OVER * here * (fails - meets) / (at(1 - meets) - here) if here > at(1 - meets) else inf
        meets, fails = fails, fails + max(secant, least)
        if fails > _FARTHEST:
            return None
    return 0.0 if fails == least else 1 - boundary(at, 1 - meets, 1 - fails, least, near / 2, 0.999 * near / 2)


def _far_below(search: _Search, x: float) -> float | None:
    """An ε far below the budget, which has no say in x: that of the faster form, where the profile itself has no more δ there."""
    bound = search.route.bound
    if bound.coarse is None:
        return None
    faster = search.route._replace(bound=bound._replace(value=partial(quick, bound.coarse), inverse=None))
    try:
        epsilon = evaluate(faster, search.params(x), search.question).result["epsilon"]
    except (OutOfScope, OverflowError):
        return None
    return epsilon if 0 < epsilon < (search.question.target or 0.0) and search.gap_at(x, epsilon) <= 0 else None
