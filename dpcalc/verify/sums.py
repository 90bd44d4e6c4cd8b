"""Sums of very many terms, f(first) + … + f(last) for a falling f >= 0: a number that is surely on one side of it, and
next to it.

The first terms are added as they stand. The others are an integral and a correction at its two ends (Abel–Plana): for f
analytic on [A, B] × [−Y, Y], A = a − ½ and B = b + ½, the residues of f(z)·cot(πz)/2i give

    Σ_{t=a}^{b} f(t) = ∫_A^B f − 2∫_0^Y Im(f(B+iy) − f(A+iy))/(e^{2πy}+1) dy + R,  |R| <= 2∫_A^B |f(x+iY)|
    dx/(e^{2πY}−1).

In ball arithmetic both integrals are rigorous, and boxes that cover the rectangle show that f is analytic there, and
bound R. Beyond 1e13 terms an integral alone is taken, which is on the safe side as f falls; an endless sum, from below,
ends at 2^1000. """

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, inf, log2
from typing import Any

_ADDED, _FEW = 200, 5000  # terms; as many are all added
_HEIGHT = 12  # Y: e^{−2πY} is 1e-33
_FAR, END = 10**13, 2**1000
_GROWTH = 1.5  # of the boxes, from left to right
_SPLITS, _BOXES = 24, 50_000
_LEFT = 1e16

Function = Callable[[Any], Any]


def falling(mp: Any, f: Function, first: int, last: float, above: bool = False, loose: float = 1.0) -> Any:
    """Σ_{t=first}^{last} f(t), or a little less (`above`: more), to loose·2^−60 of it; f takes a number, real or
    complex."""
    near = min(last, first + _ADDED - 1) if last - first >= _FEW else last
    total = mp.fsum(f(mp.mpf(t)) for t in range(first, int(near) + 1))
    a, b = int(near) + 1, int(min(last, max(_FAR, first + 2 * _ADDED)))
    if b >= a:
        half = mp.mpf(1) / 2
        total = total + integral(mp, f, a - half, b + half, total, loose=loose)
        total = total + _ends(mp, f, a - half, b + half, total, loose)
    if last > b >= a:
        shift = 0 if above else 1
        total = total + integral(mp, f, mp.mpf(b + shift), mp.mpf(END if last == inf else int(last) + shift), total,
                                 last == inf, loose)
    return total


def integral(mp: Any, f: Function, low: Any, high: Any, beside: Any = 0, endless: bool = False,
             loose: float = 1.0) -> Any:
    """∫ f, over log x, to the digits that matter beside another number; `endless`: of what is too small to matter less
    or nothing."""

    def at(u: Any) -> Any:
        x = mp.exp(u)
        return x * f(x)

    ends = mp.log(low), mp.log(high)
    pieces = max(1, ceil(float(ends[1] - ends[0]) / 2))
    points = [ends[0] + (ends[1] - ends[0]) * k / pieces for k in range(pieces + 1)]
    heights = [abs(float(at(u))) * float(points[1] - points[0]) for u in points]
    scale = float(beside) + sum(heights)
    if endless:
        while len(points) > 2 and heights[len(points) - 1] * _LEFT < scale:
            points.pop()
    return _quad(mp, at, points, scale * loose)


def _quad(mp: Any, f: Function, points: list[Any], scale: float) -> Any:
    """∫ f to about 2^−60 of the scale: beside a constant, so that relative tolerances mean that."""
    even = mp.mpf(scale) / (points[-1] - points[0])
    return mp.quad(lambda x: even + f(x), points) - mp.mpf(scale)


def _ends(mp: Any, f: Function, low: Any, high: Any, beside: Any, loose: float) -> Any:
    """What the sum differs from the integral by."""

    def at(y: Any) -> Any:
        return (f(high + mp.j * y) - f(low + mp.j * y)) / (mp.exp(2 * mp.pi * y) + 1) * -mp.j

    inner = -2 * _quad(mp, at, [mp.mpf(k) for k in (0, 1, 3, _HEIGHT)], float(beside) * loose)
    if not hasattr(mp, "between"):
        return inner.real
    rest = 2 * _over(mp, f, low, high) / mp.expm1(2 * mp.pi * _HEIGHT)
    return inner + mp.between(-rest, rest)


def _over(mp: Any, f: Function, low: Any, high: Any) -> Any:
    """Not less than ∫ |f(x + iY)| dx, where f is analytic below. Raises Undecided where boxes do not show that."""
    pieces = max(1, ceil(log2(float(high) / float(low)) / log2(_GROWTH)))
    grow = (high / low) ** (mp.mpf(1) / pieces)
    total, left, room = mp.mpf(0), low, iter(range(_BOXES))
    for k in range(pieces):
        right = high if k == pieces - 1 else left * grow
        total = total + _box(mp, f, (left, right), (mp.mpf(0), mp.mpf(_HEIGHT)), _SPLITS, room)
        left = right
    return total


def _box(mp: Any, f: Function, x: tuple[Any, Any], y: tuple[Any, Any], splits: int, room: Iterator[int]) -> Any:
    """The width of a box times the most |f| in it; of its parts, as long as there is room for more boxes."""
    most = mp.most(f, x, y)
    if most is not None:
        return most * (x[1] - x[0])
    if not splits or next(room, None) is None:
        raise mp.undecided("the function of a sum is not analytic, as far as balls show")
    if float(x[1]) - float(x[0]) > float(y[1]) - float(y[0]):
        middle = mp.middle((x[0] + x[1]) / 2)
        return _box(mp, f, (x[0], middle), y, splits - 1, room) + _box(mp, f, (middle, x[1]), y, splits - 1, room)
    middle = mp.middle((y[0] + y[1]) / 2)
    return _box(mp, f, x, (y[0], middle), splits - 1, room) + _box(mp, f, x, (middle, y[1]), splits - 1, room)
