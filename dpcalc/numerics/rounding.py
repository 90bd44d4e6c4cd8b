"""Directed rounding: a reported privacy loss may be too large by a unit in the last place (ulp), never too small."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isinf, isqrt, nextafter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

UNIT = 2.0**-53  # the relative error of one rounded operation
ULP = 2 * UNIT  # the unit in the last place of 1


def up(x: float, rel: float = 0.0) -> float:
    """An upper bound on a value that is known to a relative accuracy of `rel`: x + rel·|x|, and one ulp more.

    Zero stays zero, as a formula that gives exactly zero has made no rounding error. """
    if x == 0.0 or isinf(x):
        return x
    return nextafter(x + rel * abs(x), inf)


def down(x: float, rel: float = 0.0) -> float:
    """A lower bound on such a value."""
    return -up(-x, rel)


def ratio_up(numerators: Iterable[float], denominators: Iterable[float] = ()) -> float:
    """The smallest double >= Π numerators / Π denominators, by integer arithmetic. Numerators are >= 0, denominators
    > 0. Raises OverflowError when the ratio exceeds the largest double. """
    return quotient_up(*_ratio(numerators, denominators))


def ratio_down(numerators: Iterable[float], denominators: Iterable[float] = ()) -> float:
    """The largest double <= Π numerators / Π denominators, likewise."""
    return quotient_down(*_ratio(numerators, denominators))


def _ratio(numerators: Iterable[float], denominators: Iterable[float]) -> tuple[int, int]:
    top = bottom = 1
    for x in numerators:
        p, q = x.as_integer_ratio()
        top, bottom = top * p, bottom * q
    for x in denominators:
        p, q = x.as_integer_ratio()
        top, bottom = top * q, bottom * p
    return top, bottom


def sum_up(terms: Iterable[float]) -> float:
    """The smallest double >= the exact sum of non-negative terms."""
    return quotient_up(*_sum(terms))


def difference_down(a: float, b: float) -> float:
    """The largest double <= a − b (0 where a <= b), by an exact subtraction."""
    return max(0.0, quotient_down(*_sum((a, -b))))


def _sum(terms: Iterable[float]) -> tuple[int, int]:
    top, bottom = 0, 1
    for x in terms:
        a, b = x.as_integer_ratio()
        top, bottom = top * b + a * bottom, bottom * b
    return top, bottom


def quotient_up(top: int, bottom: int) -> float:
    """The smallest double >= top/bottom, for whole numbers (bottom > 0). Raises OverflowError beyond the doubles."""
    x = top / bottom  # correctly rounded for Python integers; raises OverflowError itself
    p, q = x.as_integer_ratio()
    if p * bottom < top * q:
        x = nextafter(x, inf)
    if isinf(x):
        raise OverflowError("the ratio exceeds the largest double")
    return x


def quotient_down(top: int, bottom: int) -> float:
    """The largest double <= top/bottom, likewise."""
    return 0.0 - quotient_up(-top, bottom)  # not −0.0


def decimal(x: float) -> Fraction:
    """The decimal of at most 15 digits that a double stands for, as it was typed: 1/10 for 0.1. A double that stands
    for none, as most computed ones, is itself."""
    from fractions import Fraction

    x = float(x)  # of --digits, too
    text = f"{x:.15g}"
    return Fraction(text) if float(text) == x else Fraction(x)


def decimal_up(x: Fraction) -> float:
    """The smallest double whose decimal is >= x, for x >= 0: 1.0 for ten times 0.1."""
    nearest = x.numerator / x.denominator  # raises OverflowError itself
    return nearest if decimal(nearest) >= x else nextafter(nearest, inf)


def decimal_down(x: Fraction) -> float:
    """The largest double whose decimal is <= x (0 where x <= 0)."""
    if x <= 0:
        return 0.0
    nearest = x.numerator / x.denominator
    return nearest if decimal(nearest) <= x else nextafter(nearest, 0.0)


def root_up(x: Fraction) -> float:
    """The smallest double ≥ √x, or the next one."""
    if x == 0:
        return 0.0
    shift = max(0, 128 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)  # bits behind the point
    scaled = (x.numerator << 2 * shift) // x.denominator
    root = isqrt(scaled)
    exact = root * root == scaled and scaled * x.denominator == x.numerator << 2 * shift
    return quotient_up(root if exact else root + 1, 1 << shift)
