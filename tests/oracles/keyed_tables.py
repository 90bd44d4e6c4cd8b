"""Small tables by key, and the law of all that is published of them: from the definitions, apart from the package.

A table is given twice, as it is with one of two neighbouring data sets each. A key that occurs in a data set is
published with its value plus noise if this is at least a threshold; of every other key nothing is published. Outcomes
are merged to cells and by nearly equal losses, so that the δ that is found is at most the true one, and near it. """

from itertools import product
from math import ceil, inf
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

WIDTH = 0.04  # of the losses that are merged; δ falls by about its square
MOST = 20.0  # larger losses are taken together
REACH = {"gaussian": 9.0, "discrete-gaussian": 9.0, "laplace": 45.0, "discrete-laplace": 45.0}  # of noise, in levels
CELLS = 160  # of continuous noise on one key


class Key(NamedTuple):
    """The value of all other people, and what the person in question adds to it in each of the data sets; None is for
    people who do not have the key."""

    others: float | None
    first: float | None
    second: float | None


def value(others, part):
    """The value of a key, or None where it does not occur."""
    return None if others is None and part is None else (others or 0.0) + (part or 0.0)


def pmf(noise, level):
    """Discrete noise: (reach, probabilities of −reach, …, reach)."""
    reach = ceil(REACH[noise] * level) + 2
    x = np.arange(-reach, reach + 1)
    weight = np.exp(-((x / level) ** 2) / 2 if noise == "discrete-gaussian" else -abs(x) / level)
    return reach, weight / weight.sum()


def upper_tail(noise, x):
    """Pr[X >= x] of continuous noise at level 1."""
    if noise == "gaussian":
        return ndtr(-x)
    return np.where(x > 0, np.exp(-np.maximum(x, 0)) / 2, 1 - np.exp(np.minimum(x, 0)) / 2)


def between(noise, edges):
    """Masses of continuous noise at level 1 between edges, from the side on which the tails are small."""
    low, high = edges[:-1], edges[1:]
    return np.where(low > 0, upper_tail(noise, low) - upper_tail(noise, high),
                    upper_tail(noise, -high) - upper_tail(noise, -low))


def published(noise, level, threshold, values):
    """The laws of what is published of one key that has these values: first of nothing, then of cells."""
    present = [x for x in values if x is not None]
    if noise.startswith("discrete"):
        reach, p = pmf(noise, level)
        lowest, highest = int(min(present)) - reach, int(max(present)) + reach

        def law(x):
            return np.pad(p, (int(x) - reach - lowest, highest - int(x) - reach))

        first = min(max(ceil(threshold) - lowest, 0), highest - lowest + 1)
    else:
        low, high = min(present) - REACH[noise] * level, max(present) + REACH[noise] * level
        inner = np.linspace(max(low, threshold), max(high, threshold), CELLS)
        if noise == "laplace":  # where the loss changes most of the noise is between the values
            inner = np.concatenate([inner, np.linspace(min(present) - level / 99, max(present) + level / 99, CELLS)])
        inner = np.unique(np.concatenate([[threshold], inner[inner > threshold]]))
        edges, first = np.concatenate([[-inf], inner, [inf]]), 1

        def law(x):
            return between(noise, (edges - x) / level)

    nothing = np.append(1.0, np.zeros(len(law(present[0])) - first))
    return [nothing if x is None else np.append(law(x)[:first].sum(), law(x)[first:]) for x in values]


def merged(p, q):
    """The laws with outcomes of nearly equal losses taken together."""
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.round(np.clip(np.log(p) - np.log(q), -MOST, MOST) / WIDTH)
    loss[p == 0], loss[q == 0] = -inf, inf
    _, group = np.unique(loss[(p > 0) | (q > 0)], return_inverse=True)
    return tuple(np.bincount(group, x[(p > 0) | (q > 0)]) for x in (p, q))


def together(*pairs):
    """The laws of independent releases."""
    p, q = np.ones(1), np.ones(1)
    for one, other in pairs:
        p, q = merged(np.multiply.outer(p, one).ravel(), np.multiply.outer(q, other).ravel())
    return p, q


def laws(noise, level, threshold, table):
    """The laws of all that is published of a table, on the first data set and on the second one."""
    each = [(value(key.others, key.first), value(key.others, key.second)) for key in table]
    return together(*(merged(*published(noise, level, threshold, values)) for values in each
                      if values[0] != values[1]))


def deltas(p, q, epsilon):
    """The largest P(E) − e^ε Q(E) over all sets E of outcomes, for (P, Q) and for (Q, P)."""
    growth = np.exp(epsilon)
    return tuple(float(np.clip(a - growth * b, 0, None).sum()) for a, b in ((p, q), (q, p)))


def extreme_tables(max_keys, per_key, contributors, threshold, level):
    """Tables in which one person, or each of two, has all keys, some of them alone, with the largest parts."""
    large = float(ceil(threshold + 60 * level))
    for alone, other_alone in product(range(max_keys + 1), range(max_keys + 1) if contributors == 2 else (0,)):
        first = [Key(None, per_key, None)] * alone + [Key(large, per_key, None)] * (max_keys - alone)
        second = [Key(None, None, per_key)] * other_alone + [Key(large, None, per_key)] * (max_keys - other_alone)
        yield first + (second if contributors == 2 else [])


def random_table(rng, noise, level, threshold, max_keys, per_key, contributors, signed=False):
    """A table of two to four keys: of one person who is added or removed, or of two of whom one replaces the other."""
    is_discrete = noise.startswith("discrete")

    def part():
        x = rng.choice((per_key, per_key, rng.random() * per_key, 0.0)) * (rng.choice((1, -1)) if signed else 1)
        return float(round(x)) if is_discrete else x

    def others():
        kind = rng.choice(("nobody", "nobody", "many", "few"))
        if kind == "nobody":
            return None
        x = threshold + (60 * level if kind == "many" else rng.uniform(-3, 3) * level)
        return float(round(x)) if is_discrete else x

    count = rng.randint(2, 4)
    people = [rng.sample(range(count), min(rng.choice((max_keys, rng.randint(1, max_keys))), count))
              for _ in range(contributors)]
    return [Key(others(), *(part() if person < contributors and k in people[person] else None for person in (0, 1)))
            for k in range(count)]


def random_release(rng, noise, contributors):
    """The parameters of a release to one or a few keys, with a threshold around c or in the tail of the noise."""
    is_discrete = noise.startswith("discrete")
    level = np.exp(rng.uniform(-0.7, 1.6))
    c = float(rng.randint(1, 3)) if is_discrete else level * np.exp(rng.uniform(-2, 0.7))
    threshold = c + level * rng.choice((rng.uniform(-2, 2), rng.uniform(0, 12)))
    if is_discrete and rng.random() < 0.7:
        threshold = round(threshold)
    return {"noise": noise, "noise_level": float(level), "per_key": float(c),
            "max_keys": rng.randint(1, 3 if contributors == 1 else 2), "contributors": contributors,
            "threshold": float(max(threshold, 1e-3))}


def random_tables(rng, release, count, signed=False):
    """Extreme tables of a release, and so many random ones."""
    noise, level, c, k, people, threshold = release.values()
    return [*extreme_tables(k, c, people, threshold, level),
            *(random_table(rng, noise, level, threshold, k, c, people, signed) for _ in range(count))]


def random_epsilons(rng, release, count=3):
    """0 and a few more ε up to that of the largest loss of Laplace noise."""
    ratio = release["per_key"] / release["noise_level"]
    most = ratio * release["max_keys"] * release["contributors"]
    return [0.0, *(rng.choice((ratio, most, 4 * ratio)) * rng.random() for _ in range(count))]
