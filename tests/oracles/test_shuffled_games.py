"""The exact games of shuffled batches, against other ways to compute them."""

from itertools import permutations
from math import exp, pi, sqrt

import numpy as np
import pytest
from scipy.special import ndtr
from shuffled_games import COARSE, brute_force, delta, last_law, laws_before, profile, random_game


def games(seed, count, **chosen):
    rng = np.random.default_rng(seed)
    found = [random_game(rng, **chosen) for _ in range(count)]
    return [game for game in found if game.dimension == 1]


@pytest.mark.parametrize("steps, count", [(1, 6), (2, 20), (3, 5)])
def test_laws_are_averages_over_all_arrangements(steps, count):
    for game in games(steps, count, steps=steps):
        for side in (0, 1):
            weights, label = laws_before(game, steps - 1, side, 16)
            law = np.concatenate(list(last_law(game, (weights, label), side, 16)))
            order = np.concatenate([np.flatnonzero(label == k) for k in np.unique(label)])
            assert law.sum() == pytest.approx(1, rel=1e-12)
            assert law == pytest.approx(brute_force(game, side).reshape(len(weights), -1)[order], rel=1e-9, abs=1e-250)


def test_one_mechanism_in_closed_form():
    """A batch of one of two records, the other dropped: the other carries −1, so two shifted normals mix."""
    rng = np.random.default_rng(5)
    game = next(g for g in (random_game(rng, steps=1, leftover="dropped") for _ in range(2000))
                if (g.n, g.kind, g.adjacency) == (2, "opposed", "zero-out") and g.gradients[0][0, 0, 0] == 1)
    s, tau = game.sigma, exp(game.epsilon)
    z = np.log((tau * exp(0.5 / s**2) + sqrt(tau**2 * exp(1 / s**2) + 4 * (tau - 1))) / 2) * s
    exact = (ndtr(1 / s - z) - tau * ndtr(-z) - (tau - 1) * ndtr(-1 / s - z)) / 2
    assert exact * (1 - 1e-3) <= delta(game)[0] <= exact * (1 + 1e-12)


def density(game, side, grid):
    """Of two outputs on a grid, one order of all records after the other."""
    total, sizes = 0.0, game.sizes
    cut = np.linspace(-game.batch_size - 7 * game.sigma, game.batch_size + 7 * game.sigma, len(game.labels[0]) - 1)
    seen = game.labels[0][np.searchsorted(cut, grid, "left")]
    orders = list(permutations(range(game.n)))
    for order in orders:
        first, second = ([game.n if side and r == 0 else r for r in part]
                         for part in (order[:sizes[0]], order[sizes[0]:sum(sizes)]))
        a = grid - game.gradients[0][0, first, 0].sum()
        b = grid[None, :] - game.gradients[1][seen][:, second, 0].sum(axis=1)[:, None]
        total = total + np.exp(-(a[:, None] ** 2 + b**2) / 2 / game.sigma**2)
    return total / len(orders) / (2 * pi * game.sigma**2)


@pytest.mark.slow
def test_densities_give_the_same_delta():
    """Rounded outputs lose little, and never gain."""
    for game in [g for g in games(7, 60, steps=2) if g.n <= 4 and delta(g)[0] > 1e-5][:6]:
        grid = np.linspace(-game.batch_size - 7 * game.sigma, game.batch_size + 7 * game.sigma, 1502)
        grid = (grid[1:] + grid[:-1]) / 2
        p, q = (density(game, side, grid) for side in (0, 1))
        exact = np.maximum(p - exp(game.epsilon) * q, 0).sum() * (grid[1] - grid[0]) ** 2
        assert 0.97 * exact <= delta(game)[0] <= exact * (1 + 2e-3)


def test_wider_cells_show_less():
    for game in games(8, 25, steps=2):
        assert np.all(np.array(delta(game, COARSE)) <= np.array(delta(game)) * (1 + 1e-9) + 1e-15)


def test_games_obey_their_rules():
    rng = np.random.default_rng(9)
    for _ in range(60):
        game = random_game(rng, climbed=2)
        assert all(np.linalg.norm(g, axis=-1).max() <= 1 + 1e-12 for g in game.gradients)
        assert game.rest >= 1 if game.leftover == "dropped" else sum(game.sizes) == game.n
        if game.adjacency == "zero-out":
            assert all(np.all(g[:, game.n] == 0) for g in game.gradients)
        found = profile(game, [0.0, 0.5, 1.0], COARSE)
        assert np.all(np.diff(found) <= 1e-12) and found[0, 0] == pytest.approx(found[1, 0], abs=1e-9)
