"""The functions that high precision has of its own, against those of mpmath as the formulas print them, at more digits."""

import json
import random
from math import inf

import mpmath
import pytest

from dpcalc.accounting.digits import _nearer
from dpcalc.bounds.mechanisms.gaussian_exact import theta as printed
from dpcalc.bounds.pnsgd._engine import laws
from dpcalc.cli.app import main
from dpcalc.numerics.hockey_stick import log_theta
from dpcalc.numerics.mp import hockey_stick, root, sums
from dpcalc.numerics.mp.context import context
from dpcalc.numerics.mp.memo import kept, kept_numbers

FEW = [15, 20, 35, 60, 100]


def pair(digits, more=30):
    """The context that digits are found in, and mpmath at more of them."""
    mp, high = context(), mpmath.mp.clone()
    mp.dps, high.dps = digits, digits + more
    return mp, high


def units(mp, high, found, wanted):
    """How many units in the last place apart."""
    return abs(high.mpf(found) / wanted - 1) * high.mpf(2) ** mp.prec


def arguments(seed, many):
    """ε and r: near and far from ε = r²/2, at a = ε/r − r/2 from −30 to 45 and beyond, r from 1e−40 to 1e6."""
    draw = random.Random(seed)
    for _ in range(many):
        r = 10 ** draw.choice([draw.uniform(-9, 3), draw.uniform(-2, 2), draw.uniform(-40, 6)])
        about = r * (r / 2 + draw.uniform(-3 if r < 10 else -30, 45))
        yield max(0.0, draw.choice([about, about, r * r / 2, 0.0, 10 ** draw.uniform(-6, 3)])), r


@pytest.mark.parametrize("digits", FEW)
def test_theta_is_the_printed_one(digits):
    mp, high = pair(digits)
    for epsilon, r in arguments(digits, 250):
        got = mp.theta(mp.mpf(epsilon), mp.mpf(r))
        assert units(mp, high, got, printed(high, high.mpf(epsilon), high.mpf(r))) < 2, (epsilon, r)


def test_theta_of_very_many_digits():
    mp, high = pair(1015)
    for epsilon, r in [(1.0, 0.5), (0.0, 3.0), (40.0, 2.0), (1e-3, 1e-4)]:
        assert units(mp, high, mp.theta(mp.mpf(epsilon), mp.mpf(r)), printed(high, high.mpf(epsilon), high.mpf(r))) < 2
    assert mp.theta(mp.mpf(1), mp.mpf(10) ** -9000) is None  # too many bits


@pytest.mark.parametrize("digits", FEW[:4])
def test_the_rest_of_theta_is_the_printed_one(digits):
    mp, high = pair(digits)
    for epsilon, r in arguments(digits + 1, 150):
        if r < 30 and abs(a := epsilon / r - r / 2) < 60:
            high.dps = digits + 40 + int(a * a / 4)
            got = laws.GAUSSIAN.exact_rest(mp, epsilon, mp.mpf(r))
            assert got == mp.theta_rest(mp.mpf(epsilon), mp.mpf(r))
            assert units(mp, high, got, laws.GAUSSIAN.exact_rest(high, epsilon, high.mpf(r))) < 2, (epsilon, r)


def test_mills_on_both_sides_of_where_the_lists_end():
    high = mpmath.mp.clone()
    high.dps = 80
    for bits in (128, 192):
        top = hockey_stick._lists(bits).top >> 4
        for x in (-1, -0.97, 0, 0.03125, 1, top - 0.03, top, top + 0.031, top + 0.05, 200):
            whole = int(high.mpf(x) * 2**bits)
            point = high.mpf(whole) / 2**bits
            wanted = high.sqrt(high.pi / 2) * high.exp(point**2 / 2) * high.erfc(point / high.sqrt(2))
            assert abs(hockey_stick.mills(whole, bits) - wanted * 2**bits) < 64, (bits, x)


@pytest.mark.parametrize("digits", [*FEW, 500])
def test_w_log1p_and_expm1(digits):
    mp, high = pair(digits)
    draw = random.Random(digits)
    for _ in range(150):
        x = mp.mpf(10) ** mp.mpf(draw.choice([draw.uniform(-3, 3), draw.uniform(-25, -10), draw.uniform(-400, 400), draw.uniform(-3000, 30000)]))
        assert units(mp, high, mp.lambertw(x), high.lambertw(high.mpf(x)).real) < 2, x
        small = draw.choice([-1, 1]) * mp.mpf(10) ** mp.mpf(draw.uniform(-400, -0.01))
        for name, x in (("log1p", small), ("log1p", 1 / abs(small)), ("expm1", small), ("expm1", mp.mpf(draw.uniform(-900, 900)))):
            assert units(mp, high, getattr(mp, name)(x), getattr(high, name)(high.mpf(x))) < 3, (name, x)
    tiny = mp.mpf("1e-99999999999")  # 1 + it would take all memory
    assert mp.log1p(tiny) == tiny == mp.expm1(tiny) and mp.log1p(0) == 0 == mp.expm1(0) and mp.log1p(mp.inf) == mp.inf


def test_what_is_kept_is_of_its_precision():
    made = []

    @kept_numbers
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

    @kept()
    def larger(mp, x):
        found.append(x)
        return max(mp.mpf(x), mp.mpf(1) / 3 * 3)

    assert enclosure(mp, lambda: larger(mp, 2) + larger(mp, 2)).real.x == 4 and found == [2]
    found.clear()
    assert enclosure(mp, lambda: larger(mp, 1) + larger(mp, 1)).real.x.contains(2)
    assert found == [1] * 8  # twice on each of four ways: is 1 more than three thirds?


def test_the_last_are_kept():
    made = []
    third = kept(2)(lambda mp, m: made.append(m) or m / mp.mpf(3))
    mp = context()
    for m in (1, 2, 1, 3, 2, 1):
        assert third(mp, m) == m / mp.mpf(3)
    assert made == [1, 2, 3, 1]


def test_logarithms_of_numbers_as_long_as_a_memory():
    mp = context()
    mp.dps = 30
    assert abs(mp.log1p(mp.ldexp(mp.one, 10**15)) / (10**15 * mp.ln2) - 1) < mp.mpf(10) ** -29
    assert abs(mp.log1p(mp.ldexp(mp.one, -60)) * mp.ldexp(mp.one, 60) - 1 + mp.ldexp(mp.one, -61)) < mp.mpf(10) ** -29


def test_a_panel_of_zeros_adds_nothing():
    mp = context()
    mp.dps = 30
    assert sums.smooth_sum(mp, lambda t: mp.zero if t > 300 else mp.one, 1, 10**6, lambda t: mp.one) == 300


@pytest.mark.parametrize("digits", [15, 30, 60])
def test_a_root_near_a_double_has_all_its_digits(digits):
    """From a double's 1e-10."""
    mp = context()
    mp.dps = digits + 15

    def gap(x):
        return mp.log(mp.theta(x, mp.mpf(1) / 3)) + 20

    start = root.root_near(mp, gap, mp.mpf(2), 14)
    found = root.root_near(mp, gap, start * (1 + mp.mpf("3e-11")), digits)
    assert abs(gap(found)) < mp.mpf(10) ** (2 - digits)


@pytest.mark.parametrize("digits", [15, 30, 60])
def test_so_has_a_root_found_by_its_slope(digits):
    """From the double at which Newton's method ends."""
    mp = context()
    mp.dps = digits + 15

    def gap(x):
        return mp.log(mp.theta(x, mp.mpf(1) / 3)) + 20

    start, fall = _nearer(lambda x: log_theta(x, 1 / 3), 2.0, -20.0)
    found = root.root_near(mp, gap, mp.mpf(start), digits, slope=-fall)
    assert abs(gap(found)) < mp.mpf(10) ** (2 - digits)
    assert _nearer(lambda x: -20.0, 2.0, -20.0) == (2.0, 0.0) == _nearer(lambda x: -inf, 2.0, -20.0)  # no slope leads anywhere


def test_rows_of_a_stream_over_1e11_records_have_digits(capsys):
    line = ("online-noise --lipschitz .1337 --smoothness .05666 --diameter .7407 --learning-rate .001257 "
            "--n 276400000000 --c1 2548 --decay 1.794 --c2 4.287")
    assert main(f"{line} --index 1 --epsilon .1945 --digits 30 --json".split()) == 0
    assert [("digits" in row) for row in json.loads(capsys.readouterr().out)["bounds"]] == [False, True, True]
