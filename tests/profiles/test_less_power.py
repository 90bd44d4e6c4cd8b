"""(1 + s)^T − 1 and (c + f)^T − c^T by squarings: off by no more than their proofs say, far below the rounding of a power."""

import cmath
from math import pi

import mpmath
import numpy as np
import pytest

from dpcalc.profiles.convolve import _AT_ONCE, EPSILON, grown, less_power

ANGLES = [0.0, 1e-9, 0.3, 1.7, pi]


def exactly(c, f, count):
    with mpmath.workdps(400):
        return complex((mpmath.mpc(c) + mpmath.mpc(f)) ** count - mpmath.mpc(c) ** count)


@pytest.mark.parametrize("count", (2, 3, 7, 100, 255, 65_535, 10**9 + 7, 2**40 - 1))
@pytest.mark.parametrize("size", (1e-300, 1e-40, 1e-3, 0.3))
def test_a_little_more_than_one_to_a_power(count, size):
    s = np.array([min(size, 300.0 / count) * cmath.exp(1j * angle) for angle in ANGLES])
    for one, found in zip(s.tolist(), grown(s, count).tolist(), strict=True):
        most = max(1.0, abs(1 + exactly(1.0, one, count)))
        assert abs(found - exactly(1.0, one, count)) <= EPSILON * (2 * count.bit_length() + 3 * count.bit_count()) * count * abs(one) * most


@pytest.mark.parametrize("count", (2, 3, 7, 100, 255, 4096, 65_535))
@pytest.mark.parametrize("f_size", (1e-200, 1e-30, 1e-6, 0.4))
@pytest.mark.parametrize("c_size", (0.0, 1e-3, 0.59, 0.9999, 1.0))
def test_a_little_more_than_something_to_a_power(count, f_size, c_size):
    f_size = min(f_size, 1 - c_size) if c_size < 1 else min(f_size, 1e-7)
    c = np.array([c_size * cmath.exp(2j * angle) for angle in ANGLES])
    f = np.array([f_size * cmath.exp(1j * angle) for angle in ANGLES])
    for near, one, found in zip(c.tolist(), f.tolist(), less_power(c, f, count).tolist(), strict=True):
        off = EPSILON * (1.2 * count + 5 * count.bit_length()) * count * f_size * max(1.0, c_size + f_size) ** count
        assert abs(found - exactly(near, one, count)) <= off + 1e-320


def test_it_goes_by_pieces():
    rng = np.random.default_rng(1)
    s = 1e-4 * rng.normal(size=2 * _AT_ONCE + 5) + 1e-4j * rng.normal(size=2 * _AT_ONCE + 5)
    c, places = 0.999 * np.exp(1j * s.real), [0, _AT_ONCE - 1, _AT_ONCE, 2 * _AT_ONCE + 4]
    assert grown(s, 77)[places].tolist() == pytest.approx([exactly(1.0, x, 77) for x in s[places].tolist()], rel=1e-12)
    both = zip(c[places].tolist(), s[places].tolist(), strict=True)
    assert less_power(c, s, 77)[places].tolist() == pytest.approx([exactly(near, x, 77) for near, x in both], rel=1e-12)
