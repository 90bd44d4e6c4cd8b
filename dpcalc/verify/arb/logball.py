"""Positive numbers of any size, by their logarithm: δ below e^{−1e20} and what is divided by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.verify.arb.ball import Ball

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context

CUT = 1e20  # logarithms within are those of plain balls


class Deep(Ball):
    """`log` is a ball of its own. Where an operation is not meant for such sizes, the number is a ball next to 0, or
    any at all."""

    __slots__ = ("log",)

    def __init__(self, context: Context, log: Any) -> None:
        arb = context.arb
        super().__init__(context, arb(0).union(arb(-CUT).exp()) if log < -CUT else arb("nan"))
        self.log = log

    def __mul__(self, y: Any) -> Ball:
        y = self.context.mpf(y)
        if isinstance(y, Deep):
            return number(self.context, self.log + y.log)
        if type(y.x) is self.context.arb and y.x > 0:
            return number(self.context, self.log + y.x.log())
        return y if y.x == 0 else Ball(self.context, self.x * y.x)

    __rmul__ = __mul__

    def __truediv__(self, y: Any) -> Ball:
        y = self.context.mpf(y)
        if isinstance(y, Deep):
            return number(self.context, self.log - y.log)
        return number(self.context, self.log - y.x.log()) if y.x > 0 else Ball(self.context, self.x / y.x)

    def __rtruediv__(self, y: Any) -> Ball:
        y = self.context.mpf(y)
        return number(self.context, y.x.log() - self.log) if y.x > 0 else y if y.x == 0 else Ball(self.context,
                                                                                                  y.x / self.x)

    def __pow__(self, y: Any) -> Ball:
        return number(self.context, self.log * self.context.raw(y))

    def __add__(self, y: Any) -> Ball:
        y = self.context.mpf(y)
        if isinstance(y, Deep):
            low, high = (self.log, y.log) if float(self.log) < float(y.log) else (y.log, self.log)
            return number(self.context, high + (low - high).exp().log1p())
        return self if y.x == 0 else Ball(self.context, self.x + y.x)

    __radd__ = __add__

    def surely_finite(self) -> bool:
        return bool(self.log.is_finite())

    def surely_positive(self) -> bool:
        return bool(self.log.is_finite())

    def log1p(self) -> Ball:
        """log(1 + x) of a large one: log x, and a little more."""
        if not self.log > CUT:
            return Ball(self.context, self.x.log1p())
        return Ball(self.context, self.log + self.context.arb(0).union((-self.log).exp()))

    def __float__(self) -> float:
        return 0.0 if self.log < 0 else float("inf")


def number(context: Context, log: Any) -> Ball:
    """e^log, as a plain ball where that is one."""
    return Deep(context, log) if log < -CUT or log > CUT else Ball(context, log.exp())
