"""Decimals for people: rounded to the safe side, but for rounding errors."""

import random
from fractions import Fraction
from math import exp, inf, nextafter

import pytest

from dpcalc import answer
from dpcalc.core.numbers import human


def test_a_printed_number_is_on_the_safe_side_of_the_double():
    rng = random.Random(17)
    for _ in range(500):
        x = exp(rng.uniform(-40, 40))
        above, below = Fraction(human(x)), Fraction(human(x, upward=False))
        assert below <= Fraction(x) <= above and above - below < Fraction(x) / 10**5


@pytest.mark.parametrize("x, text", [(2.0, "2"), (5.2, "5.2"), (0.02, "0.02"), (1e-7, "1e-07"), (0.123456, "0.123456")])
def test_a_double_beyond_a_short_decimal_by_rounding_errors_is_that_decimal(x, text):
    for _ in range(3):
        assert human(x) == human(x, upward=False) == text
        x = nextafter(x, inf)


def test_a_double_beyond_it_by_more_is_rounded_up():
    assert human(2 * (1 + 3e-14)) == "2.00001" and human(2 * (1 - 3e-14), upward=False) == "1.99999"


@pytest.mark.parametrize("scale, epsilon", [("10", "0.1"), ("0.3", "3.33334"), ("9.99999999999999", "0.100001"),
                                            ("0.333333333333333", "3.00001"), ("3.33333333333333", "0.300001")])
def test_an_answer_is_not_below_the_theorem_for_decimals_of_fifteen_digits(scale, epsilon):
    shown = answer("rdp", mechanism="laplace", scale=float(scale), delta=0).text()
    assert shown.startswith(f"ε = {epsilon} at") and Fraction(epsilon) >= 1 / Fraction(scale)
