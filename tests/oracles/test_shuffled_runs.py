"""The exact runs that the soundness of shuffled orders rest on, against other ways to solve them."""

import random
from itertools import combinations, permutations
from math import exp

import numpy as np
import pytest
from conftest import spread
from scipy.special import ndtr
from scipy.stats import laplace
from shuffled_runs import (
    LEAST,
    RELATIVE,
    GaussianWalk,
    LaplaceWalk,
    Records,
    Shuffled,
    banded,
    delta,
    lipschitz_map,
    moved,
    released,
)
from soundness.hiding import contraction, records, width


def test_the_maps_are_lipschitz_and_at_most_so_far_apart():
    rng = random.Random(1)
    for _ in range(300):
        c, diameter, size = contraction(rng), width(rng), exp(rng.uniform(-1.8, 2.1))
        own = records(rng, size, c, [1, 1, 1], diameter)
        values = [m(np.linspace(0, diameter, 2001)) for m in (*own.maps, *own.special)]
        assert all(np.abs(np.diff(v)).max() <= c * diameter / 2000 * (1 + 1e-9) for v in values)
        assert all(np.abs(v - w).max() <= size * (1 + 1e-12) for v, w in combinations(values, 2))


def test_kinks_of_a_cut_map_are_found():
    base, steep = lipschitz_map(random.Random(2), 1.0, 3.0), lipschitz_map(random.Random(5), 1.0, 3.0)
    cut, x = banded(steep, base, 0.3), np.linspace(0, 3, 997)
    assert cut(x) == pytest.approx(base(x) + np.clip(steep(x) - base(x), -0.3, 0.3), abs=1e-14)


@pytest.mark.slow
def test_halved_panels_move_no_mass_by_what_is_allowed():
    """A tenth of RELATIVE, of every mass that counts."""
    rng = random.Random(3)
    for _ in range(40):
        own = records(rng, exp(rng.uniform(-1.8, 2.1)), contraction(rng), [1] * rng.randint(1, 4), width(rng))
        found = [Shuffled(GaussianWalk(own, 0.0, scale)).laws(2) for scale in (1.0, 0.5)]
        keep = (found[0] > LEAST) & (found[1] > LEAST)
        assert found[0][keep] == pytest.approx(found[1][keep], rel=RELATIVE / 10, abs=0)
        assert found[0].sum(axis=1) == pytest.approx(1, rel=1e-12)


def batches(order, size):
    return [order[i:i + size] for i in range(0, len(order), size)]


@spread("counts, batch, slots, epochs", [([1, 1, 1], 1, 4, 1), ([1, 1, 1], 2, 2, 2), ([2, 1], 2, 1, 2),
                                                          ([3], 1, 2, 1), ([2, 3], 3, 2, 1), ([1, 1, 1, 1], 2, 2, 2)])
def test_all_orders_one_by_one(counts, batch, slots, epochs):
    rng = random.Random(str((counts, batch)))
    own = records(rng, 1.5 * batch, 1.0, counts, 3.0, batch)
    walk = GaussianWalk(own)
    kinds, special = [j for j, k in enumerate(counts) for _ in range(k)], sum(counts)
    for side in (0, 1):
        law, every = walk.start, list(permutations([*kinds, special]))
        for epoch in range(epochs):
            last, total = epoch == epochs - 1, 0.0
            for order in every:
                state, passed = law, batches(order, batch)[:slots if last else own.slots]
                for t, members in enumerate(passed):
                    y = walk.line.y
                    mean = sum(own.special[side](y) if j == special else own.maps[j](y) for j in members) / batch
                    if last and t == len(passed) - 1:
                        z = (np.concatenate([[-np.inf], walk.cuts, [np.inf]]) - mean[:, None])
                        state = state @ np.diff(ndtr(z), axis=1)
                    else:
                        state = state @ walk.line.kernel(mean, 1.0)
                total = total + state / len(every)
            law = total
        assert Shuffled(walk).laws(epochs, slots)[side] == pytest.approx(law, rel=1e-9, abs=1e-15)


def test_laws_given_the_slot_average_to_the_law():
    own = records(random.Random(7), 2.0, 0.9, [2, 1, 1], 4.0)
    shuffled = Shuffled(GaussianWalk(own))
    given = sum(shuffled.laws(position=t) for t in range(5)) / 5
    assert given == pytest.approx(shuffled.laws(), rel=1e-12)


def test_a_slot_without_walls_near_is_the_gaussian_mechanism():
    far = lipschitz_map(random.Random(1), 0.0, 40.0)
    still = moved(far, 20 - far(20.0))
    own = Records([still], [0], (moved(still, 0.5), moved(still, -0.5)), 40.0)
    p, q = Shuffled(GaussianWalk(own)).laws()
    exact = ndtr(0.5 - 1) - exp(1) * ndtr(-0.5 - 1)
    assert exact * (1 - 3e-3) < delta(p, q, exp(1)) < exact  # from below, by cells of a tenth of the noise


def test_released_after_all_orders():
    own = records(random.Random(9), 1.0, 0.8, [1, 1], 3.0)
    p, q = released(own, 1.0)
    low, high = [], []
    for side, ends in ((0, low), (1, high)):
        for order in permutations((own.maps[0], own.maps[1], own.special[side])):
            w = 1.0
            for step in order:
                w = float(np.clip(step(w), 0.0, 3.0))
            ends.append(w)
    cuts = np.arange(min(low + high) - 10, max(low + high) + 10, 0.05)
    for law, ends in ((p, low), (q, high)):
        assert law == pytest.approx(sum(np.diff(ndtr(cuts - w)) for w in ends) / 6, abs=1e-14)


def test_a_slot_of_laplace_noise():
    """From a wall, by the distribution function of both sides; and the masses add up."""
    rng = random.Random(4)
    own = records(rng, 1.0, 1.0, [0], 3.0)
    walk = LaplaceWalk(own, 0.0)
    for side, law in enumerate(Shuffled(walk).laws()):
        assert np.cumsum(law)[:-1] == pytest.approx([laplace.cdf(x - float(own.special[side](0.0)))
                                                     for x in walk.edges], rel=1e-13)
    assert Shuffled(LaplaceWalk(records(rng, 2.0, 0.9, [3, 2], 4.0),
                                0.5)).laws().sum(axis=1) == pytest.approx(1, rel=1e-13)
