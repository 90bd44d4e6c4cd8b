"""From the bounds that may answer a question to the rows of its answer, the best one first. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpcalc.accounting.evaluate import evaluate
from dpcalc.core.bound import Params
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import human
from dpcalc.core.quantities import Quantity
from dpcalc.core.question import Question, budget, noun
from dpcalc.core.results import Route, Row
from dpcalc.numerics.root import Unreachable

# Parameters for which any positive number makes sense, since the privacy loss depends on a ratio with them.
_SIZES = frozenset({"sigma", "noise_multiplier", "scale", "sensitivity", "mu", "rho"})
_DOUBLES = (2.2250738585072014e-308, 1.7976931348623157e308)  # every normal positive double
_ROUGH_RTOL = 1e-4  # accuracy of values from which on a search does not try to be exact: steps are composed in them
_NEXT_TO_END = 1e-4  # relative: a search that stops this near to the end of its range has found that end

Derive = Callable[[Params], Params]  # from the options of a command to the parameters of the bounds


def rows(routes: Iterable[Route], call: Given, derive: Derive, question: Question,
         named: tuple[str, ...]) -> tuple[Row, ...]:
    """One row for every route that answers the question: proven bounds first, and the best value first among them.

    `named` are the bounds that the user chose, which must apply. Where a record is verified, its own rows are returned.
    Raises DpcalcError with the most helpful reason where no route gives a guarantee.
    """
    if question.asks == "guarantee":
        return ()
    routes, given = tuple(routes), call.values
    if call.recorded is not None and (again := call.recorded(routes, given, derive, question)):
        return again
    candidates = _without_conversions(select(routes, named), question)
    found, failed = _answer_each(candidates, given, derive, question)
    if not found or (_misses_guarantee(failed) and not _has_guarantee(found, named)):
        raise _reason(failed)
    _refuse_unread(found, given, question)

    def order(row: Row) -> tuple[bool, bool, float, int]:
        status = row.route.bound.status
        return status != "proven", status == "lower", _rank(row, question), candidates.index(row.route)

    head, *others = sorted(found, key=order)
    _check_range(head, given, derive, question)
    skipped = tuple(f"{r.message}; the table shows the other bounds" for r in failed.values()
                    if r.code == "too-large")
    return (head._replace(notes=head.notes + skipped + _other_solutions(head, given, derive, question)), *others)


def _answer_each(routes: tuple[Route, ...], given: Params, derive: Derive,
                 question: Question) -> tuple[list[Row], dict[Route, DpcalcError]]:
    """The rows of the routes that answer, and why the others do not, in the order of the routes.

    Numerical compositions come last, as a search through them starts at the solution of the other routes.
    """
    found: list[Row] = []
    why_not: dict[Route, DpcalcError] = {}
    for route in sorted(routes, key=lambda route: _is_numerical(route, given, question)):
        try:
            row = _answered(route, given, derive, question, found)
            params = _params(row, given, derive, question)
            found.append(row._replace(params=params, more=_rest_of_witness(row, params, question)))
        except (OutOfScope, NoSolution) as reason:
            why_not[route] = reason
        except (OverflowError, ZeroDivisionError, Unreachable):
            why_not[route] = OutOfScope("no-solution",
                                        f"{route.label} gives a number outside the range of double precision here")
    return found, {route: why_not[route] for route in routes if route in why_not}


def _misses_guarantee(failed: Mapping[Route, DpcalcError]) -> bool:
    """Whether a proven bound does not answer."""
    return any(route.bound.status == "proven" for route in failed)


def _has_guarantee(found: list[Row], named: tuple[str, ...]) -> bool:
    """Whether a row is proven, or was named: a limit, or a bound from below, is no answer in place of a guarantee."""
    return any(row.route.bound.status == "proven" or {t.name for t in row.route.theorems} & set(named) for row in found)


def _reason(failed: Mapping[Route, DpcalcError]) -> DpcalcError:
    """Why there is no answer: the first reason of a proven bound that is about the numbers, not about the question."""
    proven = [reason for route, reason in failed.items() if route.bound.status == "proven"]
    reasons = proven or list(failed.values())
    first = next((r for r in reasons if r.code != "unsupported"), reasons[0])
    if isinstance(first, NoSolution):
        return NoSolution.nearest_to_budget([r for r in reasons if isinstance(r, NoSolution)])
    return NoSolution(first.code, first.message, first.option) if first.code == "no-solution" else first


def _refuse_unread(found: list[Row], given: Params, question: Question) -> None:
    """Raises DpcalcError for an option that no answering bound uses: it would have no effect."""
    for option, reads, otherwise in _READ_BY:
        if given.get(option) is not None and not any(reads(row.route, question) for row in found):
            answering = ", ".join(dict.fromkeys(row.route.label for row in found))
            raise DpcalcError("unneeded", f"not used by {answering}, {otherwise}; drop it", flag(option))


_READ_BY: tuple[tuple[str, Callable[[Route, Question], bool], str], ...] = (
    ("orders", lambda route, question: route.bound.kind == "rdp" and question.asks != "rdp",
     "which searches no Rényi order"),
    ("precision", lambda route, question: route.bound.is_composed({"steps": 2}) and question.asks != "rdp",
     "which composes no profile numerically"),
)


def _with_range(route: Route, given: Params, question: Question) -> Quantity:
    """The unknown with the range in which it is searched for: all doubles where a closed form depends on a ratio with
    it. (A conversion is no closed form: its orders are bounded.)"""
    unknown = question.unknown
    assert unknown is not None
    closed = route.bound.is_closed_form and not route.conversion and not _is_numerical(route, given, question)
    wide = closed and unknown.name in _SIZES and unknown.kind == "number"
    return unknown._replace(search=_DOUBLES) if wide else unknown


def _check_range(head: Row, given: Params, derive: Derive, question: Question) -> None:
    """Raises EveryValueMeets where the best value of the unknown is only the end of the range that was searched.

    The least count is a solution of its own: there is nothing below one record.
    """
    if question.unknown is None or question.unknown.non_monotone:
        return
    unknown = _with_range(head.route, given, question)
    (low, high), x = unknown.search, head.result[unknown.name]
    end = low if unknown.safe_direction > 0 else high
    if low == high or (unknown.kind == "count" and (end == low or x != end)) or abs(x - end) > _NEXT_TO_END * end:
        return
    if x == end or _meets_at(end, head, given, derive, question):
        raise EveryValueMeets("no-solution",
                              f"every {noun(unknown)} from {human(low)} to {human(high, upward=False)} gives "
                              f"{budget(question)}; there is nothing to solve for", "--solve")


def _meets_at(x: float, head: Row, given: Params, derive: Derive, question: Question) -> bool:
    """Whether a value of the unknown meets the budget by the bound of the headline."""
    assert question.unknown is not None and question.target is not None
    try:
        params = derive({**given, question.unknown.name: x})
        return evaluate(head.route, params, question).result[question.asks] <= question.target
    except (DpcalcError, Unreachable, OverflowError, ZeroDivisionError):
        return False


def _other_solutions(head: Row, given: Params, derive: Derive, question: Question) -> tuple[str, ...]:
    """A note on what else may meet the budget: where the loss may rise and fall with the unknown, and where the far end
    of its range meets the budget too."""
    unknown = question.unknown
    if unknown is None:
        return ()
    if unknown.non_monotone:
        return (f"the privacy loss may rise and fall with {unknown.option}: a smaller value may miss the budget",)
    end = unknown.search[1] if unknown.safe_direction > 0 else unknown.search[0]
    if not unknown.both or not _meets_at(end, head, given, derive, question):
        return ()
    return (f"{unknown.option} {human(end, upward=unknown.safe_direction < 0)}, the end of the range, meets the budget "
            "too",)


def _params(row: Row, given: Params, derive: Derive, question: Question) -> Params:
    """What the bounds take, with the solution of an unknown."""
    unknown = question.unknown
    return derive({**given, unknown.name: row.result[unknown.name]}) if unknown else row.params


def _rest_of_witness(row: Row, params: Params, question: Question) -> Callable[[], Mapping[str, Any]]:
    """A function that finds the free choices of a theorem that only a record in JSON needs."""

    def find() -> Mapping[str, Any]:
        from dpcalc.accounting import witness

        return witness.rest_of_witness(row, params, question)

    return find


def _answered(route: Route, given: Params, derive: Derive, question: Question, found: list[Row]) -> Row:
    """The row of one route. A search starts at the best solution by other routes, which is near its own."""
    unknown = question.unknown
    if not unknown:
        return evaluate(route, derive(given), question)
    from dpcalc.accounting.solve import solve

    solutions = [row.result[unknown.name] for row in found]
    guess = min(solutions, key=lambda x: unknown.safe_direction * x) if solutions else None
    searched = question._replace(unknown=_with_range(route, given, question))
    return solve(route, given, derive, searched, _is_numerical(route, given, question), guess)


def _is_numerical(route: Route, given: Params, question: Question) -> bool:
    """Whether a search evaluates numerical compositions, which are known to a precision only."""
    composes = question.asks in ("tv", "tpr") or (question.asks == "epsilon" and bool(question.delta))
    rough = route.bound.rtol >= _ROUGH_RTOL
    if question.unknown is None or not (composes or rough):
        return False
    one = given.get("steps", 1) == 1 and not given.get("epochs") and question.unknown.name not in ("steps", "epochs")
    return (rough and not one) or route.bound.is_numerical({"steps": 1 if one else 2})


def _without_conversions(routes: tuple[Route, ...], question: Question) -> tuple[Route, ...]:
    """All routes; for a question about RDP, every curve only once, as it needs no conversion."""
    if question.asks != "rdp":
        return routes
    curves = {r.bound.name: Route(r.bound) for r in routes if r.bound.kind == "rdp"}
    return tuple(curves.values()) + tuple(r for r in routes if r.bound.kind != "rdp")


def _rank(row: Row, question: Question) -> float:
    """What rows are sorted by: their value, or their solution.

    Solutions are compared to ten digits: those that differ by rounding alone keep the order of the list. Values are
    compared to the last digit, so that a solution that is put in again meets its budget by the headline. Of bounds from
    below the largest is the best.
    """
    if question.unknown:
        # least noise, most steps
        return float(f"{question.unknown.safe_direction * row.result[question.unknown.name]:.10g}")
    value = float(row.result["log_delta"] if question.asks == "delta" else row.result[question.asks])
    return -value if row.route.bound.status == "lower" else value


def select(routes: tuple[Route, ...], named: tuple[str, ...]) -> tuple[Route, ...]:
    """The routes that --bound allows. A curve named alone is converted by the default conversion."""
    if not named:
        return tuple(r for r in routes if not r.on_request)
    known = {r.bound.name for r in routes} | {r.conversion.name for r in routes if r.conversion}
    for name in named:
        if name not in known:
            from dpcalc.core.validate import near

            raise DpcalcError("unknown-value", f"{name!r} is not a bound for this question; choose from "
                              f"{', '.join(sorted(known))}{near(name, tuple(sorted(known)))}", "--bound")
    conversions = {r.conversion.name for r in routes if r.conversion and r.conversion.name in named}
    curves = {r.bound.name for r in routes if r.bound.name in named}

    def allowed(r: Route) -> bool:
        if r.conversion is None:
            return r.bound.name in named
        by_conversion = r.conversion.name in conversions if conversions else r.conversion.default
        return by_conversion and (r.bound.name in curves or not curves)

    return tuple(r for r in routes if allowed(r))
