"""ε at δ and δ at ε of a composition of dominating pairs: an upper bound, and a lower bound that says how tight it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.profiles.convolve import DEPTH, MOST_POINTS, as_law, points, power
from dpcalc.profiles.law import QUADRATURE, Grid, TooLarge, boxes, cut, grid_edges, law, merged_cells, round_down, round_up, snap_error
from dpcalc.profiles.pair import Pair
from dpcalc.profiles.read import Reader
from dpcalc.profiles.tilt import Cumulants, chernoff, cumulants, for_delta, for_epsilon, median

Parts = Sequence[tuple[Pair, int]]
Grids = Sequence[tuple[Grid, int]]
PRECISION = 1e-3
_MOST_STEPS = 10**12  # beyond, rounding errors of T steps add up to more than the precision
_MOST_AT_ONCE = 1 << 19  # points of a transform, where blocks of steps are not composed first
_FIRST_POINTS = 1 << 17  # of the last transform where they are
_ROUNDS = 8
_COARSENINGS = 2  # of the step, each by 4, where the first grid does not fit in memory
_ENOUGH_CELLS = 150_000
_CUTS = 2
_FINER = (1 / 16, 1 / 256)  # of the precision, where the bracket turns out too wide
_FEW_ATOMS = 8
_STEEP = 60.0  # of tilt times lattice step
_ROUNDING = 1e-12  # more than what the logarithms of masses, which are at most 745, are off
_CUT, _CUT_MORE = 14.0, 10.0  # how far below log δ the log of what is cut off is


class Bracket(NamedTuple):
    """upper is a guarantee; no number below lower is one (−inf where it was not asked for). ε or log δ."""

    upper: float
    lower: float
    witness: dict[str, Any]


class _Question(NamedTuple):
    """One of ε and log δ; the other is asked for."""

    epsilon: float | None
    log_delta: float | None
    precision: float

    def tilt(self, parts: Parts) -> Cumulants:
        return for_epsilon(parts, self.epsilon) if self.epsilon is not None else for_delta(parts, self.log_delta or 0.0)

    def read(self, reader: Reader) -> float:
        return reader.log_delta(self.epsilon) if self.epsilon is not None else reader.epsilon(self.log_delta or 0.0)

    def log_delta_near(self, c: Cumulants) -> float:
        """log δ, roughly."""
        if self.epsilon is not None:
            return min(0.0, c.log_total - c.tilt * self.epsilon - c.prefactor)
        return self.log_delta or 0.0

    def budget(self, c: Cumulants) -> float:
        """The change of log δ that the precision allows."""
        if self.epsilon is not None:
            return self.precision
        slope = c.tilt + 0.3 / c.deviation if c.deviation > 0 else c.tilt
        return self.precision * slope * max(c.mean, 0.02 * c.deviation)


def epsilon_at(parts: Parts, log_delta: float, precision: float = PRECISION, bracket: bool = True) -> Bracket:
    """The least ε with δ(ε) <= δ, from above and (with `bracket`) from below; inf where δ is below the infinite part.

    Raises TooLarge where the composition does not fit in memory.
    """
    return _worse_direction(parts, _Question(None, log_delta, precision), bracket)


def log_delta_at(parts: Parts, epsilon: float, precision: float = PRECISION, bracket: bool = True) -> Bracket:
    """log δ at ε >= 0, from above and from below. Raises TooLarge."""
    return _worse_direction(parts, _Question(epsilon, None, precision), bracket)


def _worse_direction(parts: Parts, question: _Question, bracket: bool) -> Bracket:
    """The larger of the two directions; the second is composed only where a Chernoff bound does not settle it."""
    if sum(count for _, count in parts) > _MOST_STEPS:
        raise TooLarge("too-large", f"profiles are composed for at most {_MOST_STEPS:g} steps, beyond which rounding would show")
    answer = _answer(parts, question, bracket)
    if not any(pair.twin for pair, _ in parts):
        return answer
    other = tuple((pair.twin or pair, count) for pair, count in parts)
    if _settled(other, question, answer):
        return answer
    second = _answer(other, question, False)
    if second.upper <= answer.upper:
        return answer
    if bracket:
        second = _answer(other, question, True)
    worse = max(answer, second, key=lambda b: b.upper)._replace(lower=max(answer.lower, second.lower))
    return worse if worse.upper == answer.upper else worse._replace(witness={**worse.witness, "reversed": 1})


def _settled(parts: Parts, question: _Question, answer: Bracket) -> bool:
    """Whether a Chernoff bound shows that this direction loses no more than the other one."""
    epsilon = question.epsilon if question.epsilon is not None else answer.upper
    log_delta = answer.upper if question.log_delta is None else question.log_delta
    if epsilon == inf or any(pair.log_infinite > -inf for pair, _ in parts):
        return False
    tilts = (answer.witness["tilt"] * 1.3**k for k in range(-2, 12))
    return any(chernoff(cumulants(parts, tilt), epsilon) + 1e-9 <= log_delta for tilt in tilts)


def _answer(parts: Parts, question: _Question, bracket: bool) -> Bracket:
    """One direction. Where ε is near 0, or δ is not small, the bracket can be wider than the change of log M says: it is
    computed on a finer grid then, as long as there is a lower value at all; atoms alone always get it."""
    if any(pair.log_infinite == 0 for pair, _ in parts):
        return Bracket(*((inf, inf) if question.epsilon is None else (0.0, 0.0)), {"tilt": 1.0, "step": 0.0})
    if question.epsilon is not None and question.epsilon >= _largest_loss(parts):
        infinite = _log_infinite(parts)  # nothing else is above ε, and there is nothing to compose
        return Bracket(min(0.0, infinite + _ROUNDING), infinite - _ROUNDING - log(len(parts)), {"tilt": 1.0, "step": 0.0})
    answer = _answer_once(parts, question, bracket)
    for finer in _FINER if bracket else ():
        width = answer.upper - answer.lower
        allowed = question.precision * (2 if question.epsilon is not None else answer.upper)
        some = answer.lower > 0 if question.epsilon is None else width < 1
        if width <= allowed or not (some or all(not pair.pieces for pair, _ in parts)):
            break
        other = _answer_once(parts, question._replace(precision=question.precision * finer), bracket)
        # Both are valid: the better ends of the two.
        answer = min(answer, other, key=lambda b: b.upper)._replace(lower=max(answer.lower, other.lower))
    return answer


def _answer_once(parts: Parts, question: _Question, bracket: bool) -> Bracket:
    """What is cut off is chosen from a rough δ; more, where the grid gets too large for memory with the little that is wanted."""
    try:
        return _cut_answer(parts, question, bracket, _CUT)
    except TooLarge:
        return _cut_answer(parts, question, bracket, _CUT_MORE)


def _cut_answer(parts: Parts, question: _Question, bracket: bool, depth: float) -> Bracket:
    """Cut again, where δ turns out to be much smaller than the rough one."""
    near = question.log_delta_near(question.tilt(parts))
    for _ in range(_CUTS):
        answer, infinite = _attempt(parts, question, near - depth, bracket)
        log_delta = answer.upper if question.log_delta is None else question.log_delta
        if infinite <= log_delta - 0.8 * depth or infinite <= _log_infinite(parts) + 1e-3:
            break
        near = log_delta - 0.5 * depth
    return answer


def _attempt(parts: Parts, question: _Question, log_tail: float, bracket: bool) -> tuple[Bracket, float]:
    """The bracket, and the log of the part of δ that is due to infinite losses."""
    steps = sum(count for _, count in parts)
    near = tuple((cut(pair, log_tail - log(steps)), count) for pair, count in parts)
    c = question.tilt(near)
    lattice = _lattice(near)
    if lattice and c.tilt * lattice > _STEEP:  # all weight is on the largest loss already
        c = cumulants(near, _STEEP / lattice)
    both = _rounded_to_budget(near, c, 0.7 * question.budget(c), bracket)
    slack = QUADRATURE * steps + 4e-16 * abs(c.log_total)
    snap = 2 * steps * snap_error(both.fine) + both.step * 1e-9

    def read(grids: Grids, infinite: float, side: int) -> float:
        return question.read(Reader(power(grids), c.tilt, infinite, slack, side))

    infinite = _log_infinite(near)
    above = read(both.upper, infinite, +1)
    below = read(both.lower, _log_infinite(parts), -1) if bracket else -inf
    if question.epsilon is None:
        above, below = (above + snap) * (1 + 1e-14) if above > 0 else 0.0, max(0.0, below - snap)
    else:
        above, below = min(0.0, above + snap * (c.tilt + 1)), below - snap * (c.tilt + 1)
    return Bracket(above, min(below, above), _witness(near, c, both)), infinite


def _witness(parts: Parts, c: Cumulants, rounded: _Rounded) -> dict[str, Any]:
    """The free choices behind an upper value: the tilt; of each part the grid (offset, first point, points) that its losses are rounded
    to and the loss above which they count as infinite; the blocks that are composed first, if any, and their grids' offsets."""
    grids = [[g.offset, g.first, len(g.weight), pair.top] for (g, _), (pair, _) in zip(rounded.single, parts, strict=True)]
    found = {"tilt": c.tilt, "step": rounded.fine, "grids": [[x if x < inf else "inf" for x in g] for g in grids]}
    if rounded.block:
        found |= {"block": rounded.block, "coarse": rounded.step, "offsets": [g.offset for g, _ in rounded.upper]}
    return found


def _largest_loss(parts: Parts) -> float:
    """No finite loss of the composition is above it; inf where a pair has more than atoms."""
    if any(pair.pieces for pair, _ in parts):
        return inf
    each = ((max([loss for loss, _ in pair.atoms] + ([] if pair.rest is None else [pair.rest]), default=0.0), n) for pair, n in parts)
    return sum(n * (loss + _ROUNDING) for loss, n in each)


def _log_infinite(parts: Parts) -> float:
    """log(1 − Π(1 − P_i(∞)))."""
    finite = 0.0
    for pair, count in parts:
        if pair.log_infinite == 0:
            return 0.0
        if pair.log_infinite > -inf:
            finite += count * log1p(-exp(pair.log_infinite))
    if finite > -1e-300:  # too small for 1 − P: the sum of the parts is an upper bound
        logs = [log(count) + pair.log_infinite for pair, count in parts if pair.log_infinite > -inf]
        return max(logs) + log(len(logs)) if logs else -inf
    return log(-expm1(finite))


# --- the rounding of single steps, or of blocks of them --------------------------------------------------------------


class _Rounded(NamedTuple):
    """What is composed last: grids of one step, with their counts; `fine` is the step that single losses were rounded to."""

    upper: Grids
    lower: Grids
    step: float
    fine: float
    single: Grids  # of one step, from above
    block: int = 0  # steps that are composed first


def _rounded_to_budget(parts: Parts, c: Cumulants, budget: float, bracket: bool) -> _Rounded:
    """Grids whose rounding moves log δ by no more than the budget, where memory allows that."""
    steps = sum(count for _, count in parts)
    offsets = [median(law(pair, c.tilt, 40.0)) for pair, _ in parts]
    depth = 38.0 + log(steps)
    lattice = _lattice(parts)
    step = lattice or _first_step(c, steps, budget)
    if lattice and len(parts[0][0].atoms) > _FEW_ATOMS:  # samples of a profile, multiples of nothing
        step = max(step, _first_step(c, steps, budget))
    step, (upper, lower, above, below) = _first_round(parts, c.tilt, step, offsets, depth, bracket)
    for _ in range(_ROUNDS):
        factor = _refinement(budget, above, below, max(len(g.weight) for g, _ in upper))
        if factor == 1:
            break
        try:
            upper, lower, above, below = _round(parts, c.tilt, step * factor, offsets, depth, bracket)
        except TooLarge:
            break  # a wider bracket, and still one
        step *= factor
    size = points(upper)
    if size <= _MOST_AT_ONCE:
        return _Rounded(upper, lower, step, step, upper)
    # Two levels: blocks of steps on a fine grid, the blocks on a coarse one, each for half of the budget.
    ratio = 2 * (size // _FIRST_POINTS) + 1  # odd: no fine grid point is halfway between two coarse ones
    block = ceil(steps * c.tilt * (1 + c.tilt) * (step * ratio) ** 2 / (3 * budget))
    while block > 1 and max(points([(g, min(block, n))], DEPTH + log(steps)) for g, n in upper) > MOST_POINTS:
        block = max(1, block // 4)
    return _Rounded(_blocks(upper, c.tilt, block, ratio, _block_up), _blocks(lower, c.tilt, block, ratio, _block_down),
                    step * ratio, step, upper, block)


def _first_step(c: Cumulants, steps: int, budget: float) -> float:
    if c.deviation == 0:
        return min(1.0, _STEEP / c.tilt) if c.tilt > 0 else 1.0
    # Splitting adds up to h²/4 of variance a step, which moves log M by λ(λ+1)/2 of it; h stays below the spread of a step.
    return min(sqrt(5 * budget / (steps * c.tilt * (1 + c.tilt))), 5 * sqrt(budget / steps) * c.deviation)


def _refinement(budget: float, above: float, below: float, cells: int) -> float:
    """The factor for the next step; 1: fine enough. Where a density has sharp ends the lower value wants a finer grid than
    the upper one: it gets it while that is cheap."""
    if above + below <= budget:
        return 1.0
    factor = max(0.1, min(0.85, sqrt(0.8 * budget / (above + below))))
    if cells / factor < _ENOUGH_CELLS:
        return factor
    return 1.0 if above <= budget / 2 else max(0.1, min(0.85, sqrt(0.4 * budget / above)))


def _first_round(parts: Parts, tilt: float, step: float, offsets: Sequence[float], depth: float,
                 bracket: bool) -> tuple[float, tuple[Grids, Grids, float, float]]:
    """A rounding to the step wanted, or to the least that fits in memory."""
    for _ in range(_COARSENINGS):
        try:
            return step, _round(parts, tilt, step, offsets, depth, bracket)
        except TooLarge:
            step *= 4
    return step, _round(parts, tilt, step, offsets, depth, bracket)


def _round(parts: Parts, tilt: float, step: float, offsets: Sequence[float], depth: float,
           bracket: bool) -> tuple[Grids, Grids, float, float]:
    """Single steps rounded up and down, and by how much that moves log M of their composition up and down."""
    upper, lower, above, below = [], [], 0.0, 0.0
    for (pair, count), offset in zip(parts, offsets, strict=True):
        edges = grid_edges(pair, tilt, depth, step / 2, offset)
        x = law(pair, tilt, depth, edges)
        up = round_up(x, tilt, step, offset)
        above += count * (up.log_total - x.log_total)
        upper.append((up, count))
        if bracket:
            down = round_down(merged_cells(pair, x, tilt, edges), tilt, step, offset)
            below += count * (x.log_total - down.log_total)
            lower.append((down, count))
    return upper, lower, above, below


def _blocks(grids: Grids, tilt: float, block: int, ratio: int, rounding: Callable[[Grid, float, float], Grid]) -> Grids:
    """Blocks of steps composed, and rounded to a grid that is coarser by the ratio; what is left over is a block too."""
    blocks = []
    for grid, count in grids:
        whole, rest = divmod(count, block)
        for size, times in ((block, whole), (rest, 1)):
            if size and times:
                composed = power([(grid, size)], DEPTH + log(times))
                blocks.append((rounding(composed, tilt, grid.step * ratio), times))
    return blocks


def _block_up(grid: Grid, tilt: float, step: float) -> Grid:
    x = as_law(grid)
    return round_up(x, tilt, step, median(x))


def _block_down(grid: Grid, tilt: float, step: float) -> Grid:
    return round_down(boxes(grid), tilt, step, median(as_law(grid)))


def _lattice(parts: Parts) -> float | None:
    """The distance between the two heaviest atoms, where a pair has nothing else: all atoms may be multiples of it."""
    if len(parts) != 1 or parts[0][0].pieces:
        return None
    atoms = sorted(parts[0][0].atoms, key=lambda a: -a[1])
    if parts[0][0].rest is not None:
        atoms.insert(0, (parts[0][0].rest, 0.0))
    return abs(atoms[0][0] - atoms[1][0]) if len(atoms) > 1 else None
