"""Where --solve through epochs looks: about the solution, by a first look at a composed profile. No I/O; no number here is a bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, inf, log
from typing import NamedTuple

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics import work
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket, log_share
from dpcalc.orders import Params, own_params
from dpcalc.quantities import Quantity
from dpcalc.question import Question
from dpcalc.rows import Route
from dpcalc.solving import moved

PER_EPSILON = 6.0  # about how much log δ falls where log ε changes by 1
LITTLE_SENSE = 200.0  # an ε, whose solution is not looked for more closely
_WITHIN, _APART = 0.02, 0.05  # of log x: how near a look finds it; two values for a slope
_EACH = 1e4  # units of work: of a look, beside arrays


class Near(NamedTuple):
    """About the solution, and the slope of the gap there, in log x towards more loss (0: unknown)."""

    x: float
    slope: float


def look(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, start: float | None) -> Near:
    """By δ at the budget's ε, which changes smoothly also where ε jumps; from a start, where one is given."""
    unknown, bound = question.unknown, route.bound
    assert unknown is not None and bound.coarse is not None
    coarse, (low, high) = bound.coarse, unknown.search

    @cache
    def gap(x: float) -> float:
        work.count(_EACH)
        try:
            return gap_by_delta(bound, coarse, question, derive({**given, unknown.name: moved(unknown, x, 0.0)}))
        except (OutOfScope, OverflowError):
            return inf

    first = middle(unknown) if start is None else start
    try:
        meets, fails = bracket(gap, first, unknown.safer, low, high, exp(_APART) if start is not None else 4.0)
        x = meets if meets == fails else boundary_log(gap, meets, fails, _WITHIN)
    except Unreachable as reason:
        return Near(moved(unknown, reason.at, 0.0), 0.0)
    y = moved(unknown, x, -_APART)
    rise = (gap(y) - gap(x)) / abs(log(y / x)) if y != x else 0.0
    return Near(moved(unknown, x, 0.0), rise if 0 < rise < inf else 0.0)


def gap_by_delta(bound: Bound, value: Callable[..., float], question: Question, params: Params) -> float:
    """About log(ε/budget), by log δ at the budget's ε."""
    assert question.target is not None
    return as_gap(float(value(question.target, **own_params(bound, params))), question)


def as_gap(log_delta: float, question: Question) -> float:
    """log δ at the budget's ε as about log(ε/budget)."""
    return log_share(log_delta, question.log_delta) * -question.log_delta / PER_EPSILON


def middle(unknown: Quantity) -> float:
    low, high = unknown.search
    return 1.0 if low < 1.0 < high else (low * high) ** 0.5
