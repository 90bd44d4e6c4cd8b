"""Ball arithmetic behind the names of an mpmath context (see ball.py), and the hull of a formula's values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from math import log2
from typing import Any

from dpcalc.numerics.mp.memo import cached_by_precision
from dpcalc.verify.arb.ball import Ball, Undecided
from dpcalc.verify.arb.hockey_stick import theta_or_none
from dpcalc.verify.budget import defer_interruption, interruption_is_pending

_EVALUATIONS_PER_BIT = 250  # of an integrand; as many take seconds, and with fewer, more claims are left open
NEGLIGIBLE = 2.0**-60  # relative, of integrals and sums; claims are doubles, with 53 bits

Formula = Callable[[Any], Any]  # context → number


def _function(name: str) -> Callable[[Any, Any], Ball]:
    """Return the method that evaluates a function that python-flint has under this name."""
    return lambda self, x: Ball(self, getattr(self.raw(x), name)())


class Context:
    """The names of an mpmath context that the formulas use."""

    undecided = Undecided

    def __init__(self, bits: int = 128) -> None:
        import flint

        self.flint, self.arb, self.acb = flint, flint.arb, flint.acb
        self.prec = bits
        self.analytic = False  # whether a function must return nan where it is not analytic on the whole ball
        self.path: list[bool] | None = None  # inside `enclosure`: the outcomes of the open comparisons
        self.position = 0

    # --- numbers -----------------------------------------------------------------------------------------------------

    def raw(self, x: Any) -> Any:
        """Return the python-flint number of x."""
        return x.x if type(x) is Ball else x if type(x) in (self.arb, self.acb) else self.arb(x)

    def mpf(self, x: Any) -> Ball:
        return x if type(x) is Ball else Ball(self, self.raw(x))

    @property
    def prec(self) -> int:
        return int(self.flint.ctx.prec)

    @prec.setter
    def prec(self, bits: int) -> None:
        self.flint.ctx.prec = bits

    @property
    def dps(self) -> int:
        return int(self.prec / log2(10))

    def workdps(self, digits: int) -> AbstractContextManager[None]:
        return self.at_bits(max(self.prec, int(digits * log2(10)) + 1))

    @contextmanager
    def at_bits(self, bits: int) -> Iterator[None]:
        """Compute with so many bits, also if these are fewer."""
        before, self.prec = self.prec, bits
        try:
            yield
        finally:
            self.prec = before

    @property
    def pi(self) -> Ball:
        return Ball(self, self.arb.pi())

    @property
    def j(self) -> Ball:
        return Ball(self, self.acb(0, 1))

    def between(self, low: Any, high: Any) -> Ball:
        """Return the hull of two numbers."""
        return Ball(self, self.raw(low).union(self.raw(high)))

    def midpoint(self, x: Any) -> Ball:
        """Return the exact number in the middle of a ball."""
        return Ball(self, self.raw(x).mid())

    def largest_modulus(self, f: Callable[[Any], Any], x: tuple[Any, Any], y: tuple[Any, Any]) -> Ball | None:
        """Return an upper bound of |f| on the rectangle x × y of complex numbers, or None where the ball does not show
        that f is analytic there."""
        across, up = (self.raw(a).union(self.raw(b)) for a, b in (x, y))
        value = self.acb(self._evaluate(f, self.acb(across, up), True))
        return Ball(self, abs(value).upper()) if value.is_finite() else None

    def _evaluate(self, f: Callable[[Any], Any], x: Any, analytic: bool) -> Any:
        self.analytic = analytic
        try:
            return self.raw(f(Ball(self, x)))
        finally:
            self.analytic = False

    # --- functions ---------------------------------------------------------------------------------------------------

    def _with_branch_cut(self, name: str, x: Any) -> Ball:
        """Evaluate a function with a branch cut, which an integration path must not cross."""
        x = self.raw(x)
        return Ball(self, getattr(x, name)(analytic=True) if self.analytic and type(x) is self.acb
                    else getattr(x, name)())

    exp, expm1, tanh, cos, erf, erfc, loggamma = map(
        _function, ("exp", "expm1", "tanh", "cos", "erf", "erfc", "lgamma"))

    def log(self, x: Any) -> Ball:
        return self._with_branch_cut("log", x)

    def log1p(self, x: Any) -> Ball:
        """Return log(1 + x), whose branch cut is that of the logarithm of 1 + x."""
        raw = self.raw(x)
        if self.analytic and type(raw) is self.acb:
            checked = (1 + raw).log(analytic=True)
            if not checked.is_finite():
                return Ball(self, checked)
        return Ball(self, raw.log1p())

    def mag(self, x: Any) -> int:
        """Return an integer slightly above log₂ x (of the midpoint)."""
        return int(Ball(self, self.raw(x).log() / self.arb(2).log())) + 1

    def sqrt(self, x: Any) -> Ball:
        return self._with_branch_cut("sqrt", x)

    def normal_tail(self, x: Any) -> Ball:
        """Return P(N(0,1) > x)."""
        return Ball(self, (self.raw(x) / self.arb(2).sqrt()).erfc() / 2)

    def ncdf(self, x: Any) -> Ball:
        """Return P(N(0,1) < x)."""
        return self.normal_tail(-self.mpf(x))

    def theta(self, epsilon: Any, r: Any) -> Any:
        """Return θ(ε, r) (see hockey_stick.py), or None where the printed form is as good."""
        return theta_or_none(self, self.mpf(epsilon), self.mpf(r))

    def npdf(self, x: Any) -> Ball:
        x = self.raw(x)
        return self.exp(-x * x / 2) / (2 * self.arb.pi()).sqrt()

    def lambertw(self, x: Any) -> Ball:
        raw = self.raw(x)
        if self.analytic and type(raw) is self.acb and not raw.real > -0.3:  # the branch cut ends at −1/e = −0.367…
            return Ball(self, self.acb("nan"))
        return Ball(self, raw.lambertw())

    def binomial(self, n: Any, k: int) -> Ball:
        n = self.raw(n)
        if k < 40:
            return Ball(self, n.bin(k))
        return Ball(self, ((n + 1).lgamma() - self.arb(k + 1).lgamma() - (n - k + 1).lgamma()).exp())

    def power(self, x: Ball, y: Any) -> Ball:
        raw, exponent = x.x, self.raw(y)
        if isinstance(y, int) and type(raw) is not self.acb:
            return Ball(self, raw ** self.flint.fmpz(y))
        if type(raw) is self.acb and not isinstance(y, int):
            return Ball(self, raw.pow(self.acb(exponent), analytic=self.analytic))
        return Ball(self, raw**exponent)

    def polynomial(self, coefficients: Sequence[int], x: Any) -> Ball:
        """Return Σ coefficients[k]·x^k."""
        return Ball(self, self.flint.arb_poly(list(coefficients))(self.raw(x)))

    def fsum(self, terms: Iterable[Any]) -> Ball:
        return Ball(self, sum(map(self.raw, terms), self.arb(0)))

    def quad(self, f: Callable[[Any], Any], points: Sequence[Any]) -> Ball:
        """Return a ball that contains ∫ f from the first to the last of the points.

        The pieces between the points are integrated in the order of their estimated size, the largest first, so that
        the others need only the accuracy that matters beside it.
        """
        arb, acb = self.arb, self.acb
        total, smallest_tolerance = acb(0), arb(2) ** -100_000

        def integrand(x: Any, analytic: bool) -> Any:
            return acb("nan") if interruption_is_pending() else acb(self._evaluate(f, x, bool(analytic)))

        pieces = [(self.raw(a), self.raw(b)) for a, b in pairwise(points)]
        sizes = [abs(integrand(acb((a + b).mid() / 2), False).real * (b - a)).mid() for a, b in pieces]
        for k in sorted(range(len(pieces)), key=lambda k: sizes[k], reverse=True):
            tolerance = abs(total.real).mid() * NEGLIGIBLE
            accuracy: dict[str, Any] = {"rel_tol": arb(NEGLIGIBLE),
                                        "abs_tol": tolerance if tolerance > 0 else smallest_tolerance}
            with defer_interruption():
                total += acb.integral(integrand, acb(pieces[k][0]), acb(pieces[k][1]), **accuracy,
                                      eval_limit=_EVALUATIONS_PER_BIT * self.prec)
        return Ball(self, total.real)

    # --- comparisons -------------------------------------------------------------------------------------------------

    def less(self, x: Any, y: Any) -> bool:
        a, b = self._real(x), self._real(y)
        return True if a < b else False if a >= b else self._take_either_way(a, b)

    def same(self, x: Any, y: Any) -> bool:
        a, b = self._real(x), self._real(y)
        return True if a == b else False if a != b else self._take_either_way(a, b)

    def _real(self, x: Any) -> Any:
        raw = self.raw(x)
        return raw if type(raw) is self.arb else Ball(self, raw).real.x

    def _take_either_way(self, a: Any, b: Any) -> bool:
        """Return the outcome of an open comparison that this run of `enclosure` assumes."""
        if not (a.is_finite() and b.is_finite()):
            raise Undecided("no finite value in ball arithmetic")
        if self.path is None:
            raise Undecided("a comparison that balls do not decide")
        if self.position == len(self.path):
            self.path.append(True)
        self.position += 1
        return self.path[self.position - 1]


def enclosure(context: Context, formula: Callable[[], Any]) -> Ball:
    """Return a ball that contains the value of the formula, whichever way its open comparisons turn out.

    Raises Undecided where there are more than 64 combinations of outcomes.
    """
    hull: Ball | None = None
    path: list[bool] = []
    outer = context.path, context.position
    for _ in range(64):
        context.path, context.position = path, 0
        try:
            value = context.mpf(formula()).real
        finally:
            context.path, context.position = outer
        hull = value if hull is None else context.between(hull, value)
        while path and not path[-1]:
            path.pop()
        if not path:
            return hull
        path[-1] = False
    raise Undecided("too many comparisons that balls do not decide")


def compute_once(formula: Formula) -> Formula:
    """Wrap a formula so that it is computed once at each precision."""
    return cached_by_precision()(formula)


def enclose(mp: Any, formula: Callable[[], Any]) -> Any:
    """Return the formula's value, and in ball arithmetic its enclosure."""
    return enclosure(mp, formula) if is_ball_context(mp) else formula()


def is_ball_context(mp: Any) -> bool:
    """Whether `mp` computes in balls; otherwise it is an mpmath context."""
    return isinstance(mp, Context)


def raw(mp: Any, x: Any) -> Any:
    """Return the python-flint number of a ball, with which arithmetic is faster; another number unchanged."""
    return mp.raw(x) if is_ball_context(mp) else x


def midpoint(mp: Any, x: Any) -> Any:
    """Return a number near x: in ball arithmetic the exact midpoint, in mpmath x itself."""
    return mp.midpoint(x) if is_ball_context(mp) else x
