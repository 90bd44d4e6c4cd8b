"""Σ g(t) over t = first..last for a smooth, falling g that varies on the scale of t, from below; last to 1e15 or ∞.

The first terms, 200 or more, or 32 where g changes little from term to term, are added. For the others Euler–Maclaurin
around midpoints, Σ = ∫_{a−½}^{b+½} g − [g′]/24 + 7[g‴]/5760 − …; with g′ from differences that leaves R = 17[g‴]/5760,
and terms that are less by 1/w² each, w the distance from the ends to singularities of g: five times that, with g‴ from
differences, is taken off. Between the ends these count for e^{−2πw} only (Trefethen & Weideman 2014, Theorem 5.1).
Panels of the integral double at most. """

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from math import exp, fsum, inf, log
from typing import NamedTuple

from dpcalc.numerics.hockey_stick import NODES


class SoFar(NamedTuple):
    """Of an integral: the panels, what is left to do, the last panel and the total, and what it is added to."""

    panels: int
    low: float
    high: float
    last: float
    total: float
    beside: float


Far = Callable[[SoFar], float | None]  # the total with what is left, where that is known at once
Grow = Callable[[float], float]  # t → by what factor a panel from t on may grow

FIRST, FEWEST = 200, 32  # terms
WIDEST, PANEL = 2.0, 4.0  # factors of a panel; log of what it falls by
LEFT = 1e-12
# times the least width in log t, and the one there, of rough panels; what these may leave out
_WIDER, _WIDE, _ROUGH = 6, 2, 1e-6
MOST = 1e300  # of a panel's integral: the rest is left out
_FARTHEST = 1e300  # what lies beyond is left out: the sum is from below


def lower_sum(g: Callable[[float], float], first: int, last: float, grow: Grow, beside: float = 0.0,
              rough: bool = False,
              far: Far | None = None, terms: int = FIRST) -> float:
    """Σ_{t=first}^{last} g(t), never above it, to 1e-9 of itself, or to 1e-12 of what it is added to (`beside`); if
    `rough`, near it. `grow` and `far` as in `integral`; the first `terms` are added one by one."""
    if last < first:
        return 0.0
    head_end = min(last, first + terms - 1)
    head = fsum(g(float(t)) for t in range(first, int(head_end) + 1))
    if head_end == last or head == inf:
        return head * (1 - 1e-15)
    low, high = head_end + 0.5, last + 0.5
    tail = integral(g, low, high, grow, head + beside, rough, far)
    rim = (g(min(high, _FARTHEST) - 0.5) - g(min(high, _FARTHEST) + 0.5)) if high < 1e15 else 0.0
    tail -= (g(low - 0.5) - g(low + 0.5) - rim) / 24
    rest = _rest(g, first, low, grow) + (_rest(g, first, high, grow) if high < 1e15 else 0.0)
    return max(head, (head + tail - rest) * (1 - 1e-12))


def _rest(g: Callable[[float], float], first: int, end: float, grow: Grow) -> float:
    """Of three third differences around the end the largest counts: g‴ may change its sign there."""
    h = min(end * min(1 / 16, (grow(end) - 1) / 4), (end - first) / 2)
    a, b, c, d, e, f = (g(end + k * h) for k in range(-2, 4))
    third = max(abs(3 * (b - c) - (a - d)), abs(3 * (c - d) - (b - e)), abs(3 * (d - e) - (c - f))) / h**3
    return 5 * 17 * third / 5760


def falling(power: float) -> Grow:
    """The factor where −d log g/d log t is at most about `power`."""
    factor = min(WIDEST, 1 + PANEL / power)
    return lambda t: factor


def integral(g: Callable[[float], float], low: float, high: float, grow: Grow, beside: float = 0.0, rough: bool = False,
             far: Far | None = None) -> float:
    """∫ g from below, in panels [t, t·grow(t)]: stops where what is left, if it goes on to fall like that, is below
    1e-12 of the whole, `beside` included, or where g, which falls, is too small for a double. If `rough`, by far wider
    panels, near it."""
    a, total, last = low, 0.0, 0.0
    high = min(high, _FARTHEST)
    if rough:
        return _roughly(g, low, high, grow, far)
    for k in count():
        if a >= high:
            break
        if far and (whole := far(SoFar(k, a, high, last, total, beside))) is not None:
            return whole
        b = min(grow(a) * a, high)
        piece = _piece(b - a, (w * g(a + (b - a) * t) for t, w in NODES))
        total += piece
        if piece in (0, MOST) or piece * last < LEFT * (total + beside) * (last - piece):
            break
        a, last = b, piece
    return total


def _piece(width: float, heights: Iterable[float]) -> float:
    """A panel's integral, or as much of it as a double may add to."""
    try:
        return min(width * fsum(heights), MOST)
    except OverflowError:
        return MOST


def _roughly(g: Callable[[float], float], low: float, high: float, grow: Grow, far: Far | None) -> float:
    """In panels of log t, until one adds next to nothing."""
    a, total, least = log(low), 0.0, _WIDER * log(grow(_FARTHEST))
    for k in count(0, _WIDER):
        if a >= log(high):
            break
        if far and (whole := far(SoFar(k, exp(a), high, 0.0, total, 0.0))) is not None:
            return whole
        width = min(max(least, _WIDE * log(grow(exp(a)))), log(high) - a)
        piece = _piece(width, (w * exp(a + width * x) * g(exp(a + width * x)) for x, w in NODES))
        total += piece
        if piece <= _ROUGH * total or piece == MOST:
            break
        a += width
    return total
