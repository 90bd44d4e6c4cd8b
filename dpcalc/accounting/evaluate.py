"""What one route answers to one question."""

from dpcalc.accounting.by_bound import by_bound
from dpcalc.core.bound import Params
from dpcalc.core.results import Question, Route, Row


def evaluate(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The row of a route: the asked number, an upper bound by the route's theorems. `start` is a Rényi order near the
    best one, if one is known. Raises OutOfScope where the theorems do not cover the question."""
    if question.asks != "tpr":
        return by_bound(route, params, question, start)
    from dpcalc.accounting.attack import to_tpr

    return to_tpr(route, params, question)
