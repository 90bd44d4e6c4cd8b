"""The claims of a row of an answer, as inequalities that arithmetic can decide: a claim holds where its slack is >= 0.

The slack is computed from `Bound.exact`, the formula as published, at the row's witness. The parameters and δ are
doubles, which are taken as exact numbers. `Bound.value`, which computed the claimed number, is not used.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import inf, log
from typing import Any

from dpcalc.bounds.audits import gaussian_counts
from dpcalc.bounds.conversions import composition_basic, composition_optimal, selection
from dpcalc.core.bound import PointBound
from dpcalc.core.results import Answer, Question, Row
from dpcalc.numerics.rounding import decimal
from dpcalc.verify import composition_parts
from dpcalc.verify.arb.context import Formula, compute_once
from dpcalc.verify.claim import (
    Claim,
    claim_always_true,
    claim_by_conversion,
    claim_decimal,
    claim_probability,
    claim_upper_bound,
    require_same,
)
from dpcalc.verify.claims_tpr import claim_tpr, claims_of_tpr, tests_of_witness
from dpcalc.verify.composition_grids import Parts, delta_from_below
from dpcalc.verify.formulas import (
    delta_of_row,
    exact_arguments,
    pure_epsilon,
    rdp_of_all_steps,
    rdp_of_profile,
    refuse_positive_delta,
)
from dpcalc.verify.selection import Maker, claims_of_selection
from dpcalc.verify.unchecked import Unchecked


def claims_of_row(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return everything that a row claims. Raises Unchecked where no claim can be made of it, and OtherQuestion where
    the row answers another question."""
    question, kind = answer.question, row.route.bound.kind
    if question.asks not in row.result and "rdp" in row.result:  # an RDP value in the answer to another question
        question = Question("rdp", alpha=row.result["alpha"])
    make_claims = _CLAIMS_OF.get((kind, question.asks))
    if make_claims is None:
        raise Unchecked(f"nothing is known here about a {kind} bound that answers {question.asks}")
    if row.route.bound in selection.BOUNDS:
        return claims_of_selection(row, answer, Maker(make_claims, claims_of_row))
    is_composed = composition_parts.is_composed(row) and question.asks != "rdp"
    if is_composed and row.route.bound.status == "lower":
        return _claims_from_below(row, answer)
    claims = _composition(row, answer) if is_composed else make_claims(row, question)
    return tuple(claim if claim.is_lower else _as_lower_bound(claim) for claim in claims) if (
        row.route.bound.status == "lower") else claims


def _as_lower_bound(claim: Claim) -> Claim:
    """Return the claim that the theorem's value is at least the claimed number, from the claim that it is at most
    that."""
    is_log = claim.quantity == "log_delta"
    if claim.quantity in ("delta", "tv", "log_delta") and claim.claimed >= (0 if is_log else 1):
        raise Unchecked("a lower value of 1")
    if claim.claimed <= (-inf if is_log else 0):  # always true
        return claim._replace(slack=lambda mp: mp.mpf(0), exact=lambda mp: mp.mpf(0), is_lower=True)
    return claim._replace(slack=lambda mp: -claim.slack(mp), is_lower=True)


# --- RDP bounds ------------------------------------------------------------------------------------------------------


def _rdp(formula: Callable[[Row, float], Formula]) -> Callable[[Row, Question], tuple[Claim, ...]]:
    """Return the function that claims the RDP at the order of the question, of which this is the formula."""
    def claims(row: Row, question: Question) -> tuple[Claim, ...]:
        require_same(row, "alpha", question.alpha)
        return (claim_upper_bound("rdp", row.result["rdp"], formula(row, question.alpha or 0.0)),)

    return claims


def _rdp_of_witness(row: Row) -> tuple[float, Formula, Claim]:
    """Return the order α of the witness, the exact RDP there, and the claim about it."""
    alpha = float(row.witness["alpha"])
    exact = rdp_of_all_steps(row, alpha)
    return alpha, exact, claim_upper_bound("rdp", float(row.witness["rdp"]), exact)


def _rdp_epsilon(row: Row, question: Question) -> tuple[Claim, ...]:
    require_same(row, "delta", question.delta)
    alpha, rdp, rdp_claim = _rdp_of_witness(row)
    epsilon, delta = row.result["epsilon"], question.delta or 0.0
    return (claim_by_conversion(row, "epsilon", epsilon, alpha, rdp, epsilon, lambda mp: mp.mpf(delta)), rdp_claim)


def _rdp_tv(row: Row, question: Question) -> tuple[Claim, ...]:
    if not isinstance(row.route.conversion, PointBound):
        return _rdp_delta(row, question)
    alpha, rdp, rdp_claim = _rdp_of_witness(row)
    tv, condition = row.result["tv"], row.route.conversion.condition
    assert condition is not None
    if tv >= 1:
        return (claim_always_true("tv", tv, 1, "tv"),)
    return _claim_by_condition("tv", tv, lambda mp, x: condition(mp, x, alpha, rdp(mp))), rdp_claim


def _claim_by_condition(name: str, claimed: float, condition: Callable[[Any, float], Any]) -> Claim:
    """Return the claim about the root of a condition, which holds where this is >= 0 at the claimed number."""
    slack = compute_once(lambda mp: condition(mp, claimed))
    return Claim(name, claimed, slack, slack, "its condition (≥ 0)")


def _rdp_delta(row: Row, question: Question) -> tuple[Claim, ...]:
    """Return the claims about δ, or about the total variation as δ at ε = 0."""
    name = "tv" if question.asks == "tv" else "delta"
    epsilon = 0.0 if question.asks == "tv" else question.epsilon or 0.0
    alpha, rdp, rdp_claim = _rdp_of_witness(row)
    delta = row.result[name]
    claims = [claim_by_conversion(row, name, delta, alpha, rdp, epsilon, lambda mp: mp.mpf(delta))]
    if "log_delta" in row.result:
        log_delta = row.result["log_delta"]
        claims.append(claim_by_conversion(row, "log_delta", log_delta, alpha, rdp, epsilon,
                                          lambda mp: mp.exp(mp.mpf(log_delta))))
    return (*claims, rdp_claim)


# --- profiles --------------------------------------------------------------------------------------------------------


def _profile_epsilon(row: Row, question: Question) -> tuple[Claim, ...]:
    require_same(row, "delta", question.delta)
    if row.route.bound.name == composition_basic.BOUND.name:
        points = row.params["points"]  # the (ε_i, δ_i) of the releases, as the decimals that were given
        return (claim_decimal("epsilon", row.result["epsilon"], composition_basic.total_epsilon(points)),
                claim_decimal("delta", question.delta or 0.0, composition_basic.total_delta(points)))
    if question.delta == 0 and row.route.bound.name == composition_optimal.BOUND.name:
        refuse_positive_delta(row)
        of_step = decimal(row.params["step_epsilon"])
        return (claim_decimal("epsilon", row.result["epsilon"], row.params["steps"] * of_step),)
    if question.delta == 0:
        return (claim_upper_bound("epsilon", row.result["epsilon"], pure_epsilon(row)),)
    return (_claim_epsilon(row, question, delta_of_row(row)),)


def _claim_epsilon(row: Row, question: Question, delta_at: Callable[[Any, float], Any]) -> Claim:
    """Return the claim that δ at the claimed ε is at most the δ of the question."""
    epsilon, delta = row.result["epsilon"], question.delta or 0.0
    exact = compute_once(lambda mp: delta_at(mp, epsilon))
    return Claim("epsilon", epsilon, lambda mp: mp.mpf(delta) - exact(mp), exact, "δ")


def _profile_delta(row: Row, question: Question) -> tuple[Claim, ...]:
    delta_at = delta_of_row(row)
    if question.asks == "tv":
        return (claim_probability("tv", row.result["tv"], lambda mp: delta_at(mp, 0.0)),)
    require_same(row, "epsilon", question.epsilon)
    epsilon = question.epsilon or 0.0
    claims = _claim_delta_and_log(row.result, lambda mp: delta_at(mp, epsilon))
    if row.route.bound.name == composition_basic.BOUND.name:
        total = composition_basic.delta(epsilon, row.params["points"])
        return (claim_decimal("delta", row.result["delta"], total), *claims[1:])
    return claims


def _claim_delta_and_log(result: Mapping[str, float], exact: Formula) -> tuple[Claim, ...]:
    log_delta, exact = result["log_delta"], compute_once(exact)
    if log_delta == -inf:
        log_claim = Claim("log_delta", log_delta, lambda mp: -exact(mp), exact, "δ")
        return claim_upper_bound("delta", result["delta"], exact), log_claim
    if log_delta >= 0:
        log_claim = claim_always_true("log_delta", log_delta, 1, "δ")
    else:
        log_claim = Claim("log_delta", log_delta, lambda mp: mp.exp(mp.mpf(log_delta)) - exact(mp), exact, "δ")
    return claim_probability("delta", result["delta"], exact), log_claim


def _composition(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return the claims of a numerical composition. They are decided from the closed forms of the privacy loss
    distributions, by convolutions on the grids of the witness."""
    question, composed = answer.question, cache(lambda: composition_parts.composed_delta(row, answer))

    def delta_at(mp: Any, epsilon: float, log_delta: float) -> Any:
        return composed()(mp, epsilon, log_delta)

    if question.asks == "tpr":
        return tuple(claim_tpr(row, question, u, _composed_delta_of_side(row, answer, abs(u), side))
                     for u, side in tests_of_witness(row))
    if question.asks == "epsilon":
        require_same(row, "delta", question.delta)
        log_delta = log(question.delta) if question.delta else -inf
        return (_claim_epsilon(row, question, lambda mp, epsilon: delta_at(mp, epsilon, log_delta)),)
    if question.asks == "tv":
        tv = row.result["tv"]
        return (claim_probability("tv", tv, lambda mp: delta_at(mp, 0.0, log(tv) if tv else -inf)),)
    require_same(row, "epsilon", question.epsilon)
    return _claim_delta_and_log(row.result, lambda mp: delta_at(mp, question.epsilon or 0.0, row.result["log_delta"]))


def _composed_delta_of_side(row: Row, answer: Answer, epsilon: float, side: int) -> Formula:
    composed = cache(lambda: composition_parts.composed_delta(row, answer, side))
    return lambda mp: composed()(mp, epsilon, -inf)


# --- bounds that give single numbers ---------------------------------------------------------------------------------


_PROBABILITIES = ("delta", "tv", "keep_probability", "drop_probability")


def _point(row: Row, question: Question) -> tuple[Claim, ...]:
    bound, own = row.route.bound, exact_arguments(row)
    assert isinstance(bound, PointBound)
    if (condition := bound.condition) is not None:
        return tuple(_claim_by_condition(name, row.result[name], lambda mp, x: condition(mp, x, **own))
                     for name in bound.gives)

    def exact(name: str) -> Formula:
        return lambda mp: bound.exact(mp, **own)[name]

    solution = question.unknown.name if question.unknown else None
    names = [name for name in row.result if name in ("epsilon", "delta", "tv", "mu", "rho", *bound.gives)
             and name != solution]
    return tuple((claim_probability if name in _PROBABILITIES else claim_upper_bound)(name, row.result[name],
                                                                                       exact(name))
                 for name in names)


def _audit(row: Row, question: Question) -> tuple[Claim, ...]:
    """Return the claims of an audit: the counts show the claimed ε, and of a Gaussian program the claimed μ."""
    bound, own = row.route.bound, exact_arguments(row)
    assert isinstance(bound, PointBound) and bound.condition is not None
    conditions = {"epsilon_lower": bound.condition, "mu_lower": gaussian_counts.mu_condition}
    return tuple(_claim_by_condition(name, row.result[name], partial(_with_arguments, conditions[name], own))._replace(
        is_lower=True) for name in bound.gives)


def _with_arguments(condition: Callable[..., Any], own: Mapping[str, Any], mp: Any, claimed: float) -> Any:
    return condition(mp, claimed, **own)


# --- lower ends of brackets, and compositions that are bounds from below ---------------------------------------------

# Such a number is no part of a guarantee. A lower bound of δ that is computed here proves it, or leaves it undecided.


def claims_of_lower_ends(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return the claim that δ at the lower end of ε is at least the question's δ, or that δ at the question's ε is at
    least its lower end; nothing where the row has no bracket."""
    lower_ends = [(name, x) for name, x in row.result.items()
                  if name in ("epsilon_lower", "delta_lower", "tv_lower") and x > 0]
    if not lower_ends or not composition_parts.is_composed(row):
        return ()
    uses, witness = composition_parts.parts_and_grids(row, answer)
    return tuple(_claim_from_below(name, x, uses, witness, answer) for name, x in lower_ends)


def _claims_from_below(row: Row, answer: Answer) -> tuple[Claim, ...]:
    """Return the claims of a row whose bound is a composition of pairs that the mechanism dominates: its numbers are at
    most those of the composition."""
    uses, witness = composition_parts.parts_and_grids(row, answer)
    names = [name for name in ("epsilon", "delta", "tv") if name == answer.question.asks]
    return tuple(_claim_from_below(name, row.result[name], uses, witness, answer) if row.result[name] > 0
                 else claim_always_true(name, 0.0, 0, "δ")._replace(is_lower=True) for name in names)


def _claim_from_below(name: str, x: float, uses: Parts, witness: Mapping[str, Any], answer: Answer) -> Claim:
    question = answer.question
    if name in ("epsilon", "epsilon_lower"):
        epsilon, delta = x, question.delta or 0.0
    else:
        epsilon, delta = (0.0 if name in ("tv", "tv_lower") else question.epsilon or 0.0), x
    exact = compute_once(lambda mp: delta_from_below(mp, uses, witness, epsilon, delta))
    return Claim(name, x, lambda mp: exact(mp) - mp.mpf(delta), exact, "δ", is_lower=True)


# (kind of the bound, quantity that the question asks for) → function that makes the claims
_CLAIMS_OF: dict[tuple[str, str], Callable[[Row, Question], tuple[Claim, ...]]] = {
    ("rdp", "rdp"): _rdp(rdp_of_all_steps),
    ("rdp", "epsilon"): _rdp_epsilon,
    ("rdp", "delta"): _rdp_delta,
    ("rdp", "tv"): _rdp_tv,
    ("profile", "rdp"): _rdp(rdp_of_profile),
    ("profile", "epsilon"): _profile_epsilon,
    ("profile", "delta"): _profile_delta,
    ("profile", "tv"): _profile_delta,
    ("composition", "epsilon"): _profile_epsilon,
    ("composition", "delta"): _profile_delta,
    ("composition", "tv"): _profile_delta,
    ("point", "epsilon_lower"): _audit,
    **{("point", asks): _point for asks in (
        "epsilon", "delta", "tv", "mu", "rho", "feedback", "noise_within", "keep_probability", "drop_probability")},
    **{(kind, "tpr"): claims_of_tpr for kind in ("rdp", "profile", "composition", "point")},
}
