"""(bounds, given, unknown) → the rows of an answer, sharpest first. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpcalc.accounting.evaluate import evaluate
from dpcalc.core.bound import Params
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, EveryValueMeets, NoSolution, OutOfScope, flag
from dpcalc.core.numbers import human
from dpcalc.core.quantities import Quantity
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row
from dpcalc.numerics.root import Unreachable

# Parameters for which any positive number makes sense, since the privacy loss depends on a ratio with them.
_SIZES = frozenset({"sigma", "noise_multiplier", "scale", "sensitivity", "mu", "rho"})
_DOUBLES = (2.2250738585072014e-308, 1.7976931348623157e308)  # every normal positive double
_NEXT_TO_END = 1e-4  # relative: a search may stop this far before the end of its range and mean the end


def rows(routes: Iterable[Route], call: Given, derive: Callable[[Params], Params], question: Question,
         named: tuple[str, ...]) -> tuple[Row, ...]:
    """The rows of every route that applies, sharpest first, proven before others. Named routes must apply. Where a
    record is verified, its rows take their place."""
    if question.asks == "guarantee":
        return ()
    routes, given = tuple(routes), call.values
    if call.recorded is not None and (again := call.recorded(routes, given, derive, question)):
        return again
    asked = _distinct(select(routes, named), question)
    found: list[Row] = []
    why_not: dict[Route, DpcalcError] = {}
    # last: the solutions of others say where to look
    for route in sorted(asked, key=lambda route: _is_composed(route, given, question)):
        try:
            row = _answered(route, given, derive, question, found)
            params = _params(row, given, derive, question)
            found.append(row._replace(params=params, more=_choices(row, params, question)))
        except (OutOfScope, NoSolution) as reason:
            why_not[route] = reason
        except (OverflowError, ZeroDivisionError, Unreachable):
            why_not[route] = OutOfScope("no-solution",
                                        f"the value of {route.label} is outside the range of double precision")
    reasons = [why_not[route] for route in asked if route in why_not]
    # why no guarantee answers
    unproved = [why_not[route] for route in asked if route in why_not and route.bound.status == "proven"]
    skipped = tuple(f"{r.message}; the bounds shown are the best proven ones" for r in reasons if r.code == "too-large")
    if not found or (unproved and _beside_the_point(found, named)):
        reasons = unproved or reasons
        first = next((r for r in reasons if r.code != "unsupported"), reasons[0])
        if isinstance(first, NoSolution):
            raise NoSolution.told([r for r in reasons if isinstance(r, NoSolution)])
        raise NoSolution(first.code, first.message, first.option) if first.code == "no-solution" else first
    _refuse_unread(found, given, question)
    ranked = sorted(found,
                    key=lambda row: (row.route.bound.status != "proven", _rank(row, question), asked.index(row.route)))
    head = ranked[0]
    _check_range(head, given, derive, question)
    return (head._replace(notes=head.notes + skipped + _reach(head, given, derive, question)), *ranked[1:])


def _refuse_unread(found: list[Row], given: Params, question: Question) -> None:
    """Refuses an option that none of the bounds which answer reads: it would have no effect."""
    for option, reads, otherwise in _READ_BY:
        if given.get(option) is not None and not any(reads(row.route, question) for row in found):
            answering = ", ".join(dict.fromkeys(row.route.label for row in found))
            raise DpcalcError("unneeded", f"not used by {answering}, {otherwise}", flag(option))


_READ_BY: tuple[tuple[str, Callable[[Route, Question], bool], str], ...] = (
    ("orders", lambda route, question: route.bound.kind == "rdp" and question.asks != "rdp",
     "which searches no Rényi order"),
    ("precision", lambda route, question: route.bound.kind == "composition"
     or (route.bound.pair is not None and question.asks != "rdp"),
     "which composes no profile numerically"),
)


def _beside_the_point(found: list[Row], named: tuple[str, ...]) -> bool:
    """Whether nothing that was found is proven or was named: a limit, or a bound from below, is no answer in place of a
    guarantee."""
    return not any(row.route.bound.status == "proven" or {t.name for t in row.route.theorems} & set(named)
                   for row in found)


def _searched(route: Route, given: Params, question: Question) -> Quantity:
    """The unknown with the range in which a route looks for it: a closed form has an answer at every size of the noise.
    (A conversion has none: its orders are bounded.)"""
    unknown = question.unknown
    assert unknown is not None
    if unknown.name not in _SIZES or route.conversion or not route.bound.is_closed_form or _is_composed(route, given,
                                                                                                        question):
        return unknown
    return unknown._replace(search=_DOUBLES)


def _check_range(head: Row, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
    """Raises EveryValueMeets where the best value of the unknown is only the end of the range that was searched. The
    least count is a value of its own: there is nothing below one record."""
    if question.unknown is None or question.unknown.uneven:
        return
    unknown = _searched(head.route, given, question)
    (low, high), x = unknown.search, head.result[unknown.name]
    end = low if unknown.safer > 0 else high
    if low == high or (unknown.kind == "count" and (end == low or x != end)) or abs(x - end) > _NEXT_TO_END * end:
        return
    if x == end or _meets_at(end, head, given, derive, question):
        values = f"every {unknown.option} from {human(low)} to {human(high, upward=False)}"
        raise EveryValueMeets("no-solution",
                              f"{values} meets the budget (by {head.route.label}), so there is nothing to solve for",
                              "--solve")


def _meets_at(x: float, head: Row, given: Params, derive: Callable[[Params], Params], question: Question) -> bool:
    """Whether a value of the unknown meets the budget by the bound of the headline."""
    assert question.unknown is not None and question.target is not None
    try:
        params = derive({**given, question.unknown.name: x})
        return evaluate(head.route, params, question).result[question.asks] <= question.target
    except (DpcalcError, Unreachable, OverflowError, ZeroDivisionError):
        return False


def _reach(head: Row, given: Params, derive: Callable[[Params], Params], question: Question) -> tuple[str, ...]:
    """Said of what else meets the budget: of a loss that may rise and fall, and of a parameter that people might choose
    on either side."""
    unknown = question.unknown
    if unknown is None:
        return ()
    if unknown.uneven:
        return (f"the loss may rise and fall with {unknown.option}: this is the largest one found that meets the "
                f"budget, and smaller ones "
                "may not",)
    end = unknown.search[1] if unknown.safer > 0 else unknown.search[0]
    if not unknown.both or not _meets_at(end, head, given, derive, question):
        return ()
    return (f"by {head.route.label} {unknown.option} {human(end, upward=unknown.safer < 0)}, the end of the range, "
            f"meets the budget too",)


def _params(row: Row, given: Params, derive: Callable[[Params], Params], question: Question) -> Params:
    """What the bounds read; a row that was solved for may know the solution only."""
    unknown = question.unknown
    return derive({**given, unknown.name: row.result[unknown.name]}) if unknown else row.params


def _choices(row: Row, params: Params, question: Question) -> Callable[[], Mapping[str, Any]]:
    """What its witness lacks, for JSON."""

    def found() -> Mapping[str, Any]:
        from dpcalc.accounting import witness

        return witness.of(row, params, question)

    return found


def _answered(route: Route, given: Params, derive: Callable[[Params], Params], question: Question,
              found: list[Row]) -> Row:
    """The row of one route. A search starts at the best solution found by other routes, which is near its own."""
    unknown = question.unknown
    if not unknown:
        return evaluate(route, derive(given), question)
    from dpcalc.accounting.solve import solve

    solutions = [row.result[unknown.name] for row in found]
    guess = min(solutions, key=lambda x: unknown.safer * x) if solutions else None
    searched = question._replace(unknown=_searched(route, given, question))
    return solve(route, given, derive, searched, _is_composed(route, given, question), guess)


def _is_composed(route: Route, given: Params, question: Question) -> bool:
    """Whether what a search evaluates is composed numerically, so that it is known to the precision only."""
    if question.unknown is None or (question.asks not in ("tv", "tpr")
                                    and (question.asks != "epsilon" or not question.delta)):
        return False
    one = given.get("steps", 1) == 1 and not given.get("epochs") and question.unknown.name not in ("steps", "epochs")
    return route.bound.kind == "composition" or (not one and (route.bound.pair or route.bound.one) is not None)


def _distinct(routes: tuple[Route, ...], question: Question) -> tuple[Route, ...]:
    """An RDP value needs no conversion: one route a curve."""
    if question.asks != "rdp":
        return routes
    curves = {r.bound.name: Route(r.bound) for r in routes if r.bound.kind == "rdp"}
    return tuple(curves.values()) + tuple(r for r in routes if r.bound.kind != "rdp")


def _rank(row: Row, question: Question) -> float:
    """What rows are sorted by: the asked quantity, or the solution, to ten digits, so that solutions that differ by
    rounding only stand in the order of the list. (A value is not rounded: where a solution is put in, the least value
    must be the headline, which meets the budget.)"""
    if question.unknown:
        return float(f"{question.unknown.safer * row.result[question.unknown.name]:.10g}")  # least noise, most steps
    return float(row.result["log_delta"] if question.asks == "delta" else row.result[question.asks])


def select(routes: tuple[Route, ...], named: tuple[str, ...]) -> tuple[Route, ...]:
    """The routes that --bound allows. A curve named alone is converted by the default conversion."""
    if not named:
        return tuple(r for r in routes if not r.on_request)
    known = {r.bound.name for r in routes} | {r.conversion.name for r in routes if r.conversion}
    for name in named:
        if name not in known:
            from dpcalc.core.validate import near

            raise DpcalcError("unknown-value", f"{name!r} is not a bound for this question; it can be "
                              f"{', '.join(sorted(known))}{near(name, tuple(sorted(known)))}", "--bound")
    conversions = {r.conversion.name for r in routes if r.conversion and r.conversion.name in named}
    curves = {r.bound.name for r in routes if r.bound.name in named}

    def allowed(r: Route) -> bool:
        if r.conversion is None:
            return r.bound.name in named
        by_conversion = r.conversion.name in conversions if conversions else r.conversion.default
        return by_conversion and (r.bound.name in curves or not curves)

    return tuple(r for r in routes if allowed(r))
