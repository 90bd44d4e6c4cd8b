"""What `laws.above` and `composition.cells` say of a Gaussian, sampled or not: bare numbers of Arb, for grids of many
points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpcalc.verify.arb.tails import FARTHEST, Series, series

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context
    from dpcalc.verify.loss_laws import Use

Masses = tuple[Any, Any]  # under P, under Q


def applies(mp: Any, use: Use) -> bool:
    return hasattr(mp, "arb") and use.base.mu is not None


def split(context: Context, use: Use, start: Any, step: Any, count: int) -> tuple[list[Any], Masses]:
    """Of the losses between `start` and start + count·step, the masses under P at the count + 1 points when each loss
    is split between its neighbours so that the masses of its cell under P and Q stay; and the masses above the last
    point."""
    law, masses, carried = above(context, use), [], context.arb(0)
    start, step = start.x, step.x
    shrink = 1 - (-step).exp()
    p, q = law(start)
    for k in range(count):
        p_next, q_next = law(start + (k + 1) * step)
        mass = p - p_next
        right = (mass - (q - q_next) * (start + k * step).exp()) / shrink
        masses.append(carried + mass - right)
        p, q, carried = p_next, q_next, right
    return [context.mpf(x) for x in (*masses, carried)], (context.mpf(p), context.mpf(q))


def above(context: Context, use: Use) -> Callable[[Any], Masses]:
    """A loss → the masses of larger ones."""
    assert use.base.mu is not None
    mu = context.raw(use.base.mu(context))
    scale, half = 1 / mu, mu / 2
    tails = [_Tail(context) for _ in range(4)]

    def whole(loss: Any) -> Masses:
        x = loss * scale
        return tails[0].at(x - half), tails[1].at(x + half)

    if use.scheme is None or use.rate == 1:
        return whole
    rate = context.arb(use.rate)
    rest = 1 - rate

    def inner(loss: Any) -> Any:
        """w with log(1 − q + q e^w) = ℓ; None where ℓ <= log(1 − q)."""
        x = 1 + loss.expm1() / rate
        if x > 0:
            return x.log()
        if x <= 0:
            return None
        raise context.undecided("a loss that may be the least of all")

    def removed(loss: Any) -> Masses:
        w = inner(loss)
        if w is None:
            return context.arb(1), context.arb(1)
        p, q = whole(w)
        return rest * q + rate * p, q

    def added(loss: Any) -> Masses:
        """The roles exchanged: losses below −ℓ of a record removed."""
        w = inner(-loss)
        if w is None:
            return context.arb(0), context.arb(0)
        x = w * scale
        p, q = tails[2].at(half - x), tails[3].at(-half - x)
        return q, rest * q + rate * p

    def replaced(loss: Any) -> Masses:
        """The positive losses of a record removed, their mirror images, and the rest at 0."""
        if loss >= 0:
            return removed(loss)
        if loss < 0:
            p, q = removed(-loss)
            return 1 - q, 1 - p
        raise context.undecided("a loss that may be 0")

    return replaced if use.scheme == "without-replacement" else added if use.added else removed


class _Tail:
    """P(N(0,1) > x), by the Taylor series about a place near the last one."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.near: Series | None = None

    def at(self, x: Any) -> Any:
        if self.near is None or not self.near.serves(x, self.context.prec):
            if not abs(x) < FARTHEST:
                return (x / self.context.arb(2).sqrt()).erfc() / 2
            self.near = series(self.context, x)
        return self.near.at(x)
