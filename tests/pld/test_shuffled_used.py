"""The search for the bound of epochs that use all records: linear programs of any scale, and profiles down to their
tails."""

from math import exp

import numpy as np
import pytest
from scipy.optimize import linprog

from dpcalc.numerics.hockey_stick_array import log_theta
from dpcalc.pld.shuffled_used import Profile, constraints, near_the_least
from dpcalc.pld.swapped_record import REPLACED, WITH, WITHOUT, Mesh


@pytest.mark.parametrize("seed", range(20))
def test_a_linear_program_is_solved_whatever_its_scale(seed):
    rng = np.random.default_rng(seed)
    costs = np.append(1.0, np.exp(rng.normal(size=11)))
    left = np.hstack((np.ones((60, 1)), rng.uniform(size=(60, 11)) * (rng.uniform(size=(60, 11)) < 0.7)))
    right = np.exp(2 * rng.normal(size=60))
    true = linprog(costs, -left, -right, bounds=[(None, None)] + [(0, None)] * 11).fun
    unit = np.append(1.0, 10 ** rng.uniform(-12, 12, 11))
    for scale in (1.0, 1e-15, 1e6):
        for about in (0.3 * true, true, 100 * true):
            x = near_the_least(costs / unit, left / unit, right * scale, about * scale)
            assert x[1:].min() >= 0
            at = left / unit @ x
            assert at.min() > 0
            assert (right / at).max() * float(costs / unit @ x) == pytest.approx(true, rel=2e-3)


def test_conditions_are_those_of_the_theorem():
    nodes, values, layers = np.array([-1.0, 0.5]), np.array([[3.0, 4.0], [1.0, 2.0]]), np.array([[0.5], [1.0]])
    left, right = constraints(nodes, values, layers)
    x = np.array([7.0, 0.25, 2.0, 10.0])  # a_0, s_1, s_2, c_1
    assert left @ x == pytest.approx([7 + 5, 7 + 1.5 * 0.25 + 5, 7 + 10, 7 + 1.5 * 0.25 + 10, 2.25])
    assert right == pytest.approx([3, 4, 1, 2, 1])


@pytest.mark.parametrize("seed", range(12))
def test_every_epsilon_down_to_the_tail_has_a_bound(seed):
    """Far in the tail, costs of a linear program are e^-30 of others: there was no solution, or a poor one."""
    rng = np.random.default_rng(seed)
    n, direction = int(10 ** rng.uniform(1.5, 5)), int(rng.choice([WITH, WITHOUT, REPLACED]))
    batch_size, m = max(1, int(n * 10 ** rng.uniform(-3, -0.5))), float(10 ** rng.uniform(-0.8, 0))
    profile, last = Profile(Mesh(m, 1e-14), direction, n, batch_size, 1.0), 0.0
    distance = np.array([2 * m if direction == REPLACED else m])
    for epsilon in m * np.linspace(0, 4, 7):
        found = profile.log_delta(epsilon, 1e-3, exp(last - 2))
        plain = float(log_theta(np.array([epsilon]), distance)[0])  # of one step on all records
        assert found < max(plain, -20)
        last = min(last, found)
