"""Searches for minima: the point found is as good as the best of a dense grid, for smooth, steep and flat functions."""

from math import cosh, exp, inf, log

import pytest

from dpcalc.numerics.minimize import minimise_hyperbolic

LOW, HIGH = -9.0, 23.0


@pytest.mark.parametrize("name, f", [
    ("two exponentials", lambda u: 0.3 + 2 * exp(u - 4) + 5 * exp(1 - u)),
    ("and a logarithm, as of the improved conversion", lambda u: 0.01 * (1 + exp(u)) + (30 - u) * exp(-u)),
    ("a steep rise", lambda u: 3 * exp(-u) + 0.01 * exp(u) + exp(min(60 * (u - 1), 300))),
    ("infinite beyond a point", lambda u: 3 * exp(-u) + exp(u) / 50 if u < 1.3 else inf),
    ("no privacy loss on one side", lambda u: max(0.0, 3 * exp(-u) - 0.4)),
    ("negative, as log δ", lambda u: -40 + 2 * (exp(u) - 3) ** 2),
    ("falling to the end", lambda u: 2 + exp(-u)),
    ("rising from the end", lambda u: 2 + exp(u)),
    ("a kink", lambda u: 5 + abs(u - 2.5)),
    ("flat", lambda u: 1.0),
])
@pytest.mark.parametrize("start", [-3.0, 0.5, 2.0])
def test_the_minimum_is_that_of_a_grid(name, f, start):
    best = min(f(LOW + (HIGH - LOW) * k / 4000) for k in range(4001))
    found = f(minimise_hyperbolic(f, start, LOW, HIGH, 0.2))
    assert found <= best + 1e-9 * max(abs(best), 1e-300) or (name == "infinite beyond a point" and found == inf)


@pytest.mark.parametrize("centre", [-2.0, 0.1, 1.3, 7.0])
def test_the_least_hyperbolic_cosine_is_found_to_the_tolerance(centre):
    found = minimise_hyperbolic(lambda u: 1 + cosh(u - centre), 1.0, LOW, HIGH, 0.2)
    assert 1 + cosh(found - centre) <= 2 * (1 + 1e-10)


def test_of_a_small_function_the_gain_is_relative():
    found = minimise_hyperbolic(lambda u: 1e-8 * (exp(u) + 9 * exp(-u)), 0.0, LOW, HIGH, 0.2)
    assert found == pytest.approx(log(3), abs=1e-4)
