"""The free choices of a row that are many, or that its number was found without: looked for where a record is printed
only. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Row


def of(row: Row, params: Params, question: Question) -> Mapping[str, Any]:
    """What the witness of a row lacks; `params` are those of its number."""
    if question.asks == "tpr":
        return _grid(row, params)
    if question.asks not in ("epsilon", "delta", "tv") or question.delta == 0:
        return {}
    bound = row.route.bound
    steps = 1 if bound.is_of_whole_run else int(params.get("steps", 1))
    one = bound.one or bound
    own = own_params(one, params)
    if bound.one is not None and steps > 1:
        return {}  # a composition tells its own
    if one.choices is None or ("steps" not in own and steps > 1):
        return {}
    own.pop("steps", None)
    epsilon = row.result["epsilon"] if question.asks == "epsilon" else question.epsilon or 0.0
    if steps > 1:  # basic composition is by the same at all epochs
        from dpcalc.bounds.pnsgd._engine.epochs import each

        return each(bound, epsilon, steps, own)
    return one.choices(epsilon, question.log_delta if question.asks == "epsilon" else row.result.get("log_delta", -inf),
                       **own)


def _grid(row: Row, params: Params) -> Mapping[str, Any]:
    """The grid of a true-positive rate that is read from a composition; where tests for the other direction have an ε
    of their own, theirs beside it."""
    from dpcalc.accounting.attack import composed

    if not composed(row.route, params):
        return {}
    if "epsilon_reversed" not in row.witness:
        return _grid_at(row, params, row.witness["epsilon"], 0)
    first, second = (_grid_at(row, params, row.witness[name], side) for name,
                     side in (("epsilon", +1), ("epsilon_reversed", -1)))
    return {**first, "reversed_grid": second}


def _grid_at(row: Row, params: Params, u: float, side: int) -> Mapping[str, Any]:
    """At ε = |u|, below 0 of the other direction."""
    from dpcalc.accounting.composition import to_delta
    from dpcalc.core.errors import OutOfScope
    from dpcalc.core.question import Question as At

    try:
        return to_delta(row.route, params, At("delta", epsilon=abs(u)), bracket=False,
                        side=side if u >= 0 else -side).witness
    except OutOfScope:  # too fine a grid: the rate rests on a smaller ε
        return {}
