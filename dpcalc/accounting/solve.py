"""--solve: the most permissive value of one parameter that meets a budget. No I/O.

A solution is searched for in log x, or in the log of its distance from where nothing is lost, on log(value/budget).
Only the values that are evaluated count: the answer is the most permissive one seen that meets the budget, evaluated as
the same question without --solve is. """

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import inf, log

from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.orders import chosen, own_params
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.numbers import human_claimed
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row
from dpcalc.numerics.root import Unreachable, boundary, bracket

PRECISION = 1e-3  # of what is composed numerically, relative, where --precision does not say it
CLOSED_FORM = 1e-15  # relative: how near to the boundary a closed form is solved
_ROUNDING = 1e-3  # of a gap: what is farther above the budget than that is a jump, and does not say how far to go
_HALVES = 24  # values, each half the one before, at which a loss that may rise and fall is evaluated first
_DOUBLES = 1e-14  # relative: of sums over steps, beside what a theorem's value is claimed to


def solve(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, composed: bool = False,
          guess: float | None = None) -> Row:
    """The row at the most permissive value of the unknown that meets the budget; a value next to it that does not was
    seen.

    Next to it is 1e-15 of it, or a tenth of the precision where the value is `composed` numerically (there, the budget
    may also be met with a quarter of the precision to spare, within 1 %); of whole numbers, the next one. `guess` is
    where the search starts. Raises NoSolution where the safe end of the range does not meet the budget, OutOfScope
    where the theorem covers no value. """
    assert question.unknown is not None and question.target is not None
    unknown, search = question.unknown, _Search(route, given, derive, question)
    precision = float(given.get("precision") or PRECISION)
    rtol, slack = (precision / 10, precision / 4) if composed else (0.0 if search.whole else CLOSED_FORM, 0.0)
    low, high = search.range
    start = guess - search.origin if guess is not None else 1.0 if low <= 1.0 <= high else (low * high) ** 0.5
    try:
        if unknown.uneven:
            start = search.largest_half()
        gap = cache(search.gap)
        meets, fails = bracket(gap, start, unknown.safer, *search.range, whole=search.whole)
        found = meets if meets == fails else boundary(gap, meets, fails, rtol, slack, search.whole)
    except Unreachable as end:
        if end.gap == inf and search.reason:
            raise search.reason from None
        raise NoSolution("no-solution", f"no {unknown.option[2:]} meets the budget by {route.label}", "--solve",
                         partial(search.best_reachable, end.at)) from None
    row = search.settled(found, rtol)
    return row._replace(result={unknown.name: row.params[unknown.name], **row.result})


class _Search:
    """One question of one route as a function of the distance d of the unknown from its origin: x = origin + d."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
        assert question.unknown is not None and question.target is not None
        self.route, self.given, self.derive, self.question = route, given, derive, question
        self.unknown, self.target = question.unknown, question.target
        self.whole = self.unknown.kind == "count"
        low, high = self.unknown.search
        self.origin = low - 1 if self.whole else self.unknown.origin
        self.range = (max(low - self.origin, 2.0**-52 * self.origin), high - self.origin)
        self.reason: OutOfScope | None = None  # why the last value that is out of scope is

    def params(self, d: float) -> Params:
        x = self.origin + d
        return self.derive({**self.given, self.unknown.name: int(x) if self.whole else x})

    def row(self, d: float) -> Row:
        x = self.origin + d
        return evaluate(self.route, self.params(d),
                        self.question)._replace(params={self.unknown.name: int(x) if self.whole else x})

    def gap(self, d: float) -> float:
        """log(value/budget), not above 0 where the budget is met; inf where the theorem does not say."""
        question, bound = self.question, self.route.bound
        try:
            if question.asks == "epsilon" and question.delta and bound.kind == "profile" and not is_composed(self.route,
                                                                                                             self.params(d)):
                own = own_params(bound, self.params(d))
                own |= chosen(bound, self.params(d), epsilon=self.target)
                return _log_share(float(bound.value(self.target, **own)), question.log_delta)
            # there is a δ at ε = 0 where no ε is 0
            if question.asks == "epsilon" and question.delta and self.target == 0:
                row = evaluate(self.route, self.params(d), Question("delta", epsilon=0.0, orders=question.orders))
                return _log_share(row.result["log_delta"], question.log_delta)
            return _log_ratio(self.row(d).result[question.asks], self.target)
        except OutOfScope as reason:
            self.reason = reason
        except OverflowError:
            pass
        return inf

    def settled(self, d: float, rtol: float) -> Row:
        """The row at d, or at a safer value next to it: what was found by its δ may have an ε above the budget by
        rounding."""
        step = rtol
        while True:
            row = self.row(d)
            above = max(_log_ratio(row.result[self.question.asks], self.target), self._delta_above(d))
            if above <= 0:
                return row
            step = max(2 * step, above if above < _ROUNDING else 0.0)
            last, d = d, self._safer(d, step)
            if d == last:
                raise OutOfScope("no-solution", f"{self.route.label} does not settle on a value that meets the budget",
                                 "--solve")

    def _safer(self, d: float, by: float) -> float:
        """d changed by that part of itself towards less privacy loss, by a whole number at least where it is one,
        within the range."""
        low, high = self.range
        y = d * (1 + self.unknown.safer * by)
        if self.whole:
            y = max(round(y), d + 1) if self.unknown.safer > 0 else min(int(y), d - 1)
        return min(max(y, low), high)

    def _delta_above(self, d: float) -> float:
        """How far the δ at the budget's ε is above the budget's, as `gap` says it: δ has another rounding, and an order
        of its own."""
        question, conversion = self.question, self.route.conversion
        if question.asks != "epsilon" or not question.delta or self.whole or is_composed(self.route, self.params(d)):
            return -inf
        if (conversion is not None and conversion.log_delta is None) or self.route.bound.kind not in ("rdp", "profile"):
            return -inf
        back = evaluate(self.route, self.params(d), Question("delta", epsilon=self.target, orders=question.orders))
        above = _log_ratio(back.result["delta"], question.delta)
        return above / -question.log_delta if above > 0 else above

    def largest_half(self) -> float:
        """The largest of some values, each half the one before, that meets the budget; the range then ends at the one
        after it."""
        low, high = self.range
        last = d = high
        for _ in range(_HALVES):
            if self.gap(d) <= 0 or d <= low:
                break
            last, d = d, max(d / 2, low)
        self.range = (low, last)
        return d

    def best_reachable(self, d: float) -> tuple[float, str]:
        """The asked quantity at the best value of the unknown, and the sentence that says it."""
        there, asks = f"{self.unknown.option} {self.origin + d:g}", self.question.asks
        try:
            best = self.row(d).result[asks]
        except (DpcalcError, OverflowError):
            return inf, f"even {there} gives no finite {asks}"
        text = human_claimed(best, max(theorem.rtol for theorem in self.route.theorems) + _DOUBLES)
        return best, f"the best reachable is {asks} = {text} (at {there})"


def is_composed(route: Route, params: Params) -> bool:
    """Whether an ε is composed numerically, so that it is known to the precision only."""
    bound = route.bound
    return bound.kind == "composition" or ((bound.pair or bound.one) is not None and params.get("steps", 1) > 1)


def _log_ratio(x: float, target: float) -> float:
    if x <= target:
        return log(x / target) if x > 0 and x / target > 0 else -inf
    return log(x / target) if target > 0 and x / target < inf else inf


def _log_share(log_delta: float, target: float) -> float:
    """log of target/log δ: nearly straight in the log of an unknown, above 0 where log δ is above the target; −inf
    where δ is 0."""
    if log_delta <= target:
        return min(log(target / log_delta), 0.0) if target / log_delta > 0 else -inf
    return max(log(target / log_delta), 5e-324) if log_delta < 0 else inf
