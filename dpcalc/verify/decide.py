"""Deciding a claim: in ball arithmetic where python-flint is installed, else in 50-digit arithmetic with a margin."""

from __future__ import annotations

from time import process_time
from typing import NamedTuple

from dpcalc.verify.arb.ball import Undecided
from dpcalc.verify.arb.context import Context, enclosure
from dpcalc.verify.claims import Claim
from dpcalc.verify.unchecked import Unchecked

BITS = (128, 256, 512, 1024, 2048)
_LONG = 8.0  # seconds of the processor, after which no more bits are tried
# relative: a claim that is refused by less is looked at with more bits, as what is rounded up is rounded up by less
# then
_CLOSE = 1e-6
DIGITS, MARGIN = 50, 1e-20
BETWEEN = "50-digit arithmetic, margin 1e-20, not certified"


class Decision(NamedTuple):
    """holds: whether the claim is proven (None: left open); `ends` of what the theorem gives, and how that was
    computed."""

    holds: bool | None
    ends: tuple[float, float]
    how: str
    bits: int | None = None


def certifying() -> bool:
    """Whether python-flint is there."""
    from importlib.util import find_spec

    return find_spec("flint") is not None


def decide(claim: Claim) -> Decision:
    """Whether the claim holds."""
    return _by_balls(claim) if certifying() else _by_digits(claim)


def _by_balls(claim: Claim) -> Decision:
    start, refused = process_time(), None
    for bits in BITS:
        if bits > BITS[0] and process_time() - start > _LONG:
            break
        context = Context(bits)
        how = f"ball arithmetic, {bits} bits"
        try:
            slack = enclosure(context, lambda: claim.slack(context)).real.x  # noqa: B023 - called at once
        except Undecided:
            continue
        if not slack.is_finite() or not (slack >= 0 or slack < 0):
            continue
        found = Decision(bool(slack >= 0), _ends(context, claim), how, bits)
        if found.holds or refused or not abs(float(slack)) < _CLOSE * abs(found.ends[0]):
            return found
        refused = found
    return refused or Decision(None, (float("nan"), float("nan")), how, bits)


def _ends(context: Context, claim: Claim) -> tuple[float, float]:
    try:
        return enclosure(context, lambda: claim.exact(context)).ends()
    except Undecided:
        return float("nan"), float("nan")


def _by_digits(claim: Claim) -> Decision:
    import mpmath

    mp = mpmath.mp.clone()
    mp.dps = DIGITS
    try:
        slack, exact = claim.slack(mp), claim.exact(mp)
    except OverflowError:
        raise Unchecked(f"so small a number is beyond {DIGITS}-digit arithmetic; pip install python-flint checks it in "
                        f"ball "
                        "arithmetic") from None
    value = float(exact)
    return Decision(bool(slack >= -MARGIN * max(abs(exact), mp.mpf(10) ** -400)), (value, value), BETWEEN)
