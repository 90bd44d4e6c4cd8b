"""The decision of a claim: in ball arithmetic where python-flint is installed, else in 50 digits with a margin."""

from functools import cache
from time import process_time
from typing import NamedTuple

from dpcalc.verify.arb.ball import Undecided
from dpcalc.verify.arb.context import Context, enclosure
from dpcalc.verify.claim import Claim
from dpcalc.verify.records import SAME_NUMBERS
from dpcalc.verify.unchecked import Unchecked

_PRECISIONS = (128, 256, 512, 1024, 2048)  # bits of ball arithmetic, tried in this order
_MAX_SECONDS = 20.0  # of processor time; then no higher precision is begun, as each takes several times as long
_DIGITS, _MARGIN = 50, 1e-20  # without python-flint; the margin is relative, and far above the rounding of 50 digits


class Decision(NamedTuple):
    """The decision of a claim.

    `holds` is None where the claim is undecided. `ends` are a lower and an upper bound of the theorem's value, and
    `how` is the arithmetic in words.
    """

    holds: bool | None
    ends: tuple[float, float]
    how: str
    bits: int | None = None


def can_certify() -> bool:
    """Whether python-flint is installed."""
    from importlib.util import find_spec

    return find_spec("flint") is not None


def decide(claim: Claim) -> Decision:
    """Decide whether the claim holds."""
    return _decide_by_balls(claim) if can_certify() else _decide_by_digits(claim)


def _decide_by_balls(claim: Claim) -> Decision:
    """Increase the precision until the claim is proven or refuted. A claim that is refuted by a tiny amount is tried
    once more at the next precision: where the formula is an upper bound that is rounded up, its value then
    decreases."""
    start, refused = process_time(), None
    for bits in _PRECISIONS:
        if bits > _PRECISIONS[0] and process_time() - start > _MAX_SECONDS:
            break
        context = _context(bits)
        context.prec = bits  # which all contexts share
        how = f"ball arithmetic, {bits} bits"
        try:
            slack = enclosure(context, lambda: claim.slack(context)).real.x  # noqa: B023 - called at once
        except Undecided:
            continue
        if not slack.is_finite() or not (slack >= 0 or slack < 0):
            continue
        decision = Decision(bool(slack >= 0), _endpoints(context, claim), how, bits)
        if decision.holds or refused or not abs(float(slack)) < SAME_NUMBERS * abs(decision.ends[0]):
            return decision
        refused = decision
    return refused or Decision(None, (float("nan"), float("nan")), how, bits)


@cache
def _context(bits: int) -> Context:
    """Return the same context for all claims, so that what claims have in common is computed once: δ and log δ, say."""
    return Context(bits)


def _endpoints(context: Context, claim: Claim) -> tuple[float, float]:
    """Return the ends of the ball of the theorem's value; NaN where it is undecided."""
    try:
        return enclosure(context, lambda: claim.exact(context)).endpoints()
    except Undecided:
        return float("nan"), float("nan")


def _decide_by_digits(claim: Claim) -> Decision:
    """Decide the claim up to a relative margin, without a rigorous bound on rounding errors."""
    import mpmath

    mp = mpmath.mp.clone()
    mp.dps = _DIGITS
    try:
        slack, exact = claim.slack(mp), claim.exact(mp)
    except OverflowError:
        raise Unchecked(f"so small a number is beyond {_DIGITS}-digit arithmetic; pip install python-flint checks it "
                        "in ball arithmetic") from None
    value = float(exact)
    holds = bool(slack >= -_MARGIN * max(abs(exact), mp.mpf(10) ** -400))
    return Decision(holds, (value, value), f"{_DIGITS}-digit arithmetic, margin {_MARGIN:g}, not certified")
