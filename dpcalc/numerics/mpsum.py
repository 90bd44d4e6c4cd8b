"""Sums of a smooth function over many whole numbers, at high precision, in a time that hardly depends on how many there are."""

from __future__ import annotations

from collections.abc import Callable
from operator import mul
from typing import Any

from dpcalc.numerics.kept import kept

_NODES, _FEWER = 1.31, 5  # of a panel, per digit, less a few: where no singularity is nearer to its ends than it is long
_FEW, _DENSE = 250, 16  # terms that are added one by one; nodes squared to as many terms: with fewer, moments cancel
_GUARD = 10  # digits that a sum may be short of the working precision
_MOST = 20_000  # values in all
_LAST = 4  # coefficients that tell how far a polynomial is from the function
_SPARE = 40  # bits, of the terms of a moment, which cancel


class TooRough(ArithmeticError):
    """The function is not smooth enough for so few values."""


def is_long(mp: Any, terms: int) -> bool:
    """Whether a sum is more than the sum of its terms; in ball arithmetic none is."""
    return terms > _few(mp) and not hasattr(mp, "between")


def _few(mp: Any) -> int:
    return int(max(_FEW, _nodes(mp) ** 2 / _DENSE))


def _nodes(mp: Any) -> int:
    return int(_NODES * mp.dps) - _FEWER


def smooth_sum(mp: Any, f: Callable[[Any], Any], first: int, last: int, most: Callable[[int], Any] | None = None) -> Any:
    """Σ_{t=first}^{last} f(t) of an f >= 0 that is analytic to the right of t = 0, on the scale of t or, in places, a smaller one; to ten
    digits less than the working precision. `most(t)` is not less than f from t on: f itself, if it falls. Raises TooRough.

    The first terms are added. Panels that double are halved until the Chebyshev series of f through as many points as digits ask for
    ends; a polynomial's sum is known: Euler–Maclaurin around midpoints, whose series ends.
    """
    few = _few(mp)
    if not is_long(mp, last - first + 1):
        return mp.fsum(f(t) for t in range(first, last + 1))
    total = mp.fsum(f(t) for t in range(first, first + few))
    left, values, small = [(first + few, last)], few, mp.mpf(10) ** (_GUARD - mp.dps)
    while left:
        a, b = left.pop()
        count = b - a + 1
        if (most or f)(a) * count <= small * total / 100:
            continue
        values += min(count, _nodes(mp))
        if values > _MOST:
            raise TooRough("a sum of too many terms that change too much")
        if count <= few:
            total += mp.fsum(f(t) for t in range(a, b + 1))
            continue
        part = _panel(mp, f, a, count, small, total) if b <= 2 * a else None
        if part is None:
            middle = min(2 ** a.bit_length(), b - 1) if b > 2 * a else (a + b) // 2  # so that another sum has the same panels
            left += [(middle + 1, b), (a, middle)]
        else:
            total += part
    return total


def _panel(mp: Any, f: Callable[[Any], Any], first: int, count: int, small: Any, total: Any) -> Any | None:
    """The sum of `count` terms by a polynomial; None where that is not as near as wanted. In whole numbers, multiples of 2^−precision of
    the largest value."""
    nodes, prec = _nodes(mp), mp.prec
    cosines, half, middle = _cosines(mp, nodes), mp.mpf(count) / 2, first + mp.mpf(count - 1) / 2
    values = [f(middle + half * mp.ldexp(cosines[2 * k + 1], -prec)) for k in range(nodes)]
    if not (largest := max(values)):
        return largest
    size = mp.mag(largest)
    whole = [mp.to_fixed(value, prec - size) for value in values]
    found = mp.ldexp(sum(map(mul, whole, _weights(mp, nodes, count))) * count, size - 2 * prec)
    last = (sum(map(mul, whole, [cosines[m * (2 * k + 1) % (4 * nodes)] for k in range(nodes)])) for m in range(nodes - _LAST, nodes))
    rest = mp.ldexp(max(map(abs, last)) * 2 * count // nodes, size - 2 * prec)
    return found if rest <= small * max(abs(found), total) else None


@kept()
def _cosines(mp: Any, nodes: int) -> list[int]:
    """cos(πj/(2K)) for j < 4K."""
    return [mp.to_fixed(mp.cospi(mp.mpf(j) / (2 * nodes)), mp.prec) for j in range(4 * nodes)]


@kept(256)
def _weights(mp: Any, nodes: int, count: int) -> list[int]:
    """Of the values, for the mean of the polynomial through them: 2/K Σ_m cos(mπ(2k+1)/(2K))·(mean of T_m)."""
    cosines, means = _cosines(mp, nodes), _means(mp, nodes, count)
    found = [sum(mean * cosines[2 * m * (2 * k + 1) % (4 * nodes)] for m, mean in enumerate(means)) * 2 // nodes >> mp.prec
             for k in range((nodes + 1) // 2)]
    return found + found[: nodes // 2][::-1]


def _means(mp: Any, nodes: int, count: int) -> list[int]:
    """Mean of T_m over the middles of `count` equal parts of [−1, 1], for even m; half of it for m = 0."""
    found, square = [1 << mp.prec - 1], count * count
    for m, terms in enumerate(_series(mp, nodes)[1:], 1):
        total = 0
        for term in terms:
            total = (term + total) * 4 // square
        found.append((total >> _SPARE) + (1 << mp.prec) // (1 - 4 * m * m))
    return found


@kept()
def _series(mp: Any, nodes: int) -> list[list[int]]:
    """B_{2k}(½)/(2k)!·T_m^{(2k−1)}(1) from the last k on, for even m: Euler–Maclaurin around midpoints, without powers of the distance."""
    precision = mp.prec
    with mp.workprec(precision + 2 * _SPARE):
        sizes = [(mp.mpf(2) ** (1 - 2 * k) - 1) * mp.bernoulli(2 * k) / mp.factorial(2 * k) for k in range(1, nodes // 2 + 1)]
        found = []
        for m in range(0, nodes, 2):
            slope, terms = mp.mpf(m * m), []  # T_m′(1)
            for k, size in enumerate(sizes[: m // 2], 1):
                terms.append(mp.to_fixed(size * slope, precision + _SPARE))
                slope *= mp.mpf((m * m - (2 * k - 1) ** 2) * (m * m - (2 * k) ** 2)) / ((4 * k - 1) * (4 * k + 1))
            found.append(terms[::-1])
        return found
