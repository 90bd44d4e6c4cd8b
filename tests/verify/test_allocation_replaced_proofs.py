"""verify's own numbers for random allocation with one record replaced: on the right side of the truth, and sharper than
those of the calculator."""

from math import comb, exp, log, sqrt

import numpy as np
import pytest
from conftest import slow
from scipy.special import ndtr

from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.mp.context import context
from dpcalc.pld import allocation_replaced as calculator
from dpcalc.pld.tilted_sums import Window
from dpcalc.verify import allocation_replaced, sum_events, tilted_powers
from dpcalc.verify.allocation import Epoch
from dpcalc.verify.arb.context import Context
from dpcalc.verify.decide import can_certify

MP = Context(128) if can_certify() else context()  # one for all, so that atoms are computed once
CASES = [(3.0, 4, 1e-3), slow(2.0, 6, 1e-5), slow(1.0, 10, 1e-7), slow(0.6, 30, 1e-10), slow(3.0, 1000, 1e-11)]


def masses(pair, epsilon):
    """δ at ε of a pair by its atoms."""
    total = MP.fsum(p - MP.exp(epsilon) * q for loss, p, q in pair.atoms(MP) if loss > epsilon)
    return float(total + pair.infinite_mass(MP))


@pytest.mark.parametrize(("sigma", "steps", "tail"), CASES)
def test_the_pairs_are_between_those_of_the_calculator(sigma, steps, tail):
    above = allocation_replaced.from_above(sigma, steps, tail)
    below = allocation_replaced.from_below(sigma, steps, tail)
    points = calculator.upper_points(sigma, steps, tail)
    for point in points[:: len(points) // 12]:
        most = masses(above, point.epsilon)
        assert most <= exp(point.log_delta) and masses(below, point.epsilon) <= most
        assert most >= exp(point.log_delta) * 0.98
    for at in calculator.events_from_below(sigma, steps, tail)[::12]:
        assert at.event.advantage * (1 - 1e-9) <= masses(below, at.epsilon) <= masses(above, at.epsilon)
    for pair in (above, below):
        total = sum(float(p) for _, p, _ in pair.atoms(MP)) + float(pair.infinite_mass(MP))
        assert total == pytest.approx(1, abs=1e-12)
        assert sum(float(q) for _, _, q in pair.atoms(MP)) <= 1 + 1e-12


@pytest.mark.parametrize("epsilon", [slow(0.0), slow(0.7), 3.0])
def test_two_steps_by_sums_are_gaussian_noise(epsilon):
    """The general computation at two steps, where δ is known."""
    true = exp(log_theta(epsilon, sqrt(2)))
    epoch = Epoch(1.0, 2, 1e-8, MP)
    cells = allocation_replaced.cells_of(epoch)
    high = allocation_replaced._delta_from_above(epoch, cells, calculator.Point(epsilon, log(true), 2e-3))
    bound = allocation_replaced._bound(cells, 2, 1.0, epsilon, 2e-3, true)
    assert true * 0.9998 <= bound.advantage <= true <= high <= true * 1.0002
    q = ndtr(-epsilon / sqrt(2) - sqrt(2) / 2)  # of the best event, a half-plane
    assert bound.q_low - 0.01 * q <= q <= bound.q_high + 0.01 * q and 0 < bound.q_high - bound.q_low < 1e-5


@pytest.mark.parametrize("steps", [1, 2])
def test_one_and_two_steps_are_gaussian_pairs(steps):
    for make in (allocation_replaced.from_above, allocation_replaced.from_below):
        pair = make(1.5, steps, 1e-8)
        assert pair.mu is not None and float(pair.mu(MP)) == pytest.approx(2 / 1.5 / sqrt(steps))
    whole = allocation_replaced.from_above(0.03, 100, 1e-8)  # so little noise that it is that of two steps
    assert whole.mu is not None and float(whole.mu(MP)) == pytest.approx(sqrt(2) / 0.03)


def test_powers_are_binomial_laws_within_their_errors():
    p, count, a = 0.3, 40, 0.5
    one = tilted_powers.tilted(-1, np.array([1 - p, 0.0, p]), a, 0.0)
    laws = [(one, 5), (one, count - 5)]
    total = tilted_powers.power(laws, Window((0.3, 0.3), 40.0, 0.0), 1.0)
    found = dict(zip(range(total.first, total.first + len(total.weight)), total.weight, strict=True))
    norm = log(1 - p + p * exp(2 * a)) - a
    for k in range(count + 1):
        exact = comb(count, k) * p**k * (1 - p) ** (count - k) * exp(a * (2 * k - count) - count * norm)
        assert found.get(2 * k - count, 0.0) == pytest.approx(exact, abs=total.error + 1e-15 + total.outside)
    assert total.error < 1e-12 and sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_lines_of_a_polyline_are_below_it():
    """Corners of a known profile, moved down, give a trade-off curve below the true one."""
    gammas = np.exp(np.linspace(0, 4, 60))
    bounds = []
    for g in gammas:
        e = log(g)
        q = exp(log_theta(e, 1.0))
        slope = (q - exp(log_theta(e + 1e-6, 1.0))) / (g * 1e-6)
        bounds.append(sum_events.Bound(g, q * (1 - 1e-6), slope * (1 - 1e-3), slope * (1 + 1e-3)))
    corners = sum_events._trade_off(bounds, bounds)
    assert len(corners) > 30
    for epsilon in np.linspace(0, 4, 41):
        best = max(p - exp(epsilon) * q for q, p in corners)
        assert exp(log_theta(epsilon, 1.0)) * 0.98 - 1e-4 <= best <= exp(log_theta(epsilon, 1.0))
