"""The rounding of single steps to a grid, or of blocks of them, that a budget allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.profiles.better import boxes, merged_cells, round_down
from dpcalc.profiles.convolve import DEPTH, MOST_POINTS, as_law, points, power
from dpcalc.profiles.law import TOO_LARGE, Grid, TooLarge, grid_edges, law, misplaced, round_up, round_up_whole
from dpcalc.profiles.pair import Pair
from dpcalc.profiles.tilt import Cumulants, Parts, log_peak, median

Grids = Sequence[tuple[Grid, int]]
_MOST_AT_ONCE = 1 << 19  # points of a transform, where blocks of steps are not composed first
_FIRST_POINTS = 1 << 17  # of the last transform where they are
_ROUNDS = 8
_COARSENINGS = 2  # of the step, each by 4, where the first grid does not fit in memory
_ENOUGH_CELLS = 150_000
_LEAST_CELLS, _MANY_STEPS = 4096, 50.0  # for samples: few steps need more than the change of log M says, and so many cost nothing
_LEAST, _MOST_CELLS = 256, 1 << 15  # for samples, whatever else is wanted
_SAMPLES_SHARE = 1 / 3  # of the budget, for samples
_FEW_STEPS = 10  # sums of whose largest losses are apart
_FEW_ATOMS = 8
_LARGEST_EXPONENT = 700.0
STEEP = 60.0  # of tilt times lattice step


class Level(NamedTuple):
    """Blocks of what a part consists of are composed first, and rounded to a coarser step, with these offsets."""

    block: int
    step: float
    offsets: tuple[float, ...]


class Rounded(NamedTuple):
    """What is composed last: grids of one step, with their counts; `fine` is the step that single losses were rounded to for `lower`."""

    upper: Grids
    lower: Grids
    step: float
    fine: float
    single: Grids  # of one step, from above
    misplaced: float  # by how much a sum of losses may be too low
    levels: Sequence[Sequence[Level]] = ()  # of each part

    @property
    def at_once(self) -> bool:
        """Whether all steps of a single part are composed before anything is rounded to a coarser grid."""
        return not self.coarser or (len(self.levels) == 1 == len(self.upper) and len(self.levels[0]) == 1 == self.upper[0][1])

    @property
    def coarser(self) -> bool:
        """Whether anything is."""
        return any(self.levels)


def rounded_to_budget(parts: Parts, c: Cumulants, budget: float, bracket: bool, tight: bool = True,
                      resolved: float = inf, coarser: float = 1.0, most: float = inf, over: float = inf) -> Rounded:
    """Grids whose rounding moves log δ by no more than the budget, where memory allows that; that of lower values only if `tight`.

    `resolved` is the step that tells the losses apart that decide, where they are rare: log M does not show what becomes of those. By
    `coarser` the grids are that where log M does not say how fine they need to be; `most` cells are enough. Raises TooLarge where memory
    leads to more than `over` times the budget.
    """
    steps = sum(count for _, count in parts)
    laws = [law(pair, c.tilt, 40.0) for pair, _ in parts]
    offsets = [median(x) for x in laws]
    depth = 38.0 + log(steps)
    lattice = lattice_of(parts)
    step = lattice or _first_step(c, steps, budget)
    samples = lattice is not None and _are_samples(parts)
    to_end: Callable[[float], float] = float
    if samples and steps <= _FEW_STEPS:
        offsets, to_end = [0.0], partial(_to_end, max(loss for loss, _ in parts[0][0].atoms))
    least = _LEAST_CELLS / (1 + steps / _MANY_STEPS) ** 0.5 / coarser
    if samples:
        budget, least = budget * _SAMPLES_SHARE, least if resolved == inf else 0.0
        step = max(min(resolved * coarser, _width(parts[0][0]) / _LEAST, STEEP / c.tilt), finest(parts))
        step = to_end(step)
    if over < inf and max(float(np.ptp(x.loss)) for x in laws) > 2 * _ENOUGH_CELLS * step:
        raise TooLarge(*TOO_LARGE)  # it would take long to see that
    step, (upper, lower, above, below) = first_round(parts, c.tilt, step, offsets, depth, bracket)
    for _ in range(_ROUNDS):
        cells = max(len(g.weight) for g, _ in upper)
        factor = _refinement(budget, above, below if tight else 0.0, cells)
        if samples and cells < 0.9 * least:
            factor = min(factor, cells / least)
        factor = max(factor, cells / most)
        if factor >= 1:
            break
        finer = to_end(step * factor)
        try:
            upper, lower, above, below = round_single(parts, c.tilt, finer, offsets, depth, bracket)
        except TooLarge:
            break  # a wider bracket, and still one
        step = finer
    size = points(upper)
    if size <= _MOST_AT_ONCE:
        return Rounded(upper, lower, step, step, upper, misplaced(upper))
    # Two levels: blocks of steps on a fine grid, the blocks on a coarse one, each for half of the budget.
    ratio = 2 * (size // _FIRST_POINTS) + 1  # odd: no fine grid point is halfway between two coarse ones
    block = ceil(steps * c.tilt * (1 + c.tilt) * (step * ratio) ** 2 / (3 * budget))
    while block > 1 and max(points([(g, min(block, n))], DEPTH + log(steps)) for g, n in upper) > MOST_POINTS:
        if tight and bracket:  # shorter blocks would round the upper value more often: the lower one does with a coarser grid
            return rounded_to_budget(parts, c, budget, bracket, False, resolved, coarser, most, over)
        block, over = max(1, block // 4), over / 4
    if over < 1:
        raise TooLarge(*TOO_LARGE)
    levels = [in_blocks([(g, count)], c.tilt, block, step * ratio) for g, count in upper]
    blocks = [unit for found, _ in levels for unit in found]
    low = [unit for g, count in lower for unit in in_blocks([(g, count)], c.tilt, block, step * ratio, _block_down)[0]]
    return Rounded(blocks, low, step * ratio, step, upper, misplaced(upper) + misplaced(blocks), [[level] for _, level in levels])


def _to_end(end: float, step: float) -> float:
    """A step, not longer, that leads from 0 to the largest loss: sums of both, which may decide where there are few, are not rounded."""
    return end / ceil(end / step) if 0 < step < end else step


def _width(pair: Pair) -> float:
    """From the smallest loss to the largest one, of atoms."""
    losses = [loss for loss, _ in pair.atoms]
    return max(losses) - min(losses)


def steepest(parts: Parts) -> float:
    """The largest tilt that is of use: all weight is on the largest loss by it, or would be on the last cell of samples. inf where a pair
    has a density."""
    lattice = lattice_of(parts)
    if not lattice:
        return inf
    return STEEP / max(lattice, finest(parts))


def finest(parts: Parts) -> float:
    """The least step of a grid for samples; 0 where there are none."""
    widths = (_width(pair) for pair, _ in parts if not pair.pieces and len(pair.atoms) > _FEW_ATOMS)
    return max(widths, default=0.0) / _MOST_CELLS


def _are_samples(parts: Parts) -> bool:
    """Of a profile: multiples of nothing. For one pair without a density."""
    return len(parts[0][0].atoms) > _FEW_ATOMS


def _first_step(c: Cumulants, steps: int, budget: float) -> float:
    if c.deviation == 0:
        return min(1.0, STEEP / c.tilt) if c.tilt > 0 else 1.0
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


def first_round(parts: Parts, tilt: float, step: float, offsets: Sequence[float], depth: float,
                 bracket: bool) -> tuple[float, tuple[Grids, Grids, float, float]]:
    """A rounding to the step wanted, or to the least that fits in memory."""
    for _ in range(_COARSENINGS):
        try:
            return step, round_single(parts, tilt, step, offsets, depth, bracket)
        except TooLarge:
            if tilt * step > STEEP:  # e^{λh} is near the end of doubles
                raise
            step *= 4
    return step, round_single(parts, tilt, step, offsets, depth, bracket)


def round_single(parts: Parts, tilt: float, step: float, offsets: Sequence[float], depth: float,
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


def in_blocks(units: Grids, tilt: float, block: int, step: float,
              rounding: Callable[[Grid, float, float], Grid] | None = None) -> tuple[Grids, Level]:
    """Blocks of the first of these units composed, and rounded to a coarser step; what is left over, with all others, is one too."""
    (unit, number), rest = units[0], units[1:]
    whole, left = divmod(number, block)
    found = [([(unit, block)], whole)] if whole else []
    if left or rest:
        found.append(([*([(unit, left)] if left else []), *rest], 1))
    rounding = rounding or _block_up
    blocks = [(rounding(power(grids, DEPTH + log(times)), tilt, step), times) for grids, times in found]
    return blocks, Level(block, step, tuple(g.offset for g, _ in blocks))


def _block_up(grid: Grid, tilt: float, step: float) -> Grid:
    if step > len(grid.weight) * grid.step:  # few losses, for which whole cells would be long
        return block_up(grid, tilt, step, _middle(grid))
    return _with_noise(grid, tilt, step, lambda: round_up_whole(grid, tilt, step, _median(grid)))


def block_up(grid: Grid, tilt: float, step: float, offset: float) -> Grid:
    """Rounded to any coarser grid, with its noise."""
    return _with_noise(grid, tilt, step, lambda: round_up(as_law(grid), tilt, step, offset))


def _with_noise(grid: Grid, tilt: float, step: float, coarser: Callable[[], Grid]) -> Grid:
    """With the noise of the fine grid: a weight gives at most `most`, and a coarse one gets at most that times the ratio of the steps, and
    h at both ends, the larger of the two shares' maxima; the ℓ2 norm grows by the root of the product at most. (`most` is
    e^{λ(1+λ)step²/8} by Hoeffding's lemma, once for e^{λY} and once for e^{−Y}, where Y is the place that a share gets to.)"""
    if (exponent := tilt * step + log_peak(tilt)) > _LARGEST_EXPONENT:
        raise TooLarge(*TOO_LARGE)  # a grid as coarse says nothing
    high = 1.0 if step <= log1p(1 / tilt) else exp(exponent) / -expm1(-step)
    most = min(1 + high, exp(min(tilt * (1 + tilt) * step * step / 8, _LARGEST_EXPONENT)))
    found = coarser()
    scale = exp(grid.log_total - found.log_total) * (1 + 1e-12)  # its weights are made to sum to 1
    return found._replace(noise=grid.noise * scale * sqrt(most * (most * step / grid.step + 2 * high)), defect=grid.defect * scale + 1e-16)


def _block_down(grid: Grid, tilt: float, step: float) -> Grid:
    return round_down(boxes(grid), tilt, step, _middle(grid))


def _middle(grid: Grid) -> float:
    """The median of a grid, whose losses rise."""
    return grid.offset + (grid.first + _median(grid)) * grid.step


def _median(grid: Grid) -> int:
    return int(np.cumsum(grid.weight).searchsorted(0.5))


def lattice_of(parts: Parts) -> float | None:
    """The distance between the two heaviest atoms, where a pair has nothing else: all atoms may be multiples of it."""
    if len(parts) != 1 or parts[0][0].pieces:
        return None
    atoms = sorted(parts[0][0].atoms, key=lambda a: -a[1])
    if parts[0][0].rest is not None:
        atoms.insert(0, (parts[0][0].rest, 0.0))
    return abs(atoms[0][0] - atoms[1][0]) if len(atoms) > 1 else None
