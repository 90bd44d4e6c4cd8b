"""One epoch of shuffled batches that uses all records, as a privacy loss distribution from above.

The profile is that of the theorem in bounds/sampling/shuffle_profile_used.py. Nodes, levels, Poisson rates and grids of
sums are those of the calculator, and α and c solve linear programs; any choice is valid. Upper bounds of h are computed
here, and a multiple of the solution satisfies the theorem's inequalities.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from math import exp, inf, isqrt, nextafter, sqrt

import numpy as np

from dpcalc.bounds.sampling._engine.group_mixture import excess
from dpcalc.bounds.sampling.shuffle_profile import in_norms
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT, up
from dpcalc.pld import poisson_numbers, shuffled_epoch, shuffled_used
from dpcalc.pld.swapped_record import Mesh
from dpcalc.pld.tilted_sums import Grid
from dpcalc.verify.allocation import DIGITS, double_outwards
from dpcalc.verify.loss_distributions import LossPair
from dpcalc.verify.shuffled_epochs import Batches, Difference, masses_of_calls, pair_of_profile
from dpcalc.verify.tilted_powers import ROUNDING, Summand, mean_of_positive_part

ATTEMPTS = 3  # at nodes for a larger δ, where those for the expected one turn out to be too low: it may be ten times it


def all_used(noise_multiplier: float, n: int, batch_size: int, replaced: bool, clipped: bool, tail: float) -> LossPair:
    """Return a pair that dominates an epoch."""
    sigma, radius = in_norms(noise_multiplier, replaced), 1.0 if clipped or not replaced else up(sqrt(2))
    pair = shuffled_epoch.all_used(sigma, n, batch_size, replaced, radius, tail)
    later, rest = divmod(n - batch_size, batch_size)
    return pair_of_profile(pair, lambda mp: Batches(sigma, later, tail, mp, batch_size, rest, replaced),
                           partial(_delta, radius), shuffled_epoch.GAPS_USED)


@lru_cache(maxsize=8)
def _search(radius: float, epoch: Batches, direction: int) -> shuffled_used.Profile:
    """Return the search of the calculator, with its grids for one ε after the other."""
    mesh = Mesh(1 / epoch.sigma, epoch.tail / 100)
    return shuffled_used.Profile(mesh, direction, epoch.records + epoch.batch_size, epoch.batch_size, radius)


@lru_cache(maxsize=4096)
def _delta(radius: float, epoch: Batches, direction: int, epsilon: float, about: float, precision: float) -> float:
    """Return an upper bound of δ. The steps of the epoch are those of full batches after the first one, and `rest` is
    the size of the last batch."""
    best = 1.0
    for _ in range(ATTEMPTS):
        found = _delta_at_nodes(radius, epoch, direction, epsilon, about, precision)
        best = min(best, found)
        if found <= 1.05 * about:
            break
        about = found
    return best


def _delta_at_nodes(radius: float, epoch: Batches, direction: int, epsilon: float, about: float,
                    precision: float) -> float:
    """Return e^ε/T times the least bound of the theorem in units of γ, rounded up, for nodes that are good where δ is
    about the given one."""
    mp, search = epoch.mp, _search(radius, epoch, direction)
    about = about * search.total * exp(-epsilon)
    pilot = search.law(epsilon, about)
    nodes = search.nodes(pilot, epsilon, about)
    search.table(pilot, nodes, precision, about)  # which chooses grids
    difference, points = Difference.of(epoch, direction, epsilon), pilot.difference.points
    batches, law = mp.mpf(epoch.records) / epoch.batch_size, Summand(points, *difference.masses(points.tolist()), 1)
    row = np.array([double_outwards(mp, batches * difference.call(-d / batches), 1) for d in map(mp.mpf, nodes)])
    rows = [row]
    for level in search.levels[1:]:
        grid = search.grids[level]
        row = np.minimum(row, [_mean(epoch, law, level, d, grid) for d in nodes])
        rows.append(row)
    excesses = [double_outwards(mp, difference.call(mp.mpf(d)), 1) for d in nodes]
    table, shares = np.array(rows), np.array([*search.levels, epoch.records]) / epoch.records
    lists = [_in_the_list(epoch, radius, level) for level in search.levels[1:]]
    by_lists = _least(nodes, table, excesses, lists, np.minimum(1.0, shares[1:-1] / shares[1:, None]), about)
    ratios = 1 / shares[1:]
    factors = shuffled_used.excess_of_largest_ratio(epoch.records, search.reach, ratios[:-1])[1]
    above = [_above_ratio(epoch, radius, *x) for x in zip(ratios[:-1].tolist(), factors.tolist(), strict=True)]
    by_ratio = _least(nodes, table, excesses, above, np.maximum(ratios[:, None] - ratios[:-1], 0.0), about)
    least = min(by_lists, by_ratio)
    return double_outwards(mp, mp.exp(mp.mpf(epsilon)) * mp.mpf(least) / (1 + batches), 1) if least < inf else 1.0


def _mean(epoch: Batches, law: Summand, level: int, node: float, grid: Grid) -> float:
    """Return an upper bound of h(node, level), by numbers of records with independent Poisson laws."""
    batches = epoch.records / epoch.batch_size
    rate = poisson_numbers.mean_number(level) / batches
    shift = up(node / batches, 2 * UNIT)
    summands = [_times_poisson(epoch, law, rate, size, shift)._replace(copies=copies)
                for size, copies in ((epoch.batch_size, epoch.steps), (epoch.rest, 1)) if size]
    return mean_of_positive_part(grid, summands) / _share_below(epoch, rate, level) * (1 + ROUNDING)


def _times_poisson(epoch: Batches, law: Summand, rate: float, size: int, shift: float) -> Summand:
    """Return (B/rate)·(D*/γ + shift) for a Poisson number B of records in a batch of this size. Numbers beyond the last
    one, and D* beyond its last point, are paid for."""
    counts, masses, beyond = _counts(epoch, rate, size)
    values = law.places + shift
    paid = beyond / rate * float((law.masses * np.maximum(values, 0.0)).sum()) + law.excess * size / epoch.batch_size
    return Summand(np.outer(counts / rate, values).ravel(), np.outer(masses, law.masses).ravel(),
                   paid * (1 + ROUNDING * len(values)), 1)


@lru_cache(maxsize=1024)
def _counts(epoch: Batches, rate: float, size: int) -> tuple[Array, Array, float]:
    """Return few numbers, to which B ~ Poisson(rate·size/b) is moved, their masses, and E(B − last)₊, rounded up."""
    mp = epoch.mp
    with mp.workdps(DIGITS):
        mean = mp.mpf(rate) * size / epoch.batch_size
        counts = poisson_numbers.poisson_nodes(float(mean))[0]
        mass = below = mp.exp(-mean)
        puts = [mp.mpf(0)]  # E(k − B)₊
        for k in range(1, int(counts[-1]) + 1):
            puts.append(puts[-1] + below)
            mass = mass * mean / k
            below = below + mass
        return counts, *masses_of_calls(mp, counts.tolist(), [mean - k + puts[int(k)] for k in counts.tolist()])


@lru_cache(maxsize=1024)
def _share_below(epoch: Batches, rate: float, level: int) -> float:
    """Return P(B < level), rounded down, for B ~ Poisson(Λ), Λ = rate·N/b < level."""
    mp = epoch.mp
    mean = mp.mpf(rate) * epoch.records / epoch.batch_size
    first = mp.exp(level * mp.log(mean) - mean - mp.loggamma(mp.mpf(level + 1)))
    ratios = double_outwards(mp, mean, 1) / (level + 1 + np.arange(10 * isqrt(level) + 50))
    terms = np.cumprod(ratios)
    total = 1 + float(terms.sum()) + float(terms[-1] * ratios[-1] / (1 - ratios[-1]))
    return (1 - double_outwards(mp, first, 1) * total * (1 + ROUNDING * len(terms))) * (1 - 4 * UNIT)


def _in_the_list(epoch: Batches, radius: float, level: int) -> float:
    """Return Φ(Φ⁻¹(level/N) + ρm), rounded up."""
    from scipy.special import ndtri

    mp, share = epoch.mp, nextafter(level / epoch.records, 2.0)
    if share >= 1:
        return 1.0
    at = float(ndtri(share)) + 1e-9
    if double_outwards(mp, mp.ncdf(mp.mpf(at)), -1) < share:
        raise ArithmeticError("a quantile of the normal distribution is too small")
    return double_outwards(mp, mp.ncdf(mp.mpf(at) + mp.mpf(radius) / mp.mpf(epoch.sigma)), 1)


@lru_cache(maxsize=1024)
def _above_ratio(epoch: Batches, radius: float, ratio: float, log_g: float) -> float:
    """Return N·H(g) + g·H(z/g), rounded up."""
    mp = epoch.mp
    x, mu = mp.mpf(log_g), mp.mpf(radius) / mp.mpf(epoch.sigma)
    second = mp.exp(x) * excess(mp, mp.log(mp.mpf(ratio)) - x, mu, 1)
    return double_outwards(mp, epoch.records * excess(mp, x, mu, 1) + second, 1)


def _least(nodes: Array, table: Array, excesses: Sequence[float], others: Sequence[float], layers: Array,
           unit: float) -> float:
    """Return about the least a_0 + Σ_i s_i C*(d_i) + Σ_l c_l·cost_l, never less. The rows of the table are upper bounds
    of h at the nodes for at least as many records as the level, and so for all numbers below the next level, where the
    c_l are multiplied by those of `layers`."""
    costs = np.array([1.0, *excesses, *others])
    left, right = shuffled_used.constraints(nodes, table, layers)
    x = shuffled_used.near_the_least(costs, left, right, unit)
    at = left @ x - ROUNDING * (left @ np.abs(x))
    if not (at > 0).all():
        return inf
    return float((right / at).max() * (costs @ x + ROUNDING * (costs @ np.abs(x))))
