"""--solve for a parameter that loses nothing at an origin other than 0: by how far it is from there. No I/O."""

from __future__ import annotations

from collections.abc import Callable

from dpcalc.orders import Params
from dpcalc.question import Question
from dpcalc.rows import Route, Row

_NEXT = 2.0**-52  # relative, of an origin: the next double
Solve = Callable[[Route, Params, Callable[[Params], Params], Question, float | None], Row]


def from_origin(solve: Solve, route: Route, given: Params, derive: Callable[[Params], Params], question: Question,
                near: float | None) -> Row:
    """What `solve` finds for the distance, to which its precision is relative: the parameter's own digits may say little."""
    unknown = question.unknown
    assert unknown is not None
    name, origin, (low, high) = unknown.name, unknown.origin, unknown.search
    beyond = unknown._replace(origin=0.0, search=(max(low - origin, _NEXT * origin), high - origin))

    def derived(params: Params) -> Params:
        return derive({**params, name: origin + params[name]})

    row = solve(route, given, derived, question._replace(unknown=beyond), None if near is None else near - origin)
    return row._replace(result={**row.result, name: origin + row.result[name]})
