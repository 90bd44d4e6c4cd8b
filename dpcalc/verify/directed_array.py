"""Arrays of doubles that bound exact numbers >= 0 from above or from below, and their products as polynomials.

The exact result r >= 0 of an operation on doubles, computed with k roundings to the nearest double, becomes
c >= r(1 − u)^k − 2^−1022, where u = 2^−53 and the last term is what underflow may lose. `away` multiplies c by
1 + 2(k + 1)u, which outweighs these k roundings and its own two, and adds 2^−1000, which outweighs the underflow; from
below it does the opposite. So its result is never on the wrong side of r, whatever the order of a sum and the machine.
"""

from collections.abc import Iterable
from math import frexp
from typing import Any, TypeVar

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT
from dpcalc.verify.arb.context import is_ball_context

Words = np.ndarray[Any, np.dtype[np.uint64]]  # each row is an integer in base 2^64, the lowest digit first
X = TypeVar("X", float, Array)  # a result of operations on doubles

UNDERFLOW = 2.0**-1000  # far more than what underflow loses, and far below every weight that matters
WORD_BITS = 64


def away(x: X, up: bool, roundings: int = 1) -> X:
    """Return a number that is surely not below (`up`) or not above the exact result, of which x is computed."""
    margin = 2 * (roundings + 1) * UNIT
    if up:
        return x * (1 + margin) + UNDERFLOW
    lower: X = np.maximum(x * (1 - margin) - UNDERFLOW, 0.0)
    return lower


def add(x: Array, y: Array, up: bool) -> Array:
    return away(x + y, up)


def scale(x: X, factor: float, up: bool) -> X:
    return away(x * factor, up)


def total(x: Array, up: bool) -> float:
    return away(float(x.sum()), up, len(x))


def to_doubles(mp: Any, numbers: Iterable[Any], up: bool) -> Array:
    """Return doubles that are surely not below (`up`) or not above the numbers, nor below 0. Raises Undecided where the
    ball of a number is too wide, and OverflowError beyond the range of doubles."""
    rounded = np.array([_end_of_ball(mp, x.real.x, up) if is_ball_context(mp) else float(x) for x in numbers])
    found: Array = away(np.maximum(rounded, 0.0), up)
    if not np.isfinite(found).all():
        raise OverflowError("a weight is beyond the range of doubles")
    return found


def _end_of_ball(mp: Any, ball: Any, up: bool) -> float:
    if not (ball.is_finite() and ball.rad() < 2.0**-56 * (1 + abs(ball.mid()))):  # else the precision has to be raised
        raise mp.undecided("the masses of a grid are known too roughly")
    return float(ball.upper() if up else ball.lower())


def multiply_polynomials(a: Array, b: Array, up: bool, words: int) -> Array:
    """Return bounds of the coefficients of the product of two polynomials.

    The coefficients of each factor are rounded to integers of 64·words − 1 bits in a unit such that these integers add
    up to less than 2^(64·words − 1). Integers are multiplied exactly; the coefficients of their product are at most the
    product of both sums, and so have a place of 2·words words.
    """
    (x, x_exponent), (y, y_exponent) = _to_integers(a, up, words), _to_integers(b, up, words)
    product, size = _multiply_exactly(x, y), 2 * words
    found = np.zeros(len(product))
    for k in range(size):
        found += np.ldexp(product[:, k].astype(np.float64), WORD_BITS * k + x_exponent + y_exponent)
    return away(found, up, 2 * size)


def _to_integers(a: Array, up: bool, words: int) -> tuple[Words, int]:
    """Return the integers above (`up`) or not above a·2^−exponent, in twice as many words, and the exponent. All
    differences and products below are exact; the integer above does not carry, as a double has only 53 bits."""
    if not (a.max(initial=0.0) < 2.0**60 and a.sum() < 2.0**60):  # below 2^62 scaling is exact, and nothing overflows
        raise OverflowError("the weights of a grid are beyond the range of doubles")
    exponent = frexp(float(a.sum()))[1] + 1 - (WORD_BITS * words - 1)
    digits = np.zeros((len(a), 2 * words), np.uint64)
    rest = np.ldexp(a, -exponent - WORD_BITS * (words - 1))
    for k in range(words - 1, -1, -1):
        digit = np.floor(rest)
        digits[:, k] = digit.astype(np.uint64)
        rest = (rest - digit) * 2.0**WORD_BITS
    if up:
        digits[:, 0] += np.uint64(1)
    return digits, exponent


def _multiply_exactly(x: Words, y: Words) -> Words:
    """Return the coefficients of a product of polynomials by Kronecker substitution: each polynomial becomes one
    integer, in which every coefficient has its place. python-flint multiplies these fast; without it they are converted
    to the standard library's `decimal`, whose multiplication is fast, too."""
    try:
        from flint import fmpz
    except ImportError:
        return _multiply_by_decimal(x, y)
    count, size = len(x) + len(y) - 1, x.shape[1]
    a, b = (fmpz(int.from_bytes(z.astype("<u8").tobytes(), "little")) for z in (x, y))
    return np.frombuffer(int(a * b).to_bytes(8 * size * count, "little"), "<u8").reshape(count, size)


def _multiply_by_decimal(x: Words, y: Words) -> Words:
    import decimal

    a, b = ([int.from_bytes(row.astype("<u8").tobytes(), "little") for row in z] for z in (x, y))
    size, count = x.shape[1], len(a) + len(b) - 1
    width = len(str(1 << WORD_BITS * size))
    context = decimal.Context(prec=(count + 2) * width, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    with decimal.localcontext(context):
        first, second = (decimal.Decimal("".join(str(c).zfill(width) for c in reversed(z))) for z in (a, b))
        digits = format(first * second, "f").zfill(count * width)
    blocks = [int(digits[len(digits) - (k + 1) * width : len(digits) - k * width]) for k in range(count)]
    return np.frombuffer(b"".join(c.to_bytes(8 * size, "little") for c in blocks), "<u8").reshape(count, size)
