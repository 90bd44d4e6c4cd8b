"""Special functions against mpmath."""

import random
from math import log

import mpmath
import numpy as np
import pytest

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics import binomial_array, hockey_stick_array, quadrature, tails_array
from dpcalc.numerics.elementary import log_sub
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement
from dpcalc.numerics.lambertw import lambert_w
from dpcalc.numerics.normal import mills

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


def test_theta_near_and_beyond_the_middle():
    """a = ε/r − r/2 from −1 on, where θ is a difference of Mills ratios: a series, a quadrature or their difference."""
    rng = random.Random(2)
    for _ in range(400):
        r = 10 ** rng.uniform(-6, 2)
        a = rng.choice([rng.uniform(-1, 3), 10 ** rng.uniform(-1, 2.5)])
        if a + r / 2 >= 0:
            e = (a + r / 2) * r
            assert log_theta(e, r) == pytest.approx(float(mp.log(theta(mp, e, r))), rel=1e-14), (e, r)


def test_theta_of_arrays_is_never_below_and_close():
    rng = np.random.default_rng(1)
    r = 10 ** rng.uniform(-9, 2.5, 20000)
    e = np.maximum(0.0, r * (r / 2 + np.where(rng.random(20000) < 0.5, rng.uniform(-12, 4, 20000),
                                              10 ** rng.uniform(-2, 3, 20000))))
    got = hockey_stick_array.log_theta(e, r)
    true = np.array([log_theta(x, y) for x, y in zip(e.tolist(), r.tolist(), strict=True)])
    assert (got >= true).all()
    assert ((got - true) <= 1e-6 * np.maximum(1, -true)).all()
    assert hockey_stick_array.log_theta(np.array([0.0, 1.0]), np.array([0.0, 0.0])).tolist() == [-np.inf, -np.inf]
    assert hockey_stick_array.log_theta(np.array([0.0, 1e9]), np.array([1e-300, 1e-3])).max() < -690
    x = np.concatenate([np.linspace(-1, 20, 20001), 10 ** np.linspace(1, 8, 10001)])
    assert abs(tails_array.mills(x) / np.array([mills(y) for y in x.tolist()]) - 1).max() < 5e-15


@pytest.mark.parametrize("x", [1e-300, 1e-5, 0.3, 1.0, 2.7, 1e5, 1e100, 1e300])
def test_lambert_w(x):
    assert lambert_w(x) == pytest.approx(float(mp.lambertw(x).real), rel=1e-14)


def test_log_sub():
    assert log_sub(log(5), log(3)) == pytest.approx(log(2), rel=1e-14)


def test_the_epsilon_of_a_gaussian_is_safe_and_tight_everywhere():
    rng = random.Random(5)
    for _ in range(300):
        r, log_delta = 10 ** rng.uniform(-4, 1.5), -(10 ** rng.uniform(-2, 2.5))
        epsilon = epsilon_for(log_delta, r)
        assert log_theta(epsilon, r) <= log_delta
        assert epsilon == 0 or log_theta(epsilon * (1 - 3e-13), r) > log_delta, (r, log_delta)


def test_tails_of_arrays():
    """R(z), Q(z) and log Q(z), by pieces, far out by a series, and at infinity."""
    rng = random.Random(11)
    z = np.array([*(rng.uniform(0, 60) for _ in range(300)), *(10 ** rng.uniform(1, 9) for _ in range(100)), 0.0,
                  1e200])
    upper = [mp.erfc(mp.mpf(x) / mp.sqrt(2)) / 2 for x in z[:300].tolist()]
    assert tails_array.mills(z[:300]).tolist() == pytest.approx([float(q / mp.npdf(x)) for q,
                                                                 x in zip(upper, z.tolist(), strict=False)], rel=2e-14)
    assert tails_array.mills(z[300:400]) * z[300:400] == pytest.approx([float(mp.mpf(x) * mp.erfc(x / mp.sqrt(2)) / 2
                                                                              / mp.npdf(x))
                                                                        for x in z[300:400].tolist()], rel=2e-14)
    small = z[:300] < 37
    assert tails_array.tail(z[:300])[small].tolist() == pytest.approx([float(q) for q,
                                                                       x in zip(upper, z.tolist(), strict=False)
                                                                       if x < 37], rel=2e-13)
    signed = np.concatenate((z[:300], -z[:300]))
    want = [float(mp.log(q)) for q in upper] + [float(mp.log1p(-q)) for q in upper]
    assert tails_array.log_tail(signed).tolist() == pytest.approx(want, rel=2e-14)
    assert tails_array.log_tail(np.array([-np.inf, 0.0, np.inf])).tolist()[:2] == [0.0,
                                                                                   pytest.approx(log(0.5))] and tails_array.log_tail(np.array([np.inf]))[0] < -1e299


@pytest.mark.parametrize("width", [1.0, 40.0, 4000.0])
def test_integrals_of_bumps(width):
    """Two Gaussian bumps, far apart on a long range; the estimate is not below the error."""
    log_f = lambda t: np.logaddexp(-t * t / 2, -((t - width) ** 2) / 2 - 3)  # noqa: E731
    got, estimate = quadrature.log_integral(log_f, -12.0, width + 12.0, 0.25, (0.0, width))
    want = log(1 + np.exp(-3)) + log(2 * np.pi) / 2
    assert got == pytest.approx(want, abs=1e-13) and 0 <= estimate < 1e-9
    rough, estimate = quadrature.log_integral(log_f, -12.0, width + 12.0, 1.5, (0.0, width))
    assert abs(rough - want) <= 1e-13 + estimate


def test_theta_of_no_shift_and_of_an_endless_one():
    assert (log_theta(0.5, 0.0), log_theta_complement(0.5, 0.0), log_theta(0.5, np.inf),
            log_theta_complement(0.5, np.inf)) == (-np.inf, 0.0, 0.0, -np.inf)


@pytest.mark.filterwarnings("error")
def test_fair_binomial_probabilities_of_arrays():
    for n in (1, 2, 5, 17, 40, 1000, 10**9):
        k = sorted({0, 1, n // 3, n // 2, max(0, n // 2 - 3 * int(n**0.5)), n - 1} - {n})
        got = binomial_array.log_fair_pmf(np.array(k, float), np.full(len(k), float(n)))
        want = [float(mp.loggamma(n + 1) - mp.loggamma(j + 1) - mp.loggamma(n - j + 1) - n * mp.log(2)) for j in k]
        assert got == pytest.approx(want, rel=1e-12, abs=1e-13)
