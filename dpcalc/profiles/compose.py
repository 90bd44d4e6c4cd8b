"""ε at δ and δ at ε of a composition of dominating pairs: an upper bound, and a lower bound that says how tight it is."""

from __future__ import annotations

from math import inf, log
from typing import Any

from dpcalc.numerics import work
from dpcalc.profiles import deep, tilt
from dpcalc.profiles.asked import NO_PRIVACY, PRECISION, ROUGHER, SEEN, Asked
from dpcalc.profiles.better import snap_error
from dpcalc.profiles.bracket import Bracket, witness
from dpcalc.profiles.convolve import power
from dpcalc.profiles.cut import Cut, cut
from dpcalc.profiles.ends import ROUNDING, largest_loss, log_infinite
from dpcalc.profiles.finer import budget_for
from dpcalc.profiles.grids import ROUNDED, SUM, budget_of, gridded, taken_apart
from dpcalc.profiles.law import QUADRATURE, TooLarge
from dpcalc.profiles.read import Reader, log_add, log_less, log_sum
from dpcalc.profiles.rounding import Grids
from dpcalc.profiles.sharper import NEAR, closer, sharper
from dpcalc.profiles.tilt import DEEPEST, Parts, chernoff, cumulants

_MOST_STEPS = 10**12  # beyond, rounding errors of T steps add up to more than the precision
_CUTS = 2
_LOOSE = 1e-4  # of δ, that errors of transforms may make of what is taken apart
_MANY = 50_000  # points of one step's grid: a finer one takes seconds
_FINER = (1 / 16, 1 / 256)  # of the precision, where the bracket turns out too wide
_SAME = 0.05  # of a tilt, relative
_ALONE = 0.05  # of ε: as near to what one loss alone makes, another tilt gains little
_KEPT = 1.3  # times an ε that is only aimed at: as large losses are not cut off
_USEFUL = 0.7  # of the width of a bracket, left over by a finer grid
_BEYOND, _LOST_IN_ERRORS = 2.0, 25.0  # how far, in ε, the mean by a tilt is seen to miss it; log of how much rarer it makes that ε
_UNSEEN = 0.01  # of what ε allows δ to change by, without a lower end: errors that are not looked at
_LOST = 0.1  # of log δ, above Chernoff's bound
_ALL_INFINITE = 20.0  # of log δ: as far above everything else infinite losses are all of δ
_TRIES, _CELLS = 2, 120_000  # finer grids; the most points of these
_WORTH = 2.2e5  # units of work, after which there is no other try
_EACH = 3e4  # units of work, beside those of transforms
_CUT, _CUT_MORE = 14.0, 10.0  # how far below log δ the log of what is cut off is
_LITTLE = 9.0  # the same, of what it makes δ larger by, that is not looked at again

Cuts = list[tuple[Cut, int]]  # with their counts


def epsilon_at(parts: Parts, log_delta: float, precision: float = PRECISION, bracket: bool = True, seen: float = SEEN,
               most: float = inf, whole: bool = False) -> Bracket:
    """The least ε with δ(ε) <= δ, from above and (with `bracket`) from below; inf where δ is below the infinite part.

    `seen` is the error of δ from which on rounding is looked at closely: a search may leave it; `most` is what grids may change log δ by;
    `whole` keeps steps from being taken apart (scales). Raises TooLarge where the composition does not fit in memory.
    """
    return _worse_direction(parts, _for_epsilon(log_delta, precision, bracket, seen, most, whole), bracket)


def _for_epsilon(log_delta: float, precision: float, bracket: bool, seen: float, most: float, whole: bool) -> Asked:
    return Asked(None, log_delta, precision, seen=seen, most=most, senseless=1.0 if bracket else ROUGHER, whole=whole)


def allowed(parts: Parts, log_delta: float, precision: float, most: float) -> float:
    """What grids may change log δ by where ε at δ is asked for, without a lower end."""
    question = _for_epsilon(log_delta, precision, False, SEEN, most, False)
    return question.budget(question.tilt_for(parts))


def log_delta_at(parts: Parts, epsilon: float, precision: float = PRECISION, bracket: bool = True, seen: float = SEEN,
                 rougher: float = 1.0, whole: bool = False) -> Bracket:
    """log δ at ε >= 0, from above and from below; by grids that may change it by as many times the precision. Raises TooLarge."""
    question = Asked(epsilon, None, precision, seen=seen, senseless=1.0 if bracket else ROUGHER, rougher=rougher, whole=whole)
    return _worse_direction(parts, question, bracket)


def _worse_direction(parts: Parts, question: Asked, bracket: bool) -> Bracket:
    """The larger of the two directions; the second is composed only where a Chernoff bound does not settle it."""
    if sum(count for _, count in parts) > _MOST_STEPS:
        raise TooLarge("too-large", f"profiles are composed for at most {_MOST_STEPS:g} steps, beyond which rounding would show")
    answer = _answer(parts, question, bracket)
    if question.epsilon == 0 or not any(pair.twin for pair, _ in parts):  # δ(0) is the total variation, the same in both directions
        return answer
    other, question = tuple((pair.twin or pair, count) for pair, count in parts), question._replace(whole=True)
    if _settled(other, question, answer):
        return answer
    second = _answer(other, question, False)
    if second.upper <= answer.upper:
        return answer
    if bracket:
        second = _answer(other, question, True)
    worse = max(answer, second, key=lambda b: b.upper)._replace(lower=max(answer.lower, second.lower))
    return worse if worse.upper == answer.upper else worse._replace(witness={**worse.witness, "reversed": 1})


def _settled(parts: Parts, question: Asked, answer: Bracket) -> bool:
    """Whether a Chernoff bound shows that this direction loses no more than the other one."""
    epsilon = question.epsilon if question.epsilon is not None else answer.upper
    log_delta = answer.upper if question.log_delta is None else question.log_delta
    if epsilon == inf or any(pair.log_infinite > -inf for pair, _ in parts):
        return False
    tilts = (answer.witness["tilt"] * 1.3**k for k in range(-2, 12))
    return any(chernoff(cumulants(parts, x), epsilon) + 1e-9 <= log_delta for x in tilts)


def _answer(parts: Parts, question: Asked, bracket: bool) -> Bracket:
    """One direction. Where ε is near 0, or δ is not small, the bracket can be wider than the change of log M says: it is
    computed on a finer grid then, as long as there is a lower value at all; atoms alone always get it. Where blocks of
    steps on a grid of very many points are composed first, it is their coarser grid that decides."""
    if any(pair.log_infinite == 0 for pair, _ in parts):
        return Bracket(*((inf, inf) if question.epsilon is None else (0.0, 0.0)), {"tilt": 1.0})
    if question.epsilon is not None and question.epsilon >= largest_loss(parts):
        infinite = log_infinite(parts)  # nothing else is above ε, and there is nothing to compose
        return Bracket(min(0.0, infinite + ROUNDING), infinite - ROUNDING - log(len(parts)), {"tilt": 1.0})
    answer, question = _by_best_tilt(parts, question, bracket)
    answer = _refined(parts, question, answer) if bracket else answer
    if question.log_delta is not None and log_infinite(parts) + ROUNDING <= question.log_delta:
        most = largest_loss(parts)  # above it δ is what is infinite
        answer = answer._replace(upper=min(answer.upper, most), lower=min(answer.lower, most))
    return answer


def _refined(parts: Parts, question: Asked, answer: Bracket) -> Bracket:
    """On finer grids, as long as they help."""
    for finer in _FINER:
        width = answer.upper - answer.lower
        allowed = question.precision * (2 if question.epsilon is not None else answer.upper)
        some = answer.lower > 0 if question.epsilon is None else width < 1
        if width <= allowed or _is_large(answer.witness) or not (some or all(not pair.pieces for pair, _ in parts)):
            break
        try:
            other = _at_tilt(parts, question._replace(precision=question.precision * finer), True)
        except TooLarge:
            break  # a wider bracket, and still one
        # Both are valid: the better ends of the two.
        answer = min(answer, other, key=lambda b: b.upper)._replace(lower=max(answer.lower, other.lower))
        if answer.upper - answer.lower > _USEFUL * width:
            break  # it is not the grid that makes it wide
    return answer


def _is_large(witness: dict[str, Any]) -> bool:
    """Whether blocks were composed first, of steps on a grid of very many points."""
    return "levels" in witness and max(points for _, _, points, *_ in witness["grids"]) > _MANY


def _by_best_tilt(parts: Parts, question: Asked, bracket: bool) -> tuple[Bracket, Asked]:
    """Where one rare loss may decide, by the tilt to its ε: the one from δ makes several typical, and magnifies rounding. Another one is
    tried, unless the first is seen to be close: to its lower end, or to what one loss alone makes; with the question that was best."""
    single = question.single(parts)
    if single is None:
        return _aimed_again(parts, question, _at_tilt(parts, question, bracket), bracket)
    aimed = question._replace(aim=single, most=question.most if bracket else question.precision)  # without a lower end δ is to be as near
    try:
        answer = _at_tilt(parts, aimed._replace(tight=bracket), bracket)
    except TooLarge:
        return _at_tilt(parts, question, bracket), question
    closest, allowed = (answer.lower, question.precision) if bracket else (single, _ALONE * min(1.0, question.precision / PRECISION))
    if answer.upper < inf and answer.upper - closest <= allowed * answer.upper:
        return answer, aimed
    if not bracket and 0 < answer.upper < inf:
        return _aimed(parts, aimed, answer, answer.upper, bracket)
    other = _at_tilt(parts, question, bracket)
    better = aimed if answer.upper < other.upper * (1 - question.precision / 4) else question
    return min(answer, other, key=lambda b: b.upper)._replace(lower=max(answer.lower, other.lower)), better


def _aimed_again(parts: Parts, question: Asked, answer: Bracket, bracket: bool) -> tuple[Bracket, Asked]:
    """Where the tilt from δ leads far beyond the ε that comes out, as next to the end of what the losses can reach, or so far that errors
    of transforms are all that is left there, once more by the tilt to that ε. Where no grid was of use, so that Chernoff's bound is the
    answer, by the tilt to the ε that one loss alone makes."""
    if question.epsilon is not None or any(pair.pieces for pair, _ in parts) or not 0 < answer.upper < inf:  # atoms are quickly done
        return answer, question
    if "chernoff" in answer.witness:
        single = tilt.of_single_loss(parts, question.log_delta or 0.0)
        return _aimed(parts, question, answer, single, bracket) if 0 < single < answer.upper else (answer, question)
    c = question.tilt_for(parts)
    beyond = answer.upper < c.mean / _BEYOND or c.tilt * (c.mean - answer.upper) > _LOST_IN_ERRORS
    return _aimed(parts, question, answer, answer.upper, bracket) if beyond else (answer, question)


def _aimed(parts: Parts, question: Asked, answer: Bracket, aim: float, bracket: bool) -> tuple[Bracket, Asked]:
    """The answer, or the one by the tilt to an ε, if that is another tilt: it may be the steepest of use already."""
    aimed = question._replace(aim=aim)
    other, before, held = aimed.tilt_for(parts).tilt, question.tilt_for(parts).tilt, answer.witness["tilt"]
    steepest_held = held < other and held < (1 - _SAME) * before
    if other == before or abs(log(other / held)) < _SAME or steepest_held:
        return answer, question
    try:
        again = _at_tilt(parts, aimed, bracket)
    except TooLarge:
        return answer, question
    if again.upper >= answer.upper:
        return answer._replace(lower=max(answer.lower, again.lower)), question
    return again._replace(lower=max(answer.lower, again.lower)), aimed


def _at_tilt(parts: Parts, question: Asked, bracket: bool) -> Bracket:
    """What is cut off is chosen from a rough δ; more, where the grid gets too large for memory with the little that is wanted."""
    try:
        return _cut_answer(parts, question, bracket, _CUT)
    except TooLarge:
        pass
    try:
        return _cut_answer(parts, question, bracket, _CUT_MORE)
    except TooLarge:
        if question.epsilon is None:
            if question.aim is None and (found := _chernoff_epsilon(parts, question, _CUT_MORE, inf)):
                return found
            raise
    return deep.log_delta(parts, question.tilt_for(parts), question.epsilon, _CUT_MORE)


def _cut_answer(parts: Parts, question: Asked, bracket: bool, depth: float) -> Bracket:
    """By a grid; by Chernoff's bound, where δ is too small for one, or that is as close as is wanted."""
    rough = question.tilt_for(parts)
    if question.epsilon is None:
        log_delta = question.log_delta or 0.0
        found = None if bracket else deep.close_epsilon(parts, rough, log_delta, depth, ROUNDED * question.budget(rough))
        if found:
            return found
        answer = _cut_again(parts, question, log_delta, bracket, depth)
        if question.aim is not None:
            return answer  # this tilt is tried, too
        found = _chernoff_epsilon(parts, question, depth, answer.upper)  # a grid may be too coarse for its tilt
        return found._replace(lower=answer.lower) if found and found.upper < answer.upper else answer
    infinite = log_infinite(parts)
    least = chernoff(rough, question.epsilon)
    if least < max(DEEPEST, infinite - _ALL_INFINITE):
        return deep.log_delta(parts, rough, question.epsilon, depth)._replace(lower=infinite - ROUNDING - log(len(parts)))
    answer = _cut_again(parts, question, question.log_delta_near(parts, rough), bracket, depth)
    if least < answer.upper - _LOST:
        by_moment = deep.log_delta(parts, rough, question.epsilon, depth)  # rounding errors of the transforms are above so small a δ
        return by_moment._replace(lower=answer.lower) if by_moment.upper < answer.upper else answer
    return answer


def _chernoff_epsilon(parts: Parts, question: Asked, depth: float, most: float) -> Bracket | None:
    """By Chernoff's bound, where that is below `most` and its grid fits in memory."""
    log_delta = question.log_delta or 0.0
    steep = tilt.of_least_epsilon(parts, question.tilt_for(parts), log_delta)
    try:
        return deep.epsilon(parts, steep, log_delta, depth) if tilt.least_epsilon(steep, log_delta) < most else None
    except TooLarge:
        return None


def _cut_again(parts: Parts, question: Asked, near: float, bracket: bool, depth: float) -> Bracket:
    """Cut again, where δ turns out to be much smaller than about e^near."""
    for _ in range(_CUTS):
        answer, gain = _attempt(parts, question, near - depth, bracket)
        log_delta = answer.upper if question.log_delta is None else question.log_delta
        if gain <= log_delta - min(0.8 * depth, _LITTLE) or (question.aim is not None and answer.upper == inf):
            break
        near = log_delta - 0.5 * depth
    return answer


def _attempt(parts: Parts, question: Asked, log_tail: float, bracket: bool) -> tuple[Bracket, float]:
    """The bracket, and the log of what δ gains at most by the losses that count as infinite. Without a lower end, on finer grids where
    δ turns out to fall far more steeply than the tilt: a change of log M says little about it then."""
    before = work.done()
    answer, gained, finer = _tried(parts, question, log_tail, bracket)
    for _ in range(0 if bracket else _TRIES):
        if finer == inf or work.done() - before > _WORTH:
            break
        question = question._replace(finer=finer, cells=_CELLS)
        try:
            other, gain, finer = _tried(parts, question, log_tail, False)
        except TooLarge:
            break
        gap = answer.upper - other.upper
        if gap > 0:
            answer, gained = other, gain
        if gap <= question.precision * (1.0 if question.epsilon is not None else answer.upper):
            break
    return answer, gained


def _tried(parts: Parts, question: Asked, log_tail: float, bracket: bool) -> tuple[Bracket, float, float]:
    """The same, by one try; and what budget of grids another one is to have. Without a lower end steps may be taken apart, unless the
    errors of transforms show then, which may be looked at closely otherwise."""
    cuts = _cuts(parts, question, log_tail)
    if not (bracket or question.whole) and (other := taken_apart(parts, _near(cuts), question)):
        try:
            answer, gained, loose, finer = _on_grids(other, question, _cuts(other, question, log_tail), False, True)
            epsilon = answer.upper if question.epsilon is None else question.epsilon
            senseless = ROUGHER * question.precision if epsilon > NO_PRIVACY else 0.0
            missed = question.aim is not None and answer.upper == inf  # this tilt is none for the question
            if loose < max(question.seen, _LOOSE, senseless) or missed or not closer(parts):
                return answer, gained, finer
        except TooLarge:
            pass  # as they are, they may fit
    answer, gained, _, finer = _on_grids(parts, question, cuts, bracket, False)
    return answer, gained, finer


def _cuts(parts: Parts, question: Asked, log_tail: float) -> Cuts:
    """The pairs without the losses whose mass is below that of `log_tail`, together, with their counts."""
    around, each = question.aimed, log_tail - log(sum(count for _, count in parts))
    kept = inf if around is None else around if question.aim is None else _KEPT * around
    return [(cut(pair, each, kept), count) for pair, count in parts]


def _near(cuts: Cuts) -> Parts:
    """The pairs that are left."""
    return tuple((x.pair, count) for x, count in cuts)


def _on_grids(parts: Parts, question: Asked, cuts: Cuts, bracket: bool, apart: bool) -> tuple[Bracket, float, float, float]:
    """The same, with the part of δ that errors of transforms are; of steps as they are, or of what is `apart` or in blocks of blocks."""
    work.count(_EACH)
    steps, near = sum(count for _, count in parts), _near(cuts)
    c, rounding, both = gridded(near, question.tilt_for(parts), question, bracket, apart)
    slack = {+1: rounding, -1: QUADRATURE * steps + SUM * abs(c.log_total)}
    low = both.misplaced
    snap = 2 * steps * snap_error(both.fine) + both.step * 1e-9  # of lower values
    infinite = log_infinite(near)

    def reader(grids: Grids, side: int) -> Reader:
        return Reader(power(grids), c.tilt, infinite, slack[side], side)

    def gain(epsilon: float) -> float:
        return log_sum(log(count) + x.log_gain(epsilon) for x, count in cuts)

    upper, below = reader(both.upper, +1), -inf
    if question.epsilon is None:
        above = upper.epsilon(question.log_delta or 0.0)
        seen = question.seen if bracket else max(question.seen, _UNSEEN * question.precision * c.fall)
        rare = sharper(near, both, upper, seen, above, question.log_delta)
        above = rare.between(above * NEAR, above, question.log_delta or 0.0) if rare else above
        above = (above + low) * (1 + 1e-14) if above > 0 else 0.0
        gained = gain(above)
        if bracket:
            below = reader(both.lower, -1).epsilon(log_add(question.log_delta or 0.0, gained) + ROUNDING) - snap
        below = max(0.0, below)
    else:
        above, gained = upper.log_delta(question.epsilon - low), gain(question.epsilon)
        rare = sharper(near, both, upper, question.seen, question.epsilon - low)
        above = min(above, rare.log_delta(question.epsilon - low)) if rare else above
        if bracket:
            below = log_less(reader(both.lower, -1).log_delta(question.epsilon + snap), gained + ROUNDING)
    at = above if question.epsilon is None else question.epsilon
    loose = upper.loose(at) if at < inf else inf
    told = witness(near, c, both) | ({"apart": max(loss for loss, _ in parts[1][0].atoms)} if apart and len(parts) > 1 else {})
    finer = inf if bracket else budget_for(question, upper, at, both, upper.grid.log_total - c.log_total)
    return Bracket(above, min(below, above), told), gained, loose, finer if finer < budget_of(question, c, rounding) else inf
