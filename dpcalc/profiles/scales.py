"""The rounding of samples of a profile for very many steps, whose losses are of very different sizes.

Most steps lose next to nothing, and few a lot: a grid that is fine enough for the small losses and reaches the large ones has a million
points. Two things help. The step is taken apart into a pair with its large losses and one with its small ones: who sees the first, and
only where it says nothing the second, sees the step; so the step loses no more than both together. And blocks of small losses are composed
first, blocks of these, and so on, each on a coarser grid.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, floor, frexp, inf, ldexp, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.profiles.convolve import DEPTH, points
from dpcalc.profiles.law import Grid, law, masses, misplaced, shares
from dpcalc.profiles.pair import Pair
from dpcalc.profiles.rounding import STEEP, Grids, Level, Rounded, in_blocks, round_single
from dpcalc.profiles.tilt import Cumulants, Parts, median

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

_FEW_ATOMS = 8
_FEWEST = 100  # steps: fewer have no large transforms
_DIRECT = 1 << 16  # points of a transform that is not worth more than one step's rounding
_MOST_AT_ONCE = 1 << 18  # of one that is no trouble
_SHARE = 1 / 3  # of the budget: for the rounding of single losses, and of a level of blocks
_SHARES = 1 / 6  # for that of the large losses, of the small ones, of a level of blocks, and for what taking apart costs
_HALVINGS, _FIRST, _ODD = 42, 2, 0.77  # of the largest loss, which is on none of them: steps of a grid that are tried
_WIDE = 16.0  # deviations: about the range of a sum
_LESS = 0.7  # of the points, for which it is taken apart
_DEPTH, _LEAST = 40.0, 1e-300  # log of the weight that may be left out; a sum of weights
_MOST_LARGE = 0.5  # of the mass: what large losses leave of 1 may not cancel
_COARSER, _LAST = 100.0, 1 << 15  # the most that a level coarsens; points of the last transform, where nothing else says how many
_LARGER, _TRIED = 1.5, 2000  # of a block, so that it leaves no rest
_NEWTON, _RAREST = 4, 1e9  # steps, for an estimate; a depth over how many of the largest losses there would be
_CLOSE, _PLACES = 1.05, 20  # of a step, relative; of its binary places
_LARGEST = 700.0  # an exponent
_DEEP = 38.0  # log of the weight that single losses may lack


class Losses(NamedTuple):
    """Of one step, from the smallest on; with their masses, their weights under the tilt times the number of steps, and the deviation of
    the sum."""

    size: Array
    sign: Array
    mass: Array
    weight: Array
    infinite: float  # the mass of infinite ones
    tilt: float
    deviation: float

    def rounded(self, step: float) -> tuple[Array, Array]:
        """Of each loss, by how much its rounding to a grid raises log M of the sum, and its variance."""
        place = (self.sign * self.size) % step
        low, high = shares(place, self.tilt, step)
        return self.weight * (low + high - 1), self.weight * (low * place**2 + high * (step - place) ** 2)

    def errors(self, step: float) -> Array:
        """Of each loss, what its rounding to a grid moves log δ by."""
        total, variance = self.rounded(step)
        found: Array = total + variance / (2 * self.deviation**2)
        return found

    def spreads(self) -> Array:
        """The variances of sums of the losses up to each."""
        mean, square = (self.weight * self.sign * self.size).cumsum(), (self.weight * self.size**2).cumsum()
        found: Array = np.maximum(square - mean**2 / np.maximum(self.weight.cumsum(), _LEAST), 0.0)
        return found

    def step_for(self, allowed: float) -> float:
        """A step whose errors are allowed, to a few percent."""
        most = min(float(self.size[-1]), STEEP / self.tilt)
        return _largest(lambda step: float(self.errors(step).sum()) <= allowed, most * 2.0**-_HALVINGS, most)


def losses(pair: Pair, count: int, c: Cumulants) -> Losses:
    loss, log_mass, _ = masses(pair, c.tilt, _DEPTH + log(count), None)
    order = np.argsort(np.abs(loss))
    loss, log_mass = loss[order], log_mass[order]
    tilted = log_mass + c.tilt * loss
    weight = np.exp(tilted - tilted.max())
    return Losses(np.abs(loss), np.sign(loss), np.exp(log_mass), count * weight / weight.sum(), exp(pair.log_infinite), c.tilt, c.deviation)


def _largest(allowed: Callable[[float], bool], low: float, high: float) -> float:
    while high > low * _CLOSE and low < (middle := sqrt(low) * sqrt(high)) < high:
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def error(step: float, c: Cumulants) -> float:
    """What rounding to a grid moves log δ by, where the places of losses are as likely as not: their mean by h²/12 where h is small and
    h/2 where it is large, the mean square of what they move by from h²/6 to h²/3."""
    wide = step / (6 + step)
    return c.tilt * step / 2 * wide + (c.tilt**2 + c.deviation**-2) / 2 * step**2 / 6 * (1 + wide)


def apart(parts: Parts, c: Cumulants, budget: float, resolved: float) -> Parts | None:
    """The pairs of large and small losses of a step, or the step itself, where blocks are to be composed first; None where one transform
    of its sums is small, or it is not a symmetric profile at samples. `resolved` as in `rounded`."""
    if len(parts) != 1 or parts[0][1] < _FEWEST or c.deviation == 0 or not _is_symmetric(parts[0][0]):
        return None
    pair, count = parts[0]
    x = losses(pair, count, c)
    step = min(x.step_for(_SHARE * budget), resolved)
    spread = float(x.spreads()[-1] + x.rounded(step)[1].sum())
    direct = (2 * x.size[-1] + _WIDE * sqrt(spread)) / step
    if direct <= _DIRECT:
        return None
    at, points_apart = _where(x, count, c, _SHARES * budget, resolved)
    in_levels = float(_points(x.size[-1], spread, step, _ratio(spread, step), count))
    if direct < _MOST_AT_ONCE and _LESS * direct <= min(in_levels, points_apart):
        return None
    return parts if in_levels <= points_apart else tuple((one, count) for one in at_loss(pair, at))


def at_loss(pair: Pair, at: float) -> tuple[Pair, Pair]:
    """A symmetric pair taken apart: the losses larger than `at`, and 0 otherwise; and the others, where it is not one of those.

    Of both together the pair is a post-processing, which shows the second one only where the first is at 0. (There the first has the same
    mass under P and Q.)
    """
    large = tuple(atom for atom in pair.atoms if abs(atom[0]) > at)
    left = log1p(-sum(exp(mass) for _, mass in large) - exp(pair.log_infinite))
    small = tuple((loss, mass - left) for loss, mass in pair.atoms if abs(loss) <= at)
    return Pair((), large, pair.log_infinite, 0.0), Pair((), small, -inf, pair.rest)


def _is_symmetric(pair: Pair) -> bool:
    """Whether it is a symmetric profile at samples."""
    if pair.pieces or pair.twin or pair.rest not in (None, 0) or len(pair.atoms) <= _FEW_ATOMS:
        return False
    held, positive = set(pair.atoms), [atom for atom in pair.atoms if atom[0] > 0]
    return len(pair.atoms) == 2 * len(positive) and all((-loss, mass - loss) in held for loss, mass in positive)


def _where(x: Losses, count: int, c: Cumulants, allowed: float, resolved: float) -> tuple[float, float]:
    """The size of loss up to which losses are small, so that both grids together have the fewest points; and these, about."""
    steps = _ODD * min(x.size[-1], STEEP / x.tilt) * 2.0 ** -np.arange(_FIRST, _HALVINGS)
    small = _errors_up_to(x, steps, allowed)
    steps, large = steps[: len(small)], small[:, -1:] - small
    h_small, h_large = (np.where((e <= allowed).any(axis=0), steps[(e <= allowed).argmax(axis=0)], steps[-1]) for e in (small, large))
    h_large = np.minimum(h_large, min(resolved, _once(c, allowed, float(x.size[-1]))))
    beyond, mass = (np.append(of[::-1].cumsum()[::-1][1:], 0.0) for of in (x.weight, x.mass))
    # Of small losses besides large ones, which log M grows by.
    shown = (x.mass * np.expm1(np.minimum(x.tilt * x.sign * x.size, _LARGEST))).cumsum() * beyond
    whole = np.append(np.diff(x.size) > 0, True)  # both losses of a size, or neither
    use = whole & (shown <= allowed) & (beyond > 0) & (x.size > 0) & (mass + x.infinite < _MOST_LARGE)
    found = _points(x.size, x.spreads(), h_small, h_large / h_small, count) + (2 * x.size[-1] + _WIDE * x.deviation) / h_large
    found = np.where(use, found, inf)
    k = int(found.argmin())
    return float(x.size[k]), float(found[k])


def _errors_up_to(x: Losses, steps: Array, allowed: float) -> Array:
    """Of losses up to each, by steps (rows), which shorten until none is too long for any."""
    found = list[Any]()
    for step in steps.tolist():
        found.append(x.errors(step).cumsum())
        low, high = float(found[-1].min()), float(found[-1].max())
        if high <= allowed and found[-1][-1] - low <= allowed:
            break
    return np.array(found)


def _once(c: Cumulants, allowed: float, most: float) -> float:
    """A step to which the sum of all may be rounded, once."""
    return _largest(lambda step: error(step, c) <= allowed, most * 2.0**-_HALVINGS, most)


def _points(most: Any, spread: Any, step: Any, ratio: Any, count: int) -> Any:
    """About those of one step and of the transforms of blocks, of losses up to the size `most` whose sum has this variance, on grids up to
    a step by that ratio. A level that coarsens by r takes blocks of r² of what it is given."""
    levels = np.ceil(np.log(np.maximum(ratio, 1)) / log(_COARSER))
    each = np.maximum(ratio, 1) ** (1 / np.maximum(1, levels))
    found = 2 * most / step
    for level in range(int(levels.max())):
        block = np.minimum(each ** (2 * level + 2), count)
        wide = 2 * _reach(most, spread * block / count, DEPTH + np.log(count / block))
        found = found + np.where(level < levels, wide / (step * each**level), 0.0)
    return found


def _reach(most: Any, variance: Any, depth: Any) -> Any:
    """How far from its mean a sum of losses up to the size `most` is with a probability of e^{−depth} at most, by Bennett's inequality."""
    y = np.maximum(np.minimum(depth * most**2, _RAREST * variance) / np.maximum(variance, _LEAST), 1 / _RAREST)
    u = y / 3 + np.sqrt(y**2 / 9 + 2 * y)  # Bernstein's
    for _ in range(_NEWTON):
        u = u - ((1 + u) * np.log1p(u) - u - y) / np.log1p(u)
    return u * variance / np.maximum(most, _LEAST)


def _ratio(spread: float, step: float) -> float:
    """By how much a last grid is coarser than the first, where nothing else says so."""
    return _WIDE * sqrt(spread) / (_LAST * step)


def rounded(parts: Parts, c: Cumulants, budget: float, resolved: float, most: float = inf) -> Rounded:
    """Of one pair, or of large and small losses, that are not all alike: grids whose rounding moves log δ by about the budget at most.

    `resolved` is the step that tells the losses apart that decide, where they are rare; `most` cells of a pair are enough.
    """
    if len(parts) == 1:
        return _of_one(*parts[0], c, _SHARE * budget, resolved, most)
    (large, count), (small, _) = parts
    return _of_both(large, small, count, c, _SHARES * budget, resolved, most)


def _of_one(pair: Pair, count: int, c: Cumulants, allowed: float, resolved: float, most: float) -> Rounded:
    """Up to a grid on which the sum has few points."""
    x = losses(pair, count, c)
    fine = _short(max(min(x.step_for(allowed), resolved), 2 * float(x.size[-1]) / most))
    single = [(_single(pair, count, c.tilt, fine), count)]
    levels, ratio = _levels(_ratio(count * single[0][0].moments()[1], fine))
    last = fine * ratio**levels
    units, composed, low = _composed(single, c, ratio, last, allowed)
    return Rounded(units, [], last, fine, single, low, [composed])


def _of_both(large: Pair, small: Pair, count: int, c: Cumulants, allowed: float, resolved: float, cells: float) -> Rounded:
    """Small losses up to the grid of the large ones; all that is left of either may be at 0."""
    far, near = losses(large, count, c), losses(small, count, c)
    most = max(float(far.size[-1]), float(near.size[-1]))
    wanted = max(min(far.step_for(allowed) or inf, resolved, _once(c, allowed, most)), 2 * most / cells)
    fine = max(near.step_for(allowed) or wanted, 2 * float(near.size[-1]) / cells)
    levels, ratio = _levels(wanted / fine)
    fine = _short(min(fine, wanted / ratio**levels))
    last = fine * ratio**levels
    outer, single = [(_single(large, count, c.tilt, last), count)], [(_single(small, count, c.tilt, fine), count)]
    units, composed, low = _composed(single, c, ratio, last, allowed)
    return Rounded([*outer, *units], [], last, fine, [*outer, *single], low + misplaced(outer), [[], composed])


def _short(step: float) -> float:
    """Not more, and with so few binary places that its multiples are not rounded."""
    mantissa, exponent = frexp(step)
    return ldexp(floor(ldexp(mantissa, _PLACES)), exponent - _PLACES)


def _levels(ratio: float) -> tuple[int, int]:
    """How many levels of blocks, and by what odd ratio each coarsens, or a little more: no fine grid point is halfway between two coarse
    ones."""
    levels = ceil(log(max(ratio, 1.0)) / log(_COARSER))
    each = ratio ** (1 / levels) if levels else 1.0
    return levels, 2 * ceil((each - 1) / 2) + 1


def _single(pair: Pair, count: int, tilt: float, step: float) -> Grid:
    offset = median(law(pair, tilt, _DEPTH))
    (upper, *_) = round_single([(pair, count)], tilt, step, [offset], _DEEP + log(2 * count), False)
    return upper[0][0]


def _without_rest(number: int, block: int) -> int:
    """The size of blocks, or one a little larger that leaves no rest, whose sum takes as long as that of a block."""
    most = min(number, int(block * _LARGER), block + _TRIED)
    return next((size for size in range(block, most + 1) if number % size == 0), block)


def _composed(units: Grids, c: Cumulants, ratio: int, last: float, allowed: float) -> tuple[Grids, list[Level], float]:
    """In blocks of blocks, up to the last step, each level of about the allowed error; and by how much losses may be too low."""
    levels, low = list[Level](), misplaced(units)
    while (step := units[0][0].step) < last:
        number, wide = units[0][1], step * ratio  # without rounding
        block = _without_rest(number, min(number, ceil(number * error(wide, c) / allowed)))
        if points(units) <= _DIRECT:
            block, wide = number, last
        units, level = in_blocks(units, c.tilt, block, wide)
        levels.append(level)
        low += misplaced(units)
    return units, levels, low
