"""Rates of the best attack from a privacy profile."""

from math import exp

import mpmath
import pytest

from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.tradeoff import at_level, true_positive

mp = mpmath.mp.clone()
mp.dps = 60


@pytest.mark.parametrize("fpr", [1e-9, 0.01, 0.5, 0.99])
def test_a_rate_of_gaussian_noise_is_nearly_exact(fpr):
    exact = mp.ncdf(mp.findroot(lambda z: mp.log(mp.ncdf(z) / fpr), -6.0 if fpr < 0.01 else 0.0) + 1)  # μ = 1
    rate, u = true_positive(lambda epsilon: exp(log_theta(epsilon, 1.0)), fpr, 1e-8)
    assert exact <= rate <= exact * (1 + 1e-9)
    assert rate == at_level(exp(log_theta(abs(u), 1.0)), u, fpr)
