"""ε at δ and δ at ε of one direction of a composition, from above and from below.

1. Pilots give a bound by Rényi moments, which is always proven, and a tilt that makes the losses that matter typical
   (pilot.py).
2. With that tilt each pair is discretized, with an error budget, and composed to an upper and a lower profile
   (profiles_on_grids.py).
3. While the bracket is too wide, step 2 is repeated with a quarter of the budget, as long as it helps. A required
   precision of `COARSE` or more begins with a larger budget, which saves time. All others have the same budgets, only
   not as many of them: among those a higher precision never gives a worse bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, expm1, inf, log, log1p
from typing import Any, NamedTuple

from dpcalc.pld.atoms import Sums, enumerate_sums
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pair import ROUNDING
from dpcalc.pld.pilot import Composition, Parts, log_probability_of_any, rounding_margin
from dpcalc.pld.profiles_on_grids import compose_on_grids, largest_epsilon, smallest_epsilon

PRECISION = 1e-3  # default width of a bracket: relative to ε, absolute in log δ
BUDGETS = tuple(PRECISION / 10 / 4**k for k in range(4))  # change of log δ that discretization may cause, in each try
COARSE = 10 * PRECISION  # a bracket of this width takes 25 to 80 % of the time of a default one
FIRST_BUDGET = 30 * PRECISION  # the budget of a first try, which only locates ε roughly
LOG_TRUNCATION = 14.0  # log of δ over the P-mass that may be truncated: 1e-6 of δ
SMALLEST_LOG_TAIL = -1e6  # log of a truncated mass: a smaller mass does not matter even for the bound by moments
# Of all tries together, as in Profiles.work: no try follows beyond it, as it would take many seconds. Only the first
# one is always followed by another, which is coarse where the first one exceeds this, as with hundreds of parts.
MAX_WORK = 1_500_000


class Bracket(NamedTuple):
    """Bounds on ε, or on log δ. `upper` is a guarantee, and no value below `lower` is one (0 or −∞ where nothing was
    shown). `witness` has all free choices, by which the bounds can be verified."""

    upper: float
    lower: float
    witness: dict[str, Any]

    def improved(self, upper: float, lower: float, witness: dict[str, Any]) -> Bracket:
        """The better of two valid upper bounds, and of two valid lower bounds."""
        lower = max(self.lower, lower)
        return Bracket(upper, lower, witness) if upper < self.upper else self._replace(lower=lower)


@dataclass(frozen=True)
class Question:
    """Exactly one of ε and log δ is given. The other one is bounded from above and, with `bracket`, from below. The
    search ends at an upper bound of at most `enough`."""

    parts: Parts
    epsilon: float | None
    log_delta: float | None
    precision: float
    bracket: bool
    enough: float = -inf

    @property
    def reversed(self) -> Question:
        """The same question about the other direction of adjacency."""
        return replace(self, parts=[(pair.reverse or pair, count) for pair, count in self.parts])

    @property
    def budgets(self) -> tuple[float, ...]:
        """The error budgets of all tries after the first, rough one; none where a rough answer is enough."""
        if self.bracket:
            return (COARSE / 10, *BUDGETS) if self.precision >= COARSE else BUDGETS
        return (self.precision / 8,) if self.precision < FIRST_BUDGET else ()

    def width(self, answer: Bracket) -> float:
        """The width of a bracket as the precision limits it: absolute in log δ, relative to the upper end in ε."""
        if self.epsilon is not None:
            return answer.upper - answer.lower
        return (answer.upper - answer.lower) / answer.upper if answer.upper > 0 else 0.0

    def is_answered(self, answer: Bracket, before: Bracket, rounding: float) -> bool:
        """Whether the search ends, because the bracket is narrow enough or finer grids would not help."""
        width = self.width(answer)
        if not self.bracket or width <= max(self.precision, 2 * rounding):
            return True
        return before.lower > (0.0 if self.epsilon is None else -inf) and width > 0.9 * self.width(before)


def answer_one_direction(question: Question) -> Bracket:
    """A bracket for the composition of the given pairs, in the given direction."""
    log_infinite = log_probability_of_any([(pair.log_infinite, count) for pair, count in question.parts])
    if log_infinite >= 0 or (question.log_delta is not None and log_infinite > question.log_delta):
        if question.epsilon is None:
            return Bracket(inf, inf, {"tilt": 1.0})
        margin = rounding_margin(log_infinite)
        return Bracket(min(0.0, log_infinite + margin), log_infinite - margin, {"tilt": 1.0})
    if sums := enumerate_sums(question.parts):
        return _by_enumeration(sums, question)
    c = composition_of(question)
    return _log_delta(c, question) if question.epsilon is not None else _epsilon(c, question)


def composition_of(question: Question) -> Composition:
    """The composition, whose pilots cover all losses but some of a negligible probability, relative to δ."""
    if question.log_delta is not None:
        return Composition(question.parts, max(question.log_delta - LOG_TRUNCATION, SMALLEST_LOG_TAIL))
    tail = -2 * LOG_TRUNCATION
    while True:
        c = Composition(question.parts, tail)
        log_delta = c.chernoff_log_delta(c.best_tilt(question.epsilon, None), question.epsilon or 0.0)
        if tail == SMALLEST_LOG_TAIL or c.log_truncated < log_delta - LOG_TRUNCATION / 2:
            return c
        tail = max(min(2 * tail, log_delta - 2 * LOG_TRUNCATION), SMALLEST_LOG_TAIL)


def _by_enumeration(sums: Sums, question: Question) -> Bracket:
    """The bracket from all sums of losses, whose width is due to rounding alone."""
    witness = {"tilt": 1.0, "sums": 1}
    if question.epsilon is not None:
        return Bracket(sums.upper_log_delta(question.epsilon), sums.lower_log_delta(question.epsilon), witness)
    target, largest = question.log_delta or 0.0, max(0.0, float(sums.loss.max()) + 2 * sums.loss_error)
    upper = smallest_epsilon(sums.upper_log_delta, target, largest)
    return Bracket(upper, largest_epsilon(sums.lower_log_delta, target, upper), witness)


def _log_delta(c: Composition, question: Question) -> Bracket:
    """The bracket of log δ at the ε of the question."""
    epsilon = question.epsilon or 0.0
    if epsilon >= c.largest_sum * (1 + ROUNDING) + ROUNDING:  # only infinite losses are above ε
        upper = min(0.0, c.log_truncated + rounding_margin(c.log_truncated))
        return Bracket(upper, c.log_infinite - rounding_margin(c.log_infinite), {"tilt": 1.0})
    c = c.capped_for(epsilon)
    tilt, _ = c.tilt_at(epsilon)
    lower = max(c.log_infinite - rounding_margin(c.log_infinite), _log_delta_of_largest_sum(c, epsilon))
    answer = Bracket(c.chernoff_log_delta(tilt, epsilon), lower, _by_moments(tilt))
    if answer.upper < -1500:  # composing may take minutes
        return answer
    work = 0
    for budget in question.budgets or (FIRST_BUDGET,):
        try:
            profiles = compose_on_grids(c, tilt, budget, question.bracket)
        except TooLarge:
            break
        before = answer
        answer = answer.improved(profiles.upper.log_delta(epsilon),
                                 profiles.lower.log_delta(epsilon) if profiles.lower else -inf, profiles.witness)
        work += profiles.work
        if work > MAX_WORK or answer.upper < question.enough:
            break
        if question.is_answered(answer, before, profiles.upper.rounding(epsilon)):
            break
    return answer


def _epsilon(c: Composition, question: Question) -> Bracket:
    """The bracket of ε at the δ of the question."""
    log_delta = question.log_delta or 0.0
    answer, largest_tilt = _epsilon_by_moments(c, log_delta)
    if answer.upper == 0:
        at_zero = _log_delta(c, replace(question, epsilon=0.0, log_delta=None, bracket=False, enough=-inf))
        return answer._replace(witness=at_zero.witness if at_zero.upper <= log_delta else answer.witness)
    if "largest" in answer.witness and question.width(answer) <= question.precision:
        return answer
    c, answer, largest_tilt = _with_lower_cap(c, answer, largest_tilt, log_delta)
    work, budgets = 0, [FIRST_BUDGET, *question.budgets]
    for tries, budget in enumerate(budgets):
        if answer.upper <= max(0.0, question.enough if tries else 0.0):
            break
        tilt, slope = c.tilt_at(answer.upper, largest_tilt)
        log_delta_budget = min(budget * answer.upper * slope, 1.0)
        try:
            profiles = compose_on_grids(c, tilt, log_delta_budget, question.bracket and tries > 0)
        except TooLarge:
            break
        largest = min(answer.upper, c.largest_sum * (1 + 1e-9) + 1e-12)
        before, upper = answer, smallest_epsilon(profiles.upper.log_delta, log_delta, largest)
        best, work = min(upper, before.upper), work + profiles.work
        lower = (largest_epsilon(profiles.lower.log_delta, log_delta, best, log_delta_budget / slope)
                 if profiles.lower else 0.0)
        answer = answer.improved(upper, lower, profiles.witness)
        if not tries and work > MAX_WORK:
            budgets[1:] = [min(COARSE / PRECISION * finer, COARSE / 10) for finer in budgets[1:2]]
        if best == 0 or (tries and work > MAX_WORK) or (
                tries and question.is_answered(answer, before, profiles.upper.rounding(best) / (slope * best))):
            break
        if best < before.upper:  # the next try is for the smaller ε
            c_before, c = c, c.capped_for(best)
            largest_tilt = largest_tilt if c is c_before else c.best_tilt(None, log_delta)
    return answer


def _with_lower_cap(c: Composition, answer: Bracket, tilt: float,
                    log_delta: float) -> tuple[Composition, Bracket, float]:
    """The composition with a lower cap on losses, as a smaller ε allows; the bound by moments, which that lowers; and
    its tilt."""
    for _ in range(4):
        before, c_before, c = answer, c, c.capped_for(answer.upper)
        if c is c_before:
            break
        tilt = c.best_tilt(None, log_delta)
        answer = answer.improved(c.chernoff_epsilon(tilt, log_delta), 0.0, _by_moments(tilt))
        if answer.upper > 0.9 * before.upper:
            break
    return c, answer, tilt


def _epsilon_by_moments(c: Composition, log_delta: float) -> tuple[Bracket, float]:
    """Bounds on ε that need no composition, by moments and by the largest sum of losses; and the tilt of the
    former."""
    tilt = c.best_tilt(None, log_delta)
    answer = Bracket(c.chernoff_epsilon(tilt, log_delta), 0.0, _by_moments(tilt))
    if c.log_truncated <= log_delta:  # above the largest finite sum, δ is the mass of infinite losses
        answer = answer.improved(c.largest_sum * (1 + ROUNDING), 0.0, {"tilt": tilt, "largest": 1})
    return answer._replace(lower=min(answer.upper, _epsilon_of_largest_sum(c, log_delta))), tilt


def _by_moments(tilt: float) -> dict[str, Any]:
    """The witness of a Chernoff bound."""
    return {"tilt": tilt, "chernoff": 1}


def _largest_sum(c: Composition) -> tuple[float, float]:
    """The sum of the largest losses of all uses, and the log of its P-mass; (∞, −∞) if there is none."""
    each = [(*pair.largest_loss, count) for pair, count in c.parts]
    if any(loss == inf or log_p == -inf for loss, log_p, _ in each):
        return inf, -inf
    return sum(count * loss for loss, _, count in each), sum(count * log_p for _, log_p, count in each)


def _log_delta_of_largest_sum(c: Composition, epsilon: float) -> float:
    """A lower bound on log δ, from the largest sum ℓ alone: P(1 − e^{ε−ℓ})."""
    loss, log_p = _largest_sum(c)
    distance = epsilon - loss * (1 - ROUNDING) + ROUNDING * abs(log_p)
    return log_p * (1 + ROUNDING) + log(-expm1(distance)) if distance < 0 and log_p > -inf else -inf


def _epsilon_of_largest_sum(c: Composition, log_delta: float) -> float:
    """A lower bound on ε, at which the largest sum ℓ alone has this δ: ℓ + log(1 − δ/P)."""
    loss, log_p = _largest_sum(c)
    share = exp(min(log_delta - log_p * (1 + ROUNDING), 1.0)) if log_p > -inf else 1.0
    return max(0.0, loss * (1 - ROUNDING) + log1p(-share) * (1 + ROUNDING)) if share < 1 else 0.0
