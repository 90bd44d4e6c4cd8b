"""Sums of very many terms, f(first) + … + f(last) for a decreasing f >= 0: a number that is surely on one side of the
sum, and close to it.

The first terms are added one by one. The others are an integral and a correction at its two ends (Abel–Plana): for f
analytic on [A, B] × [−Y, Y], A = a − ½ and B = b + ½, the residues of f(z)·cot(πz)/2i give

    Σ_{t=a}^{b} f(t) = ∫_A^B f − 2∫_0^Y Im(f(B+iy) − f(A+iy))/(e^{2πy}+1) dy + R,  |R| <= 2∫_A^B |f(x+iY)|
    dx/(e^{2πY}−1).

In ball arithmetic both integrals are rigorous, and boxes that cover the rectangle show that f is analytic there, and
bound R. Beyond 1e13 terms an integral alone is taken, which is on the safe side as f decreases; an endless sum, from
below, ends at 2^1000.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil, inf, log2
from typing import Any

from dpcalc.verify.arb.context import is_ball_context

_ADDED_TERMS = 1000  # added one by one, before the integral; fewer leave f steep at its beginning
_HEIGHT = 12  # Y: e^{−2πY} is 1e-33
_MAX_CORRECTED_TERMS = 10**13  # beyond, the integral differs from the sum by less than 1e-13 of it
ENDLESS = 2**1000  # where an endless sum or integral is cut off
_MAX_BOXES = 50_000  # that cover the rectangle; as many take seconds

Function = Callable[[Any], Any]


def decreasing_sum(mp: Any, f: Function, first: int, last: float, above: bool = False) -> Any:
    """Return Σ_{t=first}^{last} f(t), or a little less (`above`: more). f takes a number, real or complex."""
    last_added = min(last, first + _ADDED_TERMS - 1)
    total = mp.fsum(f(mp.mpf(t)) for t in range(first, int(last_added) + 1))
    a, b = int(last_added) + 1, int(min(last, max(_MAX_CORRECTED_TERMS, first + 2 * _ADDED_TERMS)))
    if b >= a:
        half = mp.mpf(1) / 2
        total = total + integral(mp, f, a - half, b + half, total)
        total = total + _correction_at_ends(mp, f, a - half, b + half, total)
    if last > b >= a:
        shift = 0 if above else 1
        total = total + integral(mp, f, mp.mpf(b + shift), mp.mpf(ENDLESS if last == inf else int(last) + shift),
                                 total, last == inf)
    return total


def integral(mp: Any, f: Function, low: Any, high: Any, beside: Any = 0, is_endless: bool = False) -> Any:
    """Return ∫ f, over log x, to the digits that matter in a sum with `beside`. An endless integral may leave out its
    last pieces, and is a lower bound."""

    def integrand(u: Any) -> Any:
        x = mp.exp(u)
        return x * f(x)

    ends = mp.log(low), mp.log(high)
    pieces = max(1, ceil(float(ends[1] - ends[0]) / 2))
    points = [ends[0] + (ends[1] - ends[0]) * k / pieces for k in range(pieces + 1)]
    sizes = [abs(float(integrand(u))) * float(points[1] - points[0]) for u in points]
    scale = float(beside) + sum(sizes)
    if is_endless:
        while len(points) > 2 and sizes[len(points) - 1] < 2.0**-53 * scale:
            points.pop()
    return _integrate_beside(mp, integrand, points, scale)


def _integrate_beside(mp: Any, f: Function, points: list[Any], scale: float) -> Any:
    """Return ∫ f with an error of about 2^−60 of the scale. A constant is added to the integrand, so that the relative
    tolerance of `quad` means that."""
    constant = mp.mpf(scale) / (points[-1] - points[0])
    return mp.quad(lambda x: constant + f(x), points) - mp.mpf(scale)


def _correction_at_ends(mp: Any, f: Function, low: Any, high: Any, beside: Any) -> Any:
    """Return the difference of the sum and the integral."""

    def integrand(y: Any) -> Any:
        return (f(high + mp.j * y) - f(low + mp.j * y)) / (mp.exp(2 * mp.pi * y) + 1) * -mp.j

    correction = -2 * _integrate_beside(mp, integrand, [mp.mpf(k) for k in (0, 1, 3, _HEIGHT)], float(beside))
    if not is_ball_context(mp):
        return correction.real
    remainder = 2 * _integral_of_modulus(mp, f, low, high) / mp.expm1(2 * mp.pi * _HEIGHT)
    return correction + mp.between(-remainder, remainder)


def _integral_of_modulus(mp: Any, f: Function, low: Any, high: Any) -> Any:
    """Return an upper bound of ∫ |f(x + iY)| dx, by boxes that show that f is analytic between the real axis and Y.
    Raises Undecided where they do not."""
    pieces = max(1, ceil(log2(float(high) / float(low))))
    growth = (high / low) ** (mp.mpf(1) / pieces)
    edges = [low]
    for _ in range(pieces - 1):
        edges.append(edges[-1] * growth)
    edges.append(high)
    boxes = [(x, (mp.mpf(0), mp.mpf(_HEIGHT))) for x in pairwise(edges)]
    total = mp.mpf(0)
    for _ in range(_MAX_BOXES):
        if not boxes:
            return total
        x, y = boxes.pop()
        modulus = mp.largest_modulus(f, x, y)
        if modulus is not None:
            total = total + modulus * (x[1] - x[0])
        elif float(x[1]) - float(x[0]) > float(y[1]) - float(y[0]):
            middle = mp.midpoint((x[0] + x[1]) / 2)
            boxes += [((x[0], middle), y), ((middle, x[1]), y)]
        else:
            middle = mp.midpoint((y[0] + y[1]) / 2)
            boxes += [(x, (y[0], middle)), (x, (middle, y[1]))]
    raise mp.undecided("the function of a sum is not analytic, as far as balls show")
