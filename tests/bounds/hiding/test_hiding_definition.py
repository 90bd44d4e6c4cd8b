"""The theorem about shuffled orders that hide a record among the others, against exact runs and against the program
that it solves."""

import random
from math import exp, log

import hiding_definition as definition
import numpy as np
import pytest
from conftest import slow
from shuffled_runs import GaussianWalk, Shuffled, delta
from soundness.hiding import GAUSSIAN, Question, contraction, promised, records, width

ORDERS = (0.0, 0.05, 0.3, 0.7, 0.95, 1.0, 1.1, 1.6, 3.0, 10.0, 60.0)  # of the hockey-stick divergence, below 1 too


def small(rng, most=6):
    """A run of few records, all distinct or some alike, one by one or in batches."""
    counts, batch = rng.choice((([1] * (rng.randint(2, most) - 1), 1), ([rng.randint(1, most - 1)], 1), ([1, 1, 1], 2),
                                ([1] * 5, 2), ([2, 1], 2)))
    size, c = exp(rng.uniform(-1.8, 2.1)), contraction(rng)
    own = records(rng, size * batch, c, counts, width(rng), batch)
    return own, size, c, GaussianWalk(own, rng.choice((0.0, 0.5, 0.999)))


@pytest.mark.parametrize("draws", [100, slow(300)])
def test_the_taut_string_is_the_least_sum_of_squares(draws):
    rng = random.Random(1)
    for _ in range(draws):
        steps, c = rng.randint(1, 14), rng.choice((0.7, 0.9, 0.99, 1.0, 1.02, 1.1))
        later = sorted(rng.sample(range(steps), min(steps, rng.randint(1, 5))))
        assert definition.string(later, 1.3,
                                 c) == pytest.approx(definition.hull(definition.pushes(steps, later, 1.3), c), rel=1e-5)


@pytest.mark.parametrize("c", [0.5, 0.97, 1.0, 1.03])
def test_pushes_of_one_pass_at_once(c):
    assert definition.one_pass(25, 1.3, c) == pytest.approx(definition.matrix(25, 1.3, c), rel=1e-12)


@pytest.mark.parametrize("draws", [12, slow(40)])
def test_two_places_of_the_record_are_as_near_as_two_pushes_tell(draws):
    """E_g(P_m‖Q_m′) <= θ(log g, μ(m, m′)), for g below 1 too, in all directions, given the slot of the differing
    record."""
    rng, nearest, count = random.Random(2), 0.0, 0
    for _ in range(draws):
        own, size, c, walk = small(rng)
        n, shuffled = own.slots, Shuffled(walk)
        laws = [shuffled.laws(position=n - 1 - m) for m in range(n)]
        mu = definition.matrix(n, size, c)
        for a in range(n):
            for b in range(n):
                pairs = [(laws[a][x], laws[b][y]) for x in (0, 1) for y in (0, 1) if a != b or x != y]
                for g in ORDERS:
                    most = definition.theta(log(g) if g else -np.inf, mu[a, b]) if g else 1.0
                    for p, q in pairs:
                        true = delta(p, q, g)
                        assert true <= most, (a, b, g, own.counts, size, c)
                        count += 1
                        if a != b and g > 0.5 and most > 1e-6:
                            nearest = max(nearest, true / most)
    assert count > 250 * draws
    assert nearest > 0.95


def plans(rng, mu, epsilon):
    """Rows of p sum to 1, columns of q to at most 1: identities, random ones, and those that a z suggests (ratio q/p =
    the likelihood ratio)."""
    n = len(mu)
    one = np.eye(n)
    yield one, one
    for _ in range(6):
        mix = rng.choice((0.01, 0.1, 0.5, 1.0))
        p, q = (np.array([[rng.random() ** rng.choice((1, 4)) for _ in range(n)] for _ in range(n)]) for _ in range(2))
        p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=0) * rng.choice((1.0, rng.random()))
        yield (1 - mix) * one + mix * p, (1 - mix) * one + mix * q
    for _ in range(12):
        z = np.minimum(rng.uniform(0, 5), epsilon / np.diag(mu) + np.diag(mu) / 2)
        p = np.exp(rng.choice((3, 10, 40)) * ((z - mu) - (z - mu).max(axis=1, keepdims=True)))
        p /= p.sum(axis=1, keepdims=True)
        q = p * np.exp(mu * z - mu**2 / 2 - epsilon)
        yield p, q / np.maximum(q.sum(axis=0), 1.0)


@pytest.mark.parametrize("draws", [12, slow(60)])
def test_every_plan_is_above_every_run_and_every_certificate(draws):
    """The sum of the theorem at any plan is no less than the δ of the run, nor than the certificate."""
    rng, nearest, count = random.Random(3), 0.0, 0
    for _ in range(draws):
        own, size, c, walk = small(rng)
        p, q = Shuffled(walk).laws()
        mu = definition.matrix(own.slots, size, c)
        for epsilon in (0.0, size * exp(rng.uniform(-3, 0.5)), rng.uniform(0, 3)):
            true = max(delta(p, q, exp(epsilon)), delta(q, p, exp(epsilon)))
            floor = definition.best_certificate(mu, epsilon)
            for plan in plans(rng, mu, epsilon):
                most = definition.program(*plan, mu, epsilon)
                assert true <= most and floor <= most * (1 + 1e-12) + 1e-16
                nearest, count = max(nearest, true / most if most > 1e-6 else 0.0), count + 1
    assert count > 50 * draws and nearest > 0.75


def chosen(rng, name):
    """A question of up to 60 places, its μ(m, m′), whatever is told about D being left out."""
    n, size, c = rng.choice((2, 3, 5, 10, 30, 60)), exp(rng.uniform(-2, 2)), contraction(rng, 1.0)
    if name == "smooth-nonconvex-shuffled-hiding":
        c = rng.choice((1.001, 1.01, 1.05))
    if name == "output-perturbation-shuffled-hiding":
        c = min(c, 0.999)  # the bound needs c < 1
        return Question(size, c, n), definition.added(n, size, c)
    if name == "shuffled-hiding-last":
        epochs, slots = rng.choice((1, 2, 5)), rng.choice((n, rng.randint(1, n)))
        return Question(size, c, n, epochs, slots), definition.matrix(n, size, c, definition.earliest(epochs, n, slots),
                                                                      slots)
    return Question(size, c, n), definition.matrix(n, size, c)


@pytest.mark.parametrize("n", [200, slow(500)])
@pytest.mark.parametrize("name", GAUSSIAN[:2])
def test_blocks_of_places_are_not_below_what_every_plan_must_cost(name, n):
    rng, ratios = random.Random(f"{name} {n}"), []
    for _ in range(6):
        question = Question(exp(rng.uniform(-1.5, 2)),
                            rng.choice((0.9, 0.99, 1.0, 1.0) if "nonconvex" not in name else (1.0005, 1.005)), n)
        mu, epsilons = definition.one_pass(n, question.size, question.c), question.at(rng, 4)
        for epsilon, most in zip(epsilons, promised(name, epsilons, question), strict=True):
            floor = definition.best_certificate(mu, epsilon)
            assert most >= floor * (1 - 1e-11) - 1e-16, (question, epsilon, most, floor)
            if floor > 1e-12:
                ratios.append(most / floor)
    assert np.median(ratios) < 1.3, ratios


@pytest.mark.parametrize("draws", [6, slow(40)])
@pytest.mark.parametrize("name", GAUSSIAN)
def test_no_bound_is_below_what_every_plan_must_cost(name, draws):
    """And most are near it: that is what the plan is good for."""
    rng, ratios = random.Random(name), []
    for _ in range(draws):
        question, mu = chosen(rng, name)
        epsilons = question.at(rng)
        reported = promised(name, epsilons, question)
        for epsilon, most in zip(epsilons, reported, strict=True):
            floor = definition.best_certificate(mu, epsilon)
            assert most >= floor * (1 - 1e-11) - 1e-16, (name, question, epsilon, most, floor)
            if most > 1e-12:
                ratios.append(most / floor if floor > 0 else np.inf)
    assert np.median(ratios) < 1.1, np.median(ratios)
    assert draws < 40 or np.quantile(ratios, 0.9) < 2, np.quantile(ratios, 0.9)
