"""Up to 1e12 steps, which magnify every rounding error: against Gaussians, whose compositions are Gaussian, and against high precision."""

from math import exp, log, sqrt

import mpmath
import numpy as np
import pytest

from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.profiles import compose, convolve, law, pairs, rounding
from dpcalc.profiles.law import Grid, Law
from dpcalc.profiles.read import Reader


def samples_of(mu):
    """Of a μ-GDP step, by samples."""
    epsilons = [0.0, *(mu * np.linspace(0.01, 9, 400)).tolist()]
    return pairs.sampled(epsilons, [log_theta(e, mu) for e in epsilons])


# --- whole compositions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps, off", [(10**7, 0.003), (10**9, 0.003), (10**10, 0.005), (10**11, 0.025), (10**12, 0.25)])
@pytest.mark.parametrize("mu", (0.1, 1.0))
@pytest.mark.parametrize("times", (0.05, 1.0, 6.0))
def test_gaussians(mu, steps, off, times):
    """Never below the δ of the Gaussian that T of them are; what it is above is .0025 by the samples, and about 2e-13 a step by rounding."""
    found = compose.log_delta_at(((samples_of(mu / sqrt(steps)), steps),), times * mu, bracket=False)
    exact = log_theta(times * mu, mu)
    assert exact <= found.upper <= exact + off
    assert sum(grid[2] for grid in found.witness["grids"]) < 20_000


# --- powers of Fourier coefficients ----------------------------------------------------------------------------------


def small_grid(seed, points=24):
    draw = np.random.default_rng(seed)
    weight = draw.random(points) ** 4
    weight[draw.integers(0, points, 4)] = 0.0
    return Grid(1e-6, 0.0, -points // 2, weight / weight.sum(), 0.0, 0.0)


def exact_logarithm(grid, centre, size, at, count):
    """count·log φ, φ being normed as the weights are meant."""
    with mpmath.workdps(60):
        weight = [mpmath.mpf(w) for w in grid.weight.tolist()]
        turn = 2 * mpmath.pi * at / size
        phi = mpmath.fsum(w * mpmath.expjpi(-(turn / mpmath.pi) * (grid.first + k - centre)) for k, w in enumerate(weight))
        return count * mpmath.log(phi)


@pytest.mark.parametrize("count", (1000, 10**9, 10**12))
@pytest.mark.parametrize("seed", range(3))
def test_powers_by_terms_are_off_by_no_more_than_is_said(seed, count):
    grid, centre = small_grid(seed), 1
    size = 2 * int(30 * sqrt(count))
    at = np.array([0, 1, 2, 5, 11, 20])
    powers, wrong = convolve._by_terms(grid, centre, size, at, count)
    for k, j in enumerate(at.tolist()):
        with mpmath.workdps(60):
            off = abs(mpmath.mpmathify(complex(powers[k])) / mpmath.exp(exact_logarithm(grid, centre, size, j, count)) - 1)
        assert off <= np.expm1(wrong[k]) + 10 * convolve.EPSILON
    assert wrong.max() < 1e-3 * count * convolve.transform_error(size) + 1e-11  # what a transform would be off by


@pytest.mark.parametrize("count", (1, 2, 3, 7, 100, 65535, 65536, 10**6 + 1, 10**9))
def test_multiplied(count):
    """Off by √5/2 ulps a multiplication at most, for coefficients whose power is no less than e^−55; of more than fit at once, too."""
    draw = np.random.default_rng(count)
    factors = np.exp(-55 / count * draw.random(20_000) + 2j * np.pi * draw.random(20_000))
    powers = convolve._multiplied(factors.copy(), count)
    for k in (0, 1, 16_383, 16_384, 19_999):
        with mpmath.workdps(40):
            assert abs(mpmath.mpmathify(complex(powers[k])) / mpmath.mpmathify(complex(factors[k])) ** count - 1) <= 1.12 * count * convolve.EPSILON


@pytest.mark.parametrize("ratio", (1, 3, 27, 101))
@pytest.mark.parametrize("tilt", (0.1, 2.0, 40.0))
def test_rounding_to_a_whole_multiple_of_the_step(ratio, tilt):
    """The grid that losses one by one lead to, and the mass under P and under Q that they have."""
    draw = np.random.default_rng(ratio)
    weight = draw.random(5000) * (draw.random(5000) < 0.3)
    weight[:40] = weight[-77:] = 0.0
    fine = Grid(2.0**-16, 0.3, -1700, weight / weight.sum(), 0.7, 1e-17, 1e-15)
    found, other = rounding._block_up(fine, tilt, fine.step * ratio), rounding.block_up(fine, tilt, fine.step * ratio, rounding._middle(fine))
    assert (found.step, found.offset, found.defect) == (other.step, other.offset, other.defect)
    assert found.noise == pytest.approx(other.noise, rel=1e-12)
    for power in (tilt, tilt + 1):  # of e^−loss: what leaves the mass under P, and under Q
        mass, before = (float((np.exp(grid.log_total - power * grid.losses()) * grid.weight).sum()) for grid in (found, fine))
        assert mass == pytest.approx(before, rel=1e-12)
    begin = other.first - found.first
    assert np.allclose(found.weight[begin : begin + len(other.weight)], other.weight, rtol=1e-11, atol=0)


def test_a_power_is_off_by_no_more_than_its_noise():
    """All weights of 3e8 steps, by the definition of the transform at high precision; the first steps are far coarser than the sum."""
    grid, count = small_grid(7, 8), 3 * 10**8
    far = grid._replace(first=0, weight=np.array([1 - 4e-9, 1e-9, 3e-9]))  # seldom anything: few points are enough
    for some in (far, far._replace(weight=np.array([1e-9, 1 - 2e-9, 1e-9]))):
        found = convolve.power([(some, count), (grid, 1)])  # two grids: never as rare losses of one
        size = len(found.weight)
        with mpmath.workdps(40):
            def at(j, some=some, size=size):
                phi = [mpmath.fsum(mpmath.mpf(w) * mpmath.expjpi(mpmath.mpf(-2) * j * (g.first + k) / size)
                                   for k, w in enumerate(g.weight.tolist())) for g in (some, grid)]
                return phi[0] ** count * phi[1]

            spectrum = [at(j) for j in range(size)]
            exact = [mpmath.re(mpmath.fsum(spectrum[j] * mpmath.expjpi(mpmath.mpf(2) * j * (found.first + k) / size) for j in range(size)))
                     / size for k in range(size)]
        off = mpmath.sqrt(mpmath.fsum((mpmath.mpf(w) - x) ** 2 for w, x in zip(found.weight.tolist(), exact, strict=True)))
        assert off <= found.noise < 1e-11
        assert found.noise < count * convolve.transform_error(size) / 100


def test_blocks_of_two_have_a_noise():
    """Of few steps at once coefficients are kept that are next to 0: the logarithm of one plus what is beyond would be none."""
    x = np.arange(-36, 37)
    weight = np.exp(-(x**2) / 32)
    grid = Grid(1e-6, 0.0, -36, weight / weight.sum(), 0.0, 0.0)
    for blocks in (2 * 10**7, 2 * 10**8, 10**9):
        units, _ = rounding.in_blocks([(grid, blocks)], 5.0, 2, 3e-6)
        assert all(0 <= unit.noise < 1e-9 for unit, _ in units)
        assert 0 >= Reader(convolve.power(units), 5.0, -np.inf, 0.0, +1).log_delta(0.0) > -6


# --- the weights of atoms --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tilt", (0.01, 3.0, 500.0))
def test_weights_of_atoms_are_off_by_no_more_than_is_said(tilt):
    """M(λ) of a step rounded to a grid, and each weight: against the two masses that stay, at high precision."""
    pair, step, offset = samples_of(0.01), 3.7e-4, 1e-5
    said = law.imprecision(pair, tilt)
    assert said < 3e-13
    grid = law.round_up(law.law(pair, tilt, 40.0), tilt, step, offset)
    with mpmath.workdps(40):
        masses, h, lam = dict[int, mpmath.mpf](), mpmath.mpf(step), mpmath.mpf(tilt)
        left = 1 - mpmath.exp(pair.log_infinite) - mpmath.fsum(mpmath.exp(m) for _, m in pair.atoms)
        atoms = [*((mpmath.mpf(x), mpmath.exp(m)) for x, m in pair.atoms), (mpmath.mpf(0), left)]
        for loss, mass in atoms:
            k = int(mpmath.floor((loss - offset) / h))
            above = loss - offset - k * h
            high = mpmath.expm1(-above) / mpmath.expm1(-h) * mass
            for place, share in ((k, mass - high), (k + 1, high)):
                masses[place] = masses.get(place, mpmath.mpf(0)) + share * mpmath.exp(lam * (offset + place * h))
        total = mpmath.fsum(masses.values())
        assert abs(grid.log_total - mpmath.log(total)) <= said
        for k, weight in enumerate(grid.weight.tolist()):
            exact = masses.get(grid.first + k, mpmath.mpf(0)) / total
            moved = 1e-9 * max(exact, 1e-20)  # by places on the grid, which `misplaced` is for
            assert abs(weight - exact) <= said * exact + moved


def test_densities_have_the_error_of_quadrature():
    assert law.imprecision(pairs.gaussian(1.0), 2.0) == law.QUADRATURE


# --- coarser grids, and readings below them --------------------------------------------------------------------------


@pytest.mark.parametrize("tilt, ratio, step", [(0.1, 5, 1e-3), (3.0, 33, 1e-2), (40.0, 9, 0.05), (40.0, 101, 0.4), (1e4, 7, 1e-5)])
def test_errors_of_weights_grow_by_no_more_than_is_said(tilt, ratio, step):
    """The ℓ2 norm of the rounding to a coarser grid, as a matrix."""
    fine = step / ratio
    columns = []
    for k in range(-2 * ratio, 2 * ratio):
        one = law.round_up(Law(np.array([0.3 * fine + k * fine]), np.ones(1), 0.0, 0.0), tilt, step, 0.0)
        column = np.zeros(12)
        column[one.first + 5 : one.first + 5 + len(one.weight)] = one.weight * exp(one.log_total)
        columns.append(column)
    norm = np.linalg.norm(np.array(columns), 2)
    grid = Grid(fine, 0.3 * fine, 0, np.array([0.5, 0.5]), 0.0, 0.0, 1.0)
    coarse = rounding.block_up(grid, tilt, step, 0.0)
    assert norm <= coarse.noise * exp(coarse.log_total) * (1 + 1e-9)


def test_readings_below_the_first_weight():
    """Where a sum loses at least more than ε: a sum over all weights, by two of them."""
    weight = np.random.default_rng(3).random(200)
    for tilt, step in ((2.0, 1e-3), (0.3, 0.1), (500.0, 1e-7)):
        reader = Reader(Grid(step, 0.7, 40, weight, 0.0, 0.0), tilt, -np.inf, 0.0, +1)
        for k in (-1, -7, -300):
            x = [(j - k) * step for j in range(len(weight))]
            exact = sum(w * exp(-tilt * y) * -np.expm1(-y) for w, y in zip(weight.tolist(), x, strict=True))
            assert reader.at_index(k) == pytest.approx(exact, rel=1e-12)
            assert reader.log_delta(reader.start + k * step) == pytest.approx(min(0.0, log(exact + reader.added) - tilt * (reader.start + k * step)))
