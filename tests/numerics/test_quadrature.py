"""Integrals of smooth integrands: their value, the error that is estimated, and ranges that are scanned first."""

from math import exp, log, pi, sqrt

import numpy as np
import pytest

from dpcalc.numerics.quadrature import log_integral

ROOT = log(sqrt(2 * pi))  # log ∫ e^{−x²/2} dx


def normal(center=0.0, height=0.0):
    return lambda x: height - (x - center) ** 2 / 2


@pytest.mark.parametrize(("low", "high"), [(-12.0, 12.0), (-5000.0, 40.0), (-40.0, 90_000.0)])
def test_a_normal_density(low, high):
    """Over a short range, and over long ones that are scanned for the peak first."""
    found, error = log_integral(normal(3.0), low, high, 0.1)
    assert abs(found - ROOT) < 3e-15 and error < 1e-12


def test_two_peaks_far_apart():
    """Each counts with its weight, in whichever order they stand."""
    def both(x, first, second):
        return np.logaddexp(normal(-800.0, first)(x), normal(1700.0, second)(x))

    for heights in ((0.0, -2.0), (-2.0, 0.0), (-30.0, 0.0), (700.0, 701.0)):
        found, _ = log_integral(lambda x, h=heights: both(x, *h), -2000.0, 4000.0, 0.1)
        assert abs(found - ROOT - np.logaddexp(*heights)) < 1e-13 * max(1, max(heights))


@pytest.mark.parametrize("depth", [30.0, 40.0, 48.0])
def test_a_small_and_wide_part_of_the_integrand_is_integrated(depth):
    """Beside the peak the integrand is e^−depth of it, 40,000 units wide: above e^−50 none of that is left out."""
    def log_f(x):
        inside = -np.log1p(np.exp((np.abs(x) - 20_000.0).clip(-700, 700)))
        return np.logaddexp(normal()(x), inside - depth)

    found, _ = log_integral(log_f, -21_000.0, 21_000.0, 0.2)
    share = exp(-depth) * 40_000 / sqrt(2 * pi)
    assert abs(found - ROOT - share) < 2e-15 + 1e-6 * share


def test_what_surrounds_a_window_is_not_cut_off():
    """The tails e^−|x| of a Laplace density fall slowly: e^−50 of the maximum is 50 units away from it."""
    found, error = log_integral(lambda x: -np.sqrt(1 + x * x), -20_000.0, 20_000.0, 0.05)
    assert abs(found - log(2 * 0.6019072301972346)) < 1e-14 and error < 1e-12  # 2·K₁(1)


def test_a_peak_that_only_a_knot_tells():
    """A peak of width 1/1000 between the points of the scan is found by its knot."""
    def log_f(x):
        return np.logaddexp(-60.0 - (x / 100) ** 2 / 2, -((x - 50.1) * 1000) ** 2 / 2)

    found, _ = log_integral(log_f, -2000.0, 2000.0, 1e-4, knots=(50.1,))
    assert abs(found - ROOT - log(1e-3)) < 1e-12


def test_the_estimate_of_the_error():
    """It is above the error, and what a step twice as long gives: for a normal density 4e^{−π²/(2h²)} at most."""
    for step in (0.8, 1.0, 1.2, 1.4):
        found, error = log_integral(normal(0.3), -14.0, 14.0, step)
        assert abs(found - ROOT) < error < 4.1 * exp(-(pi**2) / (2 * step**2))
