"""Tight one-sided bounds of sums with very many terms, f(first) + … + f(last), for a decreasing f >= 0.

The first terms are added one by one. The sum of the others is an integral with a correction at its two ends, by the
Abel–Plana formula: for f analytic on [A, B] × [−Y, Y], A = a − ½ and B = b + ½, the residues of f(z)·cot(πz)/2i give

    Σ_{t=a}^{b} f(t) = ∫_A^B f − 2∫_0^Y Im(f(B+iy) − f(A+iy))/(e^{2πy}+1) dy + R,  |R| <= 2∫_A^B |f(x+iY)|
    dx/(e^{2πY}−1).

In ball arithmetic both integrals are rigorous. Boxes that cover the rectangle prove that f is analytic there, and bound
R. Beyond 1e13 terms the integral is used without the correction, which is a one-sided bound because f decreases, and
differs from the sum by less than a relative 1e-13. A lower bound of an infinite sum is truncated at 2^1000.
"""

from collections.abc import Callable
from itertools import pairwise
from math import ceil, inf, log2
from typing import Any

from dpcalc.verify.arb.context import is_ball_context

_ADDED_TERMS = 1000  # terms before the integral, added one by one: with fewer, f would be steep where it begins
_HEIGHT = 12  # Y, half the height of the rectangle: the factor e^{−2πY} of the remainder is below 2e-33
ENDLESS = 2**1000  # the last term or end at which an infinite sum or integral is truncated

Function = Callable[[Any], Any]


def decreasing_sum(mp: Any, f: Function, first: int, last: float, above: bool = False) -> Any:
    """Return Σ_{t=first}^{last} f(t), or beyond 1e13 terms a tight lower bound of it, or with `above` an upper bound. f
    takes a real or complex number; `last` may be ∞ for a lower bound."""
    last_added = min(last, first + _ADDED_TERMS - 1)
    total = mp.fsum(f(mp.mpf(t)) for t in range(first, int(last_added) + 1))
    a, b = int(last_added) + 1, int(min(last, max(10**13, first + 2 * _ADDED_TERMS)))
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
    """Return ∫ f from `low` to `high`, by the substitution u = log x, with an error that is negligible in a sum with
    `beside`. An endless integral is a lower bound, as it may leave out its last pieces."""

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
    """Return ∫ f with an absolute error of about 2^−60·scale. `quad` has a relative tolerance; a constant with the
    integral `scale` is added to the integrand, so that the tolerance is relative to that."""
    constant = mp.mpf(scale) / (points[-1] - points[0])
    return mp.quad(lambda x: constant + f(x), points) - mp.mpf(scale)


def _correction_at_ends(mp: Any, f: Function, low: Any, high: Any, beside: Any) -> Any:
    """Return the difference of the sum and the integral: the second integral and, in balls, R."""

    def integrand(y: Any) -> Any:
        return (f(high + mp.j * y) - f(low + mp.j * y)) / (mp.exp(2 * mp.pi * y) + 1) * -mp.j

    correction = -2 * _integrate_beside(mp, integrand, [mp.mpf(k) for k in (0, 1, 3, _HEIGHT)], float(beside))
    if not is_ball_context(mp):
        return correction.real
    remainder = 2 * _integral_of_modulus(mp, f, low, high) / mp.expm1(2 * mp.pi * _HEIGHT)
    return correction + mp.between(-remainder, remainder)


def _integral_of_modulus(mp: Any, f: Function, low: Any, high: Any) -> Any:
    """Return an upper bound of ∫ |f(x + iY)| dx. It is computed on boxes that cover the upper half of the rectangle and
    prove that f is analytic there; an open box is bisected. Raises Undecided where they do not suffice."""
    pieces = max(1, ceil(log2(float(high) / float(low))))
    growth = (high / low) ** (mp.mpf(1) / pieces)
    edges = [low]
    for _ in range(pieces - 1):
        edges.append(edges[-1] * growth)
    edges.append(high)
    boxes = [(x, (mp.mpf(0), mp.mpf(_HEIGHT))) for x in pairwise(edges)]
    total = mp.mpf(0)
    for _ in range(50_000):  # as many boxes take seconds
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
