"""ε, δ, RDP or TV of one route, by kind of bound: in doubles, and by the published formula in many digits."""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from dpcalc.accounting.guarantee_words import delta_result, no_pure_epsilon
from dpcalc.accounting.orders import all_steps, best_order, chosen, own_params
from dpcalc.bounds.conversions import composition_basic
from dpcalc.core.bound import Conversion, Params, PointBound, ProfileBound, RdpBound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.least_epsilon import least_epsilon
from dpcalc.core.results import Question, Route, Row
from dpcalc.numerics.mp.root import root, root_near
from dpcalc.numerics.rounding import decimal_up

GUARD = 15  # digits that are computed and not shown: a sum may lose ten (numerics/mp/sums.py), a root three
# What is asked for, in words, and the option that asks for it.
_ASKED = {"epsilon": ("ε at a given δ", "--delta"), "delta": ("δ at a given ε", "--epsilon"),
          "rdp": ("RDP", "--alpha"), "tv": ("a total variation", "--to"), "tpr": ("true-positive rates", "--fpr"),
          "mu": ("GDP", "--to"), "rho": ("zCDP", "--to"), "noise_within": ("size of noise", "--accuracy")}


def by_bound(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The row of one route, by the kind of its bound. `start` is a Rényi order near the best one, if one is known.

    Raises OutOfScope where the theorem does not cover the question.
    """
    how = how_to_answer(route, question)
    if how is None:
        raise _unsupported(route, question)
    if route.bound.is_composed(params) and question.asks != "rdp":
        from dpcalc.accounting.composition import ANSWERS

        row = ANSWERS[question.asks](route, params, question)
    else:
        row = how.row(route, params, question, start)
    if any(x != x for x in row.result.values()) or row.result.get(question.asks) == inf:
        raise OutOfScope("no-solution", f"{route.label} gives no finite number in double precision here")
    return row._replace(params=params)


def _unsupported(route: Route, question: Question) -> OutOfScope:
    """The error that a bound does not give what is asked for, with the option for what it does give."""
    words, option = _ASKED[question.asks]
    instead = "; ask with --delta" if question.asks == "rdp" and route.bound.kind != "point" else ""
    return OutOfScope("unsupported", f"{route.label} gives no {words}{instead}", option)


def _rdp_at(route: Route, params: Params, question: Question, start: float | None) -> Row:
    bound, alpha = route.bound, question.alpha or 0.0
    curve = bound.rdp if isinstance(bound, ProfileBound) else bound.value
    if curve is None:
        raise _unsupported(route, question)
    witness = chosen(bound, params, alpha=alpha)
    one = curve(alpha, **own_params(bound, params), **witness)
    whole = one if bound.kind == "profile" and bound.is_of_whole_run else all_steps(one, params)
    return Row(route, {"rdp": whole, "alpha": alpha}, {"alpha": alpha, **witness})


def _at_best_order(route: Route, params: Params, question: Question, start: float | None,
                   convert: Callable[[Any, float, float], float]) -> tuple[float, dict[str, Any]]:
    """What `convert` makes of a conversion, α and ε(α) at a nearly best order, and the witness."""
    assert isinstance(route.bound, RdpBound) and route.conversion is not None
    alpha, rdp, value = best_order(route.bound, route.conversion, params, question, convert, start)
    return value, {"alpha": alpha, "rdp": rdp, **chosen(route.bound, params, alpha=alpha)}


def _rdp_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
    if not question.delta:
        raise no_pure_epsilon(params)
    log_delta = question.log_delta
    epsilon, witness = _at_best_order(route, params, question, start, lambda conversion, alpha, rdp: float(
        conversion.value(alpha, rdp, log_delta)))
    return Row(route, {"epsilon": epsilon, "delta": question.delta}, witness)


def _rdp_to_delta(route: Route, params: Params, question: Question, start: float | None) -> Row:
    epsilon = question.epsilon or 0.0

    def convert(conversion: Conversion, alpha: float, rdp: float) -> float:
        x = float(conversion.log_delta(alpha, rdp, epsilon))
        # Where δ would be 1 or more, the result is α, so that the search for the minimum moves to smaller orders.
        return x if x < 0 else alpha

    log_delta, witness = _at_best_order(route, params, question, start, convert)
    return Row(route, delta_result(min(0.0, log_delta), epsilon), witness)


def _rdp_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    at_zero = Question("delta", epsilon=0.0, orders=question.orders)
    if not isinstance(route.conversion, PointBound):
        row = _rdp_to_delta(route, params, at_zero, start)
        return Row(route, {"tv": row.result["delta"]}, row.witness)

    def convert(conversion: PointBound, alpha: float, rdp: float) -> float:
        tv = float(conversion.value(alpha, rdp)["tv"])
        return tv if tv < 1 else alpha  # as in _rdp_to_delta

    tv, witness = _at_best_order(route, params, at_zero, start, convert)
    return Row(route, {"tv": min(1.0, tv)}, witness)


def _profile_to_epsilon(route: Route, params: Params, question: Question, start: float | None) -> Row:
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
    epsilon = question.epsilon or 0.0
    bound, own, witness = route.bound, own_params(route.bound, params), chosen(route.bound, params, epsilon=epsilon)
    traced = bound.choices.trace(epsilon=epsilon, **own, **witness) if bound.choices.trace else {}
    result = delta_result(bound.value(epsilon, **own, **witness), epsilon)
    if bound is composition_basic.BOUND:  # a sum of decimals, without the rounding of its logarithm
        result |= {"delta": decimal_up(composition_basic.delta(epsilon, own["points"]))}
    return Row(route, result, {**witness, **traced})


def _profile_to_tv(route: Route, params: Params, question: Question, start: float | None) -> Row:
    row = _profile_to_delta(route, params, Question("delta", epsilon=0.0), start)
    return Row(route, {"tv": row.result["delta"]})


# --- the same at high precision: functions of the context of mpmath, the row in doubles, and the question ------------


class NoDigits(Exception):
    """Raised with the reason, a sentence, where there is no formula to evaluate."""


def _exact_params(row: Row) -> dict[str, Any]:
    """The arguments of `exact`: the parameters, the free choices that the witness holds, and the blocks that the row's
    value was computed with, so that a root search uses the same ones at every ε."""
    bound, blocks = row.route.bound, dict[str, Any]()
    if row.more is not None:
        from dpcalc.accounting import breakpoints

        blocks = breakpoints.choices_of_row(row)
    free = {k: v for k, v in row.witness.items() if k not in ("alpha", "rdp")} if bound.choices.search else {}
    return {**own_params(bound, row.params), **free, **blocks}


def _exact_rdp(mp: Any, row: Row, question: Question) -> Any:
    return row.params.get("steps", 1) * row.route.bound.exact(mp, row.witness["alpha"], **_exact_params(row))


def _exact_rdp_to_epsilon(mp: Any, row: Row, question: Question) -> Any:
    assert row.route.conversion is not None
    return row.route.conversion.exact(mp, row.witness["alpha"], _exact_rdp(mp, row, question), row.result["delta"])


def _exact_rdp_to_tv(mp: Any, row: Row, question: Question) -> Any:
    if not isinstance(row.route.conversion, PointBound):
        return _exact_rdp_to_delta(mp, row, question)
    return row.route.conversion.exact(mp, row.witness["alpha"], _exact_rdp(mp, row, question))["tv"]


def _exact_rdp_to_delta(mp: Any, row: Row, question: Question) -> Any:
    """The δ at which the published conversion gives the asked ε: the root, in log δ and near the δ of the row, of a
    residual that falls."""
    conversion, rdp = row.route.conversion, _exact_rdp(mp, row, question)
    assert conversion is not None
    alpha, epsilon, condition = row.witness["alpha"], mp.mpf(question.epsilon or 0), conversion.condition

    def residual(log_delta: Any) -> Any:
        if condition is not None:
            return -condition(mp, alpha, rdp, mp.exp(log_delta), epsilon)
        return conversion.exact(mp, alpha, rdp, mp.exp(log_delta)) - epsilon

    near = mp.mpf(row.result.get("log_delta", -1.0))
    if residual(near) == 0 == residual(near * (1 - mp.mpf("1e-6"))):
        raise NoDigits("the formula gives this ε at every larger δ, too")
    found = root_near(mp, residual, near, mp.dps - GUARD) if near else None
    if found is None:
        found = root(mp, lambda x: -residual(x), near * mp.mpf("1.001") - mp.mpf("1e-3"), near * mp.mpf("0.999"))
    return min(mp.exp(found), mp.mpf(1))


def _exact_profile_to_delta(mp: Any, row: Row, question: Question) -> Any:
    return row.route.bound.exact(mp, question.epsilon or 0.0, **_exact_params(row))


def _exact_profile_to_epsilon(mp: Any, row: Row, question: Question) -> Any:
    """The ε at which the published δ(ε) is the asked δ, found as a root next to the row's ε."""
    bound, own = row.route.bound, _exact_params(row)
    target, near = mp.mpf(row.result["delta"]), mp.mpf(row.result["epsilon"])
    if near == 0:
        return near

    def residual(epsilon: Any) -> Any:
        """Nearly straight in ε also where log δ falls like e^ε."""
        return mp.asinh(mp.log(target) - mp.log(bound.exact(mp, epsilon, **own)))

    def share(epsilon: Any) -> Any:
        """Nearly straight where δ falls to 0, as that of Laplace noise does."""
        return 1 - bound.exact(mp, epsilon, **own) / target

    found = root_near(mp, residual, near, mp.dps - GUARD)
    if found is not None:
        return found
    for below in ("1e-9", "1e-6") if share(near) == 1 else ():  # where δ(ε) = 0, a search starts a little below ε
        if (found := root_near(mp, share, near * (1 - mp.mpf(below)), mp.dps - GUARD)) is not None:
            return found
    return mp.mpf(0) if residual(mp.mpf(0)) >= 0 else root(mp, residual, mp.mpf(0), near)


class How(NamedTuple):
    """How a kind of bound answers: the row in doubles, and the number of a row by the published formula, if any."""

    row: Callable[[Route, Params, Question, float | None], Row]
    exact: Callable[[Any, Row, Question], Any] | None


_HOW = {
    ("rdp", "rdp"): How(_rdp_at, _exact_rdp),
    ("rdp", "epsilon"): How(_rdp_to_epsilon, _exact_rdp_to_epsilon),
    ("rdp", "delta"): How(_rdp_to_delta, _exact_rdp_to_delta),
    ("rdp", "tv"): How(_rdp_to_tv, _exact_rdp_to_tv),
    ("profile", "rdp"): How(_rdp_at, None),
    ("profile", "epsilon"): How(_profile_to_epsilon, _exact_profile_to_epsilon),
    ("profile", "delta"): How(_profile_to_delta, _exact_profile_to_delta),
    ("profile", "tv"): How(_profile_to_tv, _exact_profile_to_delta),
}
_POINT = How(lambda route, params, *_: Row(route, dict(route.bound.value(**own_params(route.bound, params)))),
             lambda mp, row, question: row.route.bound.exact(mp, **_exact_params(row))[question.asks])


def how_to_answer(route: Route, question: Question) -> How | None:
    """How the bound of a route answers a question; None where it does not."""
    if isinstance(route.bound, PointBound):
        return _POINT if question.asks in route.bound.gives else None
    # A numerical composition answers as a profile does whose steps are composed.
    kind = "profile" if route.bound.kind == "composition" and question.asks != "rdp" else route.bound.kind
    return _HOW.get((kind, question.asks))
