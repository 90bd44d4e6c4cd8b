"""--solve: the value of a parameter that just meets a budget. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import copysign, exp, inf, log, log1p, sqrt

from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.evaluate import evaluate, told_above
from dpcalc.numerics.invert import Unreachable, boundary, boundary_log, bracket, bracket_near, integer_boundary, is_as_good, log_share
from dpcalc.orders import Params, chosen, own_params
from dpcalc.quantities import Quantity
from dpcalc.question import Question
from dpcalc.rows import Route, Row
from dpcalc.solving_checked import NEARLY, checked
from dpcalc.solving_quick import quick
from dpcalc.solving_unmet import is_met, none_meets

_APART, _BELIEVED = 1e-2, 0.3  # relative: two values for a slope; how far it is believed
ROUGHLY, _FINELY = 0.05, 1e-2  # relative, of guesses
# Where log δ falls with x as steeply as that, in units of itself, the faster form needs more noise, by about _BEFORE times the square
# root of how much its gap is less there.
_CLIFF, _BEFORE, _MOST = 6.0, 0.022, 10.0
_AIMED, _CLOSELY = 1e-8, 1e-6  # of a gap, that makes a difference; below the budget, where its boundary was not found by δ
_EVEN, _FAR = 24, 3.0  # values, each half the one before, where a loss may rise and fall; of log δ: as far the faster form tells it
_ROUNDED, _LARGE = 1e-13, 1e12  # of log δ, by which a value may be above another one; a whole number, next to which another is as near
_SETTLED = 5e-13  # how near a failing value is looked for, relative


def solve(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, near: float | None = None) -> Row:
    """The value of the unknown that just meets the budget, on its safe side: fed back, it meets the budget, and one that is 1e-12 of itself
    less private (or the next whole number) does not; 1e-8, or a margin of ε, where a bound has one. `near` is a guess."""
    unknown = question.unknown
    assert unknown is not None
    search = _Search(route, given, derive, _sought(route, question))
    gap = cache(search.gap)
    try:
        x = _at_one_value(search, gap) if search.one_value else _at_fixed_orders(
            search, near if near is not None else _root(search.gap, unknown, 1e-2))
    except Unreachable as e:
        if near is not None:
            return solve(route, given, derive, question)
        if search.reason and e.gap == inf:
            raise search.reason from None
        if not (search.margin and search.gap(e.at, -search.margin) <= 0 and is_met(question, search.forward, e.at)):
            raise none_meets(route, search.question, search.forward, e.at) from None
        row = _settle(search, e.at)
        return row._replace(result={unknown.name: row.params[unknown.name], **row.result})
    search = search if search.question == question else _Search(route, given, derive, question)
    row = _by_delta_too(search, checked(search, x, gap) or _settle(search, x))
    return row._replace(result={unknown.name: row.params[unknown.name], **row.result})


def _by_delta_too(search: _Search, row: Row) -> Row:
    """The row, or that of a value next to it: fed back with the budget's ε, it is to meet its δ too, which has another rounding, and for
    which a conversion looks for an order of its own."""
    question, conversion, unknown = search.question, search.route.conversion, search.question.unknown
    tells = not search.margin if conversion is None else conversion.log_delta is not None
    if question.asks != "epsilon" or not question.delta or not tells or unknown is None or unknown.kind == "count":
        return row
    back, x, by = Question("delta", epsilon=question.target, orders=question.orders), row.params[unknown.name], _SETTLED / 5
    while moved(unknown, x, by) != x and not (_meets(search, x, back) and (x == row.params[unknown.name] or _meets(search, x, question))):
        x, by = moved(unknown, x, by), 2 * by
    return row if x == row.params[unknown.name] else search.forward(x)._replace(params={unknown.name: x})


def _meets(search: _Search, x: float, question: Question) -> bool:
    """Whether what is asked about x is within the budget."""
    budget = search.question.delta if question.asks == "delta" else question.target
    return evaluate(search.route, search.params(x), question).result[question.asks] <= (budget or 0.0)


def _sought(route: Route, question: Question) -> Question:
    """What a search asks for: of an RDP curve, where the budget leaves no ε, the δ at ε = 0, which changes smoothly."""
    if question.asks != "epsilon" or question.target != 0 or not question.delta:
        return question
    if route.conversion is None or route.conversion.log_delta is None:
        return question
    return question._replace(asks="delta", epsilon=0.0, target=question.delta)


def roughly(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> tuple[float, bool] | None:
    """Where the solution is by the faster form of a profile, to a few percent, and whether that is a cliff; None where there is none."""
    assert question.unknown is not None
    gap = _about(route, given, derive, question).gap
    try:
        x = _root(gap, question.unknown, ROUGHLY)
    except Unreachable:
        return None
    return x, question.unknown.kind != "count" and _rise(gap, x, question.unknown) < -_CLIFF


def _about(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> _Search:
    """By the faster form, if there is one."""
    bound = route.bound
    value = partial(quick, bound.coarse or bound.value)
    return _Search(route._replace(bound=bound._replace(value=value)), given, derive, question)


def narrowed(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> Question:
    """Where the loss may rise and fall with the unknown: to the range from the largest of some values that meets the budget, to the one
    after it; by the faster form where that is far from the budget, but for the one after it."""
    unknown, about, gap = question.unknown, _about(route, given, derive, question).gap, _Search(route, given, derive, question).gap
    far = _FAR / max(1.0, -question.log_delta) if question.delta else 0.0
    assert unknown is not None
    low, high = unknown.search
    seen = [high]
    for k in range(_EVEN):
        x = high / 2**k
        if x <= low:
            break
        if about(x) <= far and gap(x) <= 0:
            while len(seen) > 1 and gap(seen[-1]) <= 0:  # one that only the faster form ruled out
                x = seen.pop()
            return question._replace(unknown=unknown._replace(search=(x, seen[-1])))
        seen.append(x)
    return question._replace(unknown=unknown._replace(search=(low, seen[-1])))


def _first_guesses(search: _Search, gap: Callable[[float], float]) -> tuple[float, ...]:
    """Where the solution is by the faster form of a costly profile, and by its slope from there; none where it has none."""
    bound, unknown = search.route.bound, search.question.unknown
    if not search.margin or bound.coarse is None or unknown is None:
        return ()
    about = _about(search.route, search.given, search.derive, search.question).gap
    try:
        x = _root(about, unknown, _FINELY)
    except Unreachable:
        return ()
    count = unknown.kind == "count"
    rise, off = _rise(about, x, unknown), gap(x)
    if rise < -_CLIFF and not count:
        y = moved(unknown, x, copysign(_BEFORE * sqrt(min(abs(off), _MOST)), off))
        if (gap(y) > 0) != (off > 0):
            return (x, y)
        x, off = y, gap(y)
    if rise >= 0 or not 0 < abs(off / rise) < _BELIEVED:
        return (x,)
    y = moved(unknown, x, -off / rise)
    bent = about(y) - about(x) + off  # what is left there, if both forms bend alike
    return (x, y if _is_small(unknown, x, search.met) or abs(bent) > abs(off) / 2 else moved(unknown, y, -(bent + search.met / 2) / rise))


def _rise(gap: Callable[[float], float], x: float, unknown: Quantity) -> float:
    """How much the gap grows as the logarithm of x does towards more privacy, next to x."""
    y = moved(unknown, x, log1p(_APART))
    return (gap(y) - gap(x)) / abs(log(y / x)) if y != x else 0.0


class _Search:
    """The budget as a function of the unknown: gap(x) <= 0 where it is met."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
        self.route, self.given, self.derive, self.question = route, given, derive, question
        self.order: float | None = None  # the last rough order, where the next search starts
        self.reason: DpcalcError | None = None  # why a value was out of scope
        # ε as it is asked back, and δ at the budget's ε as it is told, may be above the exact ones by rounding; not of small counts.
        self.margin = route.bound.margin if question.asks == "epsilon" and question.delta else 0.0
        self.told = 2 * told_above(question.log_delta) + (_ROUNDED if self.margin else 0.0) if question.delta else 0.0

    @property
    def met(self) -> float:
        """As little a gap as the margin, of log δ where it tells the gap, is as good as none."""
        by_delta = self.margin and self.route.bound.kind == "profile"
        return self.margin / max(1.0, -self.question.log_delta) if by_delta else self.margin

    @property
    def one_value(self) -> bool:
        """Whether a gap is one evaluation; else it is itself a search over orders."""
        return self.route.conversion is None or bool(self.question.orders) or self.question.asks == "tpr"

    def params(self, x: float) -> Params:
        assert self.question.unknown is not None
        return self.derive({**self.given, self.question.unknown.name: x})

    def forward(self, x: float, start: float | None = None) -> Row:
        return evaluate(self.route, self.params(x), self.question, start)

    def cold_gap(self, x: float) -> float:
        self.order = None
        return self.gap(x)

    def gap(self, x: float, below: float = 0.0) -> float:
        """Of an ε that is as much of itself `below` the budget's, where a profile is asked for δ there."""
        question = self.question
        assert question.target is not None
        try:
            if self.route.bound.kind == "profile" and question.delta:
                return self.gap_at(x, question.target * (1 - self.margin - below))
            row = self.forward(x, self.order)
        except OverflowError:
            return inf
        except OutOfScope as reason:
            self.reason = reason
            return inf
        self.order = row.witness.get("alpha", self.order)
        return _log_ratio(row.result[question.asks], question.target)

    def gap_at(self, x: float, epsilon: float) -> float:
        """By the δ of a profile at ε."""
        bound, params = self.route.bound, self.params(x)
        own = own_params(bound, params) | chosen(bound, params, epsilon=epsilon)
        small = self.question.unknown is not None and self.question.unknown.kind == "count" and x < _LARGE
        return log_share(float(bound.value(epsilon, **own)), self.question.log_delta - (0.0 if small else self.told))


def _at_one_value(search: _Search, gap: Callable[[float], float]) -> float:
    """Where a budget is met by little all over a range (δ hardly depends on x), nearer to the boundary than a margin of ε asks for."""
    unknown, tolerance = search.question.unknown, NEARLY if search.margin else 1e-13
    assert unknown is not None
    guesses = _first_guesses(search, gap)
    try:
        return _root(gap, unknown, tolerance, *guesses, met=search.met)
    except Unreachable as e:
        if not search.margin or gap(e.at) > 0:
            raise
    return _root(gap, unknown, tolerance, *guesses)


def _at_fixed_orders(search: _Search, x: float) -> float:
    """From a rough x: the best order there, the exact boundary at that order (any order is valid), and again.
    The error of the order enters squared, so a few rounds are enough; where they are not (a curve with a cliff), the
    boundary of the whole search."""
    unknown = search.question.unknown
    assert unknown is not None
    for _ in range(3):
        alpha = search.forward(x).witness["alpha"]
        fixed = _Search(search.route, search.given, search.derive, search.question._replace(orders=(alpha,)))
        better = _root(fixed.gap, unknown, 1e-14, x)
        if abs(better - x) <= 1e-6 * x:  # the next round would change x by about the square of this
            return better
        x = better
    return _root(search.cold_gap, unknown, 1e-13, x)


def _root(gap: Callable[[float], float], unknown: Quantity, tolerance: float, start: float | None = None,
          near: float | None = None, *, met: float = 0.0) -> float:
    """The boundary of gap <= 0, or where the gap is −`met` at least; from a start, where one is given, and towards a point that is nearer
    to it."""
    low, high = unknown.search
    few = _is_small(unknown, start or 0.0, met)
    inside = met / 2 if met > _AIMED and not few else 0.0  # where a root is looked for: between it and that, values are good enough
    gap = cache(lambda x, of=gap: of(x) + inside)
    if unknown.kind == "count" and tolerance < _FINELY:
        first = None if start is None else int(start)
        return integer_boundary(gap, int(low), int(high), unknown.safer < 0, first, met - inside, near, 0.999 * inside)
    whole = (lambda x: gap(int(x))) if unknown.kind == "count" else gap
    if start is not None and near is not None:
        if inside and is_as_good(whole, start, near, inside, 0.999 * inside):
            return near
        meets, fails = bracket_near(whole, start, near, unknown.safer, low, high)
    elif start is not None:
        meets, fails = bracket(whole, start, unknown.safer, low, high, 1.0001)
    else:
        meets, fails = bracket(whole, 1.0 if low < 1.0 < high else (low * high) ** 0.5, unknown.safer, low, high, 2.0)
    x = meets if meets == fails else boundary_log(whole, meets, fails, tolerance, met - inside, 0.999 * inside)
    return int(x) if unknown.kind == "count" else x


def _is_small(unknown: Quantity, x: float, met: float) -> bool:
    """Whether the next whole number is farther away than what is as good as none."""
    return unknown.kind == "count" and x * met <= 1


def _settle(search: _Search, x: float) -> Row:
    """The boundary of the answer itself, as the same question without --solve gives it, next to x."""
    question, rows = search.question, dict[float, Row]()
    unknown, target = question.unknown, question.target
    assert unknown is not None and target is not None
    least, count = unknown.search, unknown.kind == "count"

    @cache
    def gap(x: float) -> float:
        try:
            rows[x] = search.forward(x)
        except (OutOfScope, OverflowError):
            return inf
        return _log_ratio(rows[x].result[question.asks], target)

    way = unknown.safer if gap(x) > 0 else -unknown.safer
    width = max(_SETTLED, min(search.margin, NEARLY))
    last, step = x, 1.0 if count else width / 2
    while True:  # until the sign changes, or the end of the range
        y = min(max(last + way * step if count else last * (1 + way * step), least[0]), least[1])
        y = int(y) if count else y
        if y == last or (gap(y) > 0) != (gap(x) > 0):
            break
        last, step = y, 4 * step if count else min(4 * step, 0.5)
    good, bad = (last, y) if gap(x) <= 0 else (y, last)
    if gap(good) > 0:
        raise OutOfScope("no-solution", f"{search.route.label} does not settle on a value that meets the budget", "--solve")
    while count and abs(good - bad) > 1:
        y = (good + bad) // 2
        good, bad = (y, bad) if gap(y) <= 0 else (good, y)
    if not count and good != bad:
        good = boundary(gap, good, bad, width, min(search.margin, _CLOSELY))
    return rows[good]._replace(params={unknown.name: good})


def moved(unknown: Quantity, x: float, by: float) -> float:
    """x changed by a factor e^by towards less privacy loss, within the range; the next whole number at least."""
    low, high = unknown.search
    y = min(max(x * exp(min(unknown.safer * by, 700.0)), low), high)
    if unknown.kind != "count":
        return y
    whole = round(y)
    if whole == x and by:
        whole = int(x + (unknown.safer if by > 0 else -unknown.safer))
    return min(max(whole, int(low)), int(high))


def _log_ratio(x: float, target: float) -> float:
    if x <= target:
        return log(x / target) if x > 0 and x / target > 0 else -1e3
    return log(x / target) if target > 0 and x / target < inf else inf
