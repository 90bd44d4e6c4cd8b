"""That no value of an unknown meets a budget, and what the best one reaches. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from dpcalc.errors import DpcalcError, NoSolution
from dpcalc.numbers import human_claimed
from dpcalc.question import Question
from dpcalc.rows import Route, Row

_DOUBLES = 1e-14  # relative: of sums over steps, beside what a theorem's value is claimed to


def none_meets(route: Route, question: Question, forward: Callable[[float], Row], best: float) -> NoSolution:
    """That no value meets the budget, where `best` is the best one."""
    assert question.unknown is not None
    message = f"no {question.unknown.option[2:]} meets the budget by {route.label}"
    return NoSolution("no-solution", message, "--solve", partial(_reached, route, question, forward, best))


def is_met(question: Question, forward: Callable[[float], Row], at: float) -> bool:
    """Whether the answer itself meets the budget there, where a search left a margin of it."""
    try:
        return forward(at).result[question.asks] <= (question.target or 0.0)
    except (DpcalcError, OverflowError):
        return False


def _reached(route: Route, question: Question, forward: Callable[[float], Row], at: float) -> tuple[float, str]:
    """What the best value of the unknown gives, also for people."""
    assert question.unknown is not None
    there = f"{question.unknown.option} {at + question.unknown.before:g}"
    try:
        best = forward(at).result[question.asks]
    except (DpcalcError, OverflowError):
        return inf, f"even {there} gives no finite {question.asks}"
    text = human_claimed(best, max(theorem.rtol for theorem in route.theorems) + _DOUBLES)
    return best, f"the best reachable is {question.asks} = {text} (at {there})"
