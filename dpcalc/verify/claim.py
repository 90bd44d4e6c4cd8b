"""A claim about one number, as an inequality that arithmetic can decide, and the functions that make claims."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.conversions import rdp_improved, rdp_optimal
from dpcalc.core.results import Row
from dpcalc.numerics.rounding import decimal
from dpcalc.verify.arb.context import Formula, compute_once
from dpcalc.verify.unchecked import OtherQuestion


class Claim(NamedTuple):
    """A claimed number, which is proven where `slack` >= 0.

    `exact` is the value of the theorem for the quantity that `gives` names: the claimed quantity itself, or another one
    evaluated at the claimed number, such as δ at a claimed ε. A claim with `is_lower` must not be above the value of
    the theorem; every other claim must not be below it.
    """

    quantity: str
    claimed: float
    slack: Formula
    exact: Formula
    gives: str
    is_lower: bool = False


def claim_upper_bound(quantity: str, claimed: float, exact: Formula) -> Claim:
    """Return the claim that the formula's value is at most the claimed number."""
    exact = compute_once(exact)
    return Claim(quantity, claimed, lambda mp: mp.mpf(claimed) - exact(mp), exact, quantity)


def claim_decimal(quantity: str, claimed: float, value: Fraction) -> Claim:
    """Return the claim that a sum of decimals is at most the claimed number, which is a decimal, too."""
    difference = decimal(claimed) - value
    return Claim(quantity, claimed, lambda mp: mp.mpf(difference.numerator) / difference.denominator,
                 lambda mp: mp.mpf(value.numerator) / value.denominator, quantity)


def claim_probability(quantity: str, claimed: float, exact: Formula) -> Claim:
    """Return the claim about a probability, which is at most 1 whatever the formula gives."""
    if claimed >= 1:
        return claim_always_true(quantity, claimed, 1, quantity)
    return claim_upper_bound(quantity, claimed, exact)


def claim_always_true(quantity: str, claimed: float, value: float, gives: str) -> Claim:
    """Return a claim that holds without a proof, such as δ <= 1; `value` is reported as the theorem's number."""
    return Claim(quantity, claimed, lambda mp: mp.mpf(0), lambda mp: mp.mpf(value), gives)


def require_same(row: Row, name: str, value: float | None) -> None:
    """Raise OtherQuestion where the row answers for another value of a quantity that the question fixes."""
    if row.result.get(name) != value:
        raise OtherQuestion(f"its {name} is {row.result.get(name)}, the question's {value}")


def claim_by_conversion(row: Row, quantity: str, claimed: float, alpha: float, rdp: Formula, epsilon: float,
                        delta: Formula) -> Claim:
    """Return the claim that (ε, δ)-DP follows from the RDP at order α by the row's conversion. `claimed` is the value
    of `quantity`: ε, δ, or log δ."""
    conversion = row.route.conversion
    assert conversion is not None
    is_optimal, is_log = conversion.name == rdp_optimal.BOUND.name, quantity == "log_delta"
    if quantity != "epsilon" and claimed >= (0 if is_log else 1):
        return claim_always_true(quantity, claimed, claimed, quantity)
    # δ = 0 follows from the RDP at one order only where that is 0.
    if quantity != "epsilon" and claimed <= (-inf if is_log else 0):
        return Claim(quantity, claimed, lambda mp: -rdp(mp), rdp, "ε(α)")

    def closed_form_epsilon(mp: Any) -> Any:
        exact = rdp_improved.exact if is_optimal else conversion.exact
        return exact(mp, alpha, rdp(mp), delta(mp))

    def slack(mp: Any) -> Any:
        by_closed_form = mp.mpf(epsilon) - closed_form_epsilon(mp)
        if not is_optimal or float(by_closed_form) >= 0:  # the improved conversion is never below the optimal one
            return by_closed_form
        from dpcalc.verify.rdp_optimal import slack as optimal_slack

        return optimal_slack(mp, alpha, rdp(mp), delta(mp), epsilon)

    return Claim(quantity, claimed, slack, closed_form_epsilon,
                 "ε by the improved conversion" if is_optimal else "epsilon")
