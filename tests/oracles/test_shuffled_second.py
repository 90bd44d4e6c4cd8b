"""The second implementation of the bounds of shuffled batches: against simulation, one another and exact games."""

from math import exp, sqrt

import numpy as np
import pytest
import shuffled_sums
from conftest import slow
from scipy.stats import norm
from shuffled_games import delta, random_game
from shuffled_second import (
    best_kappa,
    delta_by_centre,
    delta_left_out,
    delta_together,
    draws_ratio,
    epsilon_composed,
    lower_hull,
    trade,
)
from shuffled_sums import Multiple, Star, Table, poisson_nodes, positive_part, second_differences

SIDES = ("record", "none", "replace")


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    monkeypatch.setattr(shuffled_sums, "FINE", 2.0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("sigma", [0.7, 1.5, 4.0])
def test_the_call_function_is_the_largest_of_one_step(side, sigma):
    """Over x, x' and y of the interval, on a grid; and it is attained."""
    tau, grid = exp(0.4), np.linspace(-14 * sigma - 2, 14 * sigma + 2, 6001)
    star, best = Star(tau, sigma, side), dict.fromkeys((-3.0, -0.4, 0.0, 0.7, 5.0), 0.0)
    ends = np.linspace(-1, 1, 5)
    for x in ends:
        for other in ends if side == "replace" else [0.0]:
            for y in ends:
                p, q = (norm.pdf(grid, m, sigma) for m in ((other, x) if side == "none" else (x, other)))
                for k in best:
                    value = np.maximum(p - tau * q - k * norm.pdf(grid, y, sigma), 0).sum() * (grid[1] - grid[0])
                    best[k] = max(best[k], value)
    for k, value in best.items():
        assert value == pytest.approx(float(star.call(k)), rel=2e-4)


@pytest.mark.parametrize("side", SIDES)
def test_calls_and_puts_agree_and_are_convex(side):
    for epsilon, sigma in ((0.0, 1.0), (2.0, 0.6), (0.3, 4.0)):
        star = Star(exp(epsilon), sigma, side)
        k = np.linspace(star.mean - 9, star.mean + 9, 501)
        assert star.call(k) - star.put(k) == pytest.approx(star.mean - k, abs=1e-12)
        assert second_differences(star.call(k), k).min() > -1e-10
        table = Table(star)
        assert np.all(table.call(k) >= star.call(k) * (1 - 1e-9)) and table.call(k) == pytest.approx(star.call(k), rel=5e-3)


def simulated(star, rng, size):
    """Draws of D*, from its distribution function on a fine grid (the slope of its call function)."""
    k = np.concatenate([star.mean - np.geomspace(60, 1e-4, 4000), star.mean + np.geomspace(1e-4, 400, 6000)])
    upper = -np.diff(star.call(k)) / np.diff(k)
    return np.interp(-rng.random(size), -upper, (k[1:] + k[:-1]) / 2)


@pytest.mark.parametrize("count", [100_000, slow(400_000)])
@pytest.mark.parametrize("side", SIDES)
def test_sums_against_simulation(side, count):
    rng, star = np.random.default_rng(3), Star(exp(0.5), 1.5, side)
    draws = simulated(star, rng, (count, 4))
    for shift in (-0.6, 0.4):
        values = np.maximum(draws.sum(axis=1) + shift, 0)
        assert positive_part([(star, 4)], shift) == pytest.approx(values.mean(), abs=5 * values.std() / sqrt(count) + 1e-3)
    counts = rng.multinomial(7, [0.3, 0.3, 0.3, 0.1], count)
    values = np.maximum((counts * (draws + 0.2)).sum(axis=1), 0) / 7
    assert values.mean() - 5 * values.std() / sqrt(count) < draws_ratio(star, 0.2, 7, 3, 1 / 3) < 2 * values.mean()
    scaled = Multiple(star, 0.2, *poisson_nodes(30.0))
    values = np.maximum((rng.poisson(30.0, (count, 3)) * (draws[:, :3] + 0.2)).sum(axis=1), 0)
    assert positive_part([(scaled, 3)]) == pytest.approx(values.mean(), rel=0.01, abs=5 * values.std() / sqrt(count))


def test_both_directions_agree_at_zero():
    for sigma, t, w0 in ((1.1, 20, 0.3), (1.6, 50, 1 / 256), (4.0, 3, 1.0)):
        assert delta_left_out(0.0, sigma, t, w0, "record") == pytest.approx(
            delta_left_out(0.0, sigma, t, w0, "none"), rel=1e-6)


def test_hulls_and_trades():
    x, y = lower_hull([(0, 0), (1, 2), (2, 0.5), (3, 3), (4, 2)])
    assert x.tolist() == [0, 2, 4] and y.tolist() == [0, 0.5, 2]
    assert trade(np.array([0.5, 1.0]), 2.0) == pytest.approx([norm.cdf(0.5), 1.0])


@pytest.mark.slow
def test_golden_values_of_theorem_a():
    found, _ = epsilon_composed(lambda e, side: delta_left_out(e, 4.0, 50, 1 / 256, side), 50, 1e-5, "zero-out")
    assert found == pytest.approx(1.2125, rel=3e-3)
    found, _ = epsilon_composed(lambda e, side: delta_left_out(e, 1.0, 5, 0.5, side), 3, 1e-5, "zero-out")
    assert found == pytest.approx(8.0068, rel=3e-3)


def sides_of(game):
    return ("record", "none") if game.adjacency == "zero-out" else ("replace", "replace")


@pytest.mark.parametrize("games", [30, slow(120)])
def test_no_game_is_above_theorem_a(games):
    rng = np.random.default_rng(21)
    for _ in range(games):
        game = random_game(rng, leftover="dropped")
        for value, side in zip(delta(game), sides_of(game), strict=True):
            bound = delta_left_out(game.epsilon, game.sigma, game.batches, game.rest / game.batch_size, side)
            assert value <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("games", [3, slow(25)])
def test_no_game_is_above_theorem_c(games):
    rng = np.random.default_rng(22)
    for _ in range(games):
        game = random_game(rng, leftover="used")
        b, t, w = game.batch_size, game.batches - 1, game.rest / game.batch_size
        for value, side in zip(delta(game), sides_of(game), strict=True):
            for bound in (delta_by_centre, delta_together):
                assert value <= bound(game.epsilon, game.sigma, b, t, w, side) * (1 + 1e-9) + 1e-12


@pytest.mark.slow
def test_any_witness_is_valid_and_the_best_is_no_worse():
    levels = [300, 200, 100, 30, 8, 1]
    kappa = best_kappa(0.5, 1.5, 30, 10, 0, "record", levels)
    best = delta_by_centre(0.5, 1.5, 30, 10, 0, "record", kappa)
    assert all(best <= delta_by_centre(0.5, 1.5, 30, 10, 0, "record", kappa * c) * 1.05 for c in (0.5, 0.8, 1.25, 2))
