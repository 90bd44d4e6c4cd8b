"""Safe inversion of monotone functions: the value returned is always one at which the condition was seen to hold.

A condition on x is written as residual(x) <= 0, where the residual is monotone in x, in either direction, and may be
infinite. An x with residual(x) <= 0 is feasible. Soundness never depends on monotonicity, as only values whose residual
was computed are returned; tightness does.
"""

from collections.abc import Callable
from math import asinh, exp, log

from dpcalc.numerics.elementary import log_ratio

_NEAR = 0.01  # relative: how near an infeasible value is to a solution that leaves some of the slack to spare
_STRAIGHT = 1.0  # a residual, a logarithm, up to which it is nearly a straight line


class Unreachable(ValueError):
    """No value of the unknown is feasible. `at` is the safe end of the range, and `gap` the residual there."""

    def __init__(self, at: float, gap: float) -> None:
        super().__init__(f"no value is feasible, not even {at!r}")
        self.at, self.gap = at, gap


class Never(Unreachable):
    """No value is feasible, not even one beyond the range of doubles."""


def bracket(residual: Callable[[float], float], start: float, safe_direction: float, low: float, high: float,
            step: float | None = None, whole: bool = False, slope: float | None = None) -> tuple[float, float]:
    """A feasible and an infeasible x around the boundary, by steps in log x from `start` inside [low, high], each twice
    as long as the last. The first step leads a little beyond the boundary if the residual changes by about `slope`
    times log x.

    `safe_direction` is +1 if larger values are safer, −1 if smaller ones are. If every value towards the other end is
    feasible, both values are that end. `whole` is for whole numbers. Raises Unreachable if even the safe end is
    infeasible. """
    x = min(max(start, low), high)
    residual_x = residual(x)
    feasible = residual_x <= 0
    # A privacy loss falls at least about like 1/σ, and grows with the number of steps at least about like its root.
    slope = slope or (0.5 if whole else 1.0)
    step = step or min(max(1.1 * abs(residual_x) / slope, 0.004), 0.4)
    upward = (safe_direction > 0) != feasible
    while True:
        y = x * exp(min(step, 700.0)) if upward else x * exp(-min(step, 700.0))
        if whole:
            y = max(round(y), x + 1) if upward else min(round(y), x - 1)
        y = min(max(y, low), high)
        residual_y = residual(y)
        if (residual_y <= 0) != feasible:
            return (x, y) if feasible else (y, x)
        if y in (low, high):
            if not feasible:
                raise Unreachable(y, residual_y)
            return y, y
        x, step = y, 2 * step


def boundary(residual: Callable[[float], float], feasible: float, infeasible: float, rtol: float = 1e-13,
             slack: float = 0.0, aim: float = 0.0, whole: bool = False) -> float:
    """A feasible x close to the boundary, from a bracket.

    The residual was found to be positive at a value within rtol·|x| of it (for whole numbers, next to it). With a
    `slack`, the search also ends at a residual between −slack and 0 if an infeasible value is within 1 %. With an `aim`
    it looks for the residual −aim, as values may be noisy, and interpolation may show the 1 %. Raises Unreachable if
    the end `feasible` of the bracket is infeasible. Chandrupatla's method (inverse quadratic interpolation, or
    bisection where that is not safe), in log x if both ends are positive, on asinh of the residual, which is nearly
    linear both where log δ falls like −x² and close to the boundary. """
    in_log = min(feasible, infeasible) > 0
    a, b = infeasible, feasible
    f_a, f_b = _finite(residual(a) + aim), _finite(residual(b) + aim)
    if f_a <= aim:
        return a
    if f_b > aim:
        raise Unreachable(b, f_b)
    if slack and f_b >= aim - slack and _is_near(b, f_b, a, f_a, bool(aim)):
        return b
    if f_b > 0:
        return boundary(residual, feasible, infeasible, rtol, whole=whole)
    c = missed = a
    f_c = f_missed = f_a
    share = f_a / (f_a - f_b)  # of the way from a to b, where the next x is
    while True:
        good = a if f_a <= 0 else b
        width, size = abs(a - b), abs(good)
        if slack and aim - slack <= f_a <= aim and _is_near(a, f_a, missed, f_missed, bool(aim)):
            return a
        if width <= rtol * size or (whole and width <= 1):
            return good
        least = 0.45 * rtol * size / width  # from either end, so that in the end the other one moves, too
        x = _between(a, b, min(max(share, least), 1 - least) if least < 0.5 else 0.5, in_log, whole)
        if x in (a, b):
            return good
        f_x = _finite(residual(x) + aim)
        missed, f_missed = (x, f_x) if f_x > aim else (missed, f_missed)
        c, f_c, b, f_b = (a, f_a, b, f_b) if (f_x > 0) == (f_a > 0) else (b, f_b, a, f_a)
        a, f_a = x, f_x
        share = _inverse_quadratic(a, f_a, b, f_b, c, f_c, in_log)


def _is_near(x: float, f: float, missed: float, f_missed: float, interpolated: bool) -> bool:
    """Whether the boundary is within 1 % of a feasible x: if an infeasible value is, or also by interpolation."""
    width, size = abs(x - missed), abs(x)
    by_line = interpolated and f_missed <= _STRAIGHT and width * abs(f) <= _NEAR * size * (f_missed - f)
    return width <= _NEAR * size or by_line


def smallest_feasible(residual: Callable[[float], float]) -> float:
    """The smallest feasible x >= 0, rounded to the safe side, of a decreasing residual. Raises Unreachable."""
    return 0.0 if residual(0.0) <= 0 else boundary(residual, *bracket(residual, 1.0, +1, 1e-300, 1e300))


def _between(a: float, b: float, share: float, in_log: bool, whole: bool) -> float:
    """The x, or the whole number, at this share of the way from a to b, linearly or in log x."""
    if not in_log:
        x = a + share * (b - a)
    else:
        distance = log_ratio(b, a)
        x = a * exp(share * distance) if abs(distance) < 1 else exp(log(a) + share * distance)
    return min(max(round(x), int(min(a, b)) + 1), int(max(a, b)) - 1) if whole else x


def _finite(residual: float) -> float:
    """asinh of the residual, an infinite one being replaced by ±1e300."""
    return asinh(min(max(residual, -1e300), 1e300))


def _inverse_quadratic(a: float, f_a: float, b: float, f_b: float, c: float, f_c: float, in_log: bool) -> float:
    """The boundary as a share of the way from a to b, by inverse quadratic interpolation; 0.5 where that is not
    safe."""
    if f_c in (f_a, f_b) or c == b:
        return 0.5
    b_from_a, c_from_a, c_from_b = (log_ratio(y, x) if in_log else y - x for y, x in ((b, a), (c, a), (c, b)))
    xi, phi = -b_from_a / c_from_b, (f_a - f_b) / (f_c - f_b)
    if not (phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi):
        return 0.5
    by_b = f_a / (f_b - f_a) * f_c / (f_b - f_c)
    return by_b + c_from_a / b_from_a * f_a / (f_c - f_a) * f_b / (f_c - f_b)
