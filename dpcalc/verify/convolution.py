"""The law of a sum of many losses, by whole numbers: weights in units of 2^−S, every rounding upwards, every product exact.

No rounding error needs a bound then. What is cut off is counted: a tilted weight adds to δ at most itself times e^{−λε} (`missing`), and a
mass under P at most itself (`lost`): far less at the upper end, where the tilt makes weights of next to no mass. Products are polynomial
products of python-flint, or by Kronecker substitution those of the standard library's `decimal`, whose multiplication of long numbers is
fast.
"""

from __future__ import annotations

from itertools import accumulate
from math import exp, frexp, inf, log
from typing import Any, NamedTuple

from dpcalc.verify.unchecked import TooLong

_COMMON = 20  # log2 of that, where it makes no difference
_SPARE = 32  # bits beyond what may be cut off, over all steps: a unit at every point of a long sum is less
_SHORT = 20_000  # points that are all kept: a tilt may make what is dropped count more than what it says
_LONGEST = 2_500_000  # points of a product, which take half a minute
SURE = 1e-13  # more than what products and sums of doubles are off, relative
_DROPPED = 64  # log2 of the part of the weight that may be cut off at either end, over all steps, or of what is asked about


class Sum(NamedTuple):
    """Weights on the points first, first + 1, … in units of 2^−bits, at most; `missing` and `lost` bound what is not in them.

    A weight w at the number k has at most the mass w·e^{height − slope·k} under P."""

    first: int
    weights: Any  # a list of whole numbers, or a polynomial with such coefficients
    missing: float
    bits: int
    height: float = inf
    slope: float = 0.0
    lost: float = 0.0


def bits_for(steps: int, part: float = 1.0) -> int:
    """`part`: of all weight, what is asked about."""
    return _SPARE + _DROPPED + steps.bit_length() + max(0, -frexp(part)[1] - _COMMON)


def power(one: Sum, steps: int, loss: float = 0.0, up: bool = True) -> Sum:
    """The law of the sum of `steps` copies, from above (or below); each product may lose the mass `loss` at its upper end."""
    found: Sum | None = None
    square, done = _shorter(one, loss), 1
    while True:
        if steps & done:
            found = square if found is None else times(found, square, steps, loss, up)
        done <<= 1
        if done > steps:
            break
        square = times(square, square, steps, loss, up)
    assert found is not None
    return found


def times(a: Sum, b: Sum, steps: int, loss: float = 0.0, up: bool = True) -> Sum:
    """The law of the sum of two, its ends cut off where next to nothing is left. With kept and cut-off parts, a·b is kept·kept, (low cut
    off)·(all but what was cut off above), and what was cut off above times laws of mass 1."""
    scale, unit = 1 << a.bits, (1 << a.bits) - 1 if up else 0
    if (length := _length(a.weights) + _length(b.weights)) > _LONGEST:
        raise TooLong(f"its sums have {length} points, and sums of at most {_LONGEST} are checked")
    weights = [(x + unit) >> a.bits for x in _product(a.weights, b.weights)]
    if not up and not any(weights):
        return Sum(0, [0], 0.0, a.bits)
    least = (1 << (_SPARE + steps.bit_length())) // steps
    low, high = _ends(weights, least) if len(weights) > _SHORT else (0, len(weights))
    dropped = (sum(weights[:low]) + sum(weights[high:])) / scale
    total_a, total_b = (int(sum(x.weights)) / scale for x in (a, b))  # whole numbers beyond doubles
    missing = (a.missing * (total_b + b.missing) + b.missing * total_a + dropped) * (1 + 1e-12)
    lost = (a.lost + b.lost) * (1 + 1e-12)
    return _shorter(Sum(a.first + b.first + low, weights[low:high], missing, a.bits, a.height + b.height, a.slope, lost), loss)


def _shorter(one: Sum, loss: float) -> Sum:
    """Without as many of its last points as have the mass `loss`, but for one."""
    if not loss or one.height == inf or len(one.weights) <= _SHORT:
        return one
    few, gone, log_unit = 0, 0.0, one.height - one.bits * log(2)
    for k in range(len(one.weights) - 1, 0, -1):
        place = one.slope * (one.first + k)
        exponent = log_unit - place + SURE * (abs(one.height) + abs(place))
        mass = one.weights[k] * exp(exponent) if exponent < 600 else inf
        if not (gone + mass) * (1 + 1e-9) <= loss:
            break
        few, gone = few + 1, gone + mass
    return one._replace(weights=one.weights[: len(one.weights) - few], lost=one.lost + gone * (1 + 1e-9)) if few else one


def _length(weights: Any) -> int:
    return len(weights) if hasattr(weights, "__len__") else weights.degree() + 1


def _ends(weights: list[int], least: int) -> tuple[int, int]:
    """Between which indices all but `least` at either end lies."""
    low = sum(1 for _ in _while_below(accumulate(weights), least))
    high = len(weights) - sum(1 for _ in _while_below(accumulate(reversed(weights)), least))
    return (low, high) if low < high else (0, len(weights))


def _while_below(sums: Any, least: int) -> Any:
    for x in sums:
        if x > least:
            return
        yield x


def _product(a: list[int], b: list[int]) -> list[int]:
    try:
        from flint import fmpz_poly
    except ImportError:
        return _by_decimal(a, b)
    x = fmpz_poly(a)
    product = (x * x if a is b else x * fmpz_poly(b)).coeffs()
    return [int(c) for c in product] + [0] * (len(a) + len(b) - 1 - len(product))


def _by_decimal(a: list[int], b: list[int]) -> list[int]:
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
