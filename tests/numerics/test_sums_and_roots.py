"""Sums over many records and roots at high precision, against sums term by term, zeta functions and known roots."""

import mpmath
import pytest
from conftest import slow, spread

from dpcalc.numerics.mp import root, sums

SMOOTH = {
    "squares": lambda mp, t: 1 / mp.mpf(t) ** 2,
    "logarithm": lambda mp, t: 1 / mp.log(mp.mpf(t) + 5),
    "bend": lambda mp, t: 1 / (1 + (mp.mpf(t) / 3000) ** 4),
    "exponential": lambda mp, t: mp.expm1(3 * mp.exp(-mp.mpf(t) / 500)),
    "early": lambda mp, t: mp.exp(-mp.mpf(t) / 3),
    "steep": lambda mp, t: 1 / mp.mpf(t) ** 30,
    "both ends": lambda mp, t: 1 / (mp.mpf(t) * (9000 - t)),
}


def context(digits):
    mp = mpmath.mp.clone()
    mp.dps = digits
    return mp


@pytest.mark.parametrize("digits", [25, 45])
@spread("name", [slow(name) if name == "exponential" else name for name in SMOOTH])
def test_a_long_sum_is_that_of_its_terms(name, digits):
    mp = context(digits)
    for n in (2000, 7001):
        want = mp.fsum(SMOOTH[name](mp, t) for t in range(3, n + 1))
        got = sums.smooth_sum(mp, lambda t: SMOOTH[name](mp, t), 3, n)
        assert abs(got / want - 1) < mp.mpf(10) ** (8 - digits)


def test_a_sum_from_its_other_end_and_one_of_1e12_terms():
    mp = context(45)
    c = 1 - mp.mpf("1e-4")
    want = mp.fsum(c ** (s - 1) / (7001 - s) for s in range(1, 7001))
    assert abs(sums.smooth_sum(mp, lambda s: c ** (s - 1) / (7001 - s), 1, 7000, lambda s: c ** (s - 1)) / want
               - 1) < mp.mpf(10) ** -37

    tail = mp.mpf(10) ** -12 - mp.mpf(10) ** -24 / 2 + mp.mpf(10) ** -36 / 6
    assert abs(sums.smooth_sum(mp, lambda t: 1 / mp.mpf(t) ** 2, 1, 10**12) - (mp.pi**2 / 6 - tail)) < mp.mpf(10) ** -42


@pytest.mark.parametrize("digits", [15, 50])
@spread("power", ["1.5", "2", slow("7.3"), "30"])
def test_a_sum_to_its_end_is_a_difference_of_zeta_functions(power, digits):
    mp, more = context(digits + 15), context(digits + 250)  # a small zeta cancels
    s = mp.mpf(power)
    for first, last in ((1, 10**6), (700, 10**9 + 7), (12345, 10**15)):
        got = sums.smooth_sum(mp, lambda t: mp.mpf(t) ** -s, first, last)
        want = more.zeta(more.mpf(s), first) - more.zeta(more.mpf(s), last + 1)
        assert abs(more.mpf(got) / want - 1) < more.mpf(10) ** -(digits + 10)


def test_a_sum_is_the_same_the_second_time():
    mp = context(45)

    def bend(t):
        return 1 / (1 + (mp.mpf(t) / 3000) ** 4)

    first = sums.smooth_sum(mp, bend, 1, 10**9)
    again = sums.smooth_sum(mp, bend, 1, 10**9)
    assert abs(again / first - 1) < mp.mpf(10) ** -35


@pytest.mark.slow
def test_a_sum_that_no_polynomials_follow_is_refused():
    mp = context(20)
    with pytest.raises(sums.TooRough):
        sums.smooth_sum(mp, lambda t: 2 + mp.sin(3 * mp.mpf(t)), 1, 10**7)


def test_roots_from_near_and_from_brackets():
    mp = context(45)

    def gap(x):
        return mp.log(x) ** 3 - 8

    want = mp.exp(2)
    for start in (7.389056098930651, 7.38905, 7.4):
        assert abs(root.root_near(mp, gap, mp.mpf(start), 30) / want - 1) < mp.mpf(10) ** -30
    assert abs(root.root(mp, gap, mp.mpf(1), mp.mpf(1000)) / want - 1) < mp.mpf(10) ** -40
    assert abs(root.root(mp, lambda x: mp.inf if x > 3 else x - 2, mp.mpf(0), mp.mpf(4)) - 2) < mp.mpf(10) ** -40
    assert root.root_near(mp, lambda x: mp.mpf(1), mp.mpf(3), 30) is None
    assert root.root_near(mp, lambda x: x - 1, mp.mpf(3), 30) is None  # far away
    assert root.root_near(mp, lambda x: mp.inf if x > 2.9 else x - 2, mp.mpf(3), 30) is None
    assert root.root_near(mp, lambda x: max(x - 4, mp.mpf(0)), mp.mpf(3), 30) is None  # all of a plateau
    flat = root.root(mp, lambda x: mp.tanh(10 * (x - 1) ** 3), mp.mpf(-3), mp.mpf(20))  # hardly changes far away
    assert abs(flat - 1) < mp.mpf(10) ** -12
