"""Lower bounds on Σ g(t), t = first..last, of a smooth decreasing g that changes over distances of the order of t; last
may be 1e15 or ∞.

The first 200 terms or more are added. The others are summed by Euler–Maclaurin around midpoints, Σ = ∫_{a−½}^{b+½} g −
[g′]/24 + 7[g‴]/5760 − …. With g′ taken from differences the error is R = 17[g‴]/5760 and further terms, each smaller by
a factor 1/w², where w is the distance of the endpoints from singularities of g; 5R, with g‴ from differences, is
subtracted. A singularity at distance w from the inside of the interval changes the sum by e^{−2πw} only (Trefethen &
Weideman 2014, Theorem 5.1). """

from collections.abc import Callable, Iterable
from itertools import count
from math import fsum, inf
from typing import NamedTuple

from dpcalc.numerics.hockey_stick import NODES

HEAD_TERMS = 200  # terms added before the integral; with 32, Euler–Maclaurin lost a relative 1.5e-8 of a sum
NEGLIGIBLE = 1e-12  # relative: an integral stops where the remainder is a smaller part of it
LARGEST = 1e300  # later steps are left out, and larger integrals of panels are reduced to it: both give lower bounds


class Progress(NamedTuple):
    """The state of an integral: panels done, the interval that is left, the last panel's integral, the total of all
    panels, and the number to which the whole integral is added."""

    panels: int
    low: float
    high: float
    last: float
    total: float
    offset: float


Tail = Callable[[Progress], float | None]  # the whole integral, or None where the remainder is not known yet


def panel_factor(power: float) -> float:
    """The ratio of a panel's end to its start for 12 Gauss–Legendre points, where −d log g/d log t is at most about
    `power`: at most 2, and so small that g falls by a factor of at most e⁴ over a panel."""
    return min(2.0, 1 + 4.0 / power)


def lower_sum(g: Callable[[float], float], first: int, last: float, factor: float, offset: float = 0.0,
              tail: Tail | None = None, head_terms: int = HEAD_TERMS) -> float:
    """A lower bound on Σ_{t=first}^{last} g(t), to a relative 1e-9, or to 1e-12 of the `offset` to which it is added.

    `factor` and `tail` are those of `integral`; the first `head_terms` terms are added one by one. """
    if last < first:
        return 0.0
    head_end = min(last, first + head_terms - 1)
    head = fsum(g(float(t)) for t in range(first, int(head_end) + 1))
    if head_end == last or head == inf:
        return head * (1 - 1e-15)
    low, high = head_end + 0.5, last + 0.5
    rest = integral(g, low, high, factor, head + offset, tail) - (g(low - 0.5) - g(low + 0.5)) / 24
    error = _third_derivative(g, first, low, factor)
    if high < 1e15:  # beyond, half a step is lost in rounding, and the terms there are negligible
        rest += (g(high - 0.5) - g(high + 0.5)) / 24
        error += _third_derivative(g, first, high, factor)
    return max(head, (head + rest - 5 * 17 * error / 5760) * (1 - 1e-12))


def _third_derivative(g: Callable[[float], float], first: int, end: float, factor: float) -> float:
    """About |g‴| at an endpoint: the largest of three third differences around it, as g‴ may change its sign there."""
    h = min(end * min(1 / 16, (factor - 1) / 4), (end - first) / 2)
    a, b, c, d, e, f = (g(end + k * h) for k in range(-2, 4))
    return max(abs(3 * (b - c) - (a - d)), abs(3 * (c - d) - (b - e)), abs(3 * (d - e) - (c - f))) / h**3


def integral(g: Callable[[float], float], low: float, high: float, factor: float, offset: float = 0.0,
             tail: Tail | None = None) -> float:
    """∫ g over [low, high] from below, in panels [t, t·factor].

    It stops where the remainder, if panels go on to fall like the last two, is below 1e-12 of the total and the
    `offset` together, where the decreasing g underflows, or where `tail` returns the whole integral. """
    a, total, last = low, 0.0, 0.0
    high = min(high, LARGEST)
    for panels in count():
        if a >= high:
            break
        if tail and (whole := tail(Progress(panels, a, high, last, total, offset))) is not None:
            return whole
        b = min(factor * a, high)
        piece = _panel(b - a, (w * g(a + (b - a) * t) for t, w in NODES))
        total += piece
        if piece in (0, LARGEST) or piece * last < NEGLIGIBLE * (total + offset) * (last - piece):
            break
        a, last = b, piece
    return total


def _panel(width: float, heights: Iterable[float]) -> float:
    """A panel's integral, at most LARGEST."""
    try:
        return min(width * fsum(heights), LARGEST)
    except OverflowError:
        return LARGEST
