"""Profiles of several multiples of a unit by shared grids, against compositions of each of them."""

import numpy as np
import pytest

from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.multiples import upper_profiles
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.sampled import without_replacement

MULTIPLES = [3, 5, 8, 20]


@pytest.mark.parametrize(("rate", "ratio", "unit", "largest"), [
    (0.0021, 0.156, 8000, 1.0), (6.4e-5, 1.56, 200_000, 4.0), (0.1, 0.04, 32_000, 16.0), (0.1, 0.1, 20, 2.0),
    (0.3, 1.0, 1, 8.0), (0.01, 6.0, 3, 6.0)])
def test_a_profile_is_at_least_the_composition_and_close_to_it(rate, ratio, unit, largest):
    pair = without_replacement(Gaussian(ratio), rate)
    epsilons = largest * np.linspace(0.0, 1.0, 5)
    for m, profile in zip(MULTIPLES, upper_profiles(pair, unit, MULTIPLES, largest), strict=True):
        for epsilon, found in zip(epsilons.tolist(), profile(epsilons).tolist(), strict=True):
            bracket = log_delta_at_epsilon([(pair, m * unit)], epsilon)
            assert found >= bracket.lower
            # The grids are shared by all multiples: they are too coarse for a δ that is tiny.
            assert found <= bracket.upper + 0.04 or bracket.upper < -18


def test_a_profile_of_one_use_has_its_closed_form():
    pair = without_replacement(Gaussian(0.8), 0.1)
    (profile,) = upper_profiles(pair, 1, [1], 1.0)
    for epsilon in (0.0, 0.3, 1.0):
        want = 0.1 * np.exp(log_theta(np.log1p(np.expm1(epsilon) / 0.1), 0.8))
        assert want <= np.exp(profile(np.array([epsilon]))[0]) <= want * 1.02


def test_uses_that_reveal_everything_have_the_probability_of_a_use():
    pair = without_replacement(Gaussian(1e7), 0.01)  # its losses are infinite
    for m, profile in zip([1, 2, 7], upper_profiles(pair, 2, [1, 2, 7], 1.0), strict=True):
        assert np.exp(profile(np.array([0.0, 0.5]))) == pytest.approx(1 - 0.99 ** (2 * m), rel=1e-9)
