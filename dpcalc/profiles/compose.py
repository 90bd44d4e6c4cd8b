"""ε at δ and δ at ε of a composition of dominating pairs: an upper bound, and a lower bound that says how tight it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple

from dpcalc.profiles.convolve import DEPTH, MOST_POINTS, as_law, points, power
from dpcalc.profiles.law import QUADRATURE, Grid, Law, TooLarge, balanced_edges, cut, grid_edges, law, round_down, round_up, snap_error
from dpcalc.profiles.pair import Pair
from dpcalc.profiles.read import Reader
from dpcalc.profiles.tilt import Cumulants, chernoff, for_delta, for_epsilon, median

Parts = Sequence[tuple[Pair, int]]
Rounding = Callable[[Law, float, float, float], Grid]
PRECISION = 1e-3
_MOST_STEPS = 10**12  # beyond, rounding errors of T steps add up to more than the precision
_FIRST_POINTS = 1 << 18  # of the last transform where a first one composes blocks of steps
_ROUNDS = 8
_CUT = 20.0  # how far below log δ the log of what is cut off is


class Bracket(NamedTuple):
    """upper is a guarantee; no number below lower is one (−inf where it was not asked for). ε or log δ."""

    upper: float
    lower: float
    witness: dict[str, float]


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
        return self.log_delta if self.log_delta is not None else -max(c.rate, 0.0) - c.prefactor

    def budget(self, c: Cumulants) -> float:
        """The change of log δ that the precision allows."""
        if self.epsilon is not None:
            return self.precision
        slope = c.tilt + 0.3 / c.deviation if c.deviation > 0 else c.tilt
        return self.precision * slope * max(c.mean, 0.02 * c.deviation)


class _Plan(NamedTuple):
    """The free choices: the tilt, the step of the last grid, and the blocks of steps composed on a finer one first."""

    tilt: float
    step: float
    block: int = 1
    fine: float = 0.0


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
        raise TooLarge("no-solution", f"more than {_MOST_STEPS:g} steps")
    answer = _answer(parts, question, bracket)
    if not any(pair.twin for pair, _ in parts):
        return answer
    other = tuple((pair.twin or pair, count) for pair, count in parts)
    if _settled(other, question, answer.upper):
        return answer
    second = _answer(other, question, bracket)
    best = max(answer, second, key=lambda b: b.upper)
    return best._replace(lower=max(answer.lower, second.lower))


def _settled(parts: Parts, question: _Question, upper: float) -> bool:
    epsilon = question.epsilon if question.epsilon is not None else upper
    log_delta = upper if question.log_delta is None else question.log_delta
    if epsilon == inf or any(pair.log_infinite > -inf for pair, _ in parts):
        return False
    return chernoff(for_epsilon(parts, epsilon), epsilon) + 1e-9 <= log_delta


def _answer(parts: Parts, question: _Question, bracket: bool) -> Bracket:
    c = question.tilt(parts)
    steps = sum(count for _, count in parts)
    tail = question.log_delta_near(c) - _CUT - log(steps)
    near = tuple((cut(pair, tail), count) for pair, count in parts)
    plan, upper, lower = _plan(near, question.tilt(near), question)
    slack = QUADRATURE * steps + 4e-16 * abs(c.log_total)

    def read(grids: Sequence[tuple[Grid, int]], side: int) -> float:
        infinite = _log_infinite(near if side > 0 else parts)
        return question.read(Reader(_sum(grids), plan.tilt, infinite, slack, side))

    snap = steps * snap_error(plan.fine or plan.step) + plan.step * 1e-9
    above = read(_blocks(upper, plan, round_up), +1)
    below = read(_blocks(lower, plan, round_down), -1) if bracket else -inf
    if question.epsilon is None:
        above, below = (above + snap) * (1 + 1e-14) if above > 0 else 0.0, max(0.0, below - snap)
    else:
        above, below = min(0.0, above + snap * (plan.tilt + 1)), below - snap * (plan.tilt + 1)
    return Bracket(above, min(below, above), {"tilt": plan.tilt, "step": plan.step})


def _sum(grids: Sequence[tuple[Grid, int]]) -> Grid:
    return power(grids)


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


def _plan(parts: Parts, c: Cumulants, question: _Question) -> tuple[_Plan, list[tuple[Grid, int]], list[tuple[Grid, int]]]:
    """A step whose rounding costs about what the precision allows, and the single steps rounded to it."""
    steps = sum(count for _, count in parts)
    budget = 0.8 * question.budget(c)
    tilt = c.tilt
    offsets = [median(law(pair, tilt, 40.0)) for pair, _ in parts]
    depth = 38.0 + log(steps)
    step = _lattice(parts) or sqrt(8 * budget / (steps * tilt * (1 + tilt)))
    for _ in range(_ROUNDS):
        upper, lower, excess = _rounded(parts, tilt, step, offsets, depth)
        if excess <= budget:
            break
        step *= max(0.1, min(0.85, sqrt(0.8 * budget / excess)))
    return _Plan(tilt, step), upper, lower


def _rounded(parts: Parts, tilt: float, step: float, offsets: Sequence[float], depth: float,
             ) -> tuple[list[tuple[Grid, int]], list[tuple[Grid, int]], float]:
    upper, lower, excess = [], [], 0.0
    for (pair, count), offset in zip(parts, offsets, strict=True):
        grid = grid_edges(pair, tilt, depth, step, offset)
        x = law(pair, tilt, depth, grid)
        up = round_up(x, tilt, step, offset)
        edges = balanced_edges(x, tilt, step, grid)
        down = round_down(law(pair, tilt, depth, edges), tilt, edges, step, offset, int(round((grid[1] - offset) / step)))
        excess += count * (up.log_total - down.log_total)
        upper.append((up, count))
        lower.append((down, count))
    return upper, lower, excess


def _lattice(parts: Parts) -> float | None:
    """The distance between the two heaviest atoms, where a pair has nothing else: all atoms may be multiples of it."""
    if len(parts) != 1 or parts[0][0].pieces:
        return None
    atoms = sorted(parts[0][0].atoms, key=lambda a: -a[1])
    if parts[0][0].rest is not None:
        atoms.insert(0, (parts[0][0].rest, 0.0))
    return abs(atoms[0][0] - atoms[1][0]) if len(atoms) > 1 else None


def _blocks(grids: Sequence[tuple[Grid, int]], plan: _Plan, rounding: Rounding) -> Sequence[tuple[Grid, int]]:
    return grids
