"""Safe inversion of monotone functions: the answer always lies on the side that meets the condition.

A condition on x is written as gap(x) <= 0, where the gap is monotone in x, in either direction, and may be infinite.
Soundness never depends on monotonicity, as the answer is an x at which gap(x) <= 0 was computed; only tightness does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asinh, exp, log, log1p

# of log x: a bracket is begun with a factor of 1.5 at most; half or twice as much costs one evaluation more
_FIRST_STEP = 0.4
_NEAR_STEP = 0.004  # of log x: and with that at least, where the start is next to the boundary
_LARGEST_GAP = 1e300  # an infinite gap is interpolated as this one; all larger ones count alike
_CONFIRMED = 0.01  # relative: where the gap itself ends a search, a value that fails has been seen at most so far away


class Unreachable(ValueError):
    """No value of the unknown meets the condition: `gap` is the one at the safe end of the range, `at`."""

    def __init__(self, at: float, gap: float) -> None:
        super().__init__(f"not met even at {at!r}")
        self.at, self.gap = at, gap


class Never(Unreachable):
    """No value meets the condition, however large: the range of doubles is not what ends the search."""


def bracket(gap: Callable[[float], float], start: float, safe_direction: float, low: float, high: float,
            step: float | None = None, whole: bool = False) -> tuple[float, float]:
    """(x that meets, x that fails) around the boundary of gap <= 0, by steps in log x from `start` inside [low, high],
    each twice the last.

    `safe_direction` is +1 when larger values are safer, −1 when smaller ones are. Where the whole range towards the
    other end meets the condition, both values are that end. The first step is about as far as a gap that is a logarithm
    says. Raises Unreachable where even the safe end fails. """
    x = min(max(start, low), high)
    gap_x = gap(x)
    meets = gap_x <= 0
    step = step or min(max(2 * abs(gap_x), _NEAR_STEP), _FIRST_STEP)
    upward = (safe_direction > 0) != meets
    while True:
        y = x * exp(min(step, 700.0)) if upward else x * exp(-min(step, 700.0))
        if whole:
            y = max(round(y), x + 1) if upward else min(round(y), x - 1)
        y = min(max(y, low), high)
        gap_y = gap(y)
        if (gap_y <= 0) != meets:
            return (x, y) if meets else (y, x)
        if y in (low, high):
            if not meets:
                raise Unreachable(y, gap_y)
            return y, y
        x, step = y, 2 * step


def boundary(gap: Callable[[float], float], meets: float, fails: float, rtol: float = 1e-13, slack: float = 0.0,
             whole: bool = False) -> float:
    """An x with gap(x) <= 0, next to the boundary between `meets`, where gap <= 0, and `fails`, where gap > 0.

    A value that fails was found within rtol·|x| of it (or next to it, of whole numbers); with a `slack`, it may also be
    one whose gap is from −slack to 0 and with one that fails within 1 %. Raises Unreachable where `meets` fails.

    Chandrupatla's method (inverse quadratic interpolation, and bisection where that is not safe), in log x where both
    ends are positive, on asinh of the gap, which is nearly straight both in a δ that falls like e^{−x²} and next to the
    boundary. """
    in_log = min(meets, fails) > 0
    a, b = fails, meets
    gap_a, gap_b = _finite(gap(a)), _finite(gap(b))
    if gap_a <= 0:
        return a
    if gap_b > 0:
        raise Unreachable(b, gap_b)
    c, gap_c = a, gap_a
    share = gap_a / (gap_a - gap_b)
    while True:
        good, gap_good, bad = (a, gap_a, b) if gap_a <= 0 else (b, gap_b, a)
        width = abs(good - bad)
        near = _CONFIRMED * abs(good)
        if width <= rtol * abs(good) or (whole and width <= 1) or (slack and gap_good >= -slack and width <= near):
            return good
        # of the bracket, cut off at least: so the other end moves in the end, too
        least = 0.45 * rtol * abs(good) / width
        share = min(max(share, least), 1 - least) if least < 0.5 else 0.5
        x = _between(a, b, share, in_log)
        if whole:
            x = min(max(round(x), int(min(a, b)) + 1), int(max(a, b)) - 1)
        if x in (a, b):
            return good
        gap_x = _finite(gap(x))
        if (gap_x > 0) == (gap_a > 0):
            c, gap_c = a, gap_a
        else:
            c, gap_c, b, gap_b = b, gap_b, a, gap_a
        a, gap_a = x, gap_x
        share = _quadratic(a, gap_a, b, gap_b, c, gap_c, in_log)


def least(gap: Callable[[float], float]) -> float:
    """The least x >= 0 with gap(x) <= 0, safe, of a gap that falls. Raises Unreachable."""
    return 0.0 if gap(0.0) <= 0 else boundary(gap, *bracket(gap, 1.0, +1, 1e-300, 1e300))


def _between(a: float, b: float, share: float, in_log: bool) -> float:
    if not in_log:
        return a + share * (b - a)
    far = _log_ratio(b, a)
    return a * exp(share * far) if abs(far) < 1 else exp(log(a) + share * far)


def _log_ratio(x: float, y: float) -> float:
    """log(x/y), also where the quotient is no double."""
    return log1p((x - y) / y) if 0.5 < x / y < 2 else log(x) - log(y)


def _finite(gap: float) -> float:
    return asinh(min(max(gap, -_LARGEST_GAP), _LARGEST_GAP))


def _quadratic(a: float, gap_a: float, b: float, gap_b: float, c: float, gap_c: float, in_log: bool) -> float:
    """Where the boundary is, as a share of the way from a to b, by inverse quadratic interpolation; 0.5 where that is
    not safe."""
    if gap_c in (gap_a, gap_b) or c == b:
        return 0.5
    b_from_a, c_from_a, c_from_b = (_log_ratio(y, x) if in_log else y - x for y, x in ((b, a), (c, a), (c, b)))
    xi, phi = -b_from_a / c_from_b, (gap_a - gap_b) / (gap_c - gap_b)
    if not (phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi):
        return 0.5
    by_b = gap_a / (gap_b - gap_a) * gap_c / (gap_b - gap_c)
    return by_b + c_from_a / b_from_a * gap_a / (gap_c - gap_a) * gap_b / (gap_c - gap_b)
