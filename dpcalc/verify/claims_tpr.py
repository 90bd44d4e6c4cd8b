"""Claims about true-positive rates (TPR): at the false-positive rate f every test has a TPR of at most δ(ε) + e^ε f."""

from typing import Any

from dpcalc.accounting.guarantee_words import delta_result
from dpcalc.accounting.orders import all_steps, own_params
from dpcalc.core.bound import Conversion, ProfileBound
from dpcalc.core.results import Question, Row
from dpcalc.verify.arb.context import Formula, is_ball_context
from dpcalc.verify.claim import Claim, claim_by_conversion, claim_probability, require_same
from dpcalc.verify.formulas import delta_of_row, exact_arguments, rdp_of_all_steps
from dpcalc.verify.unchecked import Unchecked


def claims_of_tpr(row: Row, question: Question) -> tuple[Claim, ...]:
    """Return a claim about the true-positive rate for each direction of the adjacency."""
    return tuple(claim_tpr(row, question, u, _delta_of_side(row, abs(u), side)) for u, side in tests_of_witness(row))


def tests_of_witness(row: Row) -> tuple[tuple[float, int], ...]:
    """Return for each direction of the adjacency (ε of the bound, side). The side, +1 or −1, is the direction whose δ
    the bound uses: the same direction for ε >= 0, and the opposite one for ε < 0. It is 0 where the directions are not
    distinguished."""
    u = float(row.witness["epsilon"])
    if "epsilon_reversed" not in row.witness:
        return ((u, 0),)
    v = float(row.witness["epsilon_reversed"])
    return (u, +1 if u >= 0 else -1), (v, -1 if v >= 0 else +1)


def claim_tpr(row: Row, question: Question, u: float, delta: Formula) -> Claim:
    """Return the claim δ(u) + e^u f, or 1 − e^u(1 − δ(|u|) − f) for u < 0, about the true-positive rate at the
    false-positive rate f."""
    require_same(row, "fpr", question.fpr)
    fpr = question.fpr or 0.0

    def exact(mp: Any) -> Any:
        e_to_u, f = mp.exp(mp.mpf(u)), mp.mpf(fpr)
        return delta(mp) + e_to_u * f if u >= 0 else 1 - e_to_u * (1 - delta(mp) - f)

    return claim_probability("tpr", row.result["tpr"], exact)


def _delta_of_side(row: Row, epsilon: float, side: int) -> Formula:
    """Return the formula of δ at ε: in the direction `side` of the adjacency, or over both where that is 0."""
    bound = row.route.bound
    if side:
        directions, params = bound.directions if isinstance(bound, ProfileBound) else None, exact_arguments(row)
        if directions is None:
            raise Unchecked(f"{bound.name} does not tell directions apart")
        return lambda mp: directions.exact(mp, epsilon, side, **params)
    if bound.kind == "point":
        own = exact_arguments(row)
        return lambda mp: bound.exact(mp, **own)["tv"]
    if bound.kind == "rdp":
        return _delta_by_order(row, epsilon)
    delta_at = delta_of_row(row)
    return lambda mp: delta_at(mp, epsilon)


def _delta_by_order(row: Row, epsilon: float) -> Formula:
    """Return the formula of a δ at ε that is proven from the RDP at the order of the witness.

    The candidate for δ is computed by the calculator in doubles. Evaluating the formula proves it, or raises Unchecked.
    """
    bound, conversion, alpha = row.route.bound, row.route.conversion, float(row.witness["alpha"])
    assert isinstance(conversion, Conversion)
    rdp = all_steps(bound.value(alpha, **own_params(bound, row.params)), row.params)
    delta = delta_result(min(0.0, conversion.log_delta(alpha, rdp, epsilon)), epsilon)["delta"]
    claim = claim_by_conversion(row, "delta", delta, alpha, rdp_of_all_steps(row, alpha), epsilon,
                                lambda mp: mp.mpf(delta))

    def proven_delta(mp: Any) -> Any:
        slack = claim.slack(mp)
        if not (slack.surely_at_least(0) if is_ball_context(mp) else slack >= 0):
            raise Unchecked(f"δ = {delta!r} at ε = {epsilon!r} is not proven at the order {alpha!r}")
        return mp.mpf(delta)

    return proven_delta
