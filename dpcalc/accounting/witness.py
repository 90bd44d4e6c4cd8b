"""The free choices of a theorem that only a record in JSON needs, computed where one is printed. No I/O.

Some are many numbers, and others were not needed to find the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params, ProfileBound

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Row


def rest_of_witness(row: Row, params: Params, question: Question) -> Mapping[str, Any]:
    """What the witness of a row still lacks; `params` are those that its value was computed from."""
    if question.asks == "tpr":
        return _grid(row, params)
    if question.asks not in ("epsilon", "delta", "tv") or question.delta == 0:
        return {}
    bound = row.route.bound
    steps = 1 if bound.is_of_whole_run else int(params.get("steps", 1))
    if not isinstance(bound, ProfileBound) or (bound.one is not None and steps > 1):  # a composition records its own
        return {}
    one = bound.one or bound
    own, witness = own_params(one, params), one.choices.witness
    if witness is None or ("steps" not in own and steps > 1):
        return {}
    own.pop("steps", None)
    epsilon = row.result["epsilon"] if question.asks == "epsilon" else question.epsilon or 0.0
    if steps > 1:  # basic composition uses the same choices at all epochs
        from dpcalc.bounds.pnsgd._engine.epochs import each

        return each(bound, epsilon, steps, own)
    log_delta = question.log_delta if question.asks == "epsilon" else row.result.get("log_delta", -inf)
    return witness(epsilon, log_delta, **own)


def _grid(row: Row, params: Params) -> Mapping[str, Any]:
    """The grid of the composition that gives a true-positive rate, and that of the reversed direction, where tests for
    it have an ε of their own."""
    if not row.route.bound.is_composed(params):
        return {}
    if "epsilon_reversed" not in row.witness:
        return _grid_at(row, params, row.witness["epsilon"], 0)
    first, second = (_grid_at(row, params, row.witness[name], side) for name,
                     side in (("epsilon", +1), ("epsilon_reversed", -1)))
    return {**first, "reversed_grid": second}


def _grid_at(row: Row, params: Params, u: float, side: int) -> Mapping[str, Any]:
    """The grid at ε = |u|; where u is negative, that of the other direction."""
    from dpcalc.accounting.composition import to_delta
    from dpcalc.core.errors import OutOfScope
    from dpcalc.core.question import Question as At

    try:
        return to_delta(row.route, params, At("delta", epsilon=abs(u), upper_only=True),
                        side if u >= 0 else -side).witness
    except OutOfScope:  # too fine a grid: the rate rests on a smaller ε
        return {}
