"""Upper bounds of E(c + D_1 + … + D_t)₊ for independent copies of a real variable D that is known by E(D − k)₊ and
E(k − D)₊.

As (·)₊ is convex and increases, the mean rises where D is put on a grid with its mean kept in every cell, where values
below the grid are raised to its lowest point, and where masses are rounded up. As (·)₊ is subadditive, values may be
capped at the highest point if E(D − highest)₊ is added for each copy. So the result is an upper bound for every grid:
all choices in `choose_grid` affect its quality only. The errors of transforms change the mean by at most their ℓ2 norm
times that of the values, by the Cauchy–Schwarz inequality; this is added. """

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, exp, floor, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.numerics import legendre
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.numerics.tails_array import above
from dpcalc.pld.pair import LARGEST_LOG_RATIO
from dpcalc.pld.pmf import dot, log_moments, norm, tilted_mean_and_variance
from dpcalc.pld.tilted_sums import Grid, Tilted, Window, block_of, coarsened, sum_of, tilted

CALL_ERROR = 1e-11  # relative, that E(D − k)₊ and E(k − D)₊ may have: it changes results by about 1e-11·√t
SMALL = 0.01  # change of the result by errors of transforms, and by sums outside of windows, in units of the precision
DEVIATIONS = 3.5  # of the sum, beyond which a single copy nearly always decides its sign; 2.5 to 8 differ by 5e-4 of ε
RATES = np.geomspace(0.01, 16.0, 24)  # of Chernoff's bounds, over the deviation of a sum
ATTEMPTS = 4  # at a grid that is fine enough: each one may take a tenth of the step


@dataclass(frozen=True)
class Question:
    """What is asked about E(constant + ΣD)₊ for `count` copies. The relative error that grids may add, and about the
    result, affect only how well the grid is chosen; so do what a change of a probability by 1 adds to the result,
    where that is not about 1/θ, and the largest step to begin with."""

    count: int
    constant: float
    precision: float
    expected: float
    per_probability: float | None = None
    largest_step: float = inf
    most_points: int = 1 << 18  # of a window: a transform takes 5 ms
    least_points: int = 1 << 11  # of it: a single, smaller transform takes no less time
    in_blocks: bool = True  # very many copies, whose window would have too many points


class Summand(NamedTuple):
    """Masses on points that give every increasing convex φ >= 0 a mean of at least E φ(min(D, largest point)), and an
    upper bound of E(D − largest point)₊."""

    points: Array
    masses: Array
    excess: float


def mean_of_positive_part(points: Array, call: Array, put: Array, question: Question) -> tuple[float, float]:
    """An upper bound of E(constant + ΣD)₊, from E(D − k)₊ and E(k − D)₊ at increasing points k, and the step of the
    grid."""
    value, grid = mean_of_sum(Summand(points, *spread(points, call, put)), question)
    return value, grid.step if grid else inf


def mean_of_sum(copy: Summand, question: Question, other: Summand | None = None,
                grid: Grid | None = None) -> tuple[float, Grid | None]:
    """An upper bound of E(constant + ΣD)₊ for independent copies of the first variable, and one of the other one if it
    is given, and its grid; the grid of a similar sum saves the choice of one."""
    points, masses, excess = copy
    if question.constant + question.count * float(points.max()) <= 0 and other is None:
        return question.count * excess, grid  # only what is above the largest point is positive
    if question.count * (float(masses.sum()) - 1) > 1:  # values are so far apart that rounding errors are too large
        return inf, grid
    grid, best = grid or choose_grid(points, masses, question, excess), inf
    for _ in range(ATTEMPTS):
        value, change = _on_grid(grid, copy, question, other)
        best = min(best, value)
        finer = refined(grid, change, question)
        if finer is None:
            break
        grid = finer
    return best, grid


def cell_excesses(s: Array, slope: Callable[[Array], Array], shift: float = 0.0) -> tuple[Array, Array]:
    """The integrals of v′(s)·P(Z > shift + s) and of v′(s)·P(Z < shift + s) over the cells of an even grid, for
    Z ~ N(0, 1). Their sums are E(X − v(s))₊ and E(v(s) − X)₊ for X = v(Z − shift) and an increasing function v."""
    nodes, weights = legendre.rule(8)
    width = float(s[1] - s[0])
    inner = s[:-1, None] + (1 + nodes) / 2 * width
    slopes = slope(inner) * (weights * width / 2)
    return (slopes * above(shift + inner)).sum(axis=1), (slopes * above(-(shift + inner))).sum(axis=1)


def spread(points: Array, call: Array, put: Array) -> tuple[Array, float]:
    """Masses at the points that give every increasing convex φ >= 0 a mean of at least E φ(min(D, last point)), and
    E(D − last point)₊.

    It suffices that the masses add up to 1 at least, and that the mean of (x − k)₊ under them is at least that of
    min(D, last point) at every point k. The masses are second differences of E(D − k)₊ where it is the smaller one of
    both, and of E(k − D)₊ where that is smaller; so relative errors stay small. Of E(D − k)₊ near the last point, where
    it is a difference, the error is at most that of the second result, to which it is added. """
    up = 1 + 2 * CALL_ERROR
    middle = min(max(int(np.argmax(call <= put)), 1), len(points) - 2)
    over, below = -np.diff(call) / np.diff(points) * up, np.diff(put) / np.diff(points) * up
    masses = np.concatenate((below[:1], np.diff(below[:middle]), [1 - over[middle] - below[middle - 1]],
                             -np.diff(over[middle:]), over[-1:]))
    masses = np.maximum(masses, 0.0)
    # Rounding up E(k − D)₊ lowers the mean, and so E(D − k)₊ on its side, by as much. A small mass above mends that.
    lowered = dot(masses[:middle], points[middle] - points[:middle]) - float(put[middle] - put[0])
    lowered = max(lowered, 0.0) + 4 * CALL_ERROR * float(put[middle])
    above_middle = int(np.searchsorted(points, points[middle] + put[middle]))
    above_middle = min(max(above_middle, middle + 1), len(points) - 1)
    masses[above_middle] += lowered / (points[above_middle] - points[middle])
    return masses * (1 + 8 * UNIT), float(call[-1]) * (1 + 8 * CALL_ERROR)


def choose_grid(points: Array, masses: Array, question: Question, excess: float = 0.0) -> Grid:
    """A grid for E(constant + ΣD)₊. Any grid is valid.

    The tilt is the smallest one at which the errors of transforms are small against the result, but at most the one
    that makes the mean of the sum 0: windows are wider at larger tilts. """
    count, target = question.count, -question.constant / question.count
    negligible = question.precision / 4  # change of the result by the ends of the grid
    order = np.argsort(points)
    points, masses = _merged(points[order], masses[order])
    high, largest_tilt, deviation = _cap_and_tilt(points, masses, question)
    one = deviation / sqrt(count)
    beyond = excess + np.append(np.cumsum((np.cumsum(masses[:0:-1])[::-1] * np.diff(points))[::-1])[::-1], 0.0)
    enough = points[count * beyond <= negligible / 10 * question.expected]
    if len(enough):
        high = min(high, max(float(enough[0]), target + one))
    tilt, log_moment, log_scale = _smallest_tilt(points.clip(None, high), masses, question, largest_tilt, deviation)
    lifted = np.append(0.0, np.cumsum(np.cumsum(masses)[:-1] * np.diff(points)))  # E(k − D)₊
    weight = np.cumsum(masses) * np.exp(np.minimum(tilt * points - log_moment, 50.0))
    unneeded = points[(count * lifted * (tilt + 1 / deviation) <= negligible) | (count * weight <= negligible)]
    low = max(float(unneeded[-1]) if len(unneeded) else -inf, float(points[0]), target - DEVIATIONS * deviation)
    low = min(low, target - one)
    block = 1
    while question.in_blocks and count >= 1 << 16 and (2 * block) ** 2 <= count:  # they are added in two stages
        block *= 4
    log_outside = max(log_scale - log(SMALL * question.precision), 10.0)
    inside = points.clip(low, high)
    window = _window(inside, masses, tilt, count, log_outside)
    step = min(one * sqrt(12 * question.precision) / (1 + largest_tilt * deviation), question.largest_step)
    if block == 1:
        step = min(step, window.width / question.least_points)
        step = max(step, max(window.width, high - low) / question.most_points)
        return Grid(low, high, step, tilt, window)
    within = _window(inside, masses, tilt, block, log_outside + log(count / block) + 5)
    step = max(step, max(within.width, high - low) / question.most_points)
    return Grid(low, high, step, tilt, window, block, max(1, floor(sqrt(block) / 2)), within)


def _merged(points: Array, masses: Array) -> tuple[Array, Array]:
    """About the same law with at most 400 points, whose squares are doubles: neighbours are merged at their mean."""
    points = points.clip(-1e150, 1e150)
    begins = np.arange(0, len(points), 1 + len(points) // 400)
    merged, means = (np.add.reduceat(x, begins) for x in (masses, masses * points))
    has_mass = merged > 0
    return means[has_mass] / merged[has_mass], merged[has_mass]


def _cap_and_tilt(points: Array, masses: Array, question: Question) -> tuple[float, float, float]:
    """The value at which D is capped, the tilt at which the sum then has the mean 0, and its deviation there."""
    count, target = question.count, -question.constant / question.count
    needed, high = max(0.0, count * (target - dot(masses, points))), inf
    for _ in range(8):
        inside = points.clip(-high, high)
        variance = dot(masses, inside * inside) - dot(masses, inside) ** 2
        high = needed + DEVIATIONS * sqrt(count * max(variance, 1e-300))
    capped = points.clip(None, high)
    tilt, least, most = 0.0, 0.0, LARGEST_LOG_RATIO / max(float(capped[-1]), 1e-300)
    log_masses = np.log(masses)
    mean, variance = tilted_mean_and_variance(capped, log_masses, tilt)
    for _ in range(60 if mean < target else 0):  # Newton's method, or else bisection
        tilt = tilt + (target - mean) / variance if variance > 0 else most
        tilt = tilt if least < tilt < most else (least + most) / 2
        mean, variance = tilted_mean_and_variance(capped, log_masses, tilt)
        least, most = (tilt, most) if mean < target else (least, tilt)
        if abs(mean - target) <= 0.01 * sqrt(variance / count) or most - least <= 1e-6 * most:
            break
    return min(high, float(points[-1])), tilt, sqrt(count * max(variance, 1e-300))


def _smallest_tilt(points: Array, masses: Array, question: Question, largest: float,
                   deviation: float) -> tuple[float, float, float]:
    """The tilt, log E e^{θD}, and log of the effect of all tilted mass over the result."""
    tilts = [largest * k / 10 for k in range(11)]
    moments = log_moments(points, np.log(masses), np.array(tilts)).tolist()
    log_scales = [question.count * moment + tilt * question.constant
                  + log((question.per_probability or 1 / (tilt + 1 / deviation)) / question.expected)
                  for tilt, moment in zip(tilts, moments, strict=True)]
    # For each copy, errors of transforms change E(ΣD)₊ by about 1e-13 of E e^{θΣD}/θ.
    enough = max(log(SMALL * question.precision / (1e-13 * question.count)), min(log_scales) + 1.5)
    k = next(k for k, log_scale in enumerate(log_scales) if log_scale <= enough)
    return tilts[k], moments[k], log_scales[k]


def _window(points: Array, masses: Array, tilt: float, count: int, log_outside: float) -> Window:
    """The window of a sum that Chernoff's bound makes the narrowest. Any rates are valid."""
    log_masses = np.log(masses)
    here = log_moments(points, log_masses, np.array([tilt]))[0]
    _, variance = tilted_mean_and_variance(points, log_masses, tilt)
    deviation, found, width = sqrt(count * max(variance, 1e-300)), list[float](), 0.0
    largest = max(LARGEST_LOG_RATIO / max(float(points[-1] - points[0]), 1e-300), 1e-3 / deviation)
    rates = np.minimum(RATES / deviation, largest)
    for sign in (-1, 1):
        ends = (count * (log_moments(points, log_masses, tilt + sign * rates) - here) + log_outside) / rates
        best = int(np.argmin(ends))
        found.append(float(rates[best]))
        width += float(ends[best])
    return Window((found[0], found[1]), log_outside, width)


def _on_grid(grid: Grid, copy: Summand, question: Question, other: Summand | None) -> tuple[float, float]:
    """The upper bound by a grid, and about its relative change by the moves to grid points."""
    count, constant, a = question.count, question.constant, grid.tilt_of_step
    one, paid = _placed(grid, copy)
    paid *= count
    parts, (blocks, rest) = [(one, count)], divmod(count, grid.block)
    if grid.block > 1:
        parts = [(block_of([(one, grid.block)], grid), blocks), (coarsened(one, grid), rest)]
    copies = [(one, count)]
    if other is not None:
        alone, excess = _placed(grid, other)
        paid += excess
        parts, copies = [*parts, (coarsened(alone, grid) if grid.block > 1 else alone, 1)], [*copies, (alone, 1)]
    total = sum_of(parts, copies, grid, grid.window)
    if total.log_scale > LARGEST_LOG_RATIO:  # rounding errors of huge values make it useless
        return inf, 0.0
    k = total.indices
    values = constant + grid.step * k
    values += 4 * UNIT * (abs(constant) + grid.step * np.abs(k))
    if values[0] > 0 and grid.tilt > 0:  # sums below the window move above it, and a tilt makes them smaller there
        return inf, 0.0
    begin = int(np.searchsorted(values, 0.0, "right"))
    factor = values[begin:] * np.exp(total.log_scale - a * k[begin:])
    weight = np.maximum(total.weight[begin:], 0.0)
    inside = dot(weight, factor)
    # Beyond the last value v the mean is at most the outside mass times the largest v'·e^{−(θ+r)(v' − v)}, v' >= v.
    last = max(float(values[-1]), 1 / (grid.tilt + grid.window.rates[1]))
    beyond = last * exp(total.log_scale - a * float(k[-1])) * grid.window.outside
    farthest = a * max(-float(k[0]), float(k[-1]))
    relative = total.relative + UNIT * (3 * abs(total.log_scale) + 3 * farthest + len(k) + 20)
    density = float(weight[:4].sum()) * exp(total.log_scale) / (4 * total.stride * grid.step)
    value = inside * (1 + relative) + (total.error * norm(factor) + beyond) * (1 + 1e-9) + paid
    return value, change_by_moves(grid, count, density, max(inside, 1e-300))


def _placed(grid: Grid, x: Summand) -> tuple[Tilted, float]:
    """The variable on the grid, and what capping it at the highest point adds."""
    capped = x.points.clip(None, grid.high)
    paid = (x.excess + dot(x.masses, x.points - capped)) * (1 + (len(x.points) + 9) * UNIT)
    return tilted(*split_to_grid(grid, capped, x.masses), grid, len(x.points) * UNIT), paid


def change_by_moves(grid: Grid, count: int, density: float, value: float) -> float:
    """About the relative change of a value E(S)₊ by the moves of copies and of blocks to points: half of the variance
    that they add, times the density of S at 0. A move between points at a distance of h adds h²/6 on average."""
    moves = count + (sum(divmod(count, grid.block)) * grid.coarsening**2 if grid.block > 1 else 0)
    return density * grid.step**2 / 12 * moves / value


def refined(grid: Grid, change: float, question: Question) -> Grid | None:
    """A finer grid where moves to grid points change the value by more than the precision; None if there is none."""
    precision = question.precision
    finer = grid.step * max(0.9 * sqrt(precision / change), 0.1) if change > precision else grid.step
    width = max(grid.high - grid.low, (grid.block_window or grid.window).width)
    if finer >= grid.step or width > question.most_points * finer:
        return None
    return replace(grid, step=finer)


def split_to_grid(grid: Grid, values: Array, masses: Array) -> tuple[int, Array]:
    """The first index and the masses on the grid: each mass is split between two points, with its mean kept or raised
    by a rounding error of its index."""
    first = floor(grid.low / grid.step)
    size = ceil(grid.high / grid.step) - first + 2
    place = values.clip(grid.low, grid.high) / grid.step
    place = place - first + 4 * UNIT * (np.abs(place) + abs(first) + 1)
    cell = np.minimum(place.astype(np.intp), size - 2)
    share = np.minimum(place - cell, 1.0)
    return first, np.bincount(cell, masses * (1 - share), size) + np.bincount(cell + 1, masses * share, size)
