"""The masses of one use between the points of nested grids, from closed forms (laws.py), as weights of laws for upper
and lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import log
from typing import Any, NamedTuple

from dpcalc.verify import composition_gaussian_cells, loss_laws
from dpcalc.verify.composition_plans import Level
from dpcalc.verify.loss_laws import Use
from dpcalc.verify.multiscale import Law, Points, Rounding

KNOWN = 2.0**-56  # of all weight, that balls may leave open: less than 1e-10 of it in a sum of a million losses
Above = Callable[[Any], tuple[Any, Any]]  # a loss → the masses under P and Q of larger finite ones


class Split(NamedTuple):
    """Weights p e^{λℓ} on the points of each level, the P-mass that is infinite, and the sum of all weights."""

    levels: list[list[Any]]
    infinite: Any
    moment: Any


def split(mp: Any, use: Use, grid: Sequence[Level], tilt: float) -> Split:
    """Every loss is split between its neighbours on the grid so that the masses of its cell under P and under Q stay: a
    worse pair (Doroshenko et al. 2022, "connect the dots"). What is above the last point is split between that and ∞;
    what is below the first one moves up to it."""
    above, zero = _above(mp, use), mp.mpf(0)
    found, inside = [], None
    for level in grid:
        masses = [zero] * (level.last - level.first + 1)
        shrink = -mp.expm1(-mp.mpf(level.step))
        for first, last in _runs(level, inside):
            p, q = above(mp.mpf(first * level.step))
            for k in range(first, last):
                p_next, q_next = above(mp.mpf((k + 1) * level.step))
                mass = p - p_next
                right = (mass - (q - q_next) * mp.exp(mp.mpf(k * level.step))) / shrink
                masses[k - level.first] += mass - right
                masses[k - level.first + 1] += right
                p, q = p_next, q_next
        found.append(masses)
        inside = level
    lowest, highest = grid[-1].first * grid[-1].step, grid[-1].last * grid[-1].step
    found[-1][0] += loss_laws.below(use, mp, mp.mpf(lowest))
    p, q = above(mp.mpf(highest))
    at_highest = q * mp.exp(mp.mpf(highest))
    found[-1][-1] += at_highest
    weights = [[x * mp.exp(mp.mpf(tilt) * mp.mpf((level.first + k) * level.step)) for k, x in enumerate(masses)]
               for level, masses in zip(grid, found, strict=True)]
    moment = mp.fsum(x for level in weights for x in level)
    return Split(weights, p - at_highest + loss_laws.infinite(use, mp), moment)


def split_between(mp: Any, use: Use, edges: Sequence[float]) -> tuple[list[tuple[float, Any]], Any]:
    """The same on any points, untilted: the masses at them, and what is infinite."""
    above = _above(mp, use)
    masses = [mp.mpf(0)] * len(edges)
    masses[0] += loss_laws.below(use, mp, mp.mpf(edges[0]))
    p, q = above(mp.mpf(edges[0]))
    for k, (a, b) in enumerate(pairwise(edges)):
        p_next, q_next = above(mp.mpf(b))
        right = (p - p_next - (q - q_next) * mp.exp(mp.mpf(a))) / -mp.expm1(mp.mpf(a) - mp.mpf(b))
        masses[k] += p - p_next - right
        masses[k + 1] += right
        p, q = p_next, q_next
    at_highest = q * mp.exp(mp.mpf(edges[-1]))
    masses[-1] += at_highest
    return list(zip(edges, masses, strict=True)), p - at_highest + loss_laws.infinite(use, mp)


class Merged(NamedTuple):
    """Of each level the weights under P and under Q, and how far above the points the losses are on average."""

    in_p: list[list[Any]]
    in_q: list[list[Any]]
    offsets: list[float]
    above: tuple[Any, Any]  # the masses under P, with infinite losses, and under Q of what is above all cells


def merged(mp: Any, use: Use, grid: Sequence[Level], tilt: float) -> Merged:
    """The masses under P, times e^{λℓ}, and under Q, times e^{(λ+1)ℓ}, of the cells around the points ℓ of each level.
    Merging is post-processing."""
    above, zero = _above(mp, use), mp.mpf(0)
    in_p, in_q, offsets, inside = [], [], [], None
    for level in grid:
        p_row, q_row = ([zero] * (level.last - level.first + 1) for _ in "PQ")
        for first, edges in _cells(level, inside):
            for k, ((p, q), (p_next, q_next)) in enumerate(pairwise([above(mp.mpf(x)) for x in edges]), first):
                place = mp.mpf(k * level.step)
                p_row[k - level.first] = (p - p_next) * mp.exp(mp.mpf(tilt) * place)
                q_row[k - level.first] = (q - q_next) * mp.exp(mp.mpf(tilt + 1) * place)
        in_p.append(p_row)
        in_q.append(q_row)
        offsets.append(_mean_place(p_row, q_row, level.step))
        inside = level
    p, q = above(mp.mpf((grid[-1].last + 0.5) * grid[-1].step))
    return Merged(in_p, in_q, offsets, (p + loss_laws.infinite(use, mp), q))


def _mean_place(p_row: list[Any], q_row: list[Any], step: float) -> float:
    """Of log(P/Q), above the points, within a step of them; any number is valid."""
    total = moment = 0.0
    for p, q in zip(p_row, q_row, strict=True):
        weight, other = float(p), float(q)
        if weight > 0 and other > 0:
            total += weight
            moment += weight * min(max(log(weight / other), -step), step)
    return moment / total if total else 0.0


def as_law(mp: Any, grid: Sequence[Level], rows: Sequence[list[list[Any]]], moments: Sequence[Any], rounding: Rounding,
           offsets: Sequence[float] | None = None) -> Law:
    """Whole units of every weight, relative to the moments."""
    found = []
    for j, level in enumerate(grid):
        weights = tuple([units(mp, x / moment, rounding.bits, up) for x in row[j]]
                      for row, moment, up in zip(rows, moments, rounding.up, strict=True))
        found.append(Points(level.step, level.first, weights, 0, offsets[j] if offsets else 0.0))
    return tuple(found)


def _above(mp: Any, use: Use) -> Above:
    if composition_gaussian_cells.applies(mp, use):
        fast = composition_gaussian_cells.above(mp, use)
        return lambda loss: tuple(mp.mpf(x) for x in fast(loss.x))
    return lambda loss: loss_laws.above(use, mp, loss)


def _runs(level: Level, inside: Level | None) -> Iterator[tuple[int, int]]:
    """From which to which point the cells of a level go, beside those of the finer one within."""
    if inside is None:
        yield level.first, level.last
        return
    ratio = round(level.step / inside.step)
    yield level.first, inside.first // ratio
    yield inside.last // ratio, level.last


def _cells(level: Level, inside: Level | None) -> Iterator[tuple[int, list[float]]]:
    """The first points of the same runs, and the edges halfway between points."""
    h = level.step

    def halfway(first: int, last: int) -> list[float]:
        """Below the points from the first to the last one."""
        return [(k - 0.5) * h for k in range(first, last + 1)]

    if inside is None:
        yield level.first, halfway(level.first, level.last + 1)
        return
    ratio = round(h / inside.step)
    left, right = inside.first // ratio - 1, inside.last // ratio + 1
    if level.first <= left:
        yield level.first, [*halfway(level.first, left), (inside.first - 0.5) * inside.step]
    if right <= level.last:
        yield right, [(inside.last + 0.5) * inside.step, *halfway(right + 1, level.last + 1)]


def units(mp: Any, x: Any, bits: int, up: bool) -> int:
    """The least whole number of units of 2^−bits that is surely not below x, or the largest one that is surely not
    above. Raises Undecided where x is not known well enough."""
    if not hasattr(mp, "between"):
        scaled = x * (1 << bits)
        return max(0, int(mp.ceil(scaled) if up else mp.floor(scaled)))
    ball = x.real.x
    if not (ball.is_finite() and ball.rad() < KNOWN * (1 + abs(ball.mid()))):
        raise mp.undecided("the masses of a grid are known too roughly")
    scaled = ball * (1 << bits)
    return max(0, int((scaled.upper().ceil() if up else scaled.lower().floor()).unique_fmpz()))
