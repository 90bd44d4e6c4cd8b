"""Random allocation with one record replaced: pairs above and below the true one, by integrals, by sampling, by golden
values, and against each other."""

import json
from dataclasses import replace
from math import erfc, exp, inf, lgamma, log, log1p, sqrt

import mpmath
import numpy as np
import pytest
from conftest import slow
from pair_masses import delta
from paths import GOLDEN
from scipy.special import ndtr

from dpcalc.bounds.sampling import allocation_replace_one_profile
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.pld import positive_sums, tilted_sums
from dpcalc.pld.allocation_replaced import Mesh, dominated_pair, dominating_pair
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.positive_sums import Question, mean_of_positive_part, spread

GOLDEN_CASES = [c for c in json.loads((GOLDEN / "replace_one.json").read_text())["cases"]
                if c["capability"] == "allocation-replace-one"]
TAIL = 1e-14


def from_above(sigma, steps, epsilon, expected=0.1, precision=1e-5):
    mesh = Mesh.of(1 / sigma, TAIL)
    return exp(mesh.log_delta(epsilon, mesh.question(epsilon, steps, precision, expected, inf))[0])


def from_below(sigma, steps, epsilon, expected=0.1, precision=1e-5):
    mesh = Mesh.of(1 / sigma, TAIL)
    return mesh.event(epsilon, mesh.question(epsilon, steps, precision, expected, inf))[0].advantage


@pytest.mark.parametrize("case", [slow(c) if c["question"]["steps_per_epoch"] in (8, 16) else c for c in GOLDEN_CASES],
                         ids=lambda c: str(c["question"]["steps_per_epoch"]))
def test_one_epoch_has_the_known_delta(case):
    q, known = case["question"], case["value"]["delta"]
    most = from_above(q["sigma"], q["steps_per_epoch"], q["epsilon"], known)
    least = from_below(q["sigma"], q["steps_per_epoch"], q["epsilon"], known)
    assert least == pytest.approx(known, rel=2e-4) and most == pytest.approx(known, rel=2e-4) and least < most
    pairs = [make(q["sigma"], q["steps_per_epoch"], TAIL) for make in (dominated_pair, dominating_pair)]
    assert delta(pairs[0], q["epsilon"]) < known * (1 + 2e-4) and known * (1 - 2e-4) < delta(pairs[1], q["epsilon"])


def two_steps(sigma, epsilon):
    """δ of two steps, by an integral over one variable of E(x + D)₊ for the other one."""
    mp = mpmath.mp.clone()
    mp.dps = 20
    m, gamma = 1 / mp.mpf(sigma), mp.exp(mp.mpf(epsilon))

    def tail(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    def integrand(y):
        x = mp.exp(m * y - m * m / 2) - gamma * mp.exp(-m * y - m * m / 2)
        c = x * mp.exp(m * m / 2)  # w − γ/w > −c for w above
        z = mp.log((-c + mp.sqrt(c * c + 4 * gamma)) / 2) / m
        return (tail(z - m) - gamma * tail(z + m) + x * tail(z)) * mp.exp(-y * y / 2)

    total = mp.quad(integrand, [mp.mpf(x) for x in range(-10, 19)])
    return float(total / mp.sqrt(2 * mp.pi) / 2)


@pytest.mark.parametrize(("sigma", "epsilon"), [slow(1, 0.0), slow(1, 3.0), slow(0.6, 6.0), slow(2, 1.0), slow(5, 0.5)])
def test_two_steps_by_an_integral(sigma, epsilon):
    true = two_steps(sigma, epsilon)
    assert true == pytest.approx(exp(log_theta(epsilon, sqrt(2) / sigma)), rel=1e-12)
    assert from_below(sigma, 2, epsilon, true) <= true <= from_above(sigma, 2, epsilon, true)
    assert from_above(sigma, 2, epsilon, true) <= true * 1.0003
    assert from_below(sigma, 2, epsilon, true) >= true * 0.9997
    for pair, better in ((dominating_pair(sigma, 2, TAIL), 1), (dominated_pair(sigma, 2, TAIL), -1)):
        assert better * (pair.mu - sqrt(2) / sigma) >= 0 and pair.mu == pytest.approx(sqrt(2) / sigma, rel=1e-14)


def three_steps(sigma, epsilon, n):
    """E(D₁ + D₂ + D₃)₊/3 from cells of the rotated variables u = (z₁ + z₂)/√2 and v, with E(x + D₃)₊ in closed form at
    the midpoints."""
    m, gamma = 1 / sigma, exp(epsilon)
    z = (np.arange(n) + 0.5) / n * 22 - 11 + m / 2
    v = (np.arange(n // 2) + 0.5) / n * 22
    weight = np.multiply.outer(np.exp(-z * z / 2), 2 * np.exp(-v * v / 2)) * (22 / n) ** 2 / (2 * np.pi)
    s = m / sqrt(2)
    x = exp(-m * m / 2) * np.multiply.outer(np.exp(s * z) - gamma * np.exp(-s * z), 2 * np.cosh(s * v))
    c = x * exp(m * m / 2)
    root = np.sqrt(c * c + 4 * gamma)
    y = np.log(np.where(c > 0, 2 * gamma / (np.abs(c) + root), (root - c) / 2)) / m
    inner = ndtr(m - y) - gamma * ndtr(-y - m) + x * ndtr(-y)
    return float((weight * inner).sum()) / 3


@pytest.mark.parametrize(("sigma", "epsilon"), [(1, 0.0), slow(1, 2.0), (0.7, 4.0), slow(3, 0.7), slow(0.6, 8.0)])
def test_three_steps_by_cells(sigma, epsilon):
    true, coarse = three_steps(sigma, epsilon, 1600), three_steps(sigma, epsilon, 800)
    error = 2 * abs(true - coarse) + 1e-9 * true
    low, high = from_below(sigma, 3, epsilon, true), from_above(sigma, 3, epsilon, true)
    assert low - error <= true <= high + error and error < 1e-5 * true
    assert high <= true * 1.0005 and low >= true * 0.9995


def test_one_step_is_the_gaussian_mechanism_with_twice_the_sensitivity():
    found = log_delta_at_epsilon(allocation_replace_one_profile.value(4.0, 1, 1, 1e-12), 0.5)
    assert exp(found.upper) == pytest.approx(0.05243, rel=1e-3)  # Φ(−3/4) − e^{1/2}Φ(−5/4)
    assert allocation_replace_one_profile.value(2.0, 3, 3, 1e-12) == ((dominating_pair(2.0, 1, 1e-12), 3),)
    assert [count for _, count in allocation_replace_one_profile.value(2.0, 10, 3, 1e-12)] == [2, 1]
    mp = mpmath.mp.clone()
    assert float(allocation_replace_one_profile.exact(mp, 0.5, 4.0, 1, 1, TAIL)) == pytest.approx(exp(found.upper))
    with pytest.raises(OutOfScope, match="too many dimensions"):
        allocation_replace_one_profile.exact(mp, 0.5, 4.0, 3, 1, TAIL)
    with pytest.raises(OutOfScope, match="upper bound only"):
        allocation_replace_one_profile.lower_value(1.0, 10, 2, TAIL)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [300.0, 1e4, 1e6])
def test_the_smallest_tails_give_the_same_ends(sigma):
    """Far out, points end where no loss is larger."""
    epsilon = 0.1 / sigma
    for bound in allocation_replace_one_profile.BOUNDS:
        usual, smallest = (log_delta_at_epsilon(bound.value(sigma, 3, 1, tail), epsilon) for tail in (1e-16, 1e-100))
        assert smallest.upper == pytest.approx(usual.upper, abs=1e-3)


def test_tiny_noise_is_that_of_two_steps_above_and_has_no_lower_bound():
    assert dominating_pair(0.03, 100, TAIL).mu == pytest.approx(sqrt(2) / 0.03)
    with pytest.raises(OutOfScope, match="likelihood ratios exceed"):
        dominated_pair(0.03, 100, TAIL)


# --- the engine -------------------------------------------------------------------------------------------------------


def exponential(points):
    """E(D − k)₊ and E(k − D)₊ of an exponential variable less 2: D + 2 ~ Exp(1)."""
    y = points + 2
    call = np.where(y > 0, np.exp(-np.maximum(y, 0)), 1 - y)
    return call, np.where(y > 0, y + np.expm1(-np.maximum(y, 0)), 0.0)


def tail_of_gamma(count, x):
    """E(X − x)₊ for X ~ Gamma(count, 1): Σ e^{−x}x^j/j!·(count − j)."""
    logs = [j * log(x) - x - lgamma(j + 1) + log(count - j) for j in range(count)]
    return sum(map(exp, logs))


@pytest.mark.parametrize(("count", "constant"), [(1, 0.0), (2, -0.5), (5, 1.0), (30, -20.0), (200, -50.0), (9, -60.0)])
def test_sums_of_exponential_variables(count, constant):
    """The call function of the Gamma law, down to 1e-40."""
    points = np.concatenate([[-2.0], -2 + np.geomspace(1e-3, 200, 3000)])
    true = tail_of_gamma(count, 2 * count - constant)
    found, _ = mean_of_positive_part(points, *exponential(points), Question(count, constant, 1e-4, true))
    assert true <= found <= true * (1 + 2e-3)


def test_two_stages_agree_with_one():
    points = np.concatenate([[-1.0], -1 + np.geomspace(1e-3, 60, 2000)])
    call, put = exponential(points - 1)  # mean 0
    question = Question(1003, -100.0, 1e-4, 1e-2)
    copy = positive_sums.Summand(points, *spread(points, call, put))
    grid = positive_sums.choose_grid(points, copy.masses, question, copy.excess)
    rates = tuple(8 * rate for rate in grid.window.rates)  # blocks have an eighth of the deviation
    block_window = grid.window._replace(rates=rates, log_outside=grid.window.log_outside + 15)
    in_blocks = replace(grid, block=16, coarsening=2, block_window=block_window)
    direct, staged = (positive_sums.mean_of_sum(copy, question, grid=g)[0] for g in (grid, in_blocks))
    true = tail_of_gamma(1003, 1103.0)
    assert true <= direct <= true * (1 + 1e-3) and true <= staged <= true * (1 + 1e-3) and staged != direct


def test_any_grid_gives_an_upper_bound():
    """Coarse, short and badly tilted grids only make the result larger."""
    points = np.concatenate([[-2.0], -2 + np.geomspace(1e-2, 60, 500)])
    copy = positive_sums.Summand(points, *spread(points, *exponential(points)))
    question = Question(10, 5.0, 1e-3, 0.3)
    true, rng = tail_of_gamma(10, 15.0), np.random.default_rng(1)
    for _ in range(40):
        low, high, tilt = -2 + rng.random(), 0.5 + 20 * rng.random(), rng.random() * 0.9
        rates = tuple(10 ** rng.uniform(-2, 0.5, 2))
        window = tilted_sums.Window(rates, rng.uniform(3, 40), 1.0)
        grid = tilted_sums.Grid(low, high, 10 ** rng.uniform(-2, 0), tilt, window)
        assert positive_sums.mean_of_sum(copy, question, grid=grid)[0] >= true
        grid = tilted_sums.Grid(low, high, 10 ** rng.uniform(-2, -1), tilt, window, 3, int(rng.integers(1, 4)), window)
        assert positive_sums.mean_of_sum(copy, question, grid=grid)[0] >= true


def test_spread_masses_dominate_every_call():
    points = np.array([-1.9, -1.2, -1.0, -0.3, 0.4, 1.0, 3.0, 9.0])
    call, put = exponential(points)
    masses, excess = spread(points, call, put)
    assert 1 <= masses.sum() <= 1 + 1e-9 and excess >= call[-1]
    for k in np.linspace(-1.9, 9, 50):
        of_capped = exponential(np.array([k]))[0][0] - call[-1]
        assert float(masses @ np.maximum(points - k, 0)) >= of_capped * (1 - 1e-15)


def test_mesh_has_the_integrals_of_its_docstring():
    mesh = Mesh.of(0.7, 1e-9)
    for j in (5, 300, len(mesh.z) // 2, len(mesh.z) - 200):
        z, m = float(mesh.z[j]), 0.7

        def tail(x):
            return erfc(x / sqrt(2)) / 2

        a = exp(m * m / 2) * tail(z - m) - exp(m * z) * tail(z)
        b = exp(-m * z) * tail(z) - exp(m * m / 2) * tail(z + m)
        assert float(mesh.a[j]) == pytest.approx(a, rel=1e-9) and float(mesh.b[j]) == pytest.approx(b, rel=1e-9)
    for law, mean in zip(mesh.laws, (0.0, 0.7, -0.7), strict=True):
        assert float(law.sum()) == pytest.approx(1, abs=1e-13)
        assert float((law * mesh.z).sum()) == pytest.approx(mean, abs=1e-6)
    assert log1p(mesh.relative) < 1e-12
