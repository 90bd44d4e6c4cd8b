"""Rows of upper bounds of E(ΣD)₊, against laws of sums that are added up point by point."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from dpcalc.pld import positive_sums
from dpcalc.pld.many_sums import Summands, means_of_sums
from dpcalc.pld.positive_sums import Question, Summand, choose_grid

UNIT = 0.013  # of the points of a lattice
SHIFTS = (-4, -1, 0, 2, 7)  # of the variables of a row, in units of the lattice; for the third one a grid is chosen


class Lattice:
    """Variables first·unit, (first + 1)·unit, … with these masses, shifted, and their sums."""

    def __init__(self, first, masses):
        self.first, self.masses = first, masses / masses.sum()

    def summands(self, excess=0.0):
        points = [UNIT * (self.first + shift + np.arange(len(self.masses))) for shift in SHIFTS]
        return Summands(np.array(points), self.masses, np.full(len(SHIFTS), excess))

    def means(self, count, other=None):
        """E(ΣD)₊, all terms being positive: with a relative error of about 1e-17·count."""
        law, first, moved = np.ones(1, np.longdouble), count * self.first, count
        for _ in range(count):
            law = np.convolve(law, self.masses.astype(np.longdouble))
        if other is not None:
            law, first, moved = np.convolve(law, other.masses.astype(np.longdouble)), first + other.first, count + 1
        values = [np.longdouble(UNIT) * (first + moved * shift + np.arange(len(law))) for shift in SHIFTS]
        return np.array([float((np.maximum(x, 0.0) * law).sum()) for x in values])


def lattice(seed, first=-25, size=70):
    """Skewed masses that fall towards large values."""
    rng = np.random.default_rng(seed)
    return Lattice(first, rng.exponential(size=size) * np.exp(-rng.uniform(0.05, 0.3) * np.arange(size)))


def grid_of(x, true, count, precision=1e-4):
    points, masses, excess = x.summands().each()[2]
    question = Question(count, 0.0, precision, true[2], most_points=1 << 12, least_points=320)
    return choose_grid(points, masses, question, excess)


@pytest.mark.parametrize("count", [1, 2, 7, 33])
@pytest.mark.parametrize("with_other", [False, True])
def test_rows_are_at_least_the_means_and_close_where_the_grid_was_chosen(count, with_other):
    for seed in range(5):
        x, other = lattice(seed), lattice(seed + 50, -8, 20) if with_other else None
        true = x.means(count, other)
        grids = [grid_of(x, true, count, precision) for precision in (1e-5, 1e-3)]
        rows = means_of_sums(grids, [x.summands()] * 2, count, [other.summands()] * 2 if other else None)
        assert np.all(rows >= true * (1 - 1e-14)), seed
        assert rows[0, 2] == pytest.approx(true[2], rel=2e-3), seed
        assert rows[1, 2] == pytest.approx(true[2], rel=5e-2), seed


@pytest.mark.parametrize("seed", range(25))
def test_rows_of_any_grids_are_at_least_the_means(seed):
    """Grids of other variables, with windows that leave out much, tilts that are too large, and low caps."""
    rng = np.random.default_rng(seed)
    x, count = lattice(seed, -int(rng.integers(10, 40))), int(rng.integers(1, 30))
    true, grids = x.means(count), []
    for _ in range(4):
        grid = grid_of(lattice(seed + 7), lattice(seed + 7).means(count), count, 1e-3)
        window = grid.window._replace(log_outside=rng.uniform(0.5, 12), rates=tuple(
            rate * rng.uniform(0.3, 3) for rate in grid.window.rates))
        grids.append(replace(grid, window=window, tilt=grid.tilt * rng.uniform(0, 2), high=grid.high * rng.uniform(
            0.3, 1), step=grid.step * rng.uniform(0.7, 2)))
    rows = means_of_sums(grids, [x.summands()] * 4, count)
    assert not np.isnan(rows).any()
    assert np.all(rows >= true * (1 - 1e-14))


@pytest.mark.parametrize("count", [3, 20])
def test_a_row_agrees_with_a_single_sum_on_the_same_grid(count):
    """Windows have other lengths, so that less or more of the outside comes back."""
    x = lattice(3)
    true = x.means(count)
    grid = grid_of(x, true, count)
    (row,) = means_of_sums([grid], [x.summands(1e-7)], count)
    question = Question(count, 0.0, 1.0, 1.0)
    for k, copy in enumerate(x.summands(1e-7).each()):
        alone, _ = positive_sums.mean_of_sum(copy, question, grid=grid)
        assert row[k] >= true[k] + count * 1e-7 * (1 - 1e-9)
        if k <= 2:
            assert row[k] == pytest.approx(alone, rel=2e-3)


def test_bounds_are_infinite_where_a_grid_cannot_hold_a_sum():
    x, far = lattice(1), lattice(1, 4000)
    true = x.means(20)
    grid = replace(grid_of(x, true, 20), tilt=5.0)
    huge = replace(grid, tilt=1e4)  # ratios of masses beyond e^300
    rows = means_of_sums([grid, huge], [x.summands()] * 2, 20)
    assert np.all(np.isfinite(rows[0]))
    assert np.all(rows[1] == inf)
    wide = replace(grid, window=grid.window._replace(log_outside=1e6))
    assert np.all(means_of_sums([wide], [x.summands()], 20) == inf)
    above = replace(grid, low=far.first * UNIT, high=(far.first + 70) * UNIT)  # sums of which none is near 0
    assert np.all(means_of_sums([above], [far.summands()], 20) == inf)


def test_a_single_sum_far_above_zero_has_no_bound_by_a_tilt():
    """The sums below the window would count as tilted masses above it."""
    far = lattice(1, 4000)
    points, masses, excess = far.summands().each()[2]
    grid = choose_grid(points, masses, Question(20, 0.0, 1e-4, float(far.means(20)[2])), excess)
    question, copy = Question(20, 0.0, 1.0, 1.0), Summand(points, masses, excess)
    untilted, _ = positive_sums.mean_of_sum(copy, question, grid=grid)
    assert untilted == pytest.approx(float(far.means(20)[2]), rel=1e-3)
    assert positive_sums.mean_of_sum(copy, question, grid=replace(grid, tilt=0.5))[0] == inf
