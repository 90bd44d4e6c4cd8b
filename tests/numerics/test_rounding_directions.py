"""Which way helpers round: exact fractions and 60 digits on the safe side of every one, and no further away than they
say."""

import random
from fractions import Fraction
from math import inf, nextafter, ulp

import domains
import enclose
import mpmath
import pytest

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online._engine import sums
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE
from dpcalc.numerics import rounding
from dpcalc.numerics.hockey_stick import log_theta

mp = mpmath.mp.clone()
mp.dps = 60


def double(rng, low=-300.0, high=300.0):
    return 10 ** rng.uniform(low, high)


@pytest.mark.parametrize("of", [
    lambda a, b, c, d: (rounding.ratio_up((a, b), (c, d)), Fraction(a) * Fraction(b) / Fraction(c) / Fraction(d), +1),
    lambda a, b, c, d: (rounding.ratio_down((a, b), (c, d)), Fraction(a) * Fraction(b) / Fraction(c) / Fraction(d), -1),
    lambda a, b, c, d: (rounding.sum_up((a, b, c, d)), Fraction(a) + Fraction(b) + Fraction(c) + Fraction(d), +1),
    lambda a, b, c, d: (rounding.difference_down(a, b), max(Fraction(a) - Fraction(b), Fraction(0)), -1),
    lambda a, b, c, d: (rounding.quotient_down(*(Fraction(-a) / Fraction(b)).as_integer_ratio()),
                        Fraction(-a) / Fraction(b), -1),
    lambda a, b, c, d: (rounding.quotient_up(int(a * 1e60) + 1, int(b * 1e50) + 1),
                        Fraction(int(a * 1e60) + 1, int(b * 1e50) + 1), +1),
    lambda a, b, c, d: (rounding.quotient_down(int(a * 1e60) + 1, int(b * 1e50) + 1),
                        Fraction(int(a * 1e60) + 1, int(b * 1e50) + 1), -1),
], ids=["ratio_up", "ratio_down", "sum_up", "difference_down", "negative", "quotient_up", "quotient_down"])
def test_the_nearest_double_on_the_safe_side(of):
    rng = random.Random(1)
    for _ in range(400):
        got, exact, side = of(*(double(rng, -40, 40) for _ in range(4)))
        if side > 0:
            assert nextafter(got, -inf) < exact <= got
        else:
            assert got <= exact < nextafter(got, inf)


def test_what_has_a_double_keeps_it():
    assert rounding.ratio_up((3.0,), (4.0,)) == rounding.ratio_down((3.0,), (4.0,)) == 0.75
    assert rounding.sum_up((0.5, 0.25)) == 0.75
    assert rounding.quotient_up(0, 7) == rounding.difference_down(1.0, 2.0) == rounding.up(0.0, 1e-9) == 0
    assert str(rounding.quotient_down(0, 7)) == str(rounding.down(0.0, 1e-9)) == "0.0"
    assert rounding.quotient_up(1, 10**400) == nextafter(0.0, 1.0) and rounding.quotient_down(1, 10**400) == 0
    with pytest.raises(OverflowError):
        rounding.quotient_up(10**400, 1)


def test_up_and_down_are_so_by_what_is_said_for_both_signs():
    rng = random.Random(2)
    for _ in range(300):
        x, part = rng.choice((-1, 1)) * double(rng), double(rng, -16, -1)
        least = Fraction(x) + Fraction(part) * abs(Fraction(x))
        assert x < rounding.up(x) == nextafter(x, inf)
        assert least <= rounding.up(x, part) <= least + 3 * Fraction(ulp(float(least)))
        assert rounding.down(-x, part) == -rounding.up(x, part)


def test_a_step_contracts_by_no_more_than_is_said():
    """1 − c from below, w(R) and the distance reached from above."""
    rng = random.Random(3)
    for _ in range(300):
        beta = double(rng, -3, 3)
        rho, eta = beta * rng.choice((0.0, rng.random(), 1.0)), rng.choice((rng.random(),
                                                                            1 - double(rng, -15, -1))) * 2 / beta
        gap, want = contraction.gap(eta, beta, rho), contraction.exact_gap(mp, eta, beta, rho)
        assert want * (1 - mp.mpf(2) ** -52) <= gap <= want
        steps, push = rng.choice((1, 2, 7, 1000, 10**9)), double(rng, -9, 9)
        cost, far = contraction.exact_weight(mp, mp.mpf(gap), steps), contraction.exact_reached(mp, mp.mpf(gap), steps,
                                                                                                mp.mpf(push))
        assert cost <= contraction.weight(gap, steps) <= cost * (1 + mp.mpf(10) ** -11) + mp.mpf(10) ** -300
        assert far <= contraction.reached(gap, steps, push) <= far * (1 + mp.mpf(10) ** -14)


def test_gaussian_epsilon_meets_its_delta():
    """Also next to the total variation, where ε is near 0 and every rounding of δ is large beside it; and next to δ =
    1."""
    rng = random.Random(4)
    for _ in range(250):
        sigma, sensitivity, steps = double(rng, -1, 3), double(rng, -1, 1), rng.choice((1, 3, 1000))
        r = mp.mpf(sensitivity) * mp.sqrt(steps) / mp.mpf(sigma)
        log_delta = log_theta(float(r) * double(rng, -14, 1), float(r)) if rng.random() < 0.7 else -double(rng, -6, 2.5)
        if not -700 < log_delta < -1e-25:  # nearer to δ = 1, 60 digits do not hold it
            continue
        epsilon, own = gaussian.inverse(log_delta, sigma, sensitivity, steps), mp.mpf(log_delta)
        assert mp.log(gaussian.theta(mp, epsilon, r)) <= own, (log_delta, float(r))
        earlier = epsilon * (1 - 1e-12) - 1e-10 * float(r)
        assert earlier < 0 or mp.log(gaussian.theta(mp, earlier, r)) > own, (log_delta, float(r))


def test_gaussian_delta_is_not_below_its_theorem():
    rng = random.Random(5)
    for _ in range(250):
        sigma, sensitivity, steps = double(rng, -2, 3), double(rng, -1, 1), rng.choice((1, 3, 1000))
        r = mp.mpf(sensitivity) * mp.sqrt(steps) / mp.mpf(sigma)
        epsilon = max(0.0, float(r) * (float(r) / 2 + rng.uniform(-20, 12)))
        want, got = mp.log(gaussian.theta(mp, epsilon, r)), gaussian.value(epsilon, sigma, sensitivity,
                                                                           steps)
        if want > -1e-40:
            continue  # beyond 60 digits
        earlier = mp.log(gaussian.theta(mp, mp.mpf(epsilon) * (1 - mp.mpf(2e-12)), r))
        assert want <= got <= earlier + 2e-12 * max(1, -want)


def test_a_stream_contracts_by_no_more_than_is_said():
    """log A_i + Σ log B_t of short streams, schedules and lists, Gaussian and Laplace noise."""
    rng, count = random.Random(6), 0
    while count < 60:
        p = domains.a_stream(rng, 60)
        got, product = online_contraction.value(**p), online_contraction.exact(mp, **p)
        if -1e4 < got < -1e-30:
            count += 1
            assert mp.log(product) <= got <= mp.log(product) * (1 - mp.mpf(5e-9)), p


def test_a_sum_from_below_is_below():
    """Terms that fall like powers or exponentials: all of them added, and blocks of them integrated."""
    rng = random.Random(7)
    for _ in range(40):
        power, first, count = rng.uniform(1.1, 6), rng.randint(1, 50), int(double(rng, 0, 3.7))
        want = mp.fsum(mp.mpf(t) ** -mp.mpf(power) for t in range(first, first + count))
        got = sums.lower_sum(lambda t, k=power: t**-k, first, first + count - 1, sums.panel_factor(power))
        assert want * (1 - mp.mpf(2e-9)) <= got <= want
    assert sums.lower_sum(lambda t: 1.0, 3, 2, sums.panel_factor(1.0)) == 0


def test_the_delta_of_laplace_noise_is_not_below_its_theorem():
    """Where the probability of no loss is e^{−30}, an ulp of the exponent is 16 of δ."""
    rng = random.Random(1)
    for _ in range(3000):
        ratio = rng.uniform(40, 90)
        epsilon = rng.uniform(0, ratio - 30)
        want = enclose.context(128).log(LAPLACE.exact(enclose.context(128), epsilon, ratio)).x
        assert not LAPLACE.log_delta(epsilon, ratio) < want


def test_a_decimal_is_rounded_to_the_next_double_that_is_printed_as_no_less():
    rng = random.Random(64)
    for _ in range(300):
        x = Fraction(rng.randint(1, 10**rng.randint(1, 20)), 10 ** rng.randint(0, 25)) * rng.choice((1, Fraction(1, 3)))
        above, below = rounding.decimal_up(x), rounding.decimal_down(x)
        assert rounding.decimal(nextafter(above, 0)) < x <= rounding.decimal(above)
        assert rounding.decimal(below) <= x < rounding.decimal(nextafter(below, inf))
    for k in range(1, 400):  # what was typed comes back
        assert rounding.decimal_up(k * rounding.decimal(0.1)) == rounding.decimal_down(Fraction(k, 10)) == k / 10
    assert rounding.decimal_down(Fraction(-1, 10)) == 0
    computed = 0.1 + 0.2  # a double of 17 digits is itself
    assert rounding.decimal(computed) == Fraction(computed) > rounding.decimal(0.3) == Fraction(3, 10)
