"""Rates of the best attack between known points of a privacy profile."""

from math import exp

import mpmath

from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.tradeoff import among, at_level

mp = mpmath.mp.clone()
mp.dps = 60


def test_a_rate_between_dense_points_is_nearly_exact_and_between_sparse_ones_unknown():
    """μ = 1: δ(ε) is convex in e^ε.

    Between points .01 apart no ε gives much less, between points 1 apart one may, and at an end nothing is known."""
    def known(step):
        return [(k * step, exp(log_theta(k * step, 1.0))) for k in range(int(8 / step))]

    exact = mp.ncdf(mp.findroot(lambda z: mp.ncdf(z) - 0.01, -2.3) + 1)
    rate, u = among(known(0.01), 0.01, 1e-4)
    assert exact <= rate <= exact * 1.0001 and rate == at_level(exp(log_theta(u, 1.0)), u, 0.01)
    assert among(known(1.0), 0.01, 1e-4) is None
    assert among(known(0.01)[:100], 0.01, 1e-4) is None
    assert among([], 0.01, 1e-4) is None
