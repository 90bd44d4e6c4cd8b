"""What one route answers to one question."""

from dpcalc.accounting.by_bound import by_bound
from dpcalc.core.bound import Params
from dpcalc.core.results import Question, Route, Row


def evaluate(route: Route, params: Params, question: Question) -> Row:
    """The row of a route: the asked number, an upper bound by the route's theorems. Raises OutOfScope where these do
    not cover the question."""
    if question.asks != "tpr":
        return by_bound(route, params, question)
    from dpcalc.accounting.attack import to_tpr

    return to_tpr(route, params, question)
