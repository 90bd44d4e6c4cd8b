"""From (bounds, parameters, question) to an answer record. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.bound import Bound
from dpcalc.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.numbers import human
from dpcalc.numerics.elementary import exp_or_zero
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket
from dpcalc.numerics.rounding import up
from dpcalc.orders import Params, all_steps, best_order, chosen, own_params
from dpcalc.question import Question


class Route(NamedTuple):
    """One way to answer: a bound, and for an RDP bound the conversion that ends it."""

    bound: Bound
    conversion: Bound | None = None
    on_request: bool = False  # shown only when named: never sharper than another one
    by_conversion: bool = False  # the conversion is what the reader chose, and names the row
    guide: tuple[Bound, Bound] | None = None  # an RDP bound and a conversion that are never sharper: where a search starts

    @property
    def label(self) -> str:
        return self.conversion.name if self.by_conversion and self.conversion else self.bound.name

    @property
    def theorems(self) -> tuple[Bound, ...]:
        return (self.bound, self.conversion) if self.conversion else (self.bound,)


class Row(NamedTuple):
    """What one route says: numbers by quantity, and the free choices (α, …) that prove them."""

    route: Route
    result: dict[str, float]
    witness: Mapping[str, float] = MappingProxyType({})
    params: Params = MappingProxyType({})  # what the bounds read
    digits: Mapping[str, str] = MappingProxyType({})
    notes: tuple[str, ...] = ()
    said: Mapping[str, str] = MappingProxyType({})  # of a comparison: the row's neighbours, what it assumes, the command that gives it


class Table(NamedTuple):
    """An answer that is a table of numbers, not a guarantee."""

    header: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


class Answer(NamedTuple):
    """All rows, sharpest proven first, with what a reader must know to use the number."""

    command: str
    question: Question
    parameters: dict[str, Any]
    rows: tuple[Row, ...]
    guarantee: dict[str, Any]
    adjacency: str
    released: str
    notes: tuple[str, ...] = ()
    extra: Mapping[str, float] = MappingProxyType({})  # companions of every result
    warnings: tuple[str, ...] = ()  # for stderr
    table: Table | None = None  # what is printed instead of rows
    roc: Table | None = None  # true-positive rates at false-positive rates, beside the rows
    more: Callable[[], Mapping[str, Any]] | None = None  # of a comparison: what else its JSON holds, computed when printed
    options: Mapping[str, Any] = MappingProxyType({})  # as they were given: with the inputs, all it takes to ask again
    inputs: tuple[dict[str, Any], ...] = ()  # guarantees read from JSON
    certified: Mapping[str, float] | None = None  # bits, and ends of what the theorem gives for the headline

    @property
    def headline(self) -> Row:
        """The sharpest proven row. Raises DpcalcError where only a description was asked for."""
        if not self.rows:
            raise DpcalcError("missing", "nothing to print: give --delta, --epsilon or --alpha", "--quiet")
        return self.rows[0]

    @property
    def all_notes(self) -> tuple[str, ...]:
        return self.notes + tuple(note for row in self.rows for note in row.notes)

    @property
    def asked(self) -> str:
        return self.question.unknown.name if self.question.unknown else self.question.asks

    @property
    def value(self) -> float:
        return self.headline.result[self.asked]


# Who has the rows already: a record that is verified (dpcalc.verify.replay).
RECORDED: ContextVar[Callable[..., tuple[Row, ...]] | None] = ContextVar("recorded", default=None)


def rows(routes: Iterable[Route], given: Params, derive: Callable[[Params], Params], question: Question,
         named: tuple[str, ...]) -> tuple[Row, ...]:
    """The rows of every route that applies, sharpest first, proven before others. Named routes must apply."""
    if question.asks == "guarantee":
        return ()
    recorded = RECORDED.get()
    if recorded is not None and (known := recorded(routes := tuple(routes), given, derive, question)):
        return known
    found: list[Row] = []
    reasons: list[DpcalcError] = []
    for route in _distinct(select(tuple(routes), named), question):
        try:
            found.append(_answered(route, given, derive, question, found))
        except OutOfScope as reason:
            reasons.append(reason)
        except (OverflowError, ZeroDivisionError, Unreachable):
            reasons.append(OutOfScope("no-solution", f"the value of {route.label} is outside the range of double precision"))
        except NoSolution as reason:
            reasons.append(OutOfScope("no-solution", reason.message, reason.option))
    skipped = tuple(f"{r.message}; the bounds shown are the best proven ones" for r in reasons if r.code == "too-large")
    if not found:
        first = next((r for r in reasons if r.code != "unsupported"), reasons[0])
        raise NoSolution(first.code, first.message, first.option) if first.code == "no-solution" else first
    ranked = sorted(found, key=lambda row: (row.route.bound.status != "proven", _rank(row, question)))
    return (ranked[0]._replace(notes=ranked[0].notes + skipped + _at_the_end(ranked[0], question)), *ranked[1:])


def _at_the_end(head: Row, question: Question) -> tuple[str, ...]:
    """Said where the best value of the unknown is only the end of the range that was looked through."""
    unknown = question.unknown
    if unknown is None:
        return ()
    low, high = unknown.search
    end = low if unknown.safer > 0 else high
    if (unknown.kind == "count" and end == 1) or abs(head.result[unknown.name] - end) > 1e-4 * abs(end):
        return ()
    return (f"every {unknown.option} from {human(low)} to {human(high, upward=False)}, the range looked through, meets the budget",)


def _answered(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, found: list[Row]) -> Row:
    unknown = question.unknown
    if not unknown:
        return evaluate(route, derive(given), question)
    if _solved_by_composition(route, given, question):
        from dpcalc.solving_composed import solve as solve_composed

        guess = next((row.result[unknown.name] for row in found if route.guide and row.route.bound is route.guide[0]), None)
        return solve_composed(route, given, derive, question, guess)
    from dpcalc.solving import solve

    near = next((row.result[unknown.name] for row in found if row.route.bound is route.bound and route.conversion), None)
    return solve(route, given, derive, question, near)


def _solved_by_composition(route: Route, given: Params, question: Question) -> bool:
    if question.asks not in ("tv", "tpr") and (question.asks != "epsilon" or not question.delta):
        return False
    one = given.get("steps", 1) == 1 and not given.get("epochs") and question.unknown and question.unknown.name not in ("steps", "epochs")
    return route.bound.kind == "composition" or (not one and (route.bound.pair or route.bound.rough or route.guide) is not None)


def _distinct(routes: tuple[Route, ...], question: Question) -> tuple[Route, ...]:
    """An RDP value needs no conversion: one route a curve."""
    if question.asks != "rdp":
        return routes
    curves = {r.bound.name: Route(r.bound) for r in routes if r.bound.kind == "rdp"}
    return tuple(curves.values()) + tuple(r for r in routes if r.bound.kind != "rdp")


def _rank(row: Row, question: Question) -> float:
    if question.unknown:
        return question.unknown.safer * row.result[question.unknown.name]  # least noise, most steps
    return row.result["log_delta"] if question.asks == "delta" else row.result[question.asks]


def select(routes: tuple[Route, ...], named: tuple[str, ...]) -> tuple[Route, ...]:
    """The routes that --bound allows. A curve named alone is converted by the default conversion."""
    if not named:
        return tuple(r for r in routes if not r.on_request)
    known = {r.bound.name for r in routes} | {r.conversion.name for r in routes if r.conversion}
    for name in named:
        if name not in known:
            from dpcalc.params import near

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


_ASKED = {"epsilon": ("ε at a δ", "--delta"), "delta": ("δ at an ε", "--epsilon"), "rdp": ("the RDP at one order", "--alpha"),
          "tv": ("the total variation", "--to"), "tpr": ("true-positive rates", "--fpr"), "mu": ("μ", "--to")}


def evaluate(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The answer of one route. Raises OutOfScope where its theorem does not say."""
    how = _HOW.get((route.bound.kind, question.asks))
    if how is None:
        raise OutOfScope("unsupported", f"{route.label} says nothing about {_ASKED[question.asks][0]}", _ASKED[question.asks][1])
    row = how(route, params, question, start)
    if any(x != x for x in row.result.values()) or row.result.get(question.asks) == inf:
        raise OutOfScope("no-solution", f"{route.label} cannot be evaluated in double precision here")
    return row._replace(params=params)


def _rdp_at(route: Route, params: Params, question: Question, start: float | None) -> Row:
    alpha = question.alpha or 0.0
    witness = chosen(route.bound, params, alpha=alpha)
    one = route.bound.value(alpha, **own_params(route.bound, params), **witness)
    return Row(route, {"rdp": all_steps(one, params), "alpha": alpha}, {"alpha": alpha, **witness})


def _profile_rdp(route: Route, params: Params, question: Question, start: float | None) -> Row:
    bound, alpha = route.bound, question.alpha or 0.0
    if bound.rdp is None:
        raise OutOfScope("unsupported", f"{route.label} says nothing about {_ASKED[question.asks][0]}", _ASKED[question.asks][1])
    witness = chosen(bound, params, alpha=alpha)
    one = bound.rdp(alpha, **own_params(bound, params), **witness)
    return Row(route, {"rdp": all_steps(one, params), "alpha": alpha}, {"alpha": alpha, **witness})


def _rdp_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    assert route.conversion is not None
    if not question.delta:
        raise OutOfScope("no-solution", "0: an RDP curve gives no pure differential privacy; δ must be positive", "--delta")
    log_delta = question.log_delta

    def convert(conversion: Bound, alpha: float, rdp: float) -> float:
        return float(conversion.value(alpha, rdp, log_delta))

    alpha, rdp, epsilon = best_order(route.bound, route.conversion, params, question, convert, start)
    witness = {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)}
    return Row(route, {"epsilon": epsilon, "delta": question.delta}, witness)


def _rdp_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    assert route.conversion is not None
    epsilon = question.epsilon or 0.0

    def convert(conversion: Bound, alpha: float, rdp: float) -> float:
        assert conversion.log_delta is not None
        x = float(conversion.log_delta(alpha, rdp, epsilon))
        return x if x < 0 else alpha  # where it says nothing, smaller orders are the way down

    alpha, rdp, log_delta = best_order(route.bound, route.conversion, params, question, convert, start)
    return Row(route, delta_result(min(0.0, log_delta), epsilon), {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)})


def _rdp_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    row = _rdp_to_delta(route, params, Question("delta", epsilon=0.0, orders=question.orders), start)
    return Row(route, {"tv": row.result["delta"]}, row.witness)


def delta_result(log_delta: float, epsilon: float) -> dict[str, float]:
    # A positive δ below the least double is reported as that double, never as 0; log δ tells it in full.
    delta = 0.0 if log_delta == -inf else max(exp_or_zero(log_delta), 5e-324)
    return {"delta": min(1.0, up(delta, 4e-16 * (1 + min(abs(log_delta), 1e3)))), "log_delta": log_delta, "epsilon": epsilon}


def _profile_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if is_composed(route.bound, params):
        return _composed(route, params, question, start)
    bound, own = route.bound, own_params(route.bound, params)
    if question.delta == 0:
        if bound.pure is None:
            raise OutOfScope("no-solution", "0: no finite ε holds with δ = 0 for Gaussian noise; δ must be positive", "--delta")
        return Row(route, {"epsilon": bound.pure(**own), "delta": 0.0})
    log_delta = question.log_delta
    witness = chosen(bound, params, log_delta=log_delta)
    own |= witness
    epsilon = bound.inverse(log_delta, **own) if bound.inverse else _invert(bound, own, log_delta)
    return Row(route, {"epsilon": epsilon, "delta": question.delta or 0.0}, witness)


def _invert(bound: Bound, own: dict[str, Any], log_delta: float) -> float:
    def gap(epsilon: float) -> float:
        return float(bound.value(epsilon, **own)) - log_delta

    if gap(0.0) <= 0:
        return 0.0
    try:
        meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    except Unreachable:
        raise OutOfScope("no-solution", f"{bound.name} reaches that δ at no ε", "--delta") from None
    return boundary_log(gap, meets, fails)


def is_composed(bound: Bound, params: Params) -> bool:
    return bound.pair is not None and params.get("steps", 1) > 1


def _profile_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if is_composed(route.bound, params):
        return _composed(route, params, question, start)
    epsilon = question.epsilon or 0.0
    witness = chosen(route.bound, params, epsilon=epsilon)
    return Row(route, delta_result(route.bound.value(epsilon, **own_params(route.bound, params), **witness), epsilon), witness)


def _profile_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if is_composed(route.bound, params):
        return _composed(route, params, question, start)
    row = _profile_to_delta(route, params, Question("delta", epsilon=0.0), start)
    return Row(route, {"tv": row.result["delta"]})


def _composed(route: Route, params: Params, question: Question, start: float | None) -> Row:
    from dpcalc.composed import ANSWERS

    return ANSWERS[question.asks](route, params, question)


def _to_tpr(route: Route, params: Params, question: Question, start: float | None) -> Row:
    from dpcalc.attack import to_tpr

    return to_tpr(route, params, question)


def _point(route: Route, params: Params, question: Question, start: float | None) -> Row:
    result = dict(route.bound.value(**own_params(route.bound, params)))
    if question.asks not in result:
        raise OutOfScope("unsupported", f"{route.label} says nothing about {_ASKED[question.asks][0]}", _ASKED[question.asks][1])
    return Row(route, result)


_HOW: dict[tuple[str, str], Callable[[Route, Params, Question, float | None], Row]] = {
    ("rdp", "rdp"): _rdp_at,
    ("rdp", "epsilon"): _rdp_to_epsilon,
    ("rdp", "delta"): _rdp_to_delta,
    ("rdp", "tv"): _rdp_to_tv,
    ("profile", "rdp"): _profile_rdp,
    ("profile", "epsilon"): _profile_to_epsilon,
    ("profile", "delta"): _profile_to_delta,
    ("profile", "tv"): _profile_to_tv,
    ("composition", "epsilon"): _composed,
    ("composition", "delta"): _composed,
    ("composition", "tv"): _composed,
    ("point", "epsilon"): _point,
    ("point", "delta"): _point,
    ("point", "tv"): _point,
    ("point", "mu"): _point,
    **{(kind, "tpr"): _to_tpr for kind in ("rdp", "profile", "composition", "point")},
}
