"""Special functions against mpmath."""

import random
from math import log

import mpmath
import pytest

from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.numerics.elementary import log_sub
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement, ratio_for
from dpcalc.numerics.lambert import lambert_w
from dpcalc.numerics.normal import mills_spread

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


def test_the_spread_of_two_mills_ratios():
    rng = random.Random(3)
    for _ in range(60):
        x = 3 * 10 ** rng.uniform(0, 1)
        h = 0.35 * x * 10 ** -rng.choice((0, rng.random(), rng.uniform(0, 10)))

        def ratio(t):
            return mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2))

        with mp.workdps(60 + int(x * x)):
            want = mp.sqrt(mp.pi / 2) * (ratio(mp.mpf(x) - h) - ratio(mp.mpf(x) + h))
        assert mills_spread(x, h) == pytest.approx(float(want), rel=3e-15), (x, h)


def test_the_epsilon_of_a_gaussian_is_safe_and_tight_everywhere():
    rng = random.Random(5)
    for _ in range(300):
        r, log_delta = 10 ** rng.uniform(-4, 1.5), -(10 ** rng.uniform(-2, 2.5))
        epsilon = epsilon_for(log_delta, r)
        assert log_theta(epsilon, r) <= log_delta
        assert epsilon == 0 or log_theta(epsilon * (1 - 3e-13), r) > log_delta, (r, log_delta)
