"""High precision: roots, sums, and values that are remembered."""

import mpmath
import pytest

from dpcalc.numerics.mp import root, sums
from dpcalc.numerics.mp.context import context
from dpcalc.numerics.mp.memo import cached_by_precision, cached_sequence


@pytest.mark.parametrize("digits", [15, 40, 100])
def test_a_root_has_the_digits_that_were_asked_for(digits):
    mp = context()
    mp.dps = digits + 15
    within = mp.mpf(10) ** -digits
    assert abs(root.root_near(mp, lambda x: mp.exp(x) - 3, mp.mpf("1.0986122887"), digits) / mp.log(3) - 1) < within
    assert abs(root.root(mp, lambda x: mp.exp(x) - 3, mp.mpf(0), mp.mpf(40), digits) / mp.log(3) - 1) < within
    assert root.root_near(mp, lambda x: mp.one, mp.mpf(1), digits) is None  # no slope leads anywhere
    assert root.root_near(mp, lambda x: mp.exp(x) - 3, mp.mpf(-40), digits) is None


def test_a_context_has_its_own_precision():
    mp, other = context(), mpmath.mp.dps
    mp.dps = 77
    assert mpmath.mp.dps == other and context().dps != 77
    tiny = mp.mpf("1e-99999999999")  # 1 + it would take all memory
    assert mp.log1p(tiny) == tiny == mp.expm1(tiny)


def test_what_is_kept_is_of_its_precision():
    made = []

    @cached_sequence
    def thirds(mp, level):
        return lambda m: made.append(m) or m * level / mp.mpf(3)

    mp = context()
    for digits in (20, 40, 20):
        mp.dps = digits
        assert [thirds(mp, 2.0)(m) for m in (1, 2, 1)] == [2 / mp.mpf(3), 4 / mp.mpf(3), 2 / mp.mpf(3)]
    assert made == [1, 2, 1, 2]  # not again the third time


def test_what_is_kept_of_balls():
    """Not what follows a comparison that they leave open."""
    from dpcalc.verify.arb.context import Context, enclosure

    mp, found = Context(), []

    @cached_by_precision()
    def larger(mp, x):
        found.append(x)
        return max(mp.mpf(x), mp.mpf(1) / 3 * 3)

    assert enclosure(mp, lambda: larger(mp, 2) + larger(mp, 2)).real.x == 4 and found == [2]
    found.clear()
    assert enclosure(mp, lambda: larger(mp, 1) + larger(mp, 1)).real.x.contains(2)
    assert found == [1] * 8  # twice on each of four ways: is 1 more than three thirds?


def test_the_last_are_kept():
    made = []
    third = cached_by_precision(2)(lambda mp, m: made.append(m) or m / mp.mpf(3))
    mp = context()
    for m in (1, 2, 1, 3, 2, 1):
        assert third(mp, m) == m / mp.mpf(3)
    assert made == [1, 2, 3, 1]


def test_a_panel_of_zeros_adds_nothing():
    mp = context()
    mp.dps = 30
    assert sums.smooth_sum(mp, lambda t: mp.zero if t > 300 else mp.one, 1, 10**6, lambda t: mp.one) == 300


