"""Exact laws of short shuffled runs w ← Π(ψ(w) + Z) on [0, D], where Z has scale 1 and every record has its own map ψ.

What is computed, and why it is no more than the true divergence: the law before the last slot stands on Gauss-Legendre
nodes between the kinks of all maps (and on an atom at each wall), where every integrand is smooth, so that the error is
far below RELATIVE (tests/oracles/test_shuffled_runs.py halves the panels); the last slot gives the exact masses of
CELLS of the interval, which is a coarser view of the iterate (a post-processing). `delta` takes RELATIVE of every mass
to the safe side, and leaves cells of tiny mass out. """

from itertools import product
from math import comb, exp, prod

import numpy as np
from chains import Line
from scipy.special import ndtr

RELATIVE, LEAST = 1e-8, 1e-60  # error allowed of a mass; masses below LEAST are left out
CELL = 0.1  # width of a cell of the last iterate, in units of the noise


class Map:
    """A piecewise linear map of the real line, through points, with the end pieces continued."""

    def __init__(self, x, y):
        self.x, self.y = np.asarray(x, float), np.asarray(y, float)

    def __call__(self, at):
        return np.interp(at, self.x, self.y)


def lipschitz_map(rng, c, diameter):
    """Slopes in [−c, c], often ±c; a quarter of them straight. On [0, D] only."""
    steepest = [c, c, -c, c * rng.uniform(-1, 1), 0.0]
    kinks = sorted(rng.uniform(0, diameter) for _ in range(rng.choice((0, 1, 1, 2, 3))))
    slopes = [rng.choice(steepest) if kinks else rng.choice((c, c, c, -c, c * rng.random()))
              for _ in range(len(kinks) + 1)]
    x = np.array([0.0, *kinks, diameter])
    y = np.concatenate([[0.0], np.cumsum(np.diff(x) * slopes)])
    centre = rng.uniform(0, diameter)
    return Map(x, y - np.interp(centre, x, y) + rng.choice((centre, rng.uniform(-0.2, 1.2) * diameter)))


def moved(base, by):
    return Map(base.x, base.y + by)


def banded(any_map, base, half):
    """`any_map` cut off where it is more than `half` away from `base`: as Lipschitz as both."""
    x = np.union1d(any_map.x, base.x)
    gap = any_map(x) - base(x)
    crossings = []
    for i in range(len(x) - 1):
        for side in (-half, half):
            if (gap[i] - side) * (gap[i + 1] - side) < 0:
                crossings.append(x[i] + (x[i + 1] - x[i]) * (side - gap[i]) / (gap[i + 1] - gap[i]))
    x = np.union1d(x, crossings)
    return Map(x, base(x) + np.clip(any_map(x) - base(x), -half, half))


class Records:
    """`maps` of kinds of other records and how many there are of each (`counts`), the two maps of the differing record,
    the batch."""

    def __init__(self, maps, counts, special, diameter, batch=1):
        self.maps, self.counts, self.special, self.diameter, self.batch = maps, tuple(counts), special, diameter, batch
        self.slots = (sum(counts) + 1) // batch  # the records that are left over are not used in the pass

    def kinks(self):
        return sorted({float(x) for m in (*self.maps, *self.special) for x in m.x[1:-1]})

    def mean(self, y, chosen, side=None):
        """The map of a batch of `chosen` many of every kind, and of the differing record (P: 0, Q: 1; None: not in
        it)."""
        total = sum(k * m(y) for k, m in zip(chosen, self.maps, strict=True) if k)
        return (total + (self.special[side](y) if side is not None else 0)) / self.batch


class GaussianWalk:
    """Laws as masses on a chains.Line; `ends` are masses of cells."""

    def __init__(self, records, start=0.5, width=None):
        self.records = records
        self.line = Line(0.0, records.diameter, width or 1.0, records.kinks())
        self.cuts = np.linspace(0.0, records.diameter, max(40, int(records.diameter / CELL)) + 1)
        self.start = np.zeros(len(self.line.y))
        self.start[min(int(start * len(self.line.y)), len(self.line.y) - 1)] = 1.0

    def kernel(self, chosen, side):
        return self.line.kernel(self.records.mean(self.line.y, chosen, side), 1.0)

    def ends(self, chosen, side):
        z = self.cuts - self.records.mean(self.line.y, chosen, side)[:, None]
        return np.hstack([ndtr(z[:, :1]), mass_between(z), ndtr(-z[:, -1:])])


def ways(left, size):
    """All choices of `size` records of the kinds of which `left` are left."""
    if len(left) == 1:
        return [(size,)] if size <= left[0] else []
    return [x for x in product(*(range(min(size, k) + 1) for k in left)) if sum(x) == size]


class Shuffled:
    """Orders drawn record by record, all of them at once: one law for every number of records of each kind that have
    been used."""

    def __init__(self, walk):
        self.walk, self.records, self.kept = walk, walk.records, {}

    def matrices(self, chosen, with_special, last):
        """One for both sides, or P's and Q's."""
        key = chosen, with_special, last
        if key not in self.kept:
            make = self.walk.ends if last else self.walk.kernel
            self.kept[key] = [make(chosen, side) for side in ((0, 1) if with_special else (None,))]
        return self.kept[key]

    def choices(self, used, unused, forced):
        """(which, with the differing record or not, probability) of the next batch; forced: whether the differing
        record is in it."""
        left = [k - u for k, u in zip(self.records.counts, used, strict=True)]
        b, total = self.records.batch, sum(left)
        for special in ((False, True) if unused else (False,)):
            if unused and forced is not None and special != forced:
                continue
            size = b - special
            if size > total:
                continue
            share = 1.0 if not unused or forced is not None else (b if special else total + 1 - b) / (total + 1)
            for chosen in ways(left, size):
                yield chosen, special, share * prod(map(comb, left, chosen)) / comb(total, size)

    def run(self, both, slots, last, position=None):
        """The two laws (rows of `both`) after `slots` slots of a pass; `last`: as masses of cells. At a `position` the
        differing record is used there."""
        layer = {(0,) * len(self.records.counts): both}
        for t in range(slots):
            jobs, ends = {}, {}
            for used, law in layer.items():
                unused = sum(used) == t * self.records.batch
                for chosen, special, share in self.choices(used, unused, None if position is None else t == position):
                    jobs.setdefault((chosen, special), []).append((tuple(np.add(used, chosen)), share * law))
            for (chosen, special), found in jobs.items():
                matrix = self.matrices(chosen, special, last and t == slots - 1)
                laws = np.stack([law for _, law in found])
                after = np.stack([laws[:, side] @ matrix[side * special] for side in (0, 1)], axis=1)
                for (used, _), law in zip(found, after, strict=True):
                    ends[used] = ends[used] + law if used in ends else law
            layer = ends
        return sum(layer.values())

    def laws(self, epochs=1, slots=None, position=None):
        """P and Q of the last iterate after `epochs` passes, the last one of which stops after `slots` slots."""
        both = np.stack([self.walk.start] * 2)
        for _ in range(epochs - 1):
            both = self.run(both, self.records.slots, False)
        return self.run(both, slots or self.records.slots, True, position)


def delta(p, q, g):
    """E_g(p‖q) = sup P(A) − gQ(A), from below."""
    keep = (p > LEAST) & (q > LEAST)
    return float(np.maximum(p[keep] * (1 - RELATIVE) - g * q[keep] * (1 + RELATIVE), 0.0).sum())


def both_ways(p, q, epsilon):
    return delta(p, q, exp(epsilon)), delta(q, p, exp(epsilon))


def released(records, start):
    """P and Q of output perturbation: slots without noise, then noise 1 on the last iterate; laws as masses of cells of
    the line."""
    ends = []
    for side in (0, 1):
        walk = {((0,) * len(records.counts)): np.array([[start, 1.0]])}
        for t in range(records.slots):
            after = {}
            for used, points in walk.items():
                left, unused = [k - u for k, u in zip(records.counts, used, strict=True)], sum(used) == t
                total = sum(left) + unused
                steps = [(j, left[j]) for j in range(len(left)) if left[j]] + ([(None, 1)] if unused else [])
                for j, many in steps:
                    at = (records.special[side] if j is None else records.maps[j])(points[:, 0])
                    key = used if j is None else tuple(u + (i == j) for i, u in enumerate(used))
                    after.setdefault(key, []).append(np.column_stack([np.clip(at, 0.0, records.diameter),
                                                                      points[:, 1] * many / total]))
            walk = {key: np.concatenate(found) for key, found in after.items()}
        ends.append(np.concatenate(list(walk.values())))
    low, high = (f(*(f(e[:, 0]) for e in ends)) for f in (min, max))
    cuts = np.arange(low - 10, high + 10, CELL / 2)
    return [(mass_between(cuts - e[:, :1]) * e[:, 1:]).sum(axis=0) for e in ends]


def mass_between(z):
    """Normal masses of the cells between the columns of z, without cancellation in the tails."""
    low, high = z[:, :-1], z[:, 1:]
    away = low > 0
    return ndtr(np.where(away, -low, high)) - ndtr(np.where(away, -high, low))


class LaplaceWalk:
    """Laplace noise 1, the iterate rounded to the middle of its cell before every slot.

    The rounded run is itself one that bounds by contraction through the diameter speak of: what they need of a slot is
    that its maps of two records are `size` apart at equal iterates, and that one map takes any two iterates to points
    at most cD apart. """

    CELLS = 120

    def __init__(self, records, start):
        self.records, self.edges = records, np.linspace(0.0, records.diameter, self.CELLS + 1)
        self.y = np.concatenate([[0.0], (self.edges[1:] + self.edges[:-1]) / 2, [records.diameter]])
        self.start = np.zeros(len(self.y))
        self.start[min(int(start * len(self.y)), len(self.y) - 1)] = 1.0

    def kernel(self, chosen, side):
        z = self.edges - self.records.mean(self.y, chosen, side)[:, None]
        low, high = (np.hstack([x, y]) for x,
                     y in ((np.full((len(z), 1), -np.inf), z), (z, np.full((len(z), 1), np.inf))))
        away = low > 0  # without cancellation in the tails
        return laplace_cdf(np.where(away, -low, high)) - laplace_cdf(np.where(away, -high, low))

    ends = kernel


def laplace_cdf(x):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))
