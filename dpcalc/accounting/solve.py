"""--solve: the most permissive value of one parameter that meets a privacy budget. No I/O.

The search is for a root of log(value/budget) in log x, or in the log of the distance of x from where no privacy is
lost. The loss need not be monotone: the answer is the most permissive value that was evaluated and meets the budget,
and it is evaluated again as the same question without --solve would be.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import inf, log

from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.orders import chosen, own_params
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.numbers import human_claimed
from dpcalc.core.quantities import symbol
from dpcalc.core.question import Question, budget, noun
from dpcalc.core.results import Route, Row
from dpcalc.numerics.root import Unreachable, boundary, bracket

PRECISION = 1e-3  # relative: of a numerical composition, where --precision is not given
CLOSED_FORM_RTOL = 1e-15  # of x: how close to the boundary a closed form is solved
_ORDER_RTOL = 1e-11  # of a value converted from RDP: what a Rényi order that is not quite the best may cost
_JUMP = 1e-3  # a larger residual is not due to rounding, and no estimate of the distance to a feasible value
_HALVINGS = 24  # at most so many values, each half the one before, are tried first where a loss may rise and fall
_SUM_RTOL = 1e-14  # of sums over steps, beside the claimed error of a theorem's value
_SPARE = 1e-12  # relative: of the budget; composed with others, the guarantee is computed with other roundings


def solve(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, numerical: bool = False,
          guess: float | None = None) -> Row:
    """The row at the most permissive value of the unknown that meets the budget.

    A value that misses the budget was evaluated next to it: within 1e-15 of it, or the next whole number; where ε at
    a positive δ comes from a closed form, the answer then leaves 1e-12 of the budget to spare. Where the
    value is a `numerical` composition it was evaluated within a tenth of the precision, or within 1 % where the budget
    is met with at most a quarter of the precision to spare; where Rényi orders are searched, with at most 1e-11 to
    spare. The search starts at `guess`.

    Raises NoSolution where the safe end of the range misses the budget, OutOfScope where the theorem covers no value.
    """
    assert question.unknown is not None and question.target is not None
    unknown, search = question.unknown, _Search(route, given, derive, question, numerical)
    precision = float(given.get("precision") or PRECISION)
    rtol, slack = (0.0, 0.0) if search.whole else (CLOSED_FORM_RTOL, _ORDER_RTOL if route.conversion else 0.0)
    if numerical:
        rtol, slack = precision / 10, precision / 4
    low, high = search.range
    start = guess - search.origin if guess is not None else 1.0 if low <= 1.0 <= high else (low * high) ** 0.5
    try:
        if unknown.non_monotone:
            start = search.largest_half()
        residual = cache(search.residual)
        feasible, infeasible = bracket(residual, start, unknown.safe_direction, *search.range, whole=search.whole)
        found = feasible
        if feasible != infeasible:
            found = boundary(residual, feasible, infeasible, rtol, slack, search.whole)
    except Unreachable as end:
        if end.gap == inf and search.reason:
            raise search.reason from None
        raise NoSolution("no-solution", f"no {noun(unknown)} gives {budget(question)}", "--solve",
                         partial(search.best_reachable, end.at)) from None
    return search.settled(found, rtol)


class _Search:
    """The question as a function of d, the distance of the unknown x from its origin: x = origin + d."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question,
                 numerical: bool) -> None:
        assert question.unknown is not None and question.target is not None
        self.route, self.given, self.derive, self.question, self.numerical = route, given, derive, question, numerical
        self.unknown, self.target = question.unknown, question.target
        self.whole = self.unknown.kind == "count"
        low, high = self.unknown.search
        self.origin = low - 1 if self.whole else self.unknown.origin
        self.range = (max(low - self.origin, 2.0**-52 * self.origin), high - self.origin)
        self.reason: OutOfScope | None = None  # of the last value that the theorem does not cover
        self.rows: dict[tuple[float, bool], Row] = {}  # by d, and whether from above only

    def unknown_at(self, d: float) -> float:
        """x as the unknown is given: a count is a whole number."""
        x = self.origin + d
        return int(x) if self.whole else x

    def params(self, d: float) -> Params:
        return self.derive({**self.given, self.unknown.name: self.unknown_at(d)})

    def row(self, d: float, upper_only: bool = False) -> Row:
        """The row at d; with `upper_only`, a composed loss is not computed from below."""
        if (d, upper_only) not in self.rows:
            question = self.question._replace(upper_only=upper_only)
            self.rows[d, upper_only] = evaluate(self.route, self.params(d), question)
        return self.rows[d, upper_only]

    def residual(self, d: float) -> float:
        """log(value/budget), which is at most 0 where the budget is met; inf where the theorem does not cover d.

        Where δ at the budget's ε is a closed form it is that of log δ instead, as an ε would have to be solved for.
        """
        question, bound = self.question, self.route.bound
        try:
            by_delta = question.asks == "epsilon" and question.delta
            if self._is_profile_with_delta():
                params = self.params(d)
                own = own_params(bound, params) | chosen(bound, params, epsilon=self.target)
                return _log_share(float(bound.value(self.target, **own)), question.log_delta)
            if by_delta and self.target == 0:
                at_zero = Question("delta", epsilon=0.0, orders=question.orders, upper_only=True)
                row = evaluate(self.route, self.params(d), at_zero)
                return _log_share(row.result["log_delta"], question.log_delta)
            return _log_ratio(self.row(d, upper_only=self.numerical).result[question.asks], self.target)
        except OutOfScope as reason:
            self.reason = reason
        except OverflowError:
            pass
        return inf

    def _is_profile_with_delta(self) -> bool:
        """Whether ε at a positive δ is found from a closed form of δ(ε)."""
        by_delta = self.question.asks == "epsilon" and self.question.delta
        return bool(by_delta) and self.route.bound.kind == "profile" and not self.numerical

    def settled(self, d: float, rtol: float) -> Row:
        """The row at d with the unknown, or at a safer value next to it: where d was found by its δ, its ε may be above
        the budget by rounding."""
        step, spare = rtol, 0.0 if self.whole or not self._is_profile_with_delta() else _SPARE
        while True:
            row = self.row(d)
            above = spare + max(_log_ratio(row.result[self.question.asks], self.target), self._delta_above(d))
            if above <= 0:
                return row._replace(result={self.unknown.name: self.unknown_at(d), **row.result})
            step = max(2 * step, above if above < _JUMP else 0.0)
            last, d = d, self._safer(d, step)
            if d == last and spare:  # at the end of the range the budget may be met with nothing to spare
                spare = 0.0
            elif d == last:
                raise OutOfScope("no-solution", f"the search for {self.unknown.option} by {self.route.label} found no "
                                                "value that meets the budget",
                                 "--solve")

    def _safer(self, d: float, by: float) -> float:
        """d, moved within the range by that part of itself towards less privacy loss; a count moves by 1 at least."""
        low, high = self.range
        y = d * (1 + self.unknown.safe_direction * by)
        if self.whole:
            y = max(round(y), d + 1) if self.unknown.safe_direction > 0 else min(int(y), d - 1)
        return min(max(y, low), high)

    def _delta_above(self, d: float) -> float:
        """The residual of δ at the budget's ε, which has a rounding and a best Rényi order of its own; −inf where only
        ε counts."""
        question, bound = self.question, self.route.bound
        if question.asks != "epsilon" or not question.delta or self.whole or bound.kind not in ("rdp", "profile"):
            return -inf
        if self.numerical:
            return -inf
        back = evaluate(self.route, self.params(d), Question("delta", epsilon=self.target, orders=question.orders))
        above = _log_ratio(back.result["delta"], question.delta)
        return above / -question.log_delta if above > 0 else above

    def largest_half(self) -> float:
        """The largest value that meets the budget, of a sequence in which each is half the one before, from the end of
        the range. The range then ends at twice that value."""
        low, high = self.range
        last = d = high
        for _ in range(_HALVINGS):
            if self.residual(d) <= 0 or d <= low:
                break
            last, d = d, max(d / 2, low)
        self.range = (low, last)
        return d

    def best_reachable(self, d: float) -> tuple[float, str]:
        """The asked quantity at the safest value of the unknown, and a sentence for people."""
        x, asks = self.origin + d, self.question.asks
        one = {"steps": "one step already", "epochs": "one epoch already"}.get(self.unknown.name)
        there = one if one and x == 1 else f"even {self.unknown.option} {x:g}"
        try:
            best = self.row(d).result[asks]
        except (DpcalcError, OverflowError):
            return inf, f"{there} has no finite {symbol(asks)}"
        text = human_claimed(best, max(theorem.rtol for theorem in self.route.theorems) + _SUM_RTOL)
        return best, f"{there} has {symbol(asks)} = {text}"


def _log_ratio(x: float, target: float) -> float:
    """log(x/target), infinite where a double does not hold the quotient."""
    if x <= target:
        return log(x / target) if x > 0 and x / target > 0 else -inf
    return log(x / target) if target > 0 and x / target < inf else inf


def _log_share(log_delta: float, target: float) -> float:
    """log(target/log δ), which is above 0 where log δ is above the target, and −inf where δ is 0.

    It is nearly linear in the log of most unknowns.
    """
    if log_delta <= target:
        return min(log(target / log_delta), 0.0) if target / log_delta > 0 else -inf
    return max(log(target / log_delta), 5e-324) if log_delta < 0 else inf
