"""Products of polynomials with directed rounding: never on the wrong side of the exact coefficients."""

import random
from fractions import Fraction

import numpy as np
import pytest
from conftest import slow

from dpcalc.verify.directed_array import multiply_polynomials

EXTREME = (0.0, 5e-324, 2.5e-308, 2.0**-1000, 1e-300, 1e-17, 0.5, 1 - 2**-53, 1.0, 1 + 2**-52, 1e15, 2.0**56)


def exact(a, b):
    found = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += Fraction(x) * Fraction(y)
    return found


def drawn(rng):
    """Coefficients of any size, or all of one size, or few beside zeros."""
    kind, count = rng.randrange(3), rng.randint(1, 12)
    if kind == 0:
        return [rng.choice(EXTREME) for _ in range(count)]
    if kind == 1:
        size = 2.0 ** rng.randint(-1070, 50)
        return [rng.random() * size for _ in range(count)]
    return [rng.random() * 2.0 ** rng.randint(-1070, 50) if rng.random() < 0.3 else 0.0 for _ in range(count)]


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("draws", [40, slow(2000)])
def test_products_enclose_the_exact_one(words, draws):
    """They are as near as integers of 64 bits a word say, relative to the product of both sums."""
    rng = random.Random(words)
    for _ in range(draws):
        a, b = drawn(rng), drawn(rng)
        below, above = (multiply_polynomials(np.array(a), np.array(b), up, words) for up in (False, True))
        size = (sum(map(Fraction, a)) or 1) * (sum(map(Fraction, b)) or 1)
        for low, true, high in zip(below, exact(a, b), above, strict=True):
            assert low >= 0
            assert Fraction(low) <= true <= Fraction(high), (a, b)
            near = true / 2**45 + size * (len(a) + len(b)) / 2 ** (64 * words - 4) + Fraction(2) ** -990
            assert Fraction(high) - Fraction(low) <= near, (a, b)


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("large", [[1e308, 1e308], [1e308] * 40, [0.0, 1.7e308], [float("inf")], [float("nan"), 1.0]])
def test_sums_beyond_the_range_are_refused(large, up):
    for a, b in ((large, [0.5, 1.0]), ([5e-324], large)):
        with pytest.raises(OverflowError):
            multiply_polynomials(np.array(a), np.array(b), up, 2)
