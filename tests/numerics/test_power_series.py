"""Products and reciprocals of power series against exact fractions: the stated error covers the true one."""

import random
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pytest

from dpcalc.numerics.power_series_array import product, reciprocal


def exact_reciprocal(f, n):
    f, found = list(map(Fraction, f)), []
    for k in range(n):
        rest = sum(f[j] * found[k - j] for j in range(1, min(k, len(f) - 1) + 1))
        found.append(((k == 0) - rest) / f[0])
    return found


def distance(x, y):
    """The 2-norm of the difference; the shorter series has zeros at its end."""
    longer = max(len(x), len(y))
    pad = [[*map(Fraction, map(float, x)), *[Fraction(0)] * (longer - len(x))], [*y, *[Fraction(0)] * (longer - len(y))]]
    return sqrt(sum((a - b) ** 2 for a, b in zip(*pad, strict=True)))


@pytest.mark.parametrize("terms, n", [(1, 1), (1, 5), (2, 33), (3, 64), (7, 100), (40, 40), (50, 20)])
def test_the_error_of_a_reciprocal_is_covered(terms, n):
    rng = random.Random(f"{terms} {n}")
    for size in (0.9, 0.3, 1e-3):
        f = [rng.choice((1.0, -2.0, 0.1)), *(0.0 for _ in range(terms - 1))]
        f[1:] = [size * f[0] * rng.uniform(-1, 1) / terms for _ in f[1:]]
        found, error = reciprocal(np.array(f), n)
        true = distance(found, exact_reciprocal(f, n))
        assert len(found) <= n and true <= error <= 1e-11 * float(np.linalg.norm(found)), (f, n)


def test_negligible_coefficients_are_left_out_and_their_size_is_covered():
    found, error = reciprocal(np.array((1.0, -0.5)), 10**6)
    assert len(found) < 1000 and error < 1e-13
    assert distance(found, [Fraction(1, 2**k) for k in range(len(found) + 200)]) <= error


def test_no_error_is_known_where_coefficients_grow_too_fast():
    assert reciprocal(np.array((1.0, -9.0)), 500)[1] == inf
    assert reciprocal(np.array((1.0, -2.0)), 8)[1] < 1e-8


def test_the_error_of_a_product_is_covered():
    rng = np.random.default_rng(3)
    for m, n in ((1, 1), (3, 50), (100, 100)):
        f, g = rng.normal(size=m), rng.normal(size=n)
        found, error = product(f, g, 80)
        true = [sum(Fraction(f[j]) * Fraction(g[k - j]) for j in range(m) if 0 <= k - j < n)
                for k in range(min(80, m + n - 1))]
        assert distance(found, true) <= error < 1e-10
