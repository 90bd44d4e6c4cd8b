"""Safe inversion of monotone functions: the answer always lies on the side that meets the budget."""

from collections.abc import Callable
from math import asinh, exp, floor, inf, log

_STRAIGHT = 0.5  # of gaps, between which a function is nearly straight
_OVER, _ASIDE = 1.3, 0.02  # how far beyond a secant's root, and of a bracket
_SHORT = 0.1  # of the distance between two points
_TOO_NEAR = 1e-9  # of a bracket: not believed
_NO_LOSS, _MOST = 1e300, 1e8  # of −log δ: much of the range may be like that; a step at most
_TRUSTED, _BEYOND = 1.0, 1.2  # of a step in log x for a secant, or a gap; how far beyond it
_FLAT, _FAR, _ANYWHERE = 1e-12, 1e3, 1e300  # of a gap: it does not change over a step as large; one to the end then
_LITTLE = 1e-300  # a log δ that is wanted, in units of the one there is
_NEXT_TO = 1e-3  # of log x
_CLOSE, _WIDE = 1.01, 1.3  # a first step, at least, and from afar at most


class Unreachable(ValueError):
    """No value of the unknown meets the budget; `best` is the value of `gap` nearest to it, at `at`."""

    def __init__(self, at: float, gap: float) -> None:
        super().__init__(f"not met even at {at!r}")
        self.at, self.gap = at, gap


class Never(Unreachable):
    """No value does, however large; not for want of range of doubles."""


def boundary(gap: Callable[[float], float], meets: float, fails: float, rtol: float = 1e-13, met: float = 0.0, over: float = 0.0) -> float:
    """A point x with gap(x) <= 0 that has a point with gap > 0 within rtol·|x|, or whose gap is from −`met` to `over`.

    gap is monotone between `meets` (gap <= 0) and `fails` (gap > 0), in either direction. Chandrupatla's method
    (bisection and inverse quadratic interpolation); soundness does not depend on monotonicity, only tightness does.
    """
    a, b = fails, meets
    fa, fb = _finite(gap(a)), _finite(gap(b))
    if fa <= over:
        return a
    if fb > 0:
        raise Unreachable(b, fb)
    if met > 0 and -met <= fb:
        return b
    c, fc = a, fa
    t = _first(fa / (fa - fb)) if max(fa, -fb) < _STRAIGHT else 0.5
    for _ in range(400):
        x = a + t * (b - a)
        if x in (a, b):
            break
        fx = _finite(gap(x))
        if -met <= fx <= over:
            return x
        if (fx > 0) == (fa > 0):
            c, fc = a, fa
        else:
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        good = a if fa <= 0 else b
        width = abs(b - a)
        if width <= rtol * abs(good):
            break
        t = _step(a, fa, b, fb, c, fc)
        least = 0.45 * rtol * abs(good) / width
        t = min(max(t, least), 1 - least) if least < 0.5 else 0.5
    return a if fa <= 0 else b


def boundary_log(gap: Callable[[float], float], meets: float, fails: float, rtol: float = 1e-13, met: float = 0.0,
                 over: float = 0.0) -> float:
    """`boundary` for positive unknowns that range over many orders of magnitude: coarse in log x, then in x."""
    if min(meets, fails) <= 0 or max(meets, fails) < 4 * min(meets, fails):
        return boundary(gap, meets, fails, rtol, met, over)
    good, bad = log(meets), log(fails)
    last_good, last_bad = meets, fails
    while abs(good - bad) > 1.0:
        mid = (good + bad) / 2
        x = exp(mid)
        if gap(x) <= 0:
            good, last_good = mid, x
        else:
            bad, last_bad = mid, x
    return boundary(gap, last_good, last_bad, rtol, met, over)


def bracket(gap: Callable[[float], float], start: float, toward: float, low: float, high: float,
            factor: float = 4.0) -> tuple[float, float]:
    """(meets, fails) around the boundary of gap <= 0, by geometric steps from `start` inside [low, high], or to where a secant meets it.

    `toward` is +1 when larger values are safer, −1 when smaller ones are. Raises Unreachable at the safe end;
    at the other end the whole range meets the budget and (x, x) is returned.
    """
    x, grow = min(max(start, low), high), factor
    fx = gap(x)
    direction = toward if fx > 0 else -toward
    while True:
        grow = max(grow, _MOST) if fx < -_NO_LOSS else grow
        y = min(max(x * grow if direction > 0 else x / grow, low), high)
        fy = gap(y)
        if (fy > 0) != (fx > 0):
            return (y, x) if fy <= 0 else (x, y)
        if y in (low, high):
            if fy > 0:
                raise Unreachable(y, fy)
            return y, y
        flat = grow > _FAR and abs(fy - fx) <= _FLAT * abs(fx)
        grow = _ANYWHERE if flat else _secant(grow, fx, fy) or min(grow * grow, _MOST)
        x, fx = y, fy


def least(gap: Callable[[float], float]) -> float:
    """The least x >= 0 with gap(x) <= 0, safe, of a gap that falls. Raises Unreachable."""
    return 0.0 if gap(0.0) <= 0 else boundary_log(gap, *bracket(gap, 1.0, +1, 1e-300, 1e300))


def bracket_near(gap: Callable[[float], float], a: float, b: float, toward: float, low: float, high: float) -> tuple[float, float]:
    """`bracket` from two points near the boundary, b the nearer: to just beyond where their secant meets it."""
    fa, fb = gap(a), gap(b)
    if (fa > 0) != (fb > 0):
        return (a, b) if fa <= 0 else (b, a)
    near, far = _finite(fb), _finite(fa)
    share = near / (far - near) if far != near else inf
    c = min(max(b * exp(_over(share) * share * log(b / a)), low), high) if 0 < share < 1 else b
    if c != b and (gap(c) > 0) != (fb > 0):
        return (b, c) if fb <= 0 else (c, b)
    return bracket(gap, c, toward, low, high, min(max(exp(min(2 * abs(log(b / a)), 1.0)), _CLOSE), _CLOSE if abs(fb) < _TRUSTED else _WIDE))


def log_share(log_delta: float, target: float) -> float:
    """log of how many times as far below 0 the target is as log δ: nearly straight in the logarithm of an unknown. Never > 0 where log δ
    meets the target, > 0 where it does not; −inf where δ is next to nothing."""
    ratio = target / log_delta if log_delta < 0 else 1.0 if target == 0 else inf
    if log_delta <= target:
        return min(log(ratio), 0.0) if ratio > _LITTLE else -inf
    return max(log(ratio), 5e-324) if ratio < inf else inf


def _secant(grow: float, fx: float, fy: float) -> float:
    """The factor that is likely to lead just beyond the boundary, after one by `grow` that led from fx to fy; 0 where that is not seen."""
    a, b = _finite(fx), _finite(fy)
    share = b / (a - b) if abs(fx) < _NO_LOSS and a != b else -1.0
    if share < 0:
        return 0.0
    step = log(grow) * max(_BEYOND * share, 1.5)
    return exp(step) if step < _TRUSTED else max(exp(_TRUSTED), min(grow * grow, _MOST))


def integer_boundary(gap: Callable[[int], float], low: int, high: int, rising: bool, start: int | None = None, met: float = 0.0,
                     nearer: float | None = None, over: float = 0.0) -> int:
    """The last k in [low, high] with gap(k) <= 0 before it fails: the largest where gap rises with k, the least
    where it falls; or a k above 1/`met` whose gap is from −`met` to `over`. Unreachable where even the safe end fails. A root over the
    reals comes first (from `start`, where one is given, and towards a point that is `nearer` to it), then single steps."""
    end, risky = (low, high) if rising else (high, low)
    toward = 1 if risky > end else -1

    def whole(x: float) -> float:
        return gap(int(x))

    if start is None:
        worst = gap(end)
        if worst > 0:
            raise Unreachable(end, worst)
        if gap(risky) <= 0:
            return risky
        near = int(boundary_log(whole, float(end), float(risky), min(1e-3, met) if met else 1e-3, met))
    else:
        ends = float(low), float(high)
        if nearer is not None and int(nearer) != start:
            if nearer * met > 1 and is_as_good(whole, start, nearer, met, over):
                return int(nearer)
            if start * met <= 1 and (safe := _at_secant(gap, start, int(nearer), low, high, rising)) is not None:
                return safe
            meets, fails = bracket_near(whole, start, nearer, -toward, *ends)
        else:
            meets, fails = bracket(whole, float(start), -toward, *ends, 1.001)
        near = int(meets if meets == fails else boundary(whole, meets, fails, max(1e-15, 2.5 / max(meets, fails)), met, over))
    if near * met > 1 and -met <= gap(near) <= over:
        return near
    step = 1
    while gap(near) > 0:
        risky, near, step = near, min(max(near - toward * step, low), high), 2 * step
    safe, step = near, 1
    while abs(risky - safe) > step and gap(safe + toward * step) <= 0:
        safe, step = safe + toward * step, 2 * step
    risky = min(risky, safe + step) if toward > 0 else max(risky, safe - step)
    while abs(risky - safe) > 1:
        mid = (safe + risky) // 2
        safe, risky = (mid, risky) if gap(mid) <= 0 else (safe, mid)
    return risky if risky != safe and gap(risky) <= 0 else safe


def is_as_good(gap: Callable[[float], float], a: float, b: float, met: float, over: float) -> bool:
    """Whether the gap of b is from −`met` to `over` (0, unless the gap is told with a margin above it), and the secant from a says that
    this is near a boundary."""
    return -met <= gap(b) <= over and met * abs(log(b / a)) <= _NEXT_TO * abs(gap(b) - gap(a))


def _at_secant(gap: Callable[[int], float], a: int, b: int, low: int, high: int, rising: bool) -> int | None:
    """The whole number to which the secant leads, if it meets the budget and the next one does not; None where it leads elsewhere, or
    far."""
    fa, fb = _finite(gap(a)), _finite(gap(b))
    by = fb / (fa - fb) * (b - a) if fa != fb else inf
    if not abs(by) <= abs(b - a):
        return None
    k = min(max(b + floor(by), low), high - 1)
    safe, risky = (k, k + 1) if rising else (k + 1, k)
    return safe if gap(safe) <= 0 < gap(risky) else None


def _finite(x: float) -> float:
    """A gap as it is interpolated: large ones as their logarithm, since a δ may fall like e^{−x²}, and ±inf as a number."""
    return asinh(min(max(x, -1e300), 1e300))


def _first(share: float) -> float:
    """Where a secant leads; next to an end a little beyond that, to the other side."""
    if share > 0.5:
        return 1 - _first(1 - share)
    return max(share, min(_over(share) * share, _ASIDE)) if share > _TOO_NEAR else _ASIDE


def _over(share: float) -> float:
    """How far beyond a secant's root; where a short step leads is known better."""
    return _OVER if share > _SHORT else 1 + share


def _step(a: float, fa: float, b: float, fb: float, c: float, fc: float) -> float:
    xi, phi = (a - b) / (c - b) if c != b else inf, (fa - fb) / (fc - fb) if fc != fb else inf
    if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi and fc not in (fa, fb):
        return fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return 0.5
