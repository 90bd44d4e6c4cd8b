"""Where --solve through epochs looks: about the solution, by the fast forms of a composed profile. No I/O; no number here is a bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import copysign, inf, log
from typing import NamedTuple

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics import work
from dpcalc.numerics.invert import log_share
from dpcalc.orders import Params, own_params
from dpcalc.quantities import Quantity
from dpcalc.question import Question
from dpcalc.rows import Route
from dpcalc.solving import ROUGHLY, moved, roughly

PER_EPSILON = 6.0  # about how much log δ falls where log ε changes by 1
_LOOKS, _CLOSE_LOOKS = 12, 5  # in all, and by smaller blocks
LITTLE_SENSE = 200.0  # an ε, whose solution is not looked for more closely
_ENOUGH = {False: 0.1, True: 0.003}  # of a gap, or of log x where it is steep: by large blocks, and by smaller ones
_CLOSE, _WITHIN = 0.005, 0.06  # of log x: a bracket that ends it; one that smaller blocks change by as much
_ROUGH = 0.5  # of a gap at a cliff, which smaller blocks change by as much
_SHORT, _NOISY = 0.25, 0.03  # of log x: so near a slope is known well; so near it may be that of other samples
_STRAIGHT, _UNEVEN = 1.5, 0.02  # of log x, over which a line is drawn; of a gap, that other samples may make
_ROUNDING = 1e-6  # a slope: that of a plateau between two cliffs
_GENTLE = 0.05  # a slope: what is left to be seen is less than what few samples do to a gap
_FAR, _TOLD, _SEEN = 0.7, 100.0, 1.0  # of a gap: farther away ε tells more; two by δ that tell a slope, and one seen from there
_PER_NOISE = 1.4  # about how much log ε falls where log x changes by 1
_STEEP_FAR, _STEEP_NEAR, _STEEPER = 10.0, 50.0, 2.2  # at a cliff both gaps, far and near; the second at least as many times log δ
_LONGEST, _UNSEEN = 3.0, 1.5  # of a step in log x; where a gap does not tell
_EACH = 1e4  # units of work: of a look, beside arrays
_MOST_WORK = {False: 7e5, True: 6.5e5}  # after which there is no other one, where ε has a sense or not
_WITH_BASIC = 1.3e6  # the same, with basic composition
_FLAT = 30.0  # of log x: as far away, by the slope, a solution is not to be expected
_NEXT_TO = 0.25  # of a bracket, one of whose ends does not tell
_ASIDE = 0.02  # of a step in log x, at least, where no slope is known
_SHARPER = {False: 0.6, True: 0.25}  # log of how much less noise a composition needs than basic composition, as a guess; at a cliff


class Near(NamedTuple):
    """About the solution, and the slope of the gap there, in log x towards more loss (0: unknown)."""

    x: float
    slope: float


def look(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> Near:
    """From where basic composition meets the budget; by ε at δ from afar, then by δ at ε, which changes smoothly also where ε jumps. By
    large blocks first, then by smaller ones."""
    unknown = question.unknown
    assert unknown is not None
    basic = _by_basic(route, given, derive, question)
    gap = _Gap(route, given, derive, question)
    x, cliff = basic or (moved(unknown, middle(unknown), 0.0), False)
    low, high = -inf, inf  # log x: where a budget is not met, and where it is, times `safer`
    if basic:
        x, high = moved(unknown, x, -_SHARPER[cliff]), unknown.safer * log(x) + ROUGHLY
    last: dict[bool | None, list[tuple[float, float]]] = {}  # far? (None: either) → log x and gap, of the last three
    slope = _steep(question.log_delta) if cliff else dict[bool | None, float]()  # how much less a gap is where there is less loss
    seen, longest, closely, by, before = set[float](), _LONGEST, 0, 0.0, work.done()
    ends: dict[bool, tuple[float, float]] = {}  # met? → log x and gap of the last one, by blocks of any size
    for _ in range(_LOOKS):
        seen.add(x)
        closely += gap.closely
        t, (far, value, by_delta) = unknown.safer * log(x), gap(x)
        low, high = (max(low, t), high) if value > 0 else (low, min(high, t))
        ends[value <= 0] = (t, value)
        apart = abs(t - last[False][-1][0]) if not far and False in last else inf
        for kind, one in {False: by_delta, far: value, None: value}.items():
            if kind in last and last[kind][-1][0] != t and abs(one) + abs(last[kind][-1][1]) < (inf if kind is far else _TOLD):
                falls = _fall([*last[kind], (t, one)])
                falls = falls if falls > _ROUNDING else 0.0
                tells = falls > _SEEN if far and kind is False else falls or apart > _NOISY
                slope[kind] = falls if tells else slope.get(kind, 0.0)
            if kind is not False or abs(one) < inf:  # far away δ is soon 1: what it was before tells more
                last[kind] = [*last.get(kind, ())[-2:], (t, one)]
        steep = slope.get(False, 0.0)
        gently = gap.closely and apart < _LONGEST and steep < _GENTLE
        enough = abs(value) < _LONGEST * steep and (gently or (apart < _SHORT and abs(value) < _ENOUGH[gap.closely] * max(1.0, steep)))
        if enough and (gap.closely or gap.target > LITTLE_SENSE):
            return Near(moved(unknown, x, _inside(t, value / steep, low, high)), steep)
        if enough and gap.as_close(x):
            return Near(moved(unknown, x, _inside(t, value / steep, low, high)), steep)
        there = far and abs(value) < _ENOUGH[True]  # by ε: only δ tells more
        if not gap.closely and (enough or there or high - low < _WITHIN or (cliff and abs(value) < _ROUGH)):
            longest = _WITHIN if high - low < _WITHIN else _LONGEST
            gap.closely, low, high, seen = True, -inf, inf, set()
            last.clear()
        flat = (slope.get(far) == 0.0 or abs(value) == inf) and low > -inf and high < inf
        by = _step(value, slope.get(far) or slope.get(None) or (_PER_NOISE if far else 0.0), longest, abs(by))
        longest *= 2 if abs(by) == longest else 1
        y = moved(unknown, x, (low + high) / 2 - t if flat else _inside(t, by, low, high))
        if y in seen or high - low < _CLOSE or closely == _CLOSE_LOOKS:
            break
        if work.done() - before > _MOST_WORK[gap.target > LITTLE_SENSE] or work.spent() > _WITH_BASIC:
            x = moved(unknown, x, _between(ends) - t)
            break
        x = y
    return Near(x, slope.get(False, 0.0))


def _between(ends: dict[bool, tuple[float, float]]) -> float:
    """Where the secant between the last that met the budget and the last that did not leads, in log x, or next to the one that tells a gap;
    the only one of these."""
    (t, gap), (u, over) = ends.get(True) or ends[False], ends.get(False) or ends[True]
    if t == u:
        return t
    if abs(gap) + over < inf:
        return t + (u - t) * gap / (gap - over)
    return t + (u - t) * (0.5 if (abs(gap) < inf) == (over < inf) else _NEXT_TO if abs(gap) < inf else 1 - _NEXT_TO)


def _fall(points: list[tuple[float, float]]) -> float:
    """How much less a gap is where there is less loss: by the last two of the points; where these differ by no more than other samples make
    of a gap, by the line through the last three."""
    (t, value), (u, before) = points[-1], points[-2]
    near = [point for point in points[-3:] if abs(point[0] - t) < _STRAIGHT]
    if abs(t - u) > _SHORT or abs(value - before) > _UNEVEN or len(near) < 3:
        return (before - value) / (t - u)
    mean_t, mean = sum(t for t, _ in near) / len(near), sum(value for _, value in near) / len(near)
    return sum((mean - value) * (t - mean_t) for t, value in near) / sum((t - mean_t) ** 2 for t, _ in near)


def _steep(log_delta: float) -> dict[bool | None, float]:
    """About how much less both gaps, far and near, are at a cliff where there is less loss."""
    return {True: _STEEP_FAR, False: max(_STEEP_NEAR, -_STEEPER * log_delta)}


def _step(gap: float, slope: float, longest: float, last: float) -> float:
    """Towards less loss, to where the slope leads; ever farther, where there is none."""
    if abs(gap) == inf:
        return _UNSEEN if gap > 0 else -_UNSEEN
    by = gap / slope if slope else -inf
    if by > _FLAT:
        return by  # to the end of the range
    if by < -_FLAT:  # no slope, or hardly one where the budget is met: there may be a cliff
        by = copysign(max(abs(gap), 2 * last), gap)
    by = min(max(by, -longest), longest)
    return by if slope or abs(by) > _ASIDE else _ASIDE if by > 0 else -_ASIDE


def _inside(t: float, by: float, low: float, high: float) -> float:
    """A step that stays inside the bracket, where there is one."""
    if low < t + by < high or low >= high:
        return by
    return (low + high) / 2 - t if high - low < inf else by


class _Gap:
    """(whether the budget is far, about log(ε/budget), that by log δ): far from it by ε, else by log δ at its ε."""

    def __init__(self, route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> None:
        assert question.unknown is not None and question.target is not None
        self.bound, self.given, self.derive, self.question = route.bound, given, derive, question
        self.unknown, self.target, self.closely = question.unknown, question.target, False

    def __call__(self, x: float) -> tuple[bool, float, float]:
        work.count(_EACH)
        try:
            return self._found(self.derive({**self.given, self.unknown.name: x}))
        except (OutOfScope, OverflowError):
            return True, inf, inf

    def as_close(self, x: float) -> bool:
        """Whether a closer look would be as costly as the search itself."""
        from dpcalc.bounds.pnsgd.epochs import MANY

        steps: float = self.derive({**self.given, self.unknown.name: x}).get("steps", 1)
        return steps > MANY

    def _found(self, params: Params) -> tuple[bool, float, float]:
        bound = self.bound
        assert bound.near_budget is not None and bound.near_inverse is not None
        gap = gap_by_delta(bound, partial(bound.near_budget, closely=self.closely), self.question, params)
        if abs(gap) < _FAR or self.closely or params.get("steps", 1) == 1:
            return False, gap, gap
        epsilon = bound.near_inverse(self.question.log_delta, **own_params(bound, params))
        ratio = epsilon / self.target
        return True, log(ratio) if ratio > 0 else -inf, gap


def gap_by_delta(bound: Bound, at_budget: Callable[..., float], question: Question, params: Params) -> float:
    """About log(ε/budget), by log δ at the budget's ε: of many epochs by the form given, of one by its value."""
    own, target = own_params(bound, params), question.target
    assert target is not None
    log_delta = bound.value(target, **own) if params.get("steps", 1) == 1 else at_budget(target, question.log_delta, **own)
    return as_gap(float(log_delta), question)


def as_gap(log_delta: float, question: Question) -> float:
    """log δ at the budget's ε as about log(ε/budget)."""
    return log_share(log_delta, question.log_delta) * -question.log_delta / PER_EPSILON


def _by_basic(route: Route, given: Params, derive: Callable[[Params], Params], question: Question) -> tuple[float, bool] | None:
    """Where basic composition meets the budget, to a few percent, and whether that is a cliff, where that is quick to find; its row looks
    there too."""
    from dpcalc.bounds.pnsgd.epochs import basic

    unknown, one = question.unknown, route.bound.one
    if one is None or unknown is None or unknown.name == "epochs":
        return None
    return roughly(Route(basic(one)), given, derive, question)


def middle(unknown: Quantity) -> float:
    low, high = unknown.search
    return 1.0 if low < 1.0 < high else (low * high) ** 0.5
