"""ε at δ and δ at ε of a composition of dominating pairs, from above and from below.

1. Pilot laws give a tilt that makes typical what is asked about, and a bound by Rényi moments, which is proven and
answers where nothing
   else does (pilot.py).
2. By that tilt each pair is put on grids, from above and from below, which may change the answer by a given budget
(discretize.py);
   the laws are composed (multiscale.py) and read (hockey_stick.py).
3. While the bracket is too wide, the budget is divided by four and 2. is done again, as long as it helps. The tries do
not depend on the
   precision that is asked for, only their number does: more precision never gives a worse bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, expm1, fsum, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.pld.atoms import Atoms
from dpcalc.pld.discretize import Level, nested_levels, optimistic, pessimistic, power_of_two, rounding_of_one_use
from dpcalc.pld.hockey_stick import Lower, Upper, largest_epsilon, least_epsilon
from dpcalc.pld.listed import Sums, listed
from dpcalc.pld.multiscale import Merging, Splitting, TooLarge, combined, power
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.pilot import ROUNDING, Composition, Parts, log_add, log_any, margin, smooth_variance
from dpcalc.pld.pmf import ULP

PRECISION = 1e-3  # of the bracket: relative of ε, absolute of log δ
# of what grids may change the answer by, one try after the other
BUDGETS = tuple(PRECISION / 8 / 4**k for k in range(4))
FIRST_BUDGET = 30 * PRECISION  # of the first try at an ε, which only has to find about where it is
MOST_BUDGET = 1.0  # of log δ
CAPS = 4  # times that a cap on losses is lowered, as the bound by moments falls with it
TRUNCATED = 14.0  # how far below log δ the log of all truncated mass is: a part of 1e-6
LEAST_TAIL = -1e6  # log of truncated mass
DEEPEST = -1500.0  # log δ below which the bound by moments is the answer
FORGOTTEN = 1e-3  # of the budget, that raising all losses below a grid to its first point may cost
MOST_WORK = 1_500_000  # squarings of points, after which there is no other try: a few seconds
CERTAIN = 20.0  # deviations from ε to the mean loss above it, and as many units, beyond which δ is 1
STUCK = 0.01  # relative of ε, absolute of log δ: the least gain for another try where nothing is shown from below
USEFUL = 0.9  # of the width of a bracket: where a try leaves as much, it is not the grids that make it wide


class Bracket(NamedTuple):
    """`upper` is a guarantee, and nothing below `lower` is one (−∞ or 0 where nothing was shown): ε, or log δ.
    `witness` has all free choices."""

    upper: float
    lower: float
    witness: dict[str, Any]

    def improved(self, upper: float, lower: float, witness: dict[str, Any]) -> Bracket:
        """Both are valid: the better ends of the two."""
        lower = max(self.lower, lower)
        return Bracket(upper, lower, witness) if upper < self.upper else self._replace(lower=lower)


def epsilon_at_delta(parts: Parts, log_delta: float, precision: float = PRECISION, bracket: bool = True,
                     one_sided: bool = False) -> Bracket:
    """The least ε with δ(ε) <= δ, for (pair, count) of all parts; inf where more than δ is infinite. Both directions
    are composed, unless the question is one-sided. Raises TooLarge."""
    return _worse_direction(_Question(merged(parts), None, log_delta, precision, bracket), one_sided)


def log_delta_at_epsilon(parts: Parts, epsilon: float, precision: float = PRECISION, bracket: bool = True,
                         one_sided: bool = False) -> Bracket:
    """log δ at ε >= 0, likewise."""
    return _worse_direction(_Question(merged(parts), epsilon, None, precision, bracket), one_sided)


def log_infinite(parts: Parts) -> float:
    """log of the probability of an infinite loss."""
    return log_any([(pair.log_infinite, count) for pair, count in parts])


def merged(parts: Parts) -> Parts:
    """The same composition with all Gaussian pairs as a single one, as Σμ² is what they have in common."""
    squares = [count * pair.mu * pair.mu for pair, count in parts if isinstance(pair, Gaussian)]
    others = [(pair, count) for pair, count in parts if not isinstance(pair, Gaussian)]
    return [(Gaussian(sqrt(fsum(squares)) * (1 + 4 * ULP)), 1), *others] if squares else others


@dataclass(frozen=True)
class _Question:
    """One of ε and log δ is given."""

    parts: Parts
    epsilon: float | None
    log_delta: float | None
    precision: float
    bracket: bool

    @property
    def reversed(self) -> _Question:
        return replace(self, parts=[(pair.twin or pair, count) for pair, count in self.parts])

    def is_answered(self, answer: Bracket, before: Bracket, tries: int, rounding: float) -> bool:
        """Whether no other try is made: the bracket is as narrow as asked for, or it is not the grids that make it
        wide."""
        width = self.width(answer)
        gain = before.upper - answer.upper
        if tries > 1 and answer.lower == self.least and gain < STUCK * (abs(answer.upper) if self.epsilon is None
                                                                        else 1.0):
            return True  # nothing is shown from below, and hardly more from above
        is_stuck = before.lower > self.least and width > USEFUL * self.width(before)
        return not self.bracket or width <= max(self.precision, 2 * rounding) or is_stuck

    @property
    def budgets(self) -> tuple[float, ...]:
        """What the grids of each try may change the answer by; the first one of an ε is rough. Without a bracket there
        is one other try. """
        if not self.bracket:
            return (self.precision,) if self.precision >= FIRST_BUDGET else (FIRST_BUDGET, self.precision / 8)
        return (FIRST_BUDGET, *BUDGETS)

    @property
    def least(self) -> float:
        """Of all answers, which is a lower one that says nothing."""
        return 0.0 if self.epsilon is None else -inf

    def width(self, answer: Bracket) -> float:
        """Of the bracket, in units of the precision."""
        if self.epsilon is not None:
            return answer.upper - answer.lower
        return (answer.upper - answer.lower) / answer.upper if answer.upper > 0 else 0.0


def _worse_direction(question: _Question, one_sided: bool) -> Bracket:
    """The larger loss of both directions; the second one is composed only where the bound by moments does not settle
    it."""
    answer = _answer(question)
    # δ(0) = TV, but for rounding
    is_symmetric = question.epsilon == 0 and not any(isinstance(pair, Atoms) for pair, _ in question.parts)
    if one_sided or is_symmetric or not any(pair.twin for pair, _ in question.parts):
        return answer
    other = question.reversed
    if _is_settled(other, answer):
        return answer
    second = _answer(replace(other, bracket=False))
    if second.upper > answer.upper and question.bracket:
        second = _answer(other)
    better, worse = sorted((answer, second), key=lambda x: x.upper)
    witness = {**worse.witness, "other": better.witness, **({"reversed": 1} if worse is second else {})}
    return Bracket(worse.upper, max(answer.lower, second.lower), witness)


def _is_settled(question: _Question, answer: Bracket) -> bool:
    epsilon, log_delta = (answer.upper, question.log_delta or 0.0) if question.epsilon is None else (question.epsilon,
                                                                                                     answer.upper)
    if epsilon == inf:
        return True
    c = Composition(question.parts, _log_tail(question))
    return any(c.chernoff_log_delta(answer.witness["tilt"] * x, epsilon) <= log_delta
               for x in (0.5, 0.7, 1.0, 1.4, 2.0))


def _log_tail(question: _Question) -> float:
    """log of the P-mass that may be truncated: next to nothing of δ."""
    if question.log_delta is not None:
        return max(question.log_delta - TRUNCATED, LEAST_TAIL)
    tail = -2 * TRUNCATED
    while True:
        c = Composition(question.parts, tail)
        log_delta = c.chernoff_log_delta(c.best_tilt(question.epsilon, None), question.epsilon or 0.0)
        if tail == LEAST_TAIL or c.log_truncated < log_delta - TRUNCATED / 2:
            return tail
        tail = max(min(2 * tail, log_delta - 2 * TRUNCATED), LEAST_TAIL)


def _answer(question: _Question) -> Bracket:
    """Of one direction."""
    worst = log_infinite(question.parts)
    if worst >= 0 or (question.log_delta is not None and worst > question.log_delta):
        if question.epsilon is None:
            return Bracket(inf, inf, {"tilt": 1.0})
        return Bracket(min(0.0, worst + margin(worst)), worst - margin(worst), {"tilt": 1.0})
    if sums := listed(question.parts):
        return _of_sums(sums, question)
    c = Composition(question.parts, _log_tail(question))
    return _log_delta(c, question) if question.epsilon is not None else _epsilon(c, question)


def _of_sums(sums: Sums, question: _Question) -> Bracket:
    witness = {"tilt": 1.0, "sums": 1}
    if question.epsilon is not None:
        return Bracket(sums.upper_log_delta(question.epsilon), sums.lower_log_delta(question.epsilon), witness)
    target, most = question.log_delta or 0.0, max(0.0, float(sums.loss.max()) + 2 * sums.error_of_losses)
    upper = least_epsilon(sums.upper_log_delta, target, most)
    return Bracket(upper, largest_epsilon(sums.lower_log_delta, target, upper), witness)


def _log_delta(c: Composition, question: _Question) -> Bracket:
    epsilon = question.epsilon or 0.0
    if epsilon >= c.largest * (1 + ROUNDING) + ROUNDING:  # δ is what is infinite
        upper = min(0.0, c.log_truncated + margin(c.log_truncated))
        return Bracket(upper, c.log_infinite - margin(c.log_infinite), {"tilt": 1.0})
    mean, variance = c.mean_and_variance(0.0)
    if not question.bracket and mean - epsilon > CERTAIN * (1 + sqrt(variance)):  # δ is 1 but for next to nothing
        return Bracket(0.0, -inf, {"tilt": 1.0})
    c = c.capped_for(epsilon)
    tilt, _ = c.tilt_at(epsilon)
    lower = max(c.log_infinite - margin(c.log_infinite), _log_delta_of_largest(c, epsilon))
    answer = Bracket(c.chernoff_log_delta(tilt, epsilon), lower, _of_moments(tilt))
    if answer.upper < DEEPEST:
        return answer
    work = 0
    for tries, budget in enumerate(question.budgets[-1:] if not question.bracket else BUDGETS, 1):
        try:
            found = composed(c, tilt, budget, question.bracket)
        except TooLarge:
            break
        before = answer
        answer = answer.improved(found.upper.log_delta(epsilon),
                                 found.lower.log_delta(epsilon) if found.lower else -inf, found.witness)
        work += found.work
        if work > MOST_WORK or question.is_answered(answer, before, tries, found.upper.rounding(epsilon)):
            break
    return answer


def _epsilon(c: Composition, question: _Question) -> Bracket:
    log_delta = question.log_delta or 0.0
    steepest = c.best_tilt(None, log_delta)
    answer = Bracket(c.chernoff_epsilon(steepest, log_delta), 0.0, _of_moments(steepest))
    if c.log_truncated <= log_delta:  # above the largest loss δ is what is infinite
        answer = answer.improved(c.largest * (1 + ROUNDING), 0.0, {"tilt": steepest, "largest": 1})
    answer = answer._replace(lower=min(answer.upper, _epsilon_of_largest(c, log_delta)))
    if answer.upper == 0:
        at_zero = _log_delta(c, replace(question, epsilon=0.0, log_delta=None, bracket=False))
        return answer._replace(witness=at_zero.witness if at_zero.upper <= log_delta else answer.witness)
    if "largest" in answer.witness and question.width(answer) <= question.precision:
        return answer
    for _ in range(CAPS):
        c, before = c.capped_for(answer.upper), answer
        steepest = c.best_tilt(None, log_delta)
        answer = answer.improved(c.chernoff_epsilon(steepest, log_delta), 0.0, _of_moments(steepest))
        if answer.upper > 0.9 * before.upper:
            break
    work = 0
    for tries, budget in enumerate(question.budgets):
        if answer.upper == 0:
            break
        tilt, slope = c.tilt_at(answer.upper, steepest)
        try:
            found = composed(c, tilt, min(budget * answer.upper * slope, MOST_BUDGET),
                             question.bracket and budget != FIRST_BUDGET)
        except TooLarge:
            break
        before, upper = answer, least_epsilon(found.upper.log_delta, log_delta, c.largest * (1 + 1e-9) + 1e-12)
        best = min(upper, before.upper)
        lower = largest_epsilon(found.lower.log_delta, log_delta, best) if found.lower else 0.0
        answer = answer.improved(upper, lower, found.witness)
        work += found.work
        if best == 0 or work > MOST_WORK:
            break
        if budget != FIRST_BUDGET and question.is_answered(answer, before, tries,
                                                           found.upper.rounding(best) / (slope * best)):
            break
        if best < before.upper:  # what is next is aimed at the better answer
            c = c.capped_for(best)
            steepest = c.best_tilt(None, log_delta)
    return answer


def _of_moments(tilt: float) -> dict[str, Any]:
    return {"tilt": tilt, "chernoff": 1}


def _log_of_all_largest(c: Composition) -> tuple[float, float]:
    """The sum of all largest losses, and the log of its probability; ∞ where there is none."""
    each = [(pair.largest, count) for pair, count in c.parts]
    if any(loss == inf or log_p == -inf for (loss, log_p), _ in each):
        return inf, -inf
    return sum(count * loss for (loss, _), count in each), sum(count * log_p for (_, log_p), count in each)


def _log_delta_of_largest(c: Composition, epsilon: float) -> float:
    """log δ is at least that of the largest loss alone: P(1 − e^{ε−ℓ})."""
    loss, log_p = _log_of_all_largest(c)
    gap = epsilon - loss * (1 - ROUNDING) + ROUNDING * abs(log_p)
    return log_p * (1 + ROUNDING) + log(-expm1(gap)) if gap < 0 and log_p > -inf else -inf


def _epsilon_of_largest(c: Composition, log_delta: float) -> float:
    """The ε at which the largest loss alone has δ: ℓ + log(1 − δ/P)."""
    loss, log_p = _log_of_all_largest(c)
    share = exp(min(log_delta - log_p * (1 + ROUNDING), 1.0)) if log_p > -inf else 1.0
    return max(0.0, loss * (1 - ROUNDING) + log1p(-share) * (1 + ROUNDING)) if share < 1 else 0.0


# --- one try
# ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Composed:
    """A composition by one tilt and one budget."""

    upper: Upper
    lower: Lower | None
    witness: dict[str, Any]
    work: int  # squarings of all points


def composed(c: Composition, tilt: float, budget: float, bracket: bool) -> Composed:
    """`budget` is what grids may change log δ by, from the lower to the upper value: half by one use of each pair, a
    quarter while each of them is composed with itself, and a quarter while the sums are."""
    counts, number = [count for _, count in c.parts], len(c.parts)
    variance = smooth_variance(c.mean_and_variance(tilt)[1], tilt)
    curvature = tilt * (1 + tilt) + 1 / variance  # of log δ per unit of variance, twice
    pairs, grids = [pair for pair, _ in c.parts], []
    for (pair, count), pilot in zip(c.parts, c.pilots, strict=True):
        weight = count * curvature / (tilt * (1 + tilt))
        low, high = pilot.lowest(tilt, FORGOTTEN * budget / number / weight), float(pilot.loss[-1])
        # of rare large losses, which move there at each squaring
        coarsest = sqrt(budget / (curvature * number * count.bit_length()))
        grids.append(nested_levels(pair, tilt, low, high, pilot.log_moment(tilt), weight, budget / 2 / number,
                                   coarsest))
    finest_last = max(levels[-1].step for levels in grids)
    splitting = Splitting(tilt, curvature, max(power_of_two(sqrt(4 * budget / (curvature * number))), finest_last))
    laws, log_infinite = zip(*(pessimistic(pair, levels, tilt) for pair, levels in zip(pairs, grids, strict=True)),
                             strict=True)
    sums = []
    for law, count in zip(laws, counts, strict=True):
        splitting.budget += budget / 4 / number
        sums.append(power(law, count, splitting))
    splitting.budget += budget / 4
    law = combined(sums, splitting)
    off = [(count, *rounding_of_one_use(pair, x, tilt)) for x, (pair, count) in zip(laws, c.parts, strict=True)]
    totals = 8 * ULP * (sum(counts) + sum(abs(x.log_scale) for x in sums) + abs(law.log_scale))  # of normalizing laws
    slack, slack_of_losses = sum(n * a for n, a, _ in off) + totals, sum(n * b for n, _, b in off)
    infinite = log_any([(log_add(x, pair.log_infinite), count) for x,
                        (pair, count) in zip(log_infinite, c.parts, strict=True)])
    upper = Upper(law, tilt, infinite, slack + law.relative_error)
    witness = {"tilt": tilt, "grids": [[[x.step, x.first, x.last] for x in levels] for levels in grids],
               "windows": [list(x) for x in splitting.choices.windows], "steps": splitting.choices.steps}
    if not bracket:
        return Composed(upper, None, witness, 0)
    try:
        lower = _composed_from_below(c, Merging(tilt, splitting.choices), grids, slack, slack_of_losses)
    except TooLarge:
        lower = None
    work = sum(count.bit_length() * (x.last - x.first) for count,
               levels in zip(counts, grids, strict=True) for x in levels)
    return Composed(upper, lower, witness, work)


def _composed_from_below(c: Composition, merging: Merging, grids: list[list[Level]], slack: float,
                         slack_of_losses: float) -> Lower:
    """By the grids and the choices of the upper law, whose errors of rounding it has too."""
    pairs, counts = zip(*c.parts, strict=True)
    ones, above = zip(*(optimistic(pair, levels, merging.tilt) for pair, levels in zip(pairs, grids, strict=True)),
                      strict=True)
    cells = combined([power(one, count, merging) for one, count in zip(ones, counts, strict=True)], merging)
    in_p = log_any([(log_add(x, pair.log_infinite), count) for (x, _),
                    (pair, count) in zip(above, c.parts, strict=True)])
    in_q = log_any([(x, count) for (_, x), count in zip(above, counts, strict=True)])
    return Lower(cells, merging.tilt, (in_p, in_q), slack + cells.relative_error, slack_of_losses)
