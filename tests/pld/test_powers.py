"""Powers by one transform: equal to repeated convolution within their error bounds, with or without wrapping around."""

from functools import reduce
from math import exp

import numpy as np
import pytest
from conftest import spread

from dpcalc.pld import multiscale, pmf, powers
from dpcalc.pld.multiscale import MultiscalePmf

RANDOM = np.random.default_rng(71)
OUTSIDE = 1e-11  # weight that may wrap around


def cells(points, width=0.01, spread_of_losses=1.0, first=0, step=2.0**-10):
    """A random law of cells, whose losses differ from their points by up to `width`."""
    x = np.linspace(-spread_of_losses, spread_of_losses, points)
    weight = np.exp(-8 * x * x) * RANDOM.uniform(0.5, 1, points)
    weight /= weight.sum()
    return pmf.Pmf(step, step / 3, first, weight, weight * RANDOM.uniform(-width, width, points))


def exactly(weights, count):
    """The weights of the sum of `count` losses: sums of positive terms, so to about 1e-13."""
    return reduce(np.convolve, [weights] * count)


def differences(found, p, q, first):
    """The ℓ2 norms of the errors of weights and excess within the window of `found`, and the weight outside of it."""
    begin = found.first - first
    inside = slice(begin, begin + len(found.weight))
    errors = found.weight - p[inside], found.excess - (p - q)[inside]
    return *(float(np.linalg.norm(x)) for x in errors), float(p[:begin].sum() + p[inside.stop :].sum())


@spread("digits", ["0", "1", "10", "011", "1101"])
@pytest.mark.parametrize("points", [1, 7, 300, 900])
def test_a_power_is_a_repeated_convolution(points, digits):
    x, one = cells(points, first=-points // 3), cells(max(1, points // 4), first=5)
    n, m = 1 << len(digits), int(digits, 2)
    for y, k in ((one, m), (x, m)):
        found = powers.power(x, y, digits, OUTSIDE)
        p, q = (reduce(np.convolve, [f(x)] * n + [f(y)] * k)
                for f in (lambda z: z.weight, lambda z: z.weight - z.excess))
        of_weight, of_excess, outside = differences(found, p, q, n * x.first + k * y.first)
        assert of_weight <= found.fft_error + 1e-15 and of_excess <= found.excess_fft_error + 1e-15
        assert found.fft_error <= 1e-12 + OUTSIDE and outside <= found.truncated <= 2 * OUTSIDE
        assert found.offset == pytest.approx(n * x.offset + k * y.offset)


def test_what_is_outside_of_a_window_is_bounded_for_both_laws():
    """The window of a long sum is much shorter than the sum, and what wraps around is counted."""
    x = cells(600, spread_of_losses=3)
    short, (p, q) = powers.power(x, x, "0000", 1e-4), (exactly(w, 16) for w in (x.weight, x.weight - x.excess))
    assert len(short.weight) < len(p) / 4
    of_weight, of_excess, outside = differences(short, p, q, 16 * x.first)
    assert 1e-13 < of_weight <= short.fft_error <= 2e-4
    assert 1e-15 < of_excess <= short.excess_fft_error <= 0.2 * short.fft_error
    assert 1e-12 < outside <= short.truncated
    assert abs(p - q)[: short.first - 16 * x.first].sum() <= short.excess_fft_error


@spread("width", [1e-2, 1e-6, 1e-10])
def test_the_error_of_an_excess_is_relative_to_it(width):
    """The losses of tiny rates differ so little from their points that any other error would hide them."""
    x = cells(2000, width)
    found = powers.power(x, x, "1010", OUTSIDE)
    assert found.excess_fft_error <= 1e-9 * width
    p, d = exactly(x.weight, 25), x.excess
    first_order = 26 * np.convolve(p, d)  # of p^26 − (p − d)^26
    begin = found.first - 26 * x.first
    difference = found.excess - first_order[begin : begin + len(found.excess)]
    assert np.linalg.norm(difference) <= 1e-9 * width + 400 * width**2


def test_errors_of_factors_are_carried_over():
    """A factor that is wrong by as much as it says gives a power that is wrong by at most as much as it says."""
    x = cells(500)
    noise = RANDOM.normal(size=500)
    noise *= 1e-7 / np.linalg.norm(noise)
    wrong = x._replace(weight=x.weight + noise, excess=x.excess - noise, fft_error=1e-7, excess_fft_error=1e-7)
    found = powers.power(wrong, wrong, "110", OUTSIDE)
    p, q = (exactly(w, 14) for w in (x.weight, x.weight - x.excess))
    of_weight, of_excess, _ = differences(found, p, q, 14 * x.first)
    assert 1e-9 < of_weight <= found.fft_error < 1e-5 and 1e-9 < of_excess <= found.excess_fft_error < 1e-5


@pytest.mark.parametrize("rare", [1e-2, 1e-9])
def test_rare_large_losses_stay_in_the_window(rare):
    """They make the window longer, but not as long as the sum."""
    weight = np.zeros(4000)
    weight[:50], weight[1000:] = 1 / 50, rare * np.exp(-np.arange(3000) / 100) / 100
    x = pmf.Pmf(0.01, 0.0, 0, weight / weight.sum())
    found = powers.power(x, x, "0000", OUTSIDE)
    p = exactly(x.weight, 16)
    begin = found.first
    assert p[:begin].sum() + p[begin + len(found.weight) :].sum() <= found.truncated <= 2 * OUTSIDE
    assert np.linalg.norm(found.weight - p[begin : begin + len(found.weight)]) <= found.fft_error
    assert len(found.weight) < len(p) / 2


@pytest.mark.parametrize("kind", [multiscale.Splitting, multiscale.Merging])
def test_levels_on_one_grid_have_the_same_masses(kind):
    """Under P and, for a lower bound, under Q."""
    grid = kind(3.0, 1.0, 1.0) if kind is multiscale.Splitting else kind(3.0, iter(()), iter(()), iter(()))
    levels = [cells(40, first=-20), cells(30, first=-9, step=2.0**-7), cells(9, first=-2, step=2.0**-6)]
    if kind is multiscale.Splitting:
        levels = [x._replace(offset=0.0, excess=None) for x in levels]
    found = multiscale.on_one_grid(MultiscalePmf(tuple(levels)), 2.0**-9, grid)
    assert found.step == 2.0**-9

    def masses(levels):
        p = sum(float((x.weight * np.exp(-3 * x.losses)).sum()) for x in levels)
        q = sum(float(((x.weight - (0 if x.excess is None else x.excess)) * np.exp(-4 * x.losses)).sum()) for x in levels)
        return p, q

    assert masses([found]) == pytest.approx(masses(levels), rel=1e-12)


@spread("count", [1, 2, 3, 26, 1000, 12345])
def test_a_sum_keeps_its_moments(count):
    """Splitting keeps both masses of a sum of many losses, whatever its digits are: E[1] and E[e^{−ℓ}] under P."""
    x = pmf.Pmf(2.0**-12, 0.0, -40, cells(100).weight)
    grid = multiscale.Splitting(1.0, 2.0, 2.0**-8, budget=1e-2)
    found = multiscale.self_compose(MultiscalePmf((x,)), count, grid)
    assert sum(grid.digits) == count.bit_length() - 1
    for rate in (1.0, 2.0):
        one = float((x.weight * np.exp(-rate * x.losses)).sum())
        total = sum(float((y.weight * np.exp(-rate * (y.losses - count * float(x.weight @ x.losses)))).sum())
                    for y in found.levels)
        want = (one * exp(rate * float(x.weight @ x.losses))) ** count
        assert total * exp(found.log_scale) == pytest.approx(want, rel=1e-5)
