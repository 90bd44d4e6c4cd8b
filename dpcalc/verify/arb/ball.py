"""Numbers of ball arithmetic: every number is an interval (midpoint and radius) that surely contains the exact one.

Together with context.py they offer the names of an mpmath context, so that the published formulas of `dpcalc.bounds`
run in ball arithmetic unchanged. A comparison that the balls do not decide is taken both ways, in one run after the
other, and the result is the hull of both (`context.enclosure`). Integrals are rigorous (Arb's acb.integral).
"""

from __future__ import annotations

from math import inf, nextafter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context


class Undecided(ArithmeticError):
    """Ball arithmetic leaves a comparison open, or a result is no finite ball."""


class Ball:
    """A real number known up to a radius; inside an integral also a complex number."""

    __slots__ = ("context", "x")

    def __init__(self, context: Context, x: Any) -> None:
        self.context, self.x = context, x

    def __add__(self, y: Any) -> Ball:
        return Ball(self.context, self.x + (y.x if type(y) is Ball else self.context.raw(y)))

    def __sub__(self, y: Any) -> Ball:
        return Ball(self.context, self.x - (y.x if type(y) is Ball else self.context.raw(y)))

    def __rsub__(self, y: Any) -> Ball:
        return Ball(self.context, self.context.raw(y) - self.x)

    def __mul__(self, y: Any) -> Ball:
        return Ball(self.context, self.x * (y.x if type(y) is Ball else self.context.raw(y)))

    def __truediv__(self, y: Any) -> Ball:
        return Ball(self.context, self.x / (y.x if type(y) is Ball else self.context.raw(y)))

    def __rtruediv__(self, y: Any) -> Ball:
        return Ball(self.context, self.context.raw(y) / self.x)

    def __pow__(self, y: Any) -> Ball:
        return self.context.power(self, y)

    def __rpow__(self, y: Any) -> Ball:
        return self.context.power(self.context.mpf(y), self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Ball:
        return Ball(self.context, -self.x)

    def __abs__(self) -> Ball:
        return Ball(self.context, abs(self.real.x))

    def __lt__(self, y: Any) -> bool:
        return self.context.less(self, y)

    def __ge__(self, y: Any) -> bool:
        return not self.context.less(self, y)

    def __gt__(self, y: Any) -> bool:
        return self.context.less(self.context.mpf(y), self)

    def __le__(self, y: Any) -> bool:
        return not self.context.less(self.context.mpf(y), self)

    def surely_at_least(self, y: Any) -> bool:
        return bool(self.real.x >= self.context.raw(y))

    def surely_finite(self) -> bool:
        return bool(self.x.is_finite())

    def surely_positive(self) -> bool:
        return bool(self.real.x > 0)

    def __eq__(self, y: Any) -> bool:
        return self.context.same(self, y)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return not self.context.same(self, 0)

    def __int__(self) -> int:
        """Truncate the midpoint. This is no enclosure, and serves only to choose working precisions."""
        if not self.x.is_finite():
            raise Undecided("no finite value in ball arithmetic")
        return int(float(self))

    def __float__(self) -> float:
        """Round the midpoint. This is no enclosure, and serves only heuristic choices."""
        return float(self.real.x.mid())

    @property
    def real(self) -> Ball:
        if type(self.x) is self.context.arb:
            return self
        if not (self.x.imag == 0):
            raise Undecided("a comparison of complex numbers")
        return Ball(self.context, self.x.real)

    def endpoints(self) -> tuple[float, float]:
        """Return a double below and a double above the ball. Raises Undecided where the ball is not finite."""
        x = self.real.x
        if not x.is_finite():
            raise Undecided("no finite value in ball arithmetic")
        return _round_to_double(x.lower(), -1), _round_to_double(x.upper(), +1)


def _round_to_double(x: Any, direction: int) -> float:
    """Round an exact ball down (direction −1) or up (+1) to a double."""
    size = abs(x)
    if size == 0:
        return 0.0
    if size > 1e308:
        return float("inf") * (1 if x > 0 else -1)
    if size < 1e-300:
        return (1e-300 if direction > 0 else 0.0) if x > 0 else (0.0 if direction > 0 else -1e-300)
    nearest, arb = float(x), type(x)
    while (arb(nearest) < x) if direction > 0 else (arb(nearest) > x):
        nearest = nextafter(nearest, inf * direction)
    return nearest
