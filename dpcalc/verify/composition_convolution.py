"""Products of polynomials with integer coefficients.

They are computed by python-flint. Without it they are computed by Kronecker substitution, as products of two long
numbers of the standard library's `decimal`, whose multiplication is fast.
"""

from __future__ import annotations


def multiply_polynomials(a: list[int], b: list[int]) -> list[int]:
    """Return the coefficients of the product of two polynomials, whose coefficients a and b are non-negative."""
    try:
        from flint import fmpz_poly
    except ImportError:
        return _multiply_by_decimal(a, b)
    x = fmpz_poly(a)
    product = (x * x if a is b else x * fmpz_poly(b)).coeffs()
    return [int(c) for c in product] + [0] * (len(a) + len(b) - 1 - len(product))


def _multiply_by_decimal(a: list[int], b: list[int]) -> list[int]:
    """Return the product by Kronecker substitution: each polynomial becomes one decimal number, in which a coefficient
    has a block of digits that is wide enough for every coefficient of the product."""
    import decimal

    width = len(str(max(a))) + len(str(max(b))) + len(str(min(len(a), len(b)))) + 1
    size = (len(a) + len(b)) * width + 10
    with decimal.localcontext(decimal.Context(prec=size, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)):
        x = decimal.Decimal("".join(str(c).zfill(width) for c in reversed(a)))
        y = x if a is b else decimal.Decimal("".join(str(c).zfill(width) for c in reversed(b)))
        digits = format(x * y, "f")
    count = len(a) + len(b) - 1
    digits = digits.zfill(count * width)
    return [int(digits[len(digits) - (k + 1) * width : len(digits) - k * width]) for k in range(count)]
