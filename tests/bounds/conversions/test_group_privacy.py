"""What a guarantee for one record says of a group: never below the theorem, at ε from the least doubles on."""

import random

import mpmath
import pytest

from dpcalc.bounds.conversions import group_privacy

mp = mpmath.mp.clone()
mp.dps = 50


def exact(epsilon, delta, size):
    e = mp.mpf(epsilon)
    return mp.log(mp.mpf(delta) * mp.expm1(size * e) / mp.expm1(e))


def test_a_tiny_epsilon():
    point = (8.242811245570682e-262, 0.248128627607817, 4)
    total, log_delta = group_privacy.of_group(*point)
    assert total >= 4 * mp.mpf(point[0])
    assert 0 <= log_delta - exact(*point) < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_random_points_are_never_below_the_theorem(seed):
    rng = random.Random(seed)
    for _ in range(500):
        size = int(10 ** rng.uniform(0.31, 5))
        point = (10 ** rng.uniform(-307, 2), 10 ** rng.uniform(-300, 0), size)
        log_delta = group_privacy.of_group(*point)[1]
        assert 0 <= log_delta - exact(*point) < 1e-14 * (10 - exact(point[0], point[1], 1) + size * point[0])
