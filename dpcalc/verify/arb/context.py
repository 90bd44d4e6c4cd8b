"""Ball arithmetic behind the names of an mpmath context (see ball.py), and the hull of a formula's values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import log2
from typing import Any

from dpcalc.numerics.mp.memo import kept
from dpcalc.verify.arb.ball import Ball, Undecided
from dpcalc.verify.arb.logball import CUT, Deep, number
from dpcalc.verify.budget import due, unbroken

_MOST_PATHS = 64
_LOOKS = 250  # a bit, of an integrand: as many take seconds
_GOAL = 2.0**-60  # relative, of an integral
_LEFT = -0.3

Formula = Callable[[Any], Any]  # of a context


class Context:
    """The names of an mpmath context that the formulas use."""

    undecided = Undecided

    def __init__(self, bits: int = 128) -> None:
        import flint

        self.flint, self.arb, self.acb = flint, flint.arb, flint.acb
        self.prec = bits
        self.analytic = False
        self.path: list[bool] | None = None  # inside `enclosure`: how open comparisons went
        self.position = 0
        self._tails: dict[Any, Any] = {}

    # --- numbers -----------------------------------------------------------------------------------------------------

    def raw(self, x: Any) -> Any:
        return x.x if isinstance(x, Ball) else x if type(x) in (self.arb, self.acb) else self.arb(x)

    def mpf(self, x: Any) -> Ball:
        return x if isinstance(x, Ball) else Ball(self, self.raw(x))

    @property
    def prec(self) -> int:
        return int(self.flint.ctx.prec)

    @prec.setter
    def prec(self, bits: int) -> None:
        self.flint.ctx.prec = bits

    @property
    def dps(self) -> int:
        return int(self.prec / log2(10))

    @contextmanager
    def workdps(self, digits: int) -> Iterator[None]:
        before = self.prec
        self.prec = max(before, int(digits * log2(10)) + 1)
        try:
            yield
        finally:
            self.prec = before

    @property
    def pi(self) -> Ball:
        return Ball(self, self.arb.pi())

    def between(self, low: Any, high: Any) -> Ball:
        """The hull of two numbers."""
        return Ball(self, self.raw(low).union(self.raw(high)))

    @property
    def j(self) -> Ball:
        return Ball(self, self.acb(0, 1))

    def most(self, f: Callable[[Any], Any], x: tuple[Any, Any], y: tuple[Any, Any]) -> Ball | None:
        """Not less than |f| anywhere in a box of complex numbers; None where the ball does not show that f is analytic
        there."""
        across, up = (self.raw(a).union(self.raw(b)) for a, b in (x, y))
        value = self.acb(self._analytic(f, self.acb(across, up), True))
        return Ball(self, abs(value).upper()) if value.is_finite() else None

    def _analytic(self, f: Callable[[Any], Any], x: Any, analytic: bool) -> Any:
        self.analytic = analytic
        try:
            return self.raw(f(Ball(self, x)))
        finally:
            self.analytic = False

    def middle(self, x: Any) -> Ball:
        """The exact number in the middle of a ball."""
        return Ball(self, self.raw(x).mid())

    # --- functions ---------------------------------------------------------------------------------------------------

    def _cut(self, name: str, x: Any) -> Ball:
        """A function with a branch cut: inside an integral it must not be met."""
        x = self.raw(x)
        return Ball(self, getattr(x, name)(analytic=True) if self.analytic and type(x) is self.acb
                    else getattr(x, name)())

    def exp(self, x: Any) -> Ball:
        raw = self.raw(x)
        return Deep(self, raw) if type(raw) is self.arb and raw < -CUT else Ball(self, raw.exp())

    def expm1(self, x: Any) -> Ball:
        return Ball(self, self.raw(x).expm1())

    def log(self, x: Any) -> Ball:
        return Ball(self, x.log) if type(x) is Deep else self._cut("log", x)

    def log1p(self, x: Any) -> Ball:
        """log(1 + x), whose cut is met where that of the logarithm of 1 + x is."""
        if type(x) is Deep:
            return x.log1p()
        raw = self.raw(x)
        if self.analytic and type(raw) is self.acb:
            whole = (1 + raw).log(analytic=True)
            if not whole.is_finite():
                return Ball(self, whole)
        return Ball(self, raw.log1p())

    def mag(self, x: Any) -> int:
        """About log₂ x, above it."""
        return int(Ball(self, self.raw(x).log() / self.arb(2).log())) + 1

    def sqrt(self, x: Any) -> Ball:
        if type(x) is Deep:
            return number(self, x.log / 2)
        return self._cut("sqrt", x)

    def tanh(self, x: Any) -> Ball:
        return Ball(self, self.raw(x).tanh())

    def erf(self, x: Any) -> Ball:
        return Ball(self, self.raw(x).erf())

    def erfc(self, x: Any) -> Ball:
        return Ball(self, self.raw(x).erfc())

    def normal_tail(self, x: Any, slot: Any) -> Ball:
        """P(N(0,1) > x) of a real number; a slot remembers the place before, near which it costs little."""
        from dpcalc.verify.arb.tails import FARTHEST, series

        raw = self.raw(x)
        if not abs(raw) < FARTHEST:
            return Ball(self, (raw / self.arb(2).sqrt()).erfc() / 2)
        held = self._tails.get(slot)
        if held is None or not held.serves(raw, self.prec):
            held = self._tails[slot] = series(self, raw)
        return Ball(self, held.at(raw))

    def theta(self, epsilon: Any, r: Any) -> Any:
        """θ(ε, r) where the printed form would need very many digits; else None."""
        from dpcalc.verify.arb.hockey_stick import far

        return far(self, self.mpf(epsilon), self.mpf(r))

    def npdf(self, x: Any) -> Ball:
        x = self.raw(x)
        return self.exp(-x * x / 2) / (2 * self.arb.pi()).sqrt()

    def lambertw(self, x: Any) -> Ball:
        raw = self.raw(x)
        if self.analytic and type(raw) is self.acb and not raw.real > _LEFT:  # the cut ends at −1/e
            return Ball(self, self.acb("nan"))
        return Ball(self, raw.lambertw())

    def binomial(self, n: Any, k: int) -> Ball:
        n = self.raw(n)
        if k < 40:
            return Ball(self, n.bin(k))
        return Ball(self, ((n + 1).lgamma() - self.arb(k + 1).lgamma() - (n - k + 1).lgamma()).exp())

    def loggamma(self, x: Any) -> Ball:
        return Ball(self, self.raw(x).lgamma())

    def power(self, x: Ball, y: Any) -> Ball:
        raw, exponent = x.x, self.raw(y)
        if isinstance(y, int) and type(raw) is not self.acb:
            return Ball(self, raw ** self.flint.fmpz(y))
        if type(raw) is self.acb and not isinstance(y, int):
            return Ball(self, raw.pow(self.acb(exponent), analytic=self.analytic))
        return Ball(self, raw**exponent)

    def polynomial(self, coefficients: Sequence[int], x: Any) -> Ball:
        return Ball(self, self.flint.arb_poly(list(coefficients))(self.raw(x)))

    def fsum(self, terms: Iterable[Any]) -> Ball:
        total = self.arb(0)
        far: Ball | None = None
        for term in terms:
            if type(term) is Deep:
                far = term if far is None else far + term
            else:
                total = total + self.raw(term)
        return Ball(self, total) if far is None else far + total

    def quad(self, f: Callable[[Any], Any], points: Sequence[Any]) -> Ball:
        """∫ f between the first and the last of the points, the heaviest stretches first: the others need no digits of
        their own."""
        from itertools import pairwise

        arb, acb = self.arb, self.acb
        total, least = acb(0), arb(2) ** -100_000

        def at(x: Any, analytic: bool) -> Any:
            return acb("nan") if due() else acb(self._analytic(f, x, bool(analytic)))

        ends = [(self.raw(a), self.raw(b)) for a, b in pairwise(points)]
        heights = [abs(at(acb((a + b).mid() / 2), False).real * (b - a)).mid() for a, b in ends]
        for k in sorted(range(len(ends)), key=lambda k: heights[k], reverse=True):
            tolerance = abs(total.real).mid() * _GOAL
            accuracy: dict[str, Any] = {"rel_tol": arb(_GOAL), "abs_tol": tolerance if tolerance > 0 else least}
            with unbroken():
                total += acb.integral(at, acb(ends[k][0]), acb(ends[k][1]), **accuracy,
                                      # where that is too few the ball is wide, and a claim may be left open
                                      eval_limit=_LOOKS * self.prec)
        return Ball(self, total.real)

    # --- comparisons -------------------------------------------------------------------------------------------------

    def less(self, x: Any, y: Any) -> bool:
        if type(x) is Deep or type(y) is Deep:
            a, b = self._sizes(self.mpf(x), self.mpf(y))
        else:
            a, b = self.mpf(x).real.x, self.mpf(y).real.x
        return True if a < b else False if a >= b else self._either(a, b)

    def _sizes(self, x: Ball, y: Ball) -> tuple[Any, Any]:
        """Of two numbers, one of which is known by its logarithm, two that compare as they do."""
        if x.surely_positive() and y.surely_positive():
            return self.log(x).x, self.log(y).x
        return tuple(self.arb(1) if type(z) is Deep else z.x for z in (x, y))  # type: ignore[return-value]

    def same(self, x: Any, y: Any) -> bool:
        a, b = self.mpf(x).real.x, self.mpf(y).real.x
        return True if a == b else False if a != b else self._either(a, b)

    def _either(self, a: Any, b: Any) -> bool:
        if not (a.is_finite() and b.is_finite()):
            raise Undecided("no finite value in ball arithmetic")
        if self.path is None:
            raise Undecided("a comparison that balls do not decide")
        if self.position == len(self.path):
            self.path.append(True)
        self.position += 1
        return self.path[self.position - 1]


def enclosure(context: Context, formula: Callable[[], Any]) -> Ball:
    """A ball that holds the value of the formula: over all ways its comparisons may turn out. Raises Undecided beyond
    64 of them."""
    found: Ball | None = None
    path: list[bool] = []
    outer = context.path, context.position
    for _ in range(_MOST_PATHS):
        context.path, context.position = path, 0
        try:
            value = context.mpf(formula()).real
        finally:
            context.path, context.position = outer
        found = value if found is None else context.between(found, value)
        while path and not path[-1]:
            path.pop()
        if not path:
            return found
        path[-1] = False
    raise Undecided("too many comparisons that balls do not decide")


def once(formula: Formula) -> Formula:
    """The formula, computed once at each precision."""
    return kept()(formula)


def enclosed(mp: Any, formula: Callable[[], Any]) -> Any:
    """The formula's value; in ball arithmetic its enclosure, however its comparisons turn out."""
    return enclosure(mp, formula) if isinstance(mp, Context) else formula()
