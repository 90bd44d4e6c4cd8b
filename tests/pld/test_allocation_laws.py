"""Laws of random allocation on random lines, where a record is zeroed out and where it is replaced: pairs from above
and from below are distributions, in order, near each other, and safer with more steps and more noise."""

import random
from math import exp, expm1, inf, log

import numpy as np
import pytest
from conftest import slow, spread
from pair_masses import delta

from dpcalc.bounds.sampling import allocation_profile, allocation_replace_one_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.pld import allocation, allocation_replaced
from dpcalc.pld.bracket import epsilon_at_delta

PAIRS = {"zero-out": allocation, "replace-one": allocation_replaced}
BOUNDS = {"zero-out": (allocation_profile.BOUND, allocation_profile.LOWER),
          "replace-one": (allocation_replace_one_profile.BOUND, allocation_replace_one_profile.LOWER)}
TAIL = 1e-14
RELATION = pytest.mark.parametrize("relation", PAIRS)


def lines(count):
    """Random noise multipliers and numbers of steps; one is for the quick tests."""
    rng = random.Random(7)
    drawn = [(exp(rng.uniform(log(0.3), log(20))), round(exp(rng.uniform(log(3), log(3000))))) for _ in range(count)]
    return [line if k == 2 else slow(*line) for k, line in enumerate(drawn)]


def both(pair):
    """Its directions, which are one where a record is replaced and the pair from above is symmetric."""
    return (pair, pair.reverse) if pair.reverse else (pair,)


@pytest.mark.parametrize("relation", ["zero-out", slow("replace-one")])
@pytest.mark.parametrize(("sigma", "steps"), [*lines(8), slow(1000, 37), slow(1e7, 20), slow(1, 10**6 + 77)])
def test_pairs_are_distributions_and_the_upper_one_is_above(relation, sigma, steps):
    pairs, room = PAIRS[relation], 2e-6 if relation == "zero-out" else 1e-12
    upper, lower = pairs.dominating_pair(sigma, steps, TAIL), pairs.dominated_pair(sigma, steps, TAIL)
    for pair in both(upper):
        assert 1 - 1e-9 <= np.exp(pair.log_p).sum() + exp(pair.log_infinite) <= 1 + room
        assert pair.log_infinite < log(1e-12)
    for pair in both(lower):
        assert 1 - room <= np.exp(pair.log_p).sum() <= 1 + (0 if relation == "zero-out" else room)
        assert pair.log_infinite == -inf
    if relation == "replace-one":
        for pair in (upper, lower):
            q = (np.exp(pair.log_p) * np.exp(-np.array(pair.losses))).sum()
            assert q + exp(pair.log_infinite) == pytest.approx(1, abs=room)
    largest, sensitivity = max(lower.losses), 1 if relation == "zero-out" else 2
    for epsilon in (0.0, *(largest * x for x in (1e-4, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9))):
        whole = exp(log_theta(epsilon, sensitivity / sigma))
        for low, high in zip(both(lower), both(upper), strict=False):
            assert delta(low, epsilon) <= delta(high, epsilon) <= whole * (1 + 2e-3) + 1e-11


@pytest.mark.parametrize(("relation", "sigma", "steps", "epsilon"), [
    ("zero-out", 0.7, 3, 1.5), slow("zero-out", 1, 7, 0.8), slow("zero-out", 0.5, 13, 1.0), slow("zero-out", 2, 50, 0.1),
    slow("zero-out", 1, 100, 0.2), slow("replace-one", 2, 50, 0.1), slow("replace-one", 0.7, 3, 2.0),
    slow("replace-one", 1, 7, 0.5), slow("replace-one", 1, 100, 0.2)])
def test_delta_by_sampling(relation, sigma, steps, epsilon):
    """Within five standard errors of the mean over samples of the sum, with odd and even numbers of steps."""
    rng, m, gamma = np.random.default_rng(steps), 1 / sigma, exp(epsilon)
    runs = 1_000_000 if relation == "zero-out" else 50_000
    pairs = PAIRS[relation]
    upper, lower = pairs.dominating_pair(sigma, steps, TAIL), pairs.dominated_pair(sigma, steps, TAIL)
    up = down = np.zeros(runs)
    for _ in range(steps):
        z = m * rng.standard_normal(runs) - m * m / 2
        up, down = up + np.exp(z) / steps, down + np.exp(-z - m * m) / steps
    samples = [up - gamma, 1 - gamma * up] if relation == "zero-out" else [up - gamma * down]
    for sample, low, high in zip(samples, both(lower), both(upper), strict=False):
        values = np.maximum(sample, 0)
        error = 5 * values.std() / runs**0.5
        assert delta(low, epsilon) - error <= values.mean() <= delta(high, epsilon) + error
        assert error < 0.15 * values.mean()


WIDE = [(sigma, steps, epochs, delta) for sigma in (0.6, 1, 2, 5) for steps in (2, 10, 100, 1000, 10000)
        for epochs in (1, 10, 100) for delta in (1e-5, 1e-8)]
QUICK = {(5, 10, 1, 1e-5)}


@RELATION
@pytest.mark.parametrize("case", [c if c in QUICK else slow(c) for c in WIDE])
def test_brackets_are_narrow_and_better_than_without_amplification(relation, case):
    sigma, steps, epochs, delta = case
    tail, pairs = allocation_profile.tail_of(delta, epochs), PAIRS[relation]
    above, below = ([(pair, count * epochs) for pair, count in bound.value(sigma, steps, 1, tail)]
                    for bound in BOUNDS[relation])
    upper, lower = epsilon_at_delta(above, log(delta)).upper, epsilon_at_delta(below, log(delta)).lower
    if 1e-3 < upper < 50:
        assert 0 < lower <= upper and upper - lower <= (2e-3 if relation == "zero-out" else 1e-3) * upper
    assert upper <= epsilon_at_delta([(pairs.dominating_pair(sigma, 1, TAIL), epochs)], log(delta)).upper * 1.001
    zeroed = [(allocation.dominated_pair(sigma, steps, tail), epochs)]
    assert upper >= epsilon_at_delta(zeroed, log(delta)).lower


LONG = [[(0.8, steps) for steps in (1, 2, 3, 5, 8, 17, 100, 1001)],
        [(sigma, 60) for sigma in (0.3, 0.5, 0.9, 1, 1.7, 4, 20)], [(1, 60, epochs) for epochs in (100, 20, 5, 2, 1)]]


@spread(("relation", "changes"), [
    ("zero-out", [(0.8, 1), (0.8, 3), (0.8, 17)]), ("zero-out", [(1, 20), (20, 20)]),
    ("zero-out", [(1, 20, 100), (1, 20, 1)]), ("replace-one", [(0.8, 2), (0.8, 3)]),
    ("replace-one", [(1, 20, 100), (1, 20, 1)]), *(slow(relation, line) for relation in PAIRS for line in LONG)])
def test_more_steps_more_noise_and_fewer_epochs_are_safer(relation, changes):
    def epsilon(sigma, steps, epochs=1):
        pair = PAIRS[relation].dominating_pair(sigma, steps, 1e-11)
        return epsilon_at_delta([(pair, epochs)], log(1e-6)).upper

    found = [epsilon(*line) for line in changes]
    assert found == sorted(found, reverse=True)


@RELATION
@pytest.mark.parametrize("which", ["dominating_pair", "dominated_pair"])
@pytest.mark.parametrize(("sigma", "steps"), [(1e-320, 1), (1e-320, 3), (1e15, 1), (1e18, 1000), (1e200, 2)])
def test_noise_out_of_range_is_refused(relation, which, sigma, steps):
    with pytest.raises(OutOfScope, match="noise"):
        getattr(PAIRS[relation], which)(sigma, steps, 1e-20)


@pytest.mark.slow
def test_the_error_of_many_steps_stays_small():
    """A million steps, whose masses have all errors multiplied."""
    pair = allocation.dominating_pair(5.0, 10**6, 1e-12)
    assert 0 < expm1(np.log(np.exp(pair.log_p).sum())) < 1e-5


@pytest.mark.parametrize("which", ["dominating_pair", "dominated_pair"])
def test_losses_of_many_steps_below_rounding_errors_are_refused(which):
    with pytest.raises(OutOfScope, match="noise"):
        getattr(allocation, which)(1e9, 10**6, 1e-20)
