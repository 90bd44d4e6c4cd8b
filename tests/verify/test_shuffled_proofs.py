"""verify's own numbers for shuffled batches: laws with their means kept, sums on the right side of integrals."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from conftest import slow, spread
from scipy.special import ndtr, ndtri, pdtr
from scipy.stats import poisson

from dpcalc.bounds.sampling._engine import swapped_exact
from dpcalc.numerics.mp.context import context
from dpcalc.verify import shuffled_epochs, shuffled_used
from dpcalc.verify.arb.context import Context
from dpcalc.verify.shuffled_epochs import Batches, Difference

DIRECTIONS = (1, -1, 0)


def epoch(mp=None, **more):
    return Batches(**{"sigma": 1.3, "steps": 2, "batch_size": 50, "rest": 20, "replaced": False, "tail": 1e-9,
                    "mp": mp or Context(128)} | more)


@spread("direction", DIRECTIONS)
@pytest.mark.parametrize("epsilon", [0.0, 0.8, 4.0])
def test_the_law_of_the_difference_keeps_its_mean_and_has_its_tails(direction, epsilon):
    """Against closed forms of P(D* > k) and E(D* − k)₊ in mpmath."""
    half = np.geomspace(1e-3, 4000, 1000)
    points = np.concatenate((-half[::-1], half))
    masses, excess = Difference.of(epoch(), direction, epsilon).masses(points.tolist())
    mp, gamma, m = context(), exp(epsilon), 1 / 1.3
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    assert masses @ points + excess == pytest.approx(exp(-epsilon) - 1, abs=1e-6)
    for k in (200, 700, 900, 1001, 1200, 1600):
        assert masses @ np.maximum(points - points[k], 0) + excess >= (
            float(swapped_exact.call(mp, direction, gamma, m, gamma * points[k])) / gamma * (1 - 1e-12) if k > 1000 else 0)
        at = gamma * (points[k] + points[k + 1]) / 2
        above = float(swapped_exact.above(mp, direction, gamma, m, at) if at > 0 else
                      1 - swapped_exact.below(mp, direction, gamma, m, -at))
        assert masses[k + 1:].sum() == pytest.approx(above, abs=0.01 * above + 1e-9)


@spread("direction", DIRECTIONS)
@pytest.mark.parametrize("epsilon", [slow(0.0), slow(1.0), 2.5])
def test_an_epoch_of_two_steps_is_bounded_by_its_integral(direction, epsilon):
    mp, one = context(), epoch(replaced=direction == 0)
    gamma = mp.exp(mp.mpf(epsilon))
    true = float(swapped_exact.mean_of_positive_part(mp, direction, gamma, 1 / mp.mpf(1.3), 2, (gamma - 1) * 20 / 50)
                 / (2 + mp.mpf(20) / 50))
    found = shuffled_epochs._delta_left_out(one, direction, epsilon, true, 2e-4)
    assert true <= found <= true * (1 + 1e-3)


@spread("direction", DIRECTIONS)
def test_two_equal_batches_are_bounded_by_the_least_value_of_the_theorem(direction):
    """E(D*_1 + D*_2)₊/2."""
    mp = context()
    for epsilon in (0.0, 1.0):
        true = float(swapped_exact.mean_of_positive_part(mp, direction, mp.exp(mp.mpf(epsilon)), 1 / mp.mpf(1.3), 2,
                                                         mp.mpf(0)) / 2)
        found = shuffled_used._delta(1.0, epoch(steps=1, rest=0, replaced=direction == 0), direction, epsilon, true, 1e-3)
        assert true <= found <= true * 1.2  # few nodes


@pytest.mark.parametrize("rate, level", [(0.01, 1), (0.3, 5), (40.0, 150), (170.0, 420)])
def test_numbers_of_records_have_poisson_laws(rate, level):
    one = epoch(steps=2, batch_size=50, rest=0)
    counts, masses, beyond = shuffled_used._counts(one, rate, 50)
    numbers = np.arange(1000)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    assert masses @ counts + beyond == pytest.approx(rate, rel=1e-12)
    for k in counts[1:-1]:
        true = float(np.maximum(numbers - k, 0) @ poisson.pmf(numbers, rate))
        assert masses @ np.maximum(counts - k, 0) + beyond == pytest.approx(true, abs=1e-6 * rate)
    share, exact = shuffled_used._share_below(one, rate, level), float(pdtr(level - 1, 2 * rate))
    assert exact * (1 - 1e-9) <= share <= exact * (1 + 1e-12)


def test_the_share_of_the_list_is_rounded_up():
    for level in (1, 40, 70, 119):
        true = ndtr(ndtri(level / 120) + 1 / 1.3)
        assert true <= shuffled_used._in_the_list(epoch(), 1.0, level) <= true + 1e-8
    assert shuffled_used._in_the_list(epoch(), 1.0, 120) == 1.0


def test_the_inequality_of_the_theorem_holds_at_all_nodes_and_numbers_of_records():
    """Whatever the table is: the value is at least that of every admissible α and A, for numbers from 1 to N."""
    rng = np.random.default_rng(1)
    one, levels = epoch(), [1, 5, 30, 80]
    nodes = np.sort(rng.normal(size=4))
    table = np.sort(rng.uniform(0, 5, (4, 1)) + np.sort(rng.uniform(0, 2, 4)), axis=0)[::-1]
    costs = np.array([1.0, *np.sort(rng.uniform(0, 1, 4))[::-1], 0.1, 0.4, 0.8])
    tops = np.array([*levels[1:], one.records])
    layers = np.minimum(1.0, np.array(levels[1:]) / tops[:, None])
    least = shuffled_used._least(nodes, table, costs[1:5], costs[5:], layers, 1.0)
    # A plain choice: α(d) = a_0 + (d − d_1)₊, with a_0 the largest excess, costs no less.
    plain = float((table[0] - (nodes - nodes[0])).max()) + costs[1]
    assert least <= plain + 1e-9
    # By the dual program: no choice is cheaper.
    assert least >= _least_by_all_numbers(nodes, levels, table, costs, one.records) - 1e-9


def _least_by_all_numbers(nodes, levels, table, costs, records):
    from scipy.optimize import linprog

    rows, needed = [[0.0, *[-1.0] * len(nodes), *[0.0] * 3]], [-1.0]
    for k in range(1, records + 1):
        row = max(i for i, level in enumerate(levels) if level <= k)
        for d, h in zip(nodes, table[row], strict=True):
            rows.append([-1.0, *-np.maximum(d - nodes, 0), *[-float(min(Fraction(1), Fraction(x, k))) for x in levels[1:]]])
            needed.append(-h)
    return linprog(costs, rows, needed, bounds=[(None, None)] + [(0, None)] * 7).fun


def two_batches(epsilon, m, dropped):
    """δ of one epoch of two batches with y_1, y_2 ~ N(−m, 1), E(V_1 + V_2)₊/2, by quadrature on the plane."""
    y = np.linspace(-9, 9, 2000) - m
    weight = np.exp(-((y + m) ** 2) / 2)
    weight /= weight.sum()
    added, removed = ((1 - dropped) * x + dropped for x in (np.exp(2 * m * y), np.exp(m * y + m * m / 2)))
    values = [a - exp(epsilon) * b for a, b in ((added, removed), (removed, added))]
    return max(float(weight @ np.maximum(np.add.outer(v, v), 0) @ weight) / 2 for v in values)


@pytest.mark.parametrize("dropped", [slow(0.0), slow(0.2)])
def test_the_attack_on_two_batches_is_below_its_integral_and_near_it(dropped):
    mp, pair = Context(128), shuffled_epochs.dominated_pair({
        "sigma": 1.5, "sensitivity": 1.0, "steps_per_epoch": 2, "dropped": dropped, "whole_epochs": 1, "tail": 1e-7})
    sides = [[(loss, float(a), float(b)) for loss, a, b in x.atoms(mp)] for x in (pair, pair.reverse)]
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        true = two_batches(epsilon, 1 / 1.5, dropped)
        found = max(sum(a - exp(epsilon) * b for loss, a, b in atoms if loss > epsilon) for atoms in sides)
        assert true * (1 - 5e-3) - 1e-6 <= found <= true * (1 + 1e-4)
    for atoms in sides:
        assert sum(a for _, a, _ in atoms) == pytest.approx(1, abs=1e-12)
