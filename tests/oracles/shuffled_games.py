"""Exact privacy profiles of small shuffled epochs whose gradients are chosen with the earlier outputs in view.

n records are put in a uniformly random order, and steps take `batch_size` of them one after the other; the leftover is
either dropped or is a last, smaller batch. Step i releases the sum of the gradients of its records plus N(0, σ²). Its
gradients are tables: one row for every label of the earlier outputs, and a column for every record (and for what
stands in place of record 0 on the other data set).

What is computed: outputs are rounded to the cells of a grid, and the two laws on the products of cells are exact
(averages over all arrangements of products of normal intervals). Labels are functions of the cells, so the rounding is
a post-processing: a computed δ is never above the true one, and below it by terms of the second order in the width.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product
from math import exp

import numpy as np
from scipy.special import ndtr

MARGIN = 7.0  # the grid reaches this many σ beyond all means; its outer cells are unbounded
CELLS = {(1, 1): 512, (2, 1): 192, (3, 1): 49, (2, 2): 28}  # (steps, dimension) → cells of one axis
COARSE = 3  # a climb looks at cells so many times wider
SHAPES = [(n, b, t, left) for b in (1, 2, 3) for n in range(2, 7) for t in range(1, n // b + 1)
          for left in ("dropped", "used")
          if t + (left == "used" and n > t * b) <= 3 and (n > t * b if left == "dropped" else n - t * b < b)
          and (t + (left == "used" and n > t * b) > 1 or left == "dropped")]


@dataclass(frozen=True)
class Game:
    """gradients[i][label, record, axis]: record 0 is the one that differs, record n stands for it on the other data
    set. labels[i][cell of output i + 1]: what the next steps see of the output of that step."""

    n: int
    batch_size: int
    batches: int  # full ones
    leftover: str  # "dropped" or "used"
    sigma: float
    adjacency: str  # "zero-out" or "replace-one"
    epsilon: float
    kind: str  # how the gradients were chosen
    gradients: tuple[np.ndarray, ...]
    labels: tuple[np.ndarray, ...]

    @property
    def rest(self):
        return self.n - self.batches * self.batch_size

    @property
    def sizes(self):
        return [self.batch_size] * self.batches + [self.rest] * (self.leftover == "used" and self.rest > 0)

    @property
    def dimension(self):
        return self.gradients[0].shape[-1]


@lru_cache(None)
def batches_of(n, size):
    """All batches: as bit sets, and as 0/1 rows over the records."""
    sets = list(combinations(range(n), size))
    rows = np.array([[float(r in s) for r in range(n)] for s in sets])
    return np.array([sum(1 << r for r in s) for s in sets]), rows


@lru_cache(None)
def steps_of(n, sizes):
    """For every step the 0/1 matrix [records used before, batch, records used after], as indices into reached sets."""
    used, found = np.array([0]), []
    for size in sizes:
        sets, _ = batches_of(n, size)
        after = np.unique([u | s for u in used for s in sets if not u & s])
        free = np.array([[not u & s for s in sets] for u in used], float)
        goes = np.array([[np.searchsorted(after, u | s) if not u & s else -1 for s in sets] for u in used])
        found.append((free, goes, len(after)))
        used = after
    return found


def intervals(means, edges, sigma):
    """Normal masses of the cells between `edges` (and beyond them), without cancellation in either tail."""
    z = (np.concatenate([[-np.inf], edges, [np.inf]]) - means[..., None]) / sigma
    tail, left, right = ndtr(-np.abs(z)), z[..., :-1], z[..., 1:]
    step = tail[..., 1:] - tail[..., :-1]
    return np.where((left < 0) & (right > 0), 1 - tail[..., 1:] - tail[..., :-1], np.abs(step))


def axis(game, coarse=1):
    """The inner edges of the cells of one axis; those of a coarse grid are some of the fine ones."""
    count = CELLS[len(game.sizes), game.dimension]
    reach = game.batch_size + MARGIN * game.sigma
    return np.linspace(-reach, reach, count - 1)[::coarse]


def merged(label, coarse, dimension):
    """Labels on the coarse cells: that of their last fine cell (a cell ends at its right edge)."""
    count = round(len(label) ** (1 / dimension))
    last = np.concatenate([np.arange(count - 1)[::coarse], [count - 1]])
    grid = label.reshape((count,) * dimension)
    return grid[np.ix_(*[last] * dimension)].ravel()


def cell_masses(table, size, n, side, edges, sigma):
    """[batch, cell] for one row of a table of gradients."""
    column = table[:n].copy()
    if side:
        column[0] = table[n]
    means = batches_of(n, size)[1] @ column
    masses = intervals(means[:, 0], edges, sigma)
    if table.shape[1] == 2:
        masses = (masses[:, :, None] * intervals(means[:, 1], edges, sigma)[:, None, :]).reshape(len(means), -1)
    return masses


def laws_before(game, steps, side, coarse=1):
    """Masses [history of cells, records used] of the outputs of the first `steps` steps, and the label of each
    history."""
    edges, weights, label = axis(game, coarse), np.ones((1, 1)), np.zeros(1, int)
    for i, (free, goes, states) in enumerate(steps_of(game.n, tuple(game.sizes))[:steps]):
        cells = (len(edges) + 1) ** game.dimension
        law = np.zeros((len(weights), cells, states))
        for k in np.unique(label):
            masses = cell_masses(game.gradients[i][k], game.sizes[i], game.n, side, edges, game.sigma)
            rows = np.flatnonzero(label == k)
            for u, s in zip(*np.nonzero(free), strict=True):
                law[rows, :, goes[u, s]] += weights[rows, u, None] * masses[s] / free[u].sum()
        seen = merged(game.labels[i], coarse, game.dimension)
        label = (label[:, None] * (seen.max() + 1) + seen).ravel()
        weights = law.reshape(-1, states)
    return weights, label


def last_law(game, before, side, coarse=1):
    """Blocks [history, cell of the last output]: the joint law, one block for every label."""
    edges, (weights, label), last = axis(game, coarse), before, len(game.sizes) - 1
    free = steps_of(game.n, tuple(game.sizes))[last][0]
    each = weights @ (free / free.sum(axis=1, keepdims=True))
    for k in np.unique(label):
        yield each[label == k] @ cell_masses(game.gradients[last][k], game.sizes[last], game.n, side, edges, game.sigma)


def profile(game, epsilons, coarse=1):
    """δ [direction, ε]: of the record against none (or its substitute), and the reverse."""
    before = [laws_before(game, len(game.sizes) - 1, side, coarse) for side in (0, 1)]
    found = np.zeros((2, len(epsilons)))
    for p, q in zip(*[last_law(game, before[side], side, coarse) for side in (0, 1)], strict=True):
        for j, epsilon in enumerate(epsilons):
            found[0, j] += np.maximum(p - exp(epsilon) * q, 0).sum()
            found[1, j] += np.maximum(q - exp(epsilon) * p, 0).sum()
    return found


def delta(game, coarse=1):
    """(record → none, none → record) at the game's ε."""
    return tuple(float(v) for v in profile(game, [game.epsilon], coarse)[:, 0])


def vectors(rng, count, dimension, kind):
    """`count` vectors of the unit ball."""
    if dimension == 1:
        signs = [-1.0, -1.0, 0.0, 1.0, 1.0]
        return rng.uniform(-1, 1, (count, 1)) if kind == "random" else rng.choice(signs, (count, 1))
    angle = rng.uniform(0, 2 * np.pi, count)
    radius = rng.uniform(0, 1, count) if kind == "random" else 1.0
    return (radius * np.array([np.cos(angle), np.sin(angle)])).T


def labels_of(rng, game, count):
    """Cuts of the line (of each axis) at random edges near the means."""
    edges = axis(game)[::COARSE]  # so that coarse cells lie in one label each
    near = edges[np.abs(edges) < game.batch_size + 2 * game.sigma]
    cuts = np.sort(rng.choice(near, min(count - 1, len(near)), replace=False))
    ends = np.concatenate([axis(game), [np.inf]])
    one = np.searchsorted(cuts, ends, "left")
    return one if game.dimension == 1 else (one[:, None] * (len(cuts) + 1) + one).ravel()


def own_vectors(rng, adjacency, dimension):
    """Of the record, and of what stands for it."""
    x = np.zeros(dimension)
    x[0] = 1.0 if rng.random() < 0.8 else rng.uniform(-1, 1)
    if adjacency == "zero-out":
        return x, np.zeros(dimension)
    return x, -x if rng.random() < 0.7 else vectors(rng, 1, dimension, "random")[0]


def filled(rng, game, step, rows):
    """The table of gradients of one step, of the game's kind, where `rows` [label, record] are posterior weights: of
    the arrangements that leave the record for this step, on the first data set minus e^ε times the second."""
    count, n, dimension = len(rows), game.n, game.dimension
    table = np.empty((count, n + 1, dimension))
    if game.kind in ("random", "signs"):
        for k in range(count):
            table[k] = vectors(rng, n + 1, dimension, game.kind)
    x, other = own_vectors(rng, game.adjacency, dimension)
    sign = 1.0 if rng.random() < 0.7 else -1.0
    if game.kind == "opposed":
        table[:] = -x
    elif game.kind == "together":  # all others like x where the sum of the weights is positive, else opposed to it
        table[:] = sign * np.where(rows[:, 1:].sum(axis=1) > 0, 1.0, -1.0)[:, None, None] * x
    elif game.kind == "greedy":
        table[:, :n] = sign * np.where(rows > 0, 1.0, -1.0)[:, :, None] * x
    table[:, 0], table[:, n] = x, other
    if step == 0 and game.kind in ("greedy", "together"):
        table[:, 1:n] = vectors(rng, n - 1, dimension, "signs") if rng.random() < 0.5 else -x
    return table


def with_gradients(rng, game):
    """Fill the tables in order; those of hostile kinds depend on the laws of the steps before."""
    tables = [np.zeros((1, game.n + 1, game.dimension))]
    for step, size in enumerate(game.sizes):
        known = replace(game, gradients=(*tables[:step], *[tables[0]] * (len(game.sizes) - step)))
        (p, label), (q, _) = (laws_before(known, step, side, COARSE) for side in (0, 1))
        states = np.zeros((label.max() + 1, p.shape[1]))
        np.add.at(states, label, p - exp(game.epsilon if rng.random() < 0.5 else -game.epsilon) * q)
        free, _, _ = steps_of(game.n, tuple(game.sizes))[step]
        held = free @ batches_of(game.n, size)[1] / free.sum(axis=1, keepdims=True)  # [used, record]
        tables[step:] = [filled(rng, game, step, states @ held)]
    return replace(game, gradients=tuple(tables))


def climb(game, rng, tries, direction=0):
    """Local search for gradients with a larger δ: one entry, or one row of the others, is changed at a time."""
    best = profile(game, [game.epsilon], COARSE)[direction, 0]
    for _ in range(tries):
        tables = [t.copy() for t in game.gradients]
        table = tables[rng.integers(len(tables))]
        row = rng.integers(len(table))
        if rng.random() < 0.2:
            table[row, 1:game.n] = vectors(rng, 1, game.dimension, "signs")
        else:
            record = rng.integers(game.n + (game.adjacency == "replace-one"))
            table[row, record] = vectors(rng, 1, game.dimension, rng.choice(["random", "signs"]))[0]
        changed = replace(game, gradients=tuple(tables))
        found = profile(changed, [game.epsilon], COARSE)[direction, 0]
        if found > best:
            best, game = found, changed
    return replace(game, kind="climbed")


def random_game(rng, climbed=0, steps=None, leftover=None):
    """rng: numpy's Generator. One in ten games takes three steps unless `steps` is given; then comes a climb of
    `climbed` tries."""
    steps = steps or rng.choice([1, 2, 3], p=[0.15, 0.75, 0.10])
    fits = [s for s in SHAPES if s[2] + (s[3] == "used" and s[0] > s[1] * s[2]) == steps and leftover in (None, s[3])]
    n, b, t, left = fits[rng.integers(len(fits))] if fits else SHAPES[0]
    dimension = 2 if steps == 2 and rng.random() < 0.02 else 1
    sigma = float(np.exp(rng.uniform(np.log(0.5 if dimension == 1 else 1.0), np.log(5.0))))
    adjacency = str(rng.choice(["zero-out", "replace-one"], p=[0.6, 0.4]))
    reach = 1.0 if adjacency == "zero-out" else 2.0
    epsilon = 0.0 if rng.random() < 0.1 else float(rng.uniform(0, 0.5 * (reach / sigma) ** 2 + 3 * reach / sigma))
    kind = str(rng.choice(["random", "signs", "opposed", "together", "greedy"], p=[0.15, 0.15, 0.15, 0.25, 0.3]))
    start = Game(n, b, t, left, sigma, adjacency, epsilon, kind, (np.zeros((1, n + 1, dimension)),), ())
    start = replace(start, gradients=start.gradients * steps)
    count = {1: 1, 2: 10, 3: 4}[steps] if dimension == 1 else 3
    game = replace(start, labels=tuple(labels_of(rng, start, int(rng.integers(1, count + 1))) for _ in range(steps)))
    game = with_gradients(rng, game)
    return climb(game, rng, climbed, int(rng.integers(2))) if climbed else game


def brute_force(game, side):
    """The joint law on all products of cells, one arrangement after the other (for tests: small grids only)."""
    edges = axis(game, 16)
    count, total = 0, 0.0
    for parts in product(*[combinations(range(game.n), size) for size in game.sizes]):
        if len(set().union(*parts)) < sum(game.sizes):
            continue
        law, label = np.ones(1), np.zeros(1, int)
        for i, part in enumerate(parts):
            own = [game.n if side and r == 0 else r for r in part]
            means = game.gradients[i][:, own, 0].sum(axis=1)
            cells = intervals(means[label], edges, game.sigma)
            law = (law[:, None] * cells).ravel()
            seen = merged(game.labels[i], 16, 1)
            label = (label[:, None] * (seen.max() + 1) + seen).ravel()
        count, total = count + 1, total + law
    return total / count
