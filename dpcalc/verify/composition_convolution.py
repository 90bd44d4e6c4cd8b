"""Products of polynomials with whole coefficients: by python-flint, or by Kronecker substitution as those of the
standard library's `decimal`, whose multiplication of long numbers is fast."""

from __future__ import annotations


def product(a: list[int], b: list[int]) -> list[int]:
    try:
        from flint import fmpz_poly
    except ImportError:
        return by_decimal(a, b)
    x = fmpz_poly(a)
    found = (x * x if a is b else x * fmpz_poly(b)).coeffs()
    return [int(c) for c in found] + [0] * (len(a) + len(b) - 1 - len(found))


def by_decimal(a: list[int], b: list[int]) -> list[int]:
    """Both as the digits of one long number, far enough apart that the product's coefficients do not meet."""
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
