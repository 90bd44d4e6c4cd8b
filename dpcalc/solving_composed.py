"""--solve through a composed profile: few evaluations, from a first guess by RDP, to the stated precision. No I/O."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, exp, inf, log

from dpcalc.composed import ANSWERS
from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.evaluate import evaluate
from dpcalc.numerics import work
from dpcalc.numerics.invert import Unreachable
from dpcalc.orders import Params
from dpcalc.pld.bracket import PRECISION
from dpcalc.pld.multiscale import TooLarge
from dpcalc.question import Question
from dpcalc.rows import Route, Row
from dpcalc.solving import moved
from dpcalc.solving_away import ASIDE, LONGEST, NEAR, Away, is_lost
from dpcalc.solving_last import Ends, has_worked_enough, leap
from dpcalc.solving_met import SURELY, is_late, met, slope_where_loose
from dpcalc.solving_near import LITTLE_SENSE, as_gap, gap_by_delta, look, middle
from dpcalc.solving_origin import from_origin
from dpcalc.solving_unmet import none_meets

_ROUNDS = 60
_PATIENT = 5  # evaluations within a bracket, after which ever less will do: the samples of a profile do not move evenly
_NEAR_ONE = 1e-3  # of log δ: nothing is to be seen of a slope there
_STEPS = 3  # as often as a slope is believed
_SHARE = 0.95  # of log δ: as near to it, too
_BENT, _EVEN = 0.1, 0.7  # of the slope before: as little is believed near only; as much is believed farther
_GENTLE, _NOWHERE = 0.05, 30.0  # a slope that is believed farther; a step that says that no solution is to be expected
_NEAR_BY = 1.5  # as far a parabola is, and a secant of ε
_LEAST = 2e-3  # of a bracket, to cut off
_FARTHER, _SEEN = 2.0, 0.2  # of a tolerance, where the gap is flat, times its slope; what a composition tells
_NEARER, _FARTHEST = 0.1, 16.0  # where it is steep: times its slope, and at most
_NEXT_TO, _LITTLE_LESS = 0.03, 0.05  # of log x; of a gap
_TOLD = 4  # tolerances that δ at the budget's ε and ε itself may differ by
_MOST_TOO_LARGE = 20  # values whose profile does not fit in memory
_STUCK, _GROW = 2, 4.0  # steps after which a bracket is to be half as wide; of a step that is to lead to one
_LATE, _NEXT_TO_END = 4, 0.1  # as many evaluations would end late; of log x
_EACH = 2e4  # units of work, of an evaluation, beside arrays
_LITTLE_PATIENCE = 0.65  # times as much work, for an ε of some hundreds


def solve(route: Route, given: Params, derive: Callable[[Params], Params], question: Question, near: float | None,
          basic: float | None = None) -> Row:
    """The value of the unknown that meets the budget, and one that is about the precision away does not; fed back, it meets the budget.
    `near` is a guess, `basic` what meets it by basic composition."""
    if question.unknown is not None and question.unknown.origin:
        return from_origin(solve, route, given, derive, question, near)
    search = Search(route, given, derive, question)
    if near is None and route.bound.one and question.asks == "epsilon":
        near, search.slope = look(route, given, derive, question, basic)
        near = moved(search.unknown, near, min(search.allowed / 2 / search.slope, ASIDE)) if search.slope else near
    if near is None:
        near = _guided(route, given, derive, question)
    x, row = met(search, search.boundary(near if basic is None else search.riskier(near, basic), basic))
    if basic is not None and search.riskier(x, basic) != x and (other := search.meeting(basic)):
        x, row = basic, other
    if slope := slope_where_loose(search, x, row):
        search.by_delta, search.slope, search.steps_left, search.width = False, slope, _STEPS, search.tolerance
        x, row = met(search, search.boundary(x))
    if (further := search.next_count(x)) and (other := search.meeting(further)):
        x, row = further, other
    assert question.unknown is not None
    return row._replace(result={question.unknown.name: x, **row.result}, notes=row.notes + search.unseen())


def _guided(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> float:
    """The solution by the RDP bound that is never sharper, else the middle of the range."""
    from dpcalc.solving import solve as solve_rdp

    unknown = question.unknown
    assert unknown is not None
    if route.guide:
        try:
            return solve_rdp(Route(*route.guide), given, derive, question).result[unknown.name]
        except (DpcalcError, OverflowError, Unreachable):
            pass  # a guess only: the search below starts in the middle
    return middle(unknown)


def _to_tpr(route: Route, params: Params, question: Question, bracket: bool) -> Row:
    from dpcalc.attack import to_tpr

    return to_tpr(route, params, question)


_COMPOSED = {**ANSWERS, "tpr": _to_tpr}


class Search:
    """log(ε/budget), or of TV or the true-positive rate, as a function of the unknown, which it brackets in log x by secants. Where the
    bound tells log δ at the budget's ε, by that: it changes smoothly also where ε itself jumps, as with rare losses."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
        assert question.unknown is not None and question.target is not None
        self.route, self.given, self.derive, self.question = route, given, derive, question
        self.unknown, self.target = question.unknown, question.target
        self.by_epochs = route.bound.one is not None
        self.by_delta = self.by_epochs and question.asks == "epsilon"
        little = self.target > LITTLE_SENSE
        self.patience = _LITTLE_PATIENCE if little else 1.0  # times the work
        self.even_for = 0 if little else 2  # steps that a slope is followed above the budget: a large ε ends at cliffs
        self.tolerance = float(given.get("precision") or PRECISION) / (2 if self.by_delta else 4)
        self.width = self.tolerance / 5  # of log x: it matters at cliffs
        self.slope = 0.0  # of the gap in log x towards more loss, where known
        self.bent = self.even = False  # whether the slope before it was quite another one; or about the same
        self.steps_left = _STEPS
        self.too_large: dict[float, TooLarge] = {}
        self.reasons: dict[float, OutOfScope] = {}  # why values are out of scope
        self.fails: float | None = None  # the nearest value that does not meet the budget, as far as is known
        self.missed = inf  # its gap
        self.over: float | None = None  # the last value that a search led to and whose ε was above the budget
        self.untold = False  # whether ε was looked at in vain
        self._before, self.last_work, self.last_gap = work.done(), 0.0, 0.0  # these: of an evaluation by ε itself, at most, and of a gap

    @property
    def work(self) -> float:
        """Done so far."""
        return work.done() - self._before

    @property
    def straight(self) -> float:
        """Between gaps as large a secant tells a slope: ε itself is smoother than its δ."""
        return max(NEAR, as_gap(_SHARE * self.question.log_delta, self.question)) if self.by_delta else _NEAR_BY

    @property
    def allowed(self) -> float:
        """How far below the budget it may be met: where the loss changes little with the unknown, the unknown itself is to be near; where
        it changes much, that is a tenth as far from it, or less."""
        flat = max(_FARTHER * self.slope, _SEEN) if self.slope else 1.0
        return self.tolerance * min(flat, max(1.0, min(_NEARER * self.slope, _FARTHEST)))

    def unseen(self) -> tuple[str, ...]:
        """Said where it is memory that ends the search, not the budget."""
        if self.fails not in self.too_large:
            return ()
        return (f"{self.route.label} at {self.unknown.option} {self.fails:g} does not fit in memory: it may meet the budget, too",)

    def meeting(self, x: float) -> Row | None:
        """The row of a value, if it meets the budget and can be told."""
        try:
            row = self.forward(x, True)
        except (OutOfScope, OverflowError):
            return None
        return row if self.log_ratio(row) <= 0 else None

    def riskier(self, x: float, y: float) -> float:
        """The one with more privacy loss."""
        return y if self.unknown.safer * (x - y) > 0 else x

    def next_count(self, x: float) -> float | None:
        """The next of few, where that missed the budget by no more than ε may be smaller with its lower end, or on another grid."""
        next_to = self.is_small_count(x) and self.fails is not None and abs(self.fails - x) == 1
        return self.fails if next_to and self.missed < _TOLD * self.tolerance else None

    def is_small_count(self, x: float) -> bool:
        """Whether the next whole number is farther away than the precision."""
        return self.unknown.kind == "count" and x * self.tolerance <= 1

    def forward(self, x: float, bracket: bool) -> Row:
        work.count(_EACH)
        before, params, bound = work.done(), self.derive({**self.given, self.unknown.name: x}), self.route.bound
        if bound.kind == "profile" and (bound.pair is None or params.get("steps", 1) == 1):
            row = evaluate(self.route, params, self.question)
        else:
            row = _COMPOSED[self.question.asks](self.route, params, self.question, bracket)._replace(params=params)
        self.last_work = max(self.last_work, work.done() - before)  # one that is remembered takes none
        return row

    def log_ratio(self, row: Row) -> float:
        x = row.result[self.question.asks]
        ratio = x / self.target if x > 0 and self.target > 0 else inf if x > 0 else 0.0
        return log(ratio) if ratio > 0 else -inf

    def gap(self, x: float) -> float:
        try:
            if self.by_delta:
                gap = self._by_delta(x)
                if not self.is_small_count(x) or abs(gap) > _TOLD * self.tolerance:
                    return gap
                # Next to the budget ε itself tells which whole number is the last one; by how much, δ does: one measure for secants.
                met = self.log_ratio(self.forward(x, False)) <= 0
                return min(gap, 0.0) if met else max(gap, 5e-324)
            return self.log_ratio(self.forward(x, False))
        except TooLarge as reason:  # it may be smaller where there is less loss
            self.too_large[x] = reason
            if len(self.too_large) > _MOST_TOO_LARGE:
                raise
            return inf
        except OutOfScope as reason:
            self.reasons[x] = reason
        except OverflowError:
            pass
        return inf

    def _by_delta(self, x: float) -> float:
        work.count(_EACH)
        gap = gap_by_delta(self.route.bound, self.route.bound.value, self.question, self.derive({**self.given, self.unknown.name: x}))
        return inf if gap > max(as_gap(-_NEAR_ONE, self.question), 0.0) else gap

    def boundary(self, start: float, safe: float | None = None) -> float:
        """A value that meets the budget, next to one that does not (or so near to the budget that it does not matter), and not beyond one
        that is known to meet it."""
        ends: Ends = {}  # met? → (x, gap)
        seen: list[tuple[float, float]] = []
        pull = {True: 1.0, False: 1.0}  # of the ends: one that stays is halved (the Illinois rule), that the other moves on, too
        x, last = moved(self.unknown, start, 0.0), None
        away, widths = Away(self.unknown.safer, self.slope != 0.0), list[float]()  # the second: of the bracket, in log x
        afar = 0  # how often the budget was on one side
        for k in range(_ROUNDS):
            if seen and self._is_told(x, *seen[-1]):
                ends[True] = (x, 0.0)
                break
            begun = self.work
            gap = self.gap(x)
            self.last_gap, met = self.work - begun, gap <= 0
            ends[met] = (x, gap)
            seen.append((x, gap))
            pull = {met: 1.0, (not met): pull[not met] / 2 if met is last else 1.0}
            last = met
            afar += len(ends) < 2
            impatience = max(1.0, 2.0 ** (k - afar - _PATIENT))
            if -self.allowed * impatience <= gap <= 0 or self._settled(ends, self.width * impatience):
                if len(ends) == 2 or not self._is_level(x, gap):
                    break
                x = moved(self.unknown, x, -inf)
                continue
            self._see_slope(seen)
            if self.by_epochs and has_worked_enough(self, ends):
                ends[True] = (leap(self, ends), 0.0)
                break
            if len(ends) == 2:
                widths.append(abs(log(ends[True][0] / ends[False][0])))
                stuck = len(widths) > _STUCK and widths[-1] > widths[-1 - _STUCK] / 2
                found = self._beyond(seen, ends) if stuck else self._interpolated(seen, ends)
                x = self._between(ends, pull, stuck) if found is None else found
                continue
            by = inf if self._ends(seen) else self._newton(gap)
            if not by or moved(self.unknown, x, by) == x:
                step, most = away.step(x, gap, *seen[-2:-1]), NEAR if self.bent else inf
                by = min(max(step, -most), most)
            if gap > 0 and afar > self.even_for:  # where it is so uneven that its slope leads nowhere
                by = max(by, min(self.tolerance * _GROW ** (afar - self.even_for), NEAR))
            y = moved(self.unknown, x, by)
            if safe is not None and gap > 0 and self.riskier(x, safe) == x != safe:
                y = self.riskier(y, safe)
            if y == x:
                if gap == inf and (reason := self.too_large.get(x) or self.reasons.get(x)):
                    raise reason
                if gap > 0 and not (gap < _TOLD * self.tolerance and self.meeting(x)):  # δ may be told less closely than ε
                    raise none_meets(self.route, self.question, lambda best: self.forward(best, False), x)
                ends[True] = (x, 0.0)
                break
            x = y
        if True not in ends and not self.meeting(x):
            raise OutOfScope("no-solution", f"{self.route.label} does not settle on a value that meets the budget", "--solve")
        self.fails, self.missed = ends.get(False, (None, inf))
        return ends.get(True, (x, 0.0))[0]

    def _ends(self, seen: list[tuple[float, float]]) -> bool:
        """Whether the end of the range is looked at next: no step leads to the budget, or it is near and other steps would take long."""
        if not self.by_epochs or not 0 < seen[-1][1] < inf:
            return False
        return is_lost(seen) or (is_late(self, _LATE) and abs(log(moved(self.unknown, seen[-1][0], inf) / seen[-1][0])) < _NEXT_TO_END)

    def _see_slope(self, seen: list[tuple[float, float]]) -> None:
        """The slope by the last two values, where they are so near to the budget that they tell it."""
        if len(seen) < 2 or not (self.slope or self.by_epochs):
            return
        (x, gap), (y, before) = seen[-1], seen[-2]
        if x == y or max(abs(gap), abs(before)) >= self.straight:
            return
        last, self.slope = self.slope, abs((gap - before) / log(x / y)) or self.slope
        self.bent = self.slope < _BENT * last
        self.even = _EVEN * last < self.slope < last / _EVEN

    def _is_told(self, x: float, last: float, gap: float) -> bool:
        """Whether ε itself says that a value next to one that met it well, by δ, just meets the budget: it is to be told in the end."""
        if self.untold or not self.by_delta or not -_LITTLE_LESS < gap <= 0 or abs(log(x / last)) > _NEXT_TO or self.is_small_count(x):
            return False
        row = self.meeting(x)
        self.untold = row is None or self.log_ratio(row) < -_TOLD * min(self.allowed, self.tolerance)
        return not self.untold

    def _newton(self, gap: float) -> float:
        """How far to move towards less loss, by the slope of a rough search: to just below the budget; to the end of the range where there
        is next to no slope and the budget is not met. 0 where that is unknown."""
        by = (gap + self.allowed / 2) / self.slope if self.slope and self.steps_left > 0 else 0.0
        self.steps_left -= 1
        far = LONGEST if self.slope < _GENTLE and not self.bent else _NEAR_BY if self.even else NEAR
        if abs(by) < far or _NOWHERE < by < inf:
            return by
        return copysign(NEAR, by) if abs(by) < _NEAR_BY and not self.bent else 0.0

    def _is_level(self, x: float, gap: float) -> bool:
        """Whether the unknown does not matter any more, as a diameter beyond which nothing is gained: the end of the range meets the
        budget, too."""
        y = moved(self.unknown, x, -ASIDE)
        return not self.by_epochs and moved(self.unknown, x, -inf) != x and self.gap(y) == gap

    def _settled(self, ends: Ends, width: float) -> bool:
        if len(ends) < 2:
            return False
        a, b = ends[True][0], ends[False][0]
        return abs(log(a / b)) < width or (self.unknown.kind == "count" and abs(a - b) <= 1)

    def _interpolated(self, seen: list[tuple[float, float]], ends: Ends) -> float | None:
        """Where the parabola through three points, log x by gap, is just below the budget; None where it does not say."""
        near = sorted((point for point in seen if abs(point[1]) < _NEAR_BY), key=lambda point: abs(point[1]))[:3]
        if self.unknown.kind == "count" or len(near) < 3 or near[-1] == seen[-1] or len({gap for _, gap in near}) < 3:
            return None
        (x, f), (y, g), (z, h) = near
        at = -self.allowed / 2
        t = log(y / x) * (at - f) * (at - h) / ((g - f) * (g - h)) + log(z / x) * (at - f) * (at - g) / ((h - f) * (h - g))
        low, high = sorted((ends[True][0], ends[False][0]))
        return x * exp(t) if abs(t) < LONGEST and low < x * exp(t) < high else None

    def _beyond(self, seen: list[tuple[float, float]], ends: Ends) -> float | None:
        """Where the secant of the last two points, on one side of the budget, surely leads to the other one; None where it does not."""
        (x, f), (y, g) = seen[-2:]
        if self.unknown.kind == "count" or f * g <= 0 or abs(g) >= abs(f) or abs(f) > self.straight:
            return None
        t = SURELY * log(y / x) * g / (f - g)  # as far as a bracket is wide, or without end where both gaps are the same
        low, high = sorted((ends[True][0], ends[False][0]))
        return y * exp(t) if abs(t) < LONGEST and low < y * exp(t) < high else None

    def _between(self, ends: Ends, pull: dict[bool, float], stuck: bool) -> float:
        """Where the secant in log x reaches just below the budget, kept inside the bracket; in its middle where that did not halve it."""
        (a, gap_a), (b, gap_b) = ends[True], ends[False]
        share = 0.5
        if not stuck and abs(gap_a) < 5 and gap_b < 5 and abs(log(a / b)) < LONGEST:
            below, above = (-self.allowed / 2 - gap_a) * pull[True], (gap_b + self.allowed / 2) * pull[False]
            share = min(max(below / (below + above), _LEAST), 1 - _LEAST)
        x = a * exp(share * log(b / a))
        if self.unknown.kind == "count":
            low, high = sorted((int(a), int(b)))
            return min(max(round(x), low + 1), high - 1)
        return x
