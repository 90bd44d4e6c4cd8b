"""From (bounds, parameters, question) to an answer record. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp, inf, log, sqrt
from types import MappingProxyType
from typing import Any, NamedTuple

from dpcalc.bound import Bound
from dpcalc.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.numerics.elementary import exp_or_zero
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket
from dpcalc.numerics.minimise import minimise, minimise_over
from dpcalc.numerics.rounding import up
from dpcalc.question import Question

Params = Mapping[str, Any]
_LARGEST_ORDER = 1500  # of the search over whole orders, whose bounds are sums of as many terms


class Route(NamedTuple):
    """One way to answer: a bound, and for an RDP bound the conversion that ends it."""

    bound: Bound
    conversion: Bound | None = None
    on_request: bool = False  # shown only when named: never sharper than another one
    by_conversion: bool = False  # the conversion is what the reader chose, and names the row

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

    @property
    def headline(self) -> Row:
        """The sharpest proven row. Raises DpcalcError where only a description was asked for."""
        if not self.rows:
            raise DpcalcError("missing", "nothing to print: give --delta, --epsilon or --alpha", "--quiet")
        return self.rows[0]

    @property
    def asked(self) -> str:
        return self.question.unknown.name if self.question.unknown else self.question.asks

    @property
    def value(self) -> float:
        return self.headline.result[self.asked]


def rows(routes: Iterable[Route], given: Params, derive: Callable[[Params], Params], question: Question,
         named: tuple[str, ...]) -> tuple[Row, ...]:
    """The rows of every route that applies, sharpest first, proven before others. Named routes must apply."""
    if question.asks == "guarantee":
        return ()
    found: list[Row] = []
    reasons: list[DpcalcError] = []
    for route in _distinct(select(tuple(routes), named), question):
        try:
            found.append(_answered(route, given, derive, question))
        except OutOfScope as reason:
            reasons.append(reason)
        except (OverflowError, ZeroDivisionError, Unreachable):
            reasons.append(OutOfScope("no-solution", f"the value of {route.label} is outside the range of double precision"))
        except NoSolution as reason:
            reasons.append(OutOfScope("no-solution", reason.message, reason.option))
    if not found:
        first = reasons[0]
        raise NoSolution(first.code, first.message, first.option) if first.code == "no-solution" else first
    return tuple(sorted(found, key=lambda row: (row.route.bound.status != "proven", _rank(row, question))))


def _answered(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> Row:
    if not question.unknown:
        return evaluate(route, derive(given), question)
    from dpcalc.solving import solve

    return solve(route, given, derive, question)


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
        by_conversion = r.conversion.name in conversions if conversions else r.conversion.name == "rdp-improved"
        return by_conversion and (r.bound.name in curves or not curves)

    return tuple(r for r in routes if allowed(r))


def evaluate(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The answer of one route. Raises OutOfScope where its theorem does not say."""
    how = _HOW.get((route.bound.kind, question.asks))
    if how is None:
        raise OutOfScope("no-solution", f"{route.label} says nothing about {question.asks}", "--bound")
    row = how(route, params, question, start)
    if any(x != x for x in row.result.values()):
        raise OutOfScope("no-solution", f"{route.label} cannot be evaluated in double precision here")
    return row._replace(params=params)


def own_params(bound: Bound, params: Params) -> dict[str, Any]:
    return {name: params[name] for name in bound.params}


def chosen(bound: Bound, params: Params, **at: float) -> dict[str, float]:
    """The free choices of a theorem at an α, an ε or a log δ; none for most."""
    return bound.search(**at, **own_params(bound, params)) if bound.search else {}


def total_rdp(bound: Bound, params: Params) -> Callable[[float], float]:
    """α → RDP of all steps; inf where the theorem does not reach or doubles do not."""
    own, steps = own_params(bound, params), params.get("steps", 1)

    def curve(alpha: float) -> float:
        try:
            one = bound.value(alpha, **own, **chosen(bound, params, alpha=alpha))
        except (OverflowError, OutOfScope):
            return inf
        return one if steps == 1 else up(steps * one)

    return curve


def _rdp_at(route: Route, params: Params, question: Question, start: float | None) -> Row:
    alpha = question.alpha or 0.0
    witness = chosen(route.bound, params, alpha=alpha)
    one = route.bound.value(alpha, **own_params(route.bound, params), **witness)
    steps = params.get("steps", 1)
    return Row(route, {"rdp": one if steps == 1 else up(steps * one), "alpha": alpha}, {"alpha": alpha, **witness})


def _profile_rdp(route: Route, params: Params, question: Question, start: float | None) -> Row:
    bound, alpha = route.bound, question.alpha or 0.0
    if bound.rdp is None:
        raise OutOfScope("no-solution", f"{route.label} says nothing about the RDP", "--bound")
    witness = chosen(bound, params, alpha=alpha)
    return Row(route, {"rdp": bound.rdp(alpha, **own_params(bound, params), **witness), "alpha": alpha}, {"alpha": alpha, **witness})


def _rdp_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    conversion = route.conversion
    assert conversion is not None
    if not question.delta:
        raise OutOfScope("no-solution", "0: an RDP curve gives no pure differential privacy; δ must be positive", "--delta")
    log_delta = question.log_delta
    alpha, rdp, epsilon = _best_order(route, params, question, lambda a, r: conversion.value(a, r, log_delta), start)
    return Row(route, {"epsilon": epsilon, "delta": question.delta}, {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)})


def _rdp_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    conversion, epsilon = route.conversion, question.epsilon or 0.0
    assert conversion is not None and conversion.log_delta is not None
    convert = conversion.log_delta
    alpha, rdp, log_delta = _best_order(route, params, question, lambda a, r: convert(a, r, epsilon), start)
    return Row(route, _delta_result(log_delta, epsilon), {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)})


def _rdp_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    row = _rdp_to_delta(route, params, Question("delta", epsilon=0.0, orders=question.orders), start)
    return Row(route, {"tv": row.result["delta"]}, row.witness)


def _delta_result(log_delta: float, epsilon: float) -> dict[str, float]:
    # A positive δ below the least double is reported as that double, never as 0; log δ tells it in full.
    delta = 0.0 if log_delta == -inf else max(exp_or_zero(log_delta), 5e-324)
    return {"delta": min(1.0, up(delta, 4e-16 * (1 + min(abs(log_delta), 1e3)))), "log_delta": log_delta, "epsilon": epsilon}


def _best_order(route: Route, params: Params, question: Question, convert: Callable[[float, float], float],
                start: float | None) -> tuple[float, float, float]:
    """(α, ε(α), value) at a nearly best order. Any order is valid, so the search may be rough."""
    curve = total_rdp(route.bound, params)
    seen: dict[float, float] = {}

    def at(alpha: float) -> float:
        rdp = seen[alpha] = curve(alpha)
        return convert(alpha, rdp) if rdp < inf else inf

    listed, whole = question.orders or _listed(params), _whole(route.bound, params)
    if listed:
        best = min(listed, key=at)
        value = at(best)
    else:
        guess = start or _guess(curve, question)
        if whole:
            best, value = minimise_over(lambda k: at(float(k)), round(min(guess, 64)), 2, _LARGEST_ORDER)
        else:
            u, value = minimise(lambda u: at(1 + exp(u)), log(guess - 1), log(1e-4), log(9e9), 0.5, 1e-4)
            while question.asks == "delta" and value == 0 and guess > 1.05:  # δ = 1 is a plateau: nothing leads downhill
                guess = 1 + (guess - 1) / 5
                u, value = minimise(lambda u: at(1 + exp(u)), log(guess - 1), log(1e-4), log(9e9), 0.5, 1e-4)
            best = 1 + exp(u)
    if value == inf:
        raise OutOfScope("no-solution", f"{route.label} is infinite at every order (or above the largest double)")
    return float(best), seen[best], value


def _guess(curve: Callable[[float], float], question: Question) -> float:
    """The best order of a Gaussian with the same RDP at 2."""
    slope = curve(2.0) / 2
    if not 0 < slope < inf:
        return 2.0
    if question.delta:
        return 1 + min(max(sqrt(-question.log_delta / slope), 1e-3), 1e9)
    return 1 + min(max(((question.epsilon or 0.0) / slope - 1) / 2, 1e-3), 1e9)


def _listed(params: Params) -> tuple[float, ...]:
    """The orders that a curve from JSON lists."""
    curves = [params["base"]] if "base" in params else [c for c, _ in params.get("parts", ())]
    return params.get("alphas") or tuple(sorted({a for c in curves for a in c.orders}))


def _whole(bound: Bound, params: Params) -> bool:
    return bound.integer_orders or any(c.whole for c, _ in params.get("parts", ()))


def _profile_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
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


def _profile_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    epsilon = question.epsilon or 0.0
    witness = chosen(route.bound, params, epsilon=epsilon)
    return Row(route, _delta_result(route.bound.value(epsilon, **own_params(route.bound, params), **witness), epsilon), witness)


def _profile_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    row = _profile_to_delta(route, params, Question("delta", epsilon=0.0), start)
    return Row(route, {"tv": row.result["delta"]})


def _point(route: Route, params: Params, question: Question, start: float | None) -> Row:
    result = dict(route.bound.value(**own_params(route.bound, params)))
    if question.asks not in result:
        raise OutOfScope("no-solution", f"{route.label} says nothing about {question.asks}", "--bound")
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
    ("point", "epsilon"): _point,
    ("point", "delta"): _point,
    ("point", "tv"): _point,
    ("point", "mu"): _point,
}
