"""The discretized privacy loss distribution of one use on nested grids, from closed forms: weights for both bounds."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf, log
from typing import Any, NamedTuple

from dpcalc.verify.composition_plans import Level
from dpcalc.verify.directed_array import to_doubles
from dpcalc.verify.loss_distributions import Use, infinite_mass, masses_above, p_mass_up_to
from dpcalc.verify.nested_grids import Rounding, WeightedGrid, WeightedLevel


class SplitMasses(NamedTuple):
    """The weights p e^{λℓ} on the points of each level, the infinite mass under P, and the sum of all weights."""

    levels: list[list[Any]]
    infinite: Any
    moment: Any


def split_tilted(mp: Any, use: Use, grid: Sequence[Level], tilt: float) -> SplitMasses:
    """Discretize the losses for an upper bound. The result is a dominating pair ("connect the dots", Doroshenko et al.
    2022)."""
    levels, finer = [], None
    for level in grid:
        masses = [mp.mpf(0)] * (level.last - level.first + 1)
        for first, last in _ranges_outside(level, finer):
            points = [k * level.step for k in range(first, last + 1)]
            for k, mass in enumerate(_split_inside(mp, use, points), first - level.first):
                masses[k] += mass
        levels.append(masses)
        finer = level
    infinite = _split_outside(mp, use, levels[-1], grid[-1].first * grid[-1].step, grid[-1].last * grid[-1].step)
    weights = [[x * mp.exp(mp.mpf(tilt) * mp.mpf((level.first + k) * level.step)) for k, x in enumerate(masses)]
               for level, masses in zip(grid, levels, strict=True)]
    moment = mp.fsum(x for level in weights for x in level)
    return SplitMasses(weights, infinite, moment)


def split_between(mp: Any, use: Use, points: Sequence[float]) -> tuple[list[tuple[float, Any]], Any]:
    """Discretize the losses as `split_tilted` does, on arbitrary increasing points and without a tilt. Return the
    points with their masses, and the mass of the infinite loss."""
    masses = _split_inside(mp, use, points)
    infinite = _split_outside(mp, use, masses, points[0], points[-1])
    return list(zip(points, masses, strict=True)), infinite


def _split_inside(mp: Any, use: Use, points: Sequence[float]) -> list[Any]:
    """Return masses at increasing points: the masses under P and Q of each interval between two neighbours are split
    between the two such that both are preserved."""
    masses = [mp.mpf(0)] * len(points)
    p, q = masses_above(use, mp, mp.mpf(points[0]))
    for k, (a, b) in enumerate(pairwise(points)):
        p_next, q_next = masses_above(use, mp, mp.mpf(b))
        right = (p - p_next - (q - q_next) * mp.exp(mp.mpf(a))) / -mp.expm1(mp.mpf(a) - mp.mpf(b))
        masses[k] += p - p_next - right
        masses[k + 1] += right
        p, q = p_next, q_next
    return masses


def _split_outside(mp: Any, use: Use, masses: list[Any], lowest: float, highest: float) -> Any:
    """Move losses below the lowest point up to it, and split those above the highest one between that and ∞; return the
    mass of the infinite loss."""
    masses[0] += p_mass_up_to(use, mp, mp.mpf(lowest))
    p, q = masses_above(use, mp, mp.mpf(highest))
    at_highest = q * mp.exp(mp.mpf(highest))
    masses[-1] += at_highest
    return p - at_highest + infinite_mass(use, mp)


class MergedMasses(NamedTuple):
    """For each level, the weights of its cells under P and under Q, and the mean of the loss of a cell minus its grid
    point."""

    in_p: list[list[Any]]
    in_q: list[list[Any]]
    offsets: list[float]
    above: tuple[Any, Any]  # the masses above all cells: under P with the infinite losses, and under Q


def merge_tilted(mp: Any, use: Use, grid: Sequence[Level], tilt: float) -> MergedMasses:
    """Discretize the losses for a lower bound: all losses in the cell around a grid point ℓ become one outcome. Its
    weights are the mass under P times e^{λℓ}, and the mass under Q times e^{(λ+1)ℓ}. Merging is post-processing, so the
    pair dominates the result."""
    zero = mp.mpf(0)
    in_p, in_q, offsets, finer = [], [], [], None
    covered = inf, -inf  # ends of the cells so far
    for level in grid:
        p_row, q_row = ([zero] * (level.last - level.first + 1) for _ in "PQ")
        for first, edges in _cells_outside(level, finer, covered):
            covered = min(covered[0], edges[0]), max(covered[1], edges[-1])
            masses = [masses_above(use, mp, mp.mpf(x)) for x in edges]
            for k, ((p, q), (p_next, q_next)) in enumerate(pairwise(masses), first):
                point = mp.mpf(k * level.step)
                p_row[k - level.first] = (p - p_next) * mp.exp(mp.mpf(tilt) * point)
                q_row[k - level.first] = (q - q_next) * mp.exp((mp.mpf(tilt) + 1) * point)
        in_p.append(p_row)
        in_q.append(q_row)
        offsets.append(_mean_offset(p_row, q_row, level.step))
        finer = level
    p, q = masses_above(use, mp, mp.mpf(covered[1]))
    return MergedMasses(in_p, in_q, offsets, (p + infinite_mass(use, mp), q))


def _mean_offset(p_row: list[Any], q_row: list[Any], step: float) -> float:
    """Return the mean over the cells of log(P/Q) of their weights: the loss of a cell minus its grid point, truncated
    to a step on either side. It is an estimate in doubles, as any number is valid."""
    total = moment = 0.0
    for p, q in zip(p_row, q_row, strict=True):
        in_p, in_q = float(p), float(q)
        if in_p > 0 and in_q > 0:
            total += in_p
            moment += in_p * min(max(log(in_p / in_q), -step), step)
    return moment / total if total else 0.0


def to_weighted_grid(mp: Any, grid: Sequence[Level], rows: Sequence[list[list[Any]]], moments: Sequence[Any],
                     rounding: Rounding, offsets: Sequence[float] | None = None) -> WeightedGrid:
    """Divide the weights of each row by its moment, and round them to doubles."""
    levels = []
    for j, level in enumerate(grid):
        weights = tuple(to_doubles(mp, (x / moment for x in row[j]), up)
                        for row, moment, up in zip(rows, moments, rounding.up, strict=True))
        levels.append(WeightedLevel(level.step, level.first, weights, 0.0, offsets[j] if offsets else 0.0))
    return tuple(levels)


def _ranges_outside(level: Level, finer: Level | None) -> Iterator[tuple[int, int]]:
    """Yield the first and the last point of each range of a level that the next finer level does not cover."""
    if finer is None:
        yield level.first, level.last
        return
    ratio = round(level.step / finer.step)
    yield level.first, finer.first // ratio
    yield finer.last // ratio, level.last


def _cells_outside(level: Level, finer: Level | None, covered: tuple[float, float],
                   ) -> Iterator[tuple[int, list[float]]]:
    """Yield, for each range of a level that the next finer level does not cover, its first point and the edges of the
    cells around all its points, up to those of the finer levels, which cover the losses between the given ends."""
    h = level.step

    def edges_below(first: int, last: int) -> list[float]:
        return [(k - 0.5) * h for k in range(first, last + 1)]

    if finer is None:
        yield level.first, edges_below(level.first, level.last + 1)
        return
    ratio = round(h / finer.step)
    left, right = finer.first // ratio - 1, finer.last // ratio + 1
    if level.first <= left:
        yield level.first, [*edges_below(level.first, left), covered[0]]
    if right <= level.last:
        yield right, [covered[1], *edges_below(right + 1, level.last + 1)]
