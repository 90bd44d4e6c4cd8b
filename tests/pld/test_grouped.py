"""The pair of a group of records in Poisson batches: its masses, its profile from the definition, and its digits."""

from fractions import Fraction
from math import comb, exp, inf, log, pi, sqrt

import mpmath
import numpy as np
import pytest
from conftest import slow
from pair_masses import delta_of_cells, masses

from dpcalc.numerics.binomial import log_binomial_weights
from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon
from dpcalc.pld.mixtures import PoissonGroup, poisson_group, revealed
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.sampled import poisson

EDGES = np.concatenate(([-inf], np.linspace(-3.0, 6.0, 181), [inf]))
SETTINGS = [(1.0, 0.01, 2), (1.0, 0.3, 5), (0.2, 0.05, 40), (3.0, 0.5, 3), (0.05, 0.01, 1000), (0.5, 0.999, 4)]


def density(mu, rate, size, z):
    """The densities of the mixture and of N(0, 1)."""
    q = mpmath.mpf(rate)
    mixture = sum(mpmath.binomial(size, j) * q**j * (1 - q) ** (size - j) * mpmath.npdf(z - j * mu)
                  for j in range(size + 1))
    return mixture, mpmath.npdf(z)


@pytest.mark.parametrize("added", [False, True], ids=["removed", "added"])
@pytest.mark.parametrize("mu, rate, size", SETTINGS)
def test_masses_add_up_and_losses_are_inside_their_cells(mu, rate, size, added):
    pair = PoissonGroup(mu, rate, size, added=added)
    p, q, loss = masses(pair, EDGES)
    assert p.sum() == pytest.approx(1, abs=2e-13) and q.sum() == pytest.approx(1, abs=2e-13)
    held = p > 0
    assert (loss[held] >= EDGES[:-1][held] - 1e-13).all() and (loss[held] <= EDGES[1:][held] + 1e-13).all()


@pytest.mark.parametrize("rate", [0.3, 1e-3, 1e-8])
@pytest.mark.parametrize("added", [False, True], ids=["removed", "added"])
def test_a_group_of_one_record_is_the_pair_of_one_record(rate, added):
    edges = (-1 if added else 1) * rate * np.linspace(-0.9, 8.0, 200)
    edges = np.concatenate(([-inf], np.sort(edges), [inf]))
    one = poisson(Gaussian(0.8), rate)
    (p, q, loss), (p1, q1, loss1) = (masses(x, edges) for x in (PoissonGroup(0.8, rate, 1, added=added),
                                                                one.reverse if added else one))
    held = p1 > 0
    digits = 1e-8 + 1e-14 / rate  # the pair of one record knows its least losses to 1e-16 only
    assert np.allclose(p, p1, rtol=digits, atol=1e-15) and np.allclose(q[held], q1[held], rtol=digits, atol=1e-15)
    assert held.sum() > 150 and np.allclose(loss[held], loss1[held], rtol=digits, atol=0)


@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 0.1, 1.5])
@pytest.mark.parametrize("mu, rate, size", [(1.0, 0.01, 2), (1.0, 0.3, 5), (0.3, 0.1, 12)])
def test_its_profile_is_that_of_the_definition(mu, rate, size, epsilon):
    """By the sum over a million outcomes."""
    z, step = np.linspace(-12, size * mu + 12, 1_000_001, retstep=True)
    mixture = sum(comb(size, j) * rate**j * (1 - rate) ** (size - j) * np.exp(-(z - j * mu) ** 2 / 2)
                  for j in range(size + 1))
    plain, scale = np.exp(-z * z / 2), step / sqrt(2 * pi)
    removed = np.maximum(mixture - exp(epsilon) * plain, 0).sum() * scale
    added = np.maximum(plain - exp(epsilon) * mixture, 0).sum() * scale
    pair = PoissonGroup(mu, rate, size)
    assert delta_of_cells(pair, EDGES, epsilon) == pytest.approx(removed, rel=1e-8, abs=1e-12)
    assert delta_of_cells(pair.reverse, EDGES, epsilon) == pytest.approx(added, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("mu, rate, size", [(1.0, 1e-8, 3), slow(0.5, 1e-3, 50), (1.0, 0.2, 4)])
def test_cells_keep_their_digits(mu, rate, size):
    """Both masses, and the log of their ratio, of cells near 0 and far out, against 50 digits."""
    pair = PoissonGroup(mu, rate, size)
    outcomes = np.array([-9.0, -8.5, -1.0, -0.4, 0.3, 0.9, 4.0, 4.5, size * mu + 6.0, size * mu + 7.0])
    with mpmath.workdps(50):
        edges = [mpmath.log(mpmath.fdiv(*density(mu, rate, size, mpmath.mpf(float(z))))) for z in outcomes]
        doubles = np.array([float(x) for x in edges])
        log_p, loss = pair.masses(doubles)

        def outcome(x):  # of the loss as a double
            q, k = mpmath.mpf(rate), range(1, size + 1)
            odds = mpmath.expm1(x) + 1 - (1 - q) ** size
            return mpmath.findroot(lambda z: mpmath.log(sum(
                mpmath.binomial(size, j) * q**j * (1 - q) ** (size - j) * mpmath.exp(j * mu * (z - j * mu / 2))
                for j in k)) - mpmath.log(odds), outcome.start)

        for k in (2, 4, 6, 8):
            z = []
            for index in (k, k + 1):
                outcome.start = float(outcomes[index])
                z.append(outcome(mpmath.mpf(float(doubles[index]))))
            q = mpmath.ncdf(-z[0]) - mpmath.ncdf(-z[1])
            rates = [mpmath.binomial(size, j) * mpmath.mpf(rate) ** j * (1 - mpmath.mpf(rate)) ** (size - j)
                     for j in range(size + 1)]
            p = sum(r * (mpmath.ncdf(j * mu - z[0]) - mpmath.ncdf(j * mu - z[1])) for j, r in enumerate(rates))
            assert log_p[k] == pytest.approx(float(mpmath.log(p)), abs=1e-9)
            assert loss[k] == pytest.approx(float(mpmath.log(p / q)), rel=1e-9)


@pytest.mark.parametrize("sigma, size, steps, epsilon", [(1.0, 1, 1000, 2.124551), (1.0, 2, 1000, 4.554105),
                                                         (4.0, 16, 1000, 6.650761)])
def test_compositions_agree_with_another_accountant(sigma, size, steps, epsilon):
    """ε at δ = 1e-6 and q = 0.01: pessimistic values of another discretization with an error of 1e-3."""
    found = epsilon_at_delta(((poisson_group(1 / sigma, 0.01, size), steps),), log(1e-6))
    assert found.lower <= epsilon * 1.0002 and epsilon * 0.9995 <= found.upper <= epsilon * 1.002
    assert found.upper - found.lower <= 1e-3 * found.upper


@pytest.mark.parametrize("size", [1, 3, 30, 1000])
def test_a_group_that_is_always_in_the_batch_is_one_record_of_its_size(size):
    found = poisson_group(0.1, 1.0, size)
    assert isinstance(found, Gaussian) and 0 <= Fraction(found.mu) - Fraction(0.1) * size <= Fraction(found.mu) / 2**52


def test_hardly_any_noise_reveals_a_batch_with_a_record_of_the_group():
    for epsilon in (0.0, 0.01, 3.0):
        little = log_delta_at_epsilon(((poisson_group(50.0, 0.01, 3), 2),), epsilon)
        none = log_delta_at_epsilon(((revealed(0.01, 3), 2),), epsilon)
        assert little.upper <= none.upper + 1e-9 and none.upper == pytest.approx(log(1 - 0.99**6), abs=2e-3)


def test_a_loss_rises_with_the_size_of_the_group():
    found = [epsilon_at_delta(((poisson_group(0.1, 0.01, size), 100),), log(1e-6)).upper for size in (1, 2, 5, 20, 200)]
    assert found == sorted(found) and found[-1] > 20 * found[0]


@pytest.mark.parametrize("size, rate", [(1, 0.5), (7, 1e-9), (40, 0.999), (1000, 0.01)])
def test_weights_of_the_components(size, rate):
    with mpmath.workdps(40):
        q = mpmath.mpf(rate)
        for j, found in enumerate(log_binomial_weights(size, rate)):
            exact = mpmath.log(mpmath.binomial(size, j)) + j * mpmath.log(q) + (size - j) * mpmath.log(1 - q)
            assert found == pytest.approx(float(exact), abs=1e-14 * (10 + abs(float(exact))))


def test_edges_of_a_pilot_cover_the_mixture():
    pair = PoissonGroup(0.5, 0.05, 60)
    for direction in (pair, pair.reverse):
        edges = direction.pilot_edges(-40.0, 1000)
        log_p, _ = direction.masses(np.array([-inf, edges[0], edges[-1], inf]))
        assert log_p[0] < -38 and log_p[2] < -38 and (np.diff(edges) > 0).all()


@pytest.mark.parametrize("rate, size", [(1e-16, 3), (1e-9, 7), (0.1, 2), (0.3, 1000), (0.999, 2)])
def test_a_batch_that_is_revealed_has_at_least_its_probability(rate, size):
    with mpmath.workdps(60):
        true = mpmath.log(-mpmath.expm1(size * mpmath.log1p(-mpmath.mpf(rate))))
        found = revealed(rate, size).log_infinite
        assert 0 <= found - true < 1e-14


def test_rounding_errors_of_all_masses_are_covered():
    """Masses add up to 1 within a few units in the last place of 1, whatever the rate is."""
    for mu, rate, size in SETTINGS:
        assert PoissonGroup(mu, rate, size).rounding_scale == 1
