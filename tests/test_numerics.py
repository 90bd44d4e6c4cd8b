"""Special functions against mpmath."""

import random
from math import log

import mpmath
import pytest

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.numerics.elementary import log_sub
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement, ratio_for
from dpcalc.numerics.lambert import lambert_w

mp = mpmath.mp.clone()
mp.dps = 60


def test_theta_and_its_complement():
    rng = random.Random(1)
    for _ in range(150):
        r = 10 ** rng.uniform(-13, 1.9)
        e = max(0.0, r * (r / 2 + rng.uniform(-8, 30)))
        want = theta(mp, e, r)
        assert log_theta(e, r) == pytest.approx(float(mp.log(want)), rel=1e-12, abs=1e-300), (e, r)
        assert log_theta_complement(e, r) == pytest.approx(float(mp.log1p(-want)), rel=1e-12, abs=1e-300), (e, r)


def test_inverses_of_theta_are_safe_and_tight():
    for e, delta in [(1.0, 1e-5), (1e-8, 1e-6), (1.0, 1e-30), (10.0, 0.1)]:
        r = ratio_for(e, log(delta))
        assert log_theta(e, r) <= log(delta) < log_theta(e, r * (1 + 1e-11))
        back = epsilon_for(log(delta), r)
        assert log_theta(back, r) <= log(delta)


@pytest.mark.parametrize("x", [1e-300, 1e-5, 0.3, 1.0, 2.7, 1e5, 1e100, 1e300])
def test_lambert_w(x):
    assert lambert_w(x) == pytest.approx(float(mp.lambertw(x).real), rel=1e-14)


def test_log_sub():
    assert log_sub(log(5), log(3)) == pytest.approx(log(2), rel=1e-14)
