"""ε, δ, RDP or TV of one route, by kind of bound. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from dpcalc.accounting.guarantee_words import delta_result, no_pure_epsilon
from dpcalc.accounting.orders import all_steps, best_order, chosen, own_params
from dpcalc.bounds.conversions import composition_basic
from dpcalc.core.bound import Conversion, Params, PointBound, ProfileBound, RdpBound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.least_epsilon import least_epsilon
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row
from dpcalc.numerics.rounding import decimal_up

# What is asked for, in words, and the option that asks for it.
_ASKED = {"epsilon": ("ε at a given δ", "--delta"), "delta": ("δ at a given ε", "--epsilon"),
          "rdp": ("RDP", "--alpha"), "tv": ("a total variation", "--to"), "tpr": ("true-positive rates", "--fpr"),
          "mu": ("GDP", "--to"), "rho": ("zCDP", "--to")}


def by_bound(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The row of one route, by the kind of its bound. `start` is a Rényi order near the best one, if one is known.

    Raises OutOfScope where the theorem does not cover the question.
    """
    how = _HOW.get((route.bound.kind, question.asks))
    if how is None:
        raise _unsupported(route, question)
    row = how(route, params, question, start)
    if any(x != x for x in row.result.values()) or row.result.get(question.asks) == inf:
        raise OutOfScope("no-solution", f"{route.label} gives no finite number in double precision here")
    return row._replace(params=params)


def _unsupported(route: Route, question: Question) -> OutOfScope:
    """The error that a bound does not give what is asked for, with the option for what it does give."""
    words, option = _ASKED[question.asks]
    instead = "; ask with --delta" if question.asks == "rdp" and route.bound.kind != "point" else ""
    return OutOfScope("unsupported", f"{route.label} gives no {words}{instead}", option)


def _rdp_at(route: Route, params: Params, question: Question, start: float | None) -> Row:
    alpha = question.alpha or 0.0
    witness = chosen(route.bound, params, alpha=alpha)
    one = route.bound.value(alpha, **own_params(route.bound, params), **witness)
    return Row(route, {"rdp": all_steps(one, params), "alpha": alpha}, {"alpha": alpha, **witness})


def _profile_rdp(route: Route, params: Params, question: Question, start: float | None) -> Row:
    bound, alpha = route.bound, question.alpha or 0.0
    if not isinstance(bound, ProfileBound) or bound.rdp is None:
        raise _unsupported(route, question)
    witness = chosen(bound, params, alpha=alpha)
    one = bound.rdp(alpha, **own_params(bound, params), **witness)
    whole = one if bound.is_of_whole_run else all_steps(one, params)
    return Row(route, {"rdp": whole, "alpha": alpha}, {"alpha": alpha, **witness})


def _rdp_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    assert isinstance(route.bound, RdpBound) and isinstance(route.conversion, Conversion)
    if not question.delta:
        raise no_pure_epsilon(params)
    log_delta = question.log_delta

    def convert(conversion: Conversion, alpha: float, rdp: float) -> float:
        return float(conversion.value(alpha, rdp, log_delta))

    alpha, rdp, epsilon = best_order(route.bound, route.conversion, params, question, convert, start)
    witness = {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)}
    return Row(route, {"epsilon": epsilon, "delta": question.delta}, witness)


def _rdp_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    assert isinstance(route.bound, RdpBound) and isinstance(route.conversion, Conversion)
    epsilon = question.epsilon or 0.0

    def convert(conversion: Conversion, alpha: float, rdp: float) -> float:
        assert conversion.log_delta is not None
        x = float(conversion.log_delta(alpha, rdp, epsilon))
        # Where δ would be 1 or more, the result is α, so that the search for the minimum moves to smaller orders.
        return x if x < 0 else alpha

    alpha, rdp, log_delta = best_order(route.bound, route.conversion, params, question, convert, start)
    return Row(route, delta_result(min(0.0, log_delta), epsilon),
               {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)})


def _rdp_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    at_zero = Question("delta", epsilon=0.0, orders=question.orders)
    if not isinstance(route.conversion, PointBound):
        row = _rdp_to_delta(route, params, at_zero, start)
        return Row(route, {"tv": row.result["delta"]}, row.witness)
    assert isinstance(route.bound, RdpBound)

    def convert(conversion: PointBound, alpha: float, rdp: float) -> float:
        tv = float(conversion.value(alpha, rdp)["tv"])
        return tv if tv < 1 else alpha  # as in _rdp_to_delta

    alpha, rdp, tv = best_order(route.bound, route.conversion, params, at_zero, convert, start)
    return Row(route, {"tv": min(1.0, tv)}, {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)})


def _profile_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if route.bound.is_composed(params):
        return _composed(route, params, question, start)
    bound, own = route.bound, own_params(route.bound, params)
    assert isinstance(bound, ProfileBound)
    if question.delta == 0:
        if bound.pure is None:
            raise no_pure_epsilon(params)
        return Row(route, {"epsilon": bound.pure(**own), "delta": 0.0})
    if "points" in own:
        composition_basic.refuse_excess(own["points"], question.delta or 0.0)
    log_delta = question.log_delta
    witness = chosen(bound, params, log_delta=log_delta)
    own |= witness
    epsilon = least_epsilon(bound, log_delta, own)
    traced = bound.choices.trace(log_delta=log_delta, **own) if bound.choices.trace else {}
    return Row(route, {"epsilon": epsilon, "delta": question.delta or 0.0}, {**witness, **traced})


def _profile_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if route.bound.is_composed(params):
        return _composed(route, params, question, start)
    epsilon = question.epsilon or 0.0
    bound, own, witness = route.bound, own_params(route.bound, params), chosen(route.bound, params, epsilon=epsilon)
    traced = bound.choices.trace(epsilon=epsilon, **own, **witness) if bound.choices.trace else {}
    result = delta_result(bound.value(epsilon, **own, **witness), epsilon)
    if bound is composition_basic.BOUND:  # a sum of decimals, without the rounding of its logarithm
        result |= {"delta": decimal_up(composition_basic.delta(epsilon, own["points"]))}
    return Row(route, result, {**witness, **traced})


def _profile_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if route.bound.is_composed(params):
        return _composed(route, params, question, start)
    row = _profile_to_delta(route, params, Question("delta", epsilon=0.0), start)
    return Row(route, {"tv": row.result["delta"]})


def _composed(route: Route, params: Params, question: Question, start: float | None) -> Row:
    from dpcalc.accounting.composition import ANSWERS

    return ANSWERS[question.asks](route, params, question)


def _point(route: Route, params: Params, question: Question, start: float | None) -> Row:
    result = dict(route.bound.value(**own_params(route.bound, params)))
    if question.asks not in result:
        raise _unsupported(route, question)
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
    ("point", "rho"): _point,
    ("point", "feedback"): _point,
}
