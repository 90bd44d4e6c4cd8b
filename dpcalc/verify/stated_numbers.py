"""Numbers that a record states beside its bounds as claims: the μ of a μ-GDP guarantee, the sensitivity of correlated
noise, and the probability that a key is kept. The closed forms of bounds prove them."""

from collections.abc import Callable
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.bounds.correlated import participation
from dpcalc.commands import key_questions
from dpcalc.commands.correlated_design import design as design_of
from dpcalc.core.bound import Bound, ProfileBound
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, Route, Row
from dpcalc.core.validate import validate
from dpcalc.verify.claim import Claim, claim_probability, claim_upper_bound
from dpcalc.verify.records import Record, is_number, to_float
from dpcalc.verify.replay import command_of


def claim_of_mu(answer: Answer, record: Record) -> tuple[Row, Claim] | None:
    """Return the first row whose bound gives μ-GDP in closed form, and the claim that its μ is at most the recorded
    one; None where there is no such row, or the record has no μ."""
    guarantee = record.get("guarantee")
    if not isinstance(guarantee, dict) or guarantee.get("kind") != "gdp" or not is_number(guarantee.get("mu")):
        return None
    for row in answer.rows:
        bound = row.route.bound
        # a bound with choices gives its μ at a witness
        if (exact := _exact_mu(bound)) is not None and not bound.choices.search:
            own = own_params(bound, answer.rows[0].params)
            return row, claim_upper_bound("mu", to_float(guarantee["mu"]), lambda mp: exact(mp, **own))  # noqa: B023
    return None


def _exact_mu(bound: Bound) -> Callable[..., Any] | None:
    return bound.mu.exact if isinstance(bound, ProfileBound) and bound.mu is not None else None


def claim_of_sensitivity(answer: Answer, record: Record) -> tuple[Row, Claim] | None:
    """Return a row of the bound of the headline, or that of one step of a record in sampled batches, and the claim that
    the sensitivity is at most the recorded one; None for a record that states none. The bound's whole-number
    computation proves it at any number of steps."""
    stated = record["result"].get("sensitivity")
    if answer.command != "correlated" or not answer.rows or not is_number(stated):
        return None
    given = validate(command_of(record), record["options"])
    design, change = design_of(given), RELATIONS[given["adjacency"]].sensitivity
    head = answer.rows[0].route.bound
    bound = head if "design" in head.params and isinstance(head, ProfileBound) else participation.ONCE
    exact = _exact_mu(bound)
    assert exact is not None
    claim = claim_upper_bound("sensitivity", to_float(stated), lambda mp: exact(mp, design, change, 1.0))
    return Row(Route(bound), {}), claim


def claim_of_keep_probability(answer: Answer, record: Record) -> tuple[Row, Claim] | None:
    """Return the row of the theorem about kept keys, and the claim that the probability is at most the recorded one;
    None for a record that states none beside its bounds."""
    stated = record["result"].get("keep_probability")
    if answer.question.asks in key_questions.ANSWERS or answer.command != "rdp" or not is_number(stated):
        return None
    own = key_questions.params({"max_keys": None, **answer.parameters})
    exact = key_questions.ROUTE.bound.exact
    claim = claim_probability("keep_probability", to_float(stated),
                              lambda mp: exact(mp, **own)["keep_probability"])
    return Row(key_questions.ROUTE, {}), claim
