"""What a row of an answer claims, as inequalities that arithmetic can decide: slack >= 0 where the claim holds.

The slack of a claim is computed from `Bound.exact`, the formula as published, at the row's witness. Parameters and δ
are doubles, and exact; nothing here uses `Bound.value`, with which the claim was found. """

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import inf, log
from typing import Any, NamedTuple

from dpcalc.accounting.orders import own_params
from dpcalc.bounds.conversions import rdp_improved, rdp_optimal
from dpcalc.core.bound import Bound
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Row
from dpcalc.verify import composition_parts
from dpcalc.verify.arb.context import Formula, once
from dpcalc.verify.formulas import RDP, delta_at, own_of, pure, rdp_total
from dpcalc.verify.unchecked import OtherQuestion, Unchecked


class Claim(NamedTuple):
    """`slack` >= 0 proves it. `exact` is what the theorem gives (for the same quantity, or `gives` at the claimed
    value)."""

    quantity: str
    claimed: float
    slack: Formula
    exact: Formula
    gives: str
    least: bool = False  # claimed is a lower value: it must not be above


def above(quantity: str, claimed: float, exact: Formula) -> Claim:
    exact = once(exact)
    return Claim(quantity, claimed, lambda mp: mp.mpf(claimed) - exact(mp), exact, quantity)


def _probability(quantity: str, claimed: float, exact: Formula) -> Claim:
    """Of a probability, which is at most 1 whatever the formula says."""
    exact = once(exact)
    if claimed >= 1:
        return Claim(quantity, claimed, lambda mp: mp.mpf(0), lambda mp: mp.mpf(1), quantity)
    return Claim(quantity, claimed, lambda mp: mp.mpf(claimed) - exact(mp), exact, quantity)


def of(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Everything a row claims. Raises Unchecked."""
    question = answer.question
    if question.asks not in row.result and "rdp" in row.result:  # an RDP value that stands beside
        question = Question("rdp", alpha=row.result["alpha"])
    how = _HOW.get((row.route.bound.kind, question.asks))
    if how is None:
        raise Unchecked(f"nothing is known here about a {row.route.bound.kind} bound that answers {question.asks}")
    found = how(row,
                question) if not composition_parts.is_composed(row) or question.asks == "rdp" else _composition(row,
                                                                                                                answer)
    lower = row.route.bound.status == "lower"
    return tuple(_reversed(c) for c in found) if lower else found


def _reversed(claim: Claim) -> Claim:
    if (claim.quantity in ("delta", "tv") and claim.claimed >= 1) or (claim.quantity == "log_delta"
                                                                      and claim.claimed >= 0):
        raise Unchecked("a lower value of 1")
    if claim.claimed <= (-inf if claim.quantity == "log_delta" else 0):  # true of anything
        return claim._replace(slack=lambda mp: mp.mpf(0), least=True)
    return claim._replace(slack=lambda mp: -claim.slack(mp), least=True)


# --- claims ----------------------------------------------------------------------------------------------------------


def _rdp_value(row: Row, question: Question) -> tuple[Claim, ...]:
    _same(row, "alpha", question.alpha)
    return (above("rdp", row.result["rdp"], rdp_total(row, question.alpha or 0.0)),)


def _same(row: Row, name: str, asked: float | None) -> None:
    if row.result.get(name) != asked:
        raise OtherQuestion(f"its {name} is {row.result.get(name)}, the question's {asked}")


def _conversion(row: Row) -> tuple[float, Formula, Claim]:
    """α, the exact RDP there, and the claim about it."""
    alpha = float(row.witness["alpha"])
    exact = rdp_total(row, alpha)
    return alpha, exact, above("rdp", float(row.witness["rdp"]), exact)


def _rdp_epsilon(row: Row, question: Question) -> tuple[Claim, ...]:
    _same(row, "delta", question.delta)
    alpha, rdp, beside = _conversion(row)
    delta = question.delta or 0.0
    return (_converted(row, "epsilon", row.result["epsilon"], alpha, rdp, row.result["epsilon"],
                       lambda mp: mp.mpf(delta)), beside)


def _rdp_delta(row: Row, question: Question) -> tuple[Claim, ...]:
    name = "tv" if question.asks == "tv" else "delta"
    epsilon = 0.0 if question.asks == "tv" else question.epsilon or 0.0
    alpha, rdp, beside = _conversion(row)
    found = [_converted(row, name, row.result[name], alpha, rdp, epsilon, lambda mp: mp.mpf(row.result[name]))]
    if "log_delta" in row.result:
        log_delta = row.result["log_delta"]
        found.append(_converted(row, "log_delta", log_delta, alpha, rdp, epsilon, lambda mp: mp.exp(mp.mpf(log_delta))))
    return (*found, beside)


def _converted(row: Row, quantity: str, claimed: float, alpha: float, rdp: Formula, epsilon: float,
               delta: Formula) -> Claim:
    """(ε, δ) from the RDP at α by the row's conversion; where the claim is about δ, `claimed` is δ or its log."""
    assert row.route.conversion is not None
    name = row.route.conversion.name
    if quantity != "epsilon" and (claimed >= (0 if quantity == "log_delta" else 1)):
        return Claim(quantity, claimed, lambda mp: mp.mpf(0), lambda mp: mp.mpf(claimed), quantity)

    # of δ = 0 a curve says something only where it is 0
    if quantity != "epsilon" and claimed <= (-inf if quantity == "log_delta" else 0):
        return Claim(quantity, claimed, lambda mp: -rdp(mp), rdp, "ε(α)")

    def least(mp: Any) -> Any:
        """The ε that the closed forms give at this δ."""
        exact = rdp_improved.exact if name == rdp_optimal.BOUND.name else row.route.conversion.exact  # type: ignore[union-attr]
        return exact(mp, alpha, rdp(mp), delta(mp))

    def slack(mp: Any) -> Any:
        direct = mp.mpf(epsilon) - least(mp)
        if name != rdp_optimal.BOUND.name or float(direct) >= 0:  # the closed form proves it already
            return direct
        from dpcalc.verify.rdp_optimal import slack as optimal

        return optimal(mp, alpha, rdp(mp), delta(mp), epsilon)

    return Claim(quantity, claimed, slack, least, "ε by the improved conversion" if name == rdp_optimal.BOUND.name
                 else "epsilon")


def _profile_epsilon(row: Row, question: Question) -> tuple[Claim, ...]:
    _same(row, "delta", question.delta)
    epsilon, delta = row.result["epsilon"], question.delta or 0.0
    if question.delta == 0:
        return (above("epsilon", epsilon, pure(row)),)
    at = delta_at(row)
    exact = once(lambda mp: at(mp, epsilon))
    return (Claim("epsilon", epsilon, lambda mp: mp.mpf(delta) - exact(mp), exact, "δ"),)


def _profile_delta(row: Row, question: Question) -> tuple[Claim, ...]:
    exact = delta_at(row)
    if question.asks == "tv":
        return (_probability("tv", row.result["tv"], lambda mp: exact(mp, 0.0)),)
    _same(row, "epsilon", question.epsilon)
    epsilon = question.epsilon or 0.0
    return _deltas(row.result, lambda mp: exact(mp, epsilon))


def _deltas(result: Mapping[str, float], exact: Formula) -> tuple[Claim, ...]:
    log_delta, exact = result["log_delta"], once(exact)
    if log_delta == -inf:
        return above("delta", result["delta"], exact), Claim("log_delta", log_delta, lambda mp: -exact(mp), exact, "δ")
    plain = _probability("delta", result["delta"], exact)
    if log_delta >= 0:
        return plain, Claim("log_delta", log_delta, lambda mp: mp.mpf(0), lambda mp: mp.mpf(1), "δ")
    return plain, Claim("log_delta", log_delta, lambda mp: _by_log(mp, log_delta, exact(mp)), exact, "δ")


def _by_log(mp: Any, log_delta: float, exact: Any) -> Any:
    """e^{log δ} less the exact value; the difference of their logs, where these are too small for numbers."""
    if hasattr(exact, "log"):
        return mp.mpf(log_delta) - mp.log(exact)
    return mp.mpf(0) if exact == 0 else mp.exp(mp.mpf(log_delta)) - exact


def _composition(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Of a composed profile: at the grid of its witness, with distribution functions in closed form and exact
    convolutions."""
    question, found = answer.question, cache(lambda: composition_parts.composed(row, answer))

    def at(mp: Any, epsilon: float, log_delta: float) -> Any:
        return found()(mp, epsilon, log_delta)

    if question.asks == "tpr":
        return tuple(_rate(row, question, u, _composed_at(row, answer, abs(u), side)) for u, side in _tests(row))
    if question.asks == "epsilon":
        _same(row, "delta", question.delta)
        epsilon, delta = row.result["epsilon"], question.delta or 0.0
        exact = once(lambda mp: at(mp, epsilon, log(delta) if delta else -inf))
        return (Claim("epsilon", epsilon, lambda mp: mp.mpf(delta) - exact(mp), exact, "δ"),)
    if question.asks == "tv":
        tv = row.result["tv"]
        return (_probability("tv", tv, once(lambda mp: at(mp, 0.0, log(tv) if tv else -inf))),)
    _same(row, "epsilon", question.epsilon)
    return _deltas(row.result, once(lambda mp: at(mp, question.epsilon or 0.0, row.result["log_delta"])))


def _composed_at(row: Row, answer: Answer, epsilon: float, side: int) -> Formula:
    found = cache(lambda: composition_parts.composed(row, answer, side))
    return lambda mp: found()(mp, epsilon, -inf)


def _profile_rdp(row: Row, question: Question) -> tuple[Claim, ...]:
    _same(row, "alpha", question.alpha)
    name, alpha, steps = row.route.bound.name, question.alpha or 0.0, row.params.get("steps", 1)
    if name not in RDP:
        raise Unchecked(f"the Rényi divergence of {name} has no published formula")
    own, params = own_of(row), row.params
    return (above("rdp", row.result["rdp"], lambda mp: steps * RDP[name](mp, alpha, own, params)),)


def _point(row: Row, question: Question) -> tuple[Claim, ...]:
    bound, own = row.route.bound, own_of(row)
    if bound.condition is not None:
        return tuple(_by_condition(bound, own, name, row.result[name]) for name in bound.gives)

    def exact(name: str) -> Formula:
        return lambda mp: bound.exact(mp, **own)[name]

    names = [name for name in row.result if name in ("epsilon", "delta", "tv", "mu", "rho")]
    return tuple((above if name in ("epsilon", "mu", "rho") else _probability)(name, row.result[name], exact(name))
                 for name in names)


def _by_condition(bound: Bound, own: Mapping[str, Any], name: str, claimed: float) -> Claim:
    """Of a number that is the root of a condition: that the condition holds there."""
    condition = bound.condition
    assert condition is not None
    return Claim(name, claimed, lambda mp: condition(mp, claimed, **own), lambda mp: condition(mp, claimed, **own),
                 "its condition (>= 0)")


def _tpr(row: Row, question: Question) -> tuple[Claim, ...]:
    """δ(ε) + e^ε f, or 1 − e^{−|ε|}(1 − δ(|ε|) − f) where the witness ε is negative."""
    return tuple(_rate(row, question, u, _inner(row, abs(u), side)) for u, side in _tests(row))


def _tests(row: Row) -> tuple[tuple[float, int], ...]:
    """The ε for tests of either direction, and the direction that its δ is of, below 0 the other one; 0 where they are
    not told apart."""
    u = float(row.witness["epsilon"])
    if "epsilon_reversed" not in row.witness:
        return ((u, 0),)
    v = float(row.witness["epsilon_reversed"])
    return (u, +1 if u >= 0 else -1), (v, -1 if v >= 0 else +1)


def _rate(row: Row, question: Question, u: float, inner: Formula) -> Claim:
    _same(row, "fpr", question.fpr)
    fpr = question.fpr or 0.0

    def exact(mp: Any) -> Any:
        grown, f = mp.exp(mp.mpf(u)), mp.mpf(fpr)
        return inner(mp) + grown * f if u >= 0 else 1 - grown * (1 - inner(mp) - f)

    return _probability("tpr", row.result["tpr"], exact)


def _inner(row: Row, epsilon: float, side: int) -> Formula:
    """δ at the witness of a true-positive rate, of one direction with a side."""
    bound = row.route.bound
    if side:
        sided, params = bound.sided_exact, own_of(row)
        if sided is None:
            raise Unchecked(f"{bound.name} does not tell directions apart")
        return lambda mp: sided(mp, epsilon, side, **params)
    if bound.kind == "point":
        own = own_of(row)
        return lambda mp: bound.exact(mp, **own)["tv"]
    if bound.kind == "rdp":
        return _by_an_order(row, epsilon)
    exact = delta_at(row)
    return lambda mp: exact(mp, epsilon)


def _by_an_order(row: Row, epsilon: float) -> Formula:
    """δ at ε from an RDP curve at the order of the witness: that of the fast path, where the conversion proves it."""
    from dpcalc.accounting.guarantee_words import delta_result
    from dpcalc.accounting.orders import all_steps

    bound, conversion, alpha = row.route.bound, row.route.conversion, float(row.witness["alpha"])
    assert conversion is not None and conversion.log_delta is not None
    rdp = all_steps(bound.value(alpha, **own_params(bound, row.params)), row.params)
    delta = delta_result(min(0.0, conversion.log_delta(alpha, rdp, epsilon)), epsilon)["delta"]
    claim = _converted(row, "delta", delta, alpha, rdp_total(row, alpha), epsilon, lambda mp: mp.mpf(delta))

    def proven(mp: Any) -> Any:
        slack = claim.slack(mp)
        if not (slack.surely_at_least(0) if hasattr(slack, "surely_at_least") else slack >= 0):
            raise Unchecked(f"δ = {delta!r} at ε = {epsilon!r} is not proven at the order {alpha!r}")
        return mp.mpf(delta)

    return proven


_HOW: dict[tuple[str, str], Callable[[Row, Question], tuple[Claim, ...]]] = {
    ("rdp", "rdp"): _rdp_value,
    ("rdp", "epsilon"): _rdp_epsilon,
    ("rdp", "delta"): _rdp_delta,
    ("rdp", "tv"): _rdp_delta,
    ("profile", "rdp"): _profile_rdp,
    ("profile", "epsilon"): _profile_epsilon,
    ("profile", "delta"): _profile_delta,
    ("profile", "tv"): _profile_delta,
    ("composition", "epsilon"): _profile_epsilon,
    ("composition", "delta"): _profile_delta,
    ("composition", "tv"): _profile_delta,
    **{("point", asks): _point for asks in ("epsilon", "delta", "tv", "mu", "rho")},
    **{(kind, "tpr"): _tpr for kind in ("rdp", "profile", "composition", "point")},
}
