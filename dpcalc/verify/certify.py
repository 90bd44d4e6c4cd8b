"""--certify: proves the headline in ball arithmetic, and encloses the value that the theorem gives."""

import json
from math import inf, isfinite

from dpcalc.core.errors import DpcalcError, MissingExtra, NoSolution
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.output.answer import record
from dpcalc.verify.claim import Claim
from dpcalc.verify.claims import claims_of_row
from dpcalc.verify.decide import Decision, can_certify, decide
from dpcalc.verify.replay import replay
from dpcalc.verify.unchecked import Unchecked

# The claim is reduced by these relative amounts, one after the other, until a reduced claim is refuted. For a
# composition only the last three are tried: a trial takes seconds, and the discretization error of its grids is larger
# than the others.
_REDUCTIONS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-3, 1e-2)


def certified(answer: Answer) -> Answer:
    """Return the answer with its certificate in `certified`. Raises DpcalcError without python-flint, and NoSolution
    where the headline cannot be proven."""
    if not can_certify():
        raise MissingExtra("missing-extra", "needs python-flint: pip install python-flint", "--certify")
    if not answer.rows:
        raise DpcalcError("unneeded", "there is no number to certify without a question", "--certify")
    replayed = replay(json.loads(json.dumps(record(answer))))  # the rows as `verify` sees them, with all parameters
    head = replayed.rows[0]
    try:
        decided = [(claim, decide(claim)) for claim in claims_of_row(head, replayed)]
    except Unchecked as reason:
        raise NoSolution("not-certified", f"the number of the first line ({head.route.label}) cannot be certified: "
                                          f"{reason}", "--certify") from None
    for claim, decision in decided:
        if not decision.holds:
            raise NoSolution("not-certified",
                             f"{symbol(claim.quantity)} = {claim.claimed!r} ({head.route.label}) is not proven by "
                             f"{decision.how}", "--certify")
    claim, decision = decided[0]
    low, high = _interval(replayed, head, claim, decision)
    where = f"is at least {low!r}" if high == inf else f"at the witness is between {low!r} and {high!r}"
    note = f"certified: {symbol(claim.quantity)} {where} ({decision.how})"
    return answer._replace(certified={"bits": float(decision.bits or 0), "lower": low, "upper": high},
                           notes=(*answer.notes, note))


def _interval(answer: Answer, head: Row, claim: Claim, decision: Decision) -> tuple[float, float]:
    """Return an interval that contains the value of the theorem at the witness. Where the formula gives the quantity
    itself, these are the endpoints of its ball; else the upper end is the claim, and the lower end a smaller claim that
    is refuted, or 0. Of a bound from below the lower end is the claim, and nothing is known of the upper end."""
    if claim.gives == claim.quantity and all(isfinite(x) for x in decision.ends):
        low, high = decision.ends
        return max(low, 0.0), high  # a ball around 0 reaches below it
    if claim.is_lower:
        return claim.claimed, inf
    is_composed = "grids" in head.witness or "r" in head.witness
    for reduction in _REDUCTIONS[-3:] if is_composed else _REDUCTIONS:
        less = claim.claimed * (1 - reduction)
        smaller = claims_of_row(head._replace(result={**head.result, claim.quantity: less}), answer)[0]
        if decide(smaller).holds is False:
            return less, claim.claimed
    return 0.0, claim.claimed
