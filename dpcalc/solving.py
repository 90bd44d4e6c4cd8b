"""--solve: the value of a parameter that just meets a budget. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, inf, log

from dpcalc.answer import Params, Route, Row, chosen, evaluate, own_params
from dpcalc.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket, integer_boundary
from dpcalc.quantities import Quantity
from dpcalc.question import Question


def solve(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> Row:
    """The value of the unknown that just meets the budget, on its safe side: fed back, it meets the budget."""
    unknown = question.unknown
    assert unknown is not None
    search = _Search(route, given, derive, question)
    try:
        x = _root(search.gap, unknown, 1e-13 if search.one_value else 1e-3)
        if not search.one_value:
            x = _at_fixed_orders(search, x)
    except Unreachable as e:
        if search.reason and e.gap == inf:
            raise search.reason from None
        raise NoSolution("no-solution", f"no {unknown.option[2:]} meets the budget by {route.label}: "
                         f"{_reached(search, e.at)}", "--solve") from None
    x, row = _feed_back(search, x)
    return row._replace(result={unknown.name: x, **row.result})


class _Search:
    """The budget as a function of the unknown: gap(x) <= 0 where it is met."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
        self.route, self.given, self.derive, self.question = route, given, derive, question
        self.order: float | None = None  # the last best order, where the next search starts
        self.reason: DpcalcError | None = None  # why a value was out of scope

    @property
    def one_value(self) -> bool:
        """Whether a gap is one evaluation; else it is itself a search over orders."""
        return self.route.conversion is None or bool(self.question.orders)

    def forward(self, x: float, start: float | None = None) -> Row:
        assert self.question.unknown is not None
        return evaluate(self.route, self.derive({**self.given, self.question.unknown.name: x}), self.question, start)

    def gap(self, x: float) -> float:
        question, bound = self.question, self.route.bound
        assert question.target is not None and question.unknown is not None
        try:
            if bound.kind == "profile" and question.delta:
                params = self.derive({**self.given, question.unknown.name: x})
                own = own_params(bound, params) | chosen(bound, params, epsilon=question.target)
                return float(bound.value(question.target, **own)) - question.log_delta
            row = self.forward(x, self.order)
        except OverflowError:
            return inf
        except OutOfScope as reason:
            self.reason = reason
            return inf
        self.order = row.witness.get("alpha", self.order)
        return _log_ratio(row.result[question.asks], question.target)


def _at_fixed_orders(search: _Search, x: float) -> float:
    """From a rough x: the best order there, the exact boundary at that order (any order is valid), and again.
    Each round can only improve x, and the error of the order enters squared."""
    unknown = search.question.unknown
    assert unknown is not None
    for _ in range(8):
        alpha = search.forward(x, search.order).witness["alpha"]
        fixed = _Search(search.route, search.given, search.derive, search.question._replace(orders=(alpha,)))
        better = _root(fixed.gap, unknown, 1e-12, x)
        if abs(better - x) <= 1e-9 * x:
            return better
        x, search.order = better, alpha
    return x


def _root(gap: Callable[[float], float], unknown: Quantity, tolerance: float, start: float | None = None) -> float:
    low, high = unknown.search
    if unknown.kind == "count" and tolerance < 1e-6:
        return integer_boundary(gap, int(low), int(high), rising=unknown.safer < 0)
    if start is None:
        start, factor = 1.0 if low < 1.0 < high else (low * high) ** 0.5, 2.0
    else:
        factor = 1.002
    whole = (lambda x: gap(int(x))) if unknown.kind == "count" else gap
    meets, fails = bracket(whole, start, unknown.safer, low, high, factor)
    x = meets if meets == fails else boundary_log(whole, meets, fails, tolerance)
    return int(x) if unknown.kind == "count" else x


def _log_ratio(x: float, target: float) -> float:
    if x <= target:
        return log(x / target) if x > 0 and x / target > 0 else -1e3
    return log(x / target) if target > 0 and x / target < inf else inf


def _feed_back(search: _Search, x: float) -> tuple[float, Row]:
    """A cold evaluation may search a little differently: step to the safe side until it meets the budget."""
    question = search.question
    unknown, target = question.unknown, question.target
    assert unknown is not None and target is not None
    row, step = search.forward(x), 1e-15
    while row.result[question.asks] > target and step < 1e-3:
        step = 2 * step if search.one_value else max(2 * step, 2 * _log_ratio(row.result[question.asks], target))
        x = x * (1 + unknown.safer * step)
        if unknown.kind == "count":
            x = ceil(x) if unknown.safer > 0 else max(1, min(ceil(x) - 1, floor(x)))
        row = search.forward(x)
    if row.result[question.asks] > target:
        raise OutOfScope("no-solution", f"{search.route.label} does not settle on a value that meets the budget", "--solve")
    return x, row


def _reached(search: _Search, at: float) -> str:
    question = search.question
    assert question.unknown is not None
    try:
        best = f"{search.forward(at).result[question.asks]:.6g}"
    except (DpcalcError, OverflowError):
        best = "no finite value"
    return f"the best reachable is {question.asks} = {best} (at {question.unknown.option} {at:g})"
