"""Σ g(t) over t = first..last for a smooth, falling g that varies on the scale of t, from below; last to 1e15 or ∞.

The first 200 terms are added. For the others Euler–Maclaurin around midpoints, Σ = ∫_{a−½}^{b+½} g − [g′]/24 + R, |R| about 7|g‴|/5760:
ten times that, with g‴ from differences at a spacing of a/16, is taken off. Panels of the integral double at most.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import exp, fsum, inf, log
from typing import Any

from dpcalc.numerics.hockey_stick import NODES

Many = Callable[[Any], Any]  # of an array

_FIRST = 200
_LEFT = 1e-12
_FEW = 100  # panels, before arrays are worth their import
_WIDER, _ROUGH = 6, 1e-6  # times as wide in log t are the panels of a rough integral; the part of it that may be left out
_FARTHEST = 1e300  # what lies beyond is left out: the sum is from below


def lower_sum(g: Callable[[float], float], first: int, last: float, power: float, beside: float = 0.0, rough: bool = False,
              many: Many | None = None) -> float:
    """Σ_{t=first}^{last} g(t), never above it, to 1e-9 of itself, or to 1e-12 of what it is added to (`beside`); if `rough`, near it.
    `power` is about the largest −d log g/d log t; `many` as in `integral`."""
    if last < first:
        return 0.0
    head_end = min(last, first + _FIRST - 1)
    head = fsum(g(float(t)) for t in range(first, int(head_end) + 1))
    if head_end == last or head == inf:
        return head * (1 - 1e-15)
    low, high = head_end + 0.5, last + 0.5
    tail = integral(g, low, high, power, head + beside, rough, many)
    rim = (g(min(high, _FARTHEST) - 0.5) - g(min(high, _FARTHEST) + 0.5)) if high < 1e15 else 0.0
    tail -= (g(low - 0.5) - g(low + 0.5) - rim) / 24
    return max(head, (head + tail - _rest(g, low)) * (1 - 1e-12))


def _rest(g: Callable[[float], float], low: float) -> float:
    h = low / 16
    third = abs(3 * (g(low + h) - g(low + 2 * h)) - (g(low) - g(low + 3 * h))) / h**3
    return 10 * 7 * third / 5760


def integral(g: Callable[[float], float], low: float, high: float, power: float, beside: float = 0.0, rough: bool = False,
             many: Many | None = None) -> float:
    """∫ g from below: stops where what is left, if it goes on to fall like that, is below 1e-12 of the whole, `beside` included, or where
    g, which falls, is too small for a double. If `rough`, by far wider panels, near it. `many` is g by arrays, far away: after many panels."""
    grow, a, total, last = min(2.0, 1 + 4 / power), low, 0.0, 0.0
    if rough:
        return _roughly(g, low, min(high, _FARTHEST), grow**_WIDER)
    high = min(high, _FARTHEST)
    for k in count():
        if k == _FEW and many is not None and a < high:
            from dpcalc.bounds.online import sums_many

            return sums_many.integral(many, a, high, grow, last, total, beside, _LEFT)
        if a >= high:
            break
        b = min(grow * a, high)
        piece = (b - a) * fsum(w * g(a + (b - a) * t) for t, w in NODES)
        total += piece
        if piece == 0 or (piece * last < _LEFT * (total + beside) * (last - piece) and power > 1.02):
            break
        a, last = b, piece
    return total


def _roughly(g: Callable[[float], float], low: float, high: float, grow: float) -> float:
    """In panels of log t, until one adds next to nothing."""
    a, total = log(low), 0.0
    while a < log(high):
        width = min(log(grow), log(high) - a)
        piece = width * fsum(w * exp(a + width * x) * g(exp(a + width * x)) for x, w in NODES)
        total += piece
        if piece <= _ROUGH * total:
            break
        a += width
    return total
