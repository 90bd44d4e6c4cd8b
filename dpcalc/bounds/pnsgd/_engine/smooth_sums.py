"""Upper bounds on sums Σ_{j=1}^n f(j) of completely monotone functions, for n up to 1e15.

Such are e^{x(j)} − 1 with x(j) = a/(1 − q^j) or b·c^{2j}. The first 256 terms are added. The others are summed by
Euler–Maclaurin around midpoints, Σ_{j=a}^b f(j) = ∫_{a−½}^{b+½} f − [f′]/24 + 7[f‴]/5760 − …, whose partial sums
enclose the sum where the derivatives alternate in sign; −f‴(A) <= 6 f(A − h)/h³ for 0 < h < A.
"""

from collections.abc import Callable
from math import fsum

from dpcalc.numerics.hockey_stick import NODES as GAUSS


def total(f: Callable[[float], float], slope: Callable[[float], float], n: int) -> float:
    """Σ_{j=1}^n f(j), rounded up, to 1e-10 relative; `slope` is f′."""
    first = min(n, 256)  # with so many terms the series for the others is accurate to 1e-10
    head = fsum(f(float(j)) for j in range(1, first + 1))
    if n == first:
        return head * (1 + 1e-15)
    low, high = first + 0.5, n + 0.5
    tail = integral(f, low, high, 1e-14 * head) - (slope(high) - slope(low)) / 24
    third = min(6 * f(low - h) / h**3 for h in (low / 2, low / 4, low / 8))
    return (head + tail + 7 * third / 5760) * (1 + 4e-13)


def integral(f: Callable[[float], float], low: float, high: float, negligible: float) -> float:
    """∫ f over [low, high] by 12-point Gauss–Legendre on panels that double, as f varies on the scale of its argument.

    Once at most `negligible` is left of f, which falls, a rectangle bounds the rest from above.
    """
    pieces, a = list[float](), low
    while a < high:
        if (rest := f(a) * (high - a)) <= negligible:
            return fsum([*pieces, rest])
        b = min(2 * a, high)
        pieces += [w * (b - a) * f(a + (b - a) * t) for t, w in GAUSS]
        a = b
    return fsum(pieces)
