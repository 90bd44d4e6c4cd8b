"""Shuffled batches: the bounds against exact games whose gradients see the earlier outputs, and their laws."""

import random
from math import exp, log

import mpmath
import numpy as np
import pytest
from conftest import slow
from shuffled_games import delta as exact_delta
from shuffled_games import random_game

from dpcalc.bounds.conversions.group_privacy import of_group
from dpcalc.bounds.sampling import (
    shuffle_lower,
    shuffle_profile,
    shuffle_profile_one_order,
    shuffle_profile_used,
)
from dpcalc.bounds.sampling.shuffle_no_amplification import BOUND as NO_AMPLIFICATION
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.shuffled_used import excess_of_largest_ratio

TAIL = 1e-13


def left_out(z, n, b, replaced=False, epochs=1, unfinished=0, tail=TAIL):
    return shuffle_profile.value(z, n, b, True, replaced, epochs, unfinished, 1, tail)


def used(z, n, b, replaced=False, epochs=1, unfinished=0, tail=TAIL, clipped=True):
    return shuffle_profile_used.value(z, n, b, False, replaced, clipped, epochs, unfinished, 1, tail)


def delta(parts, epsilon):
    return exp(log_delta_at_epsilon(parts, epsilon).upper)


def epsilon(parts, at):
    return epsilon_at_delta(parts, log(at)).upper


@pytest.mark.parametrize("count", [1, slow(12), slow(400)])
def test_no_game_loses_more(count):
    rng, nearest = np.random.default_rng(65), 0.0
    for _ in range(count):
        game = random_game(rng)
        replaced = game.adjacency == "replace-one"
        z = game.sigma / (2 if replaced else 1)
        parts = (left_out(z, game.n, game.batch_size, replaced, 0, game.batches) if game.leftover == "dropped" else
                 used(z, game.n, game.batch_size, replaced))
        bound, true = delta(parts, game.epsilon), max(exact_delta(game))
        assert true <= bound * (1 + 1e-9), game
        nearest = max(nearest, true / bound)
    assert count < 12 or nearest > 0.9


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("z", [slow(0.6), 4.0])
@pytest.mark.parametrize("n, b", [(3, 2), slow(201, 100)])
def test_one_and_two_steps_are_the_theorem(n, b, z, replaced):
    parts = left_out(z, n, b, replaced)
    for e in (0.0, 0.3 / z, 2 / z):
        true = float(shuffle_profile.exact(mpmath.mp, e, z, n, b, True, replaced, 1, 0, 1, TAIL))
        assert true <= delta(parts, e) <= true * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("unused, z", [(0.0, 1.0), (0.2, 4.0)])
def test_the_lower_end_of_two_steps(unused, z):
    parts = shuffle_lower.value(z, 1.0, 2, unused, 1, TAIL)
    for e in (0.0, 0.3 / z, 2 / z):
        true = float(shuffle_lower.exact(mpmath.mp, e, z, 1.0, 2, unused, 1, TAIL))
        assert true * 0.98 <= delta(parts, e) <= true


@pytest.mark.slow
def test_two_equal_batches_that_are_used():
    for z, replaced in ((1.0, False), (1.0, True)):
        true = float(shuffle_profile_used.exact(mpmath.mp, 0.3, z, 200, 100, False, replaced, True, 1, 0, 1, TAIL))
        assert true <= delta(used(z, 200, 100, replaced), 0.3) <= true * 1.07


@pytest.mark.parametrize("reach", [0.3, 2.0])
@pytest.mark.parametrize("kind", ["alike", "opposite", "any"])
def test_no_vectors_have_larger_ratios(reach, kind):
    """E(max f − s)₊ of densities f at vectors on a line, relative to their mean, by quadrature; and it is attained up to
    a constant by one vector that is opposite to all others."""
    rng, x = np.random.default_rng(3), np.linspace(-14, 14, 20001)
    ratios = np.array([1.0, 1.5, 3.0, 5.0, 7.9])
    for _ in range(20):
        u = {"alike": np.ones(8), "opposite": np.array([1.0, *[-1.0] * 7]), "any": rng.uniform(-1, 1, 8)}[kind] * reach
        densities = np.exp(-((x[:, None] - u) ** 2) / 2) / (2 * np.pi) ** 0.5
        mean = densities.mean(axis=1)
        excess = np.maximum(densities.max(axis=1) - ratios[:, None] * mean, 0).sum(axis=1) * (x[1] - x[0])
        bound = excess_of_largest_ratio(8, reach, ratios)[0]
        assert np.all(excess <= bound * (1 + 1e-9))
        assert kind != "opposite" or np.all(excess[:3] > bound[:3] / 20)


@pytest.mark.slow
@pytest.mark.parametrize("z, replaced, near", [(3.0, False, 1.15), (6.0, True, 1.15)])
def test_with_much_noise_it_matters_little_whether_records_are_left_out(z, replaced, near):
    rest = epsilon(left_out(z, 6401, 64, replaced, 5), 1e-5)
    assert rest < epsilon(used(z, 6400, 64, replaced, 5), 1e-5) < near * rest


def questions(count):
    r = random.Random(1)
    for _ in range(count):
        b = r.choice((1, 8, 64, 300))
        n = b * r.randint(3, 200) + r.randint(1, b)
        yield round(r.uniform(0.6, 6), 2), n, b, r.random() < 0.3, r.choice((1, 3, 20)), 10 ** -r.uniform(4, 9)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_bounds_lie_between_the_attack_and_no_amplification(count):
    for z, n, b, replaced, epochs, at in questions(count):
        plain = NO_AMPLIFICATION.inverse(log(at), noise_multiplier=z, epochs=epochs)
        all_used = epsilon(used(z, n, b, replaced, epochs, tail=at * 1e-4), at)
        assert all_used <= plain * 1.003
        if n % b:
            rest = epsilon(left_out(z, n, b, replaced, epochs, tail=at * 1e-4), at)
            assert rest <= all_used
            if not replaced and n >= 2 * b:
                below = shuffle_lower.value(z, 1.0, n // b, n % b / n, epochs, at * 1e-4)
                assert epsilon_at_delta(below, log(at)).lower <= rest


@pytest.mark.slow
@pytest.mark.parametrize("of", [left_out, used])
def test_more_noise_and_fewer_epochs_lose_less(of):
    found = [epsilon(of(z, 1001, 50, epochs=5), 1e-6) for z in (0.8, 3.0)]
    assert found[0] > found[1]
    found = [epsilon(of(0.8, 1001, 50, epochs=k), 1e-6) for k in (1, 5, 20)]
    assert found == sorted(found)


@pytest.mark.slow
def test_an_epoch_that_ends_early_leaves_out_the_rest():
    """Whether or not b divides n, and for both theorems."""
    alone = epsilon(left_out(1.0, 1000, 50, epochs=0, unfinished=7), 1e-6)
    assert alone == epsilon(left_out(1.0, 1000, 50, epochs=0, unfinished=7), 1e-6)
    assert epsilon(used(1.0, 1000, 50), 1e-6) < epsilon(used(1.0, 1000, 50, unfinished=7), 1e-6)
    with pytest.raises(OutOfScope, match="at least one record"):
        left_out(1.0, 1000, 50)
    with pytest.raises(OutOfScope, match="use all records"):
        shuffle_profile_used.value(1.0, 1001, 50, True, False, True, 1, 0, 1, TAIL)


@pytest.mark.slow
def test_vectors_that_are_only_close_to_each_other_need_a_larger_ball():
    assert delta(used(2.0, 1000, 50, True), 0.5) < delta(used(2.0, 1000, 50, True, clipped=False), 0.5)


def one_order(z, n, b, replaced=False, epochs=1, group_size=1):
    return shuffle_profile_one_order.value(z, n, b, True, replaced, epochs, group_size, TAIL)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 3])
def test_one_batch_with_one_order_is_the_theorem(epochs):
    for e in (0.02, 0.1):
        true = float(shuffle_profile_one_order.exact(mpmath.mp, e, 4.0, 30, 20, True, False, epochs, 1, TAIL))
        assert true <= delta(one_order(4.0, 30, 20, epochs=epochs), e) <= true * 1.04


@pytest.mark.slow
def test_one_order_loses_more_than_fresh_orders_and_less_than_none():
    for replaced, epochs in ((False, 1), (False, 8), (True, 3)):
        fresh = epsilon(left_out(8.0, 1001, 50, replaced, epochs), 1e-6)
        once = epsilon(one_order(8.0, 1001, 50, replaced, epochs), 1e-6)
        assert fresh <= once <= NO_AMPLIFICATION.inverse(log(1e-6), noise_multiplier=8.0, epochs=epochs)
    with pytest.raises(OutOfScope, match="at least one record"):
        one_order(8.0, 1000, 50)


@pytest.mark.slow
def test_a_group_loses_what_a_chain_of_its_records_does():
    """At most the chain's (Kε, δ) for one ε, and the noise of a group that moves K times as far is no better."""
    at, size = 1e-6, 3
    group = shuffle_profile.value(4.0, 1001, 50, True, False, 5, 0, size, TAIL)
    found = epsilon(group, at)
    one = left_out(4.0, 1001, 50, epochs=5, tail=1e-18)
    points = (of_group(e / 40, delta(one, e / 40), size) for e in range(1, 200))
    assert found == pytest.approx(min(e for e, log_delta in points if log_delta <= log(at)), rel=0.03)
    assert epsilon(one, at) < found < NO_AMPLIFICATION.inverse(log(at), noise_multiplier=4.0 / size, epochs=5)
