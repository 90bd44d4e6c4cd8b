"""--certify: the headline proven at once in ball arithmetic, with the ends of what the theorem gives."""

from __future__ import annotations

import json
from math import isfinite

from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.output.answer import record
from dpcalc.verify.claims import Claim, of
from dpcalc.verify.decide import Decision, certifying, decide
from dpcalc.verify.replay import replay
from dpcalc.verify.unchecked import Unchecked

_LOWER = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2)  # relative: where an ε is shown not to hold
_COMPOSED = (1e-6, 1e-3)


def certified(answer: Answer) -> Answer:
    """The answer with `certified`. Raises DpcalcError without python-flint, NoSolution where the headline cannot be
    proven so."""
    if not certifying():
        raise DpcalcError("missing-extra", "needs python-flint: pip install python-flint", "--certify")
    if not answer.rows:
        raise DpcalcError("unneeded", "there is no number to certify without a question", "--certify")
    asked = replay(json.loads(json.dumps(record(answer))))  # with the parameters that its bounds read
    head = asked.rows[0]
    try:
        found = [(claim, decide(claim)) for claim in of(head, asked)]
    except Unchecked as reason:
        raise NoSolution("not-certified", f"the headline ({head.route.label}) cannot be certified: {reason}",
                         "--certify") from None
    for claim, decision in found:
        if not decision.holds:
            raise NoSolution("not-certified",
                             f"{symbol(claim.quantity)} = {claim.claimed!r} ({head.route.label}) is not proven by "
                             f"{decision.how}", "--certify")
    claim, decision = found[0]
    low, high = _ends(asked, head, claim, decision)
    note = f"certified: {symbol(claim.quantity)} at the witness is between {low!r} and {high!r} ({decision.how})"
    return answer._replace(certified={"bits": float(decision.bits or 0), "lower": low, "upper": high},
                           notes=(*answer.notes, note))


def _ends(answer: Answer, head: Row, claim: Claim, decision: Decision) -> tuple[float, float]:
    """The ball's own ends where the formula gives the number itself; else the claim, and a smaller number that is
    refuted."""
    if claim.gives == claim.quantity and all(isfinite(x) for x in decision.ends):
        low, high = decision.ends
        return max(low, 0.0), high  # a ball around 0 reaches below it
    for part in _COMPOSED if "grids" in head.witness or "r" in head.witness else _LOWER:
        less = claim.claimed * (1 - part)
        other = of(head._replace(result={**head.result, claim.quantity: less}), answer)[0]
        if decide(other).holds is False:
            return less, claim.claimed
    return 0.0, claim.claimed
