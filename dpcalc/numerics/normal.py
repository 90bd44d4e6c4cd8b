"""The upper tail Q(x) of the standard normal distribution through its Mills ratio R(x) = Q(x)/φ(x), to a few units in
the last place, with `math` only."""

from math import erfc, exp, log, log1p, pi, sqrt

LOG_SQRT_2PI = 0.5 * log(2 * pi)
_SQRT_HALF_PI = sqrt(pi / 2)


def _continued_fraction(x: float) -> float:
    """2/(x + 3/(x + 4/(x + …))) for x >= 3, evaluated from the innermost term; enough terms for double precision."""
    tail = 0.0
    for k in range(int(12 + 600 / (x * x)) if x < 1e3 else 12, 1, -1):
        tail = k / (x + tail)
    return tail


def mills(x: float) -> float:
    """R(x) = Q(x)/φ(x) = ∫_0^∞ e^{−xt − t²/2} dt, for x >= −38 (below, it overflows)."""
    if x < 3:
        return _SQRT_HALF_PI * exp(x * x / 2) * erfc(x * 0.5**0.5)
    return 1 / (x + 1 / (x + _continued_fraction(x)))


def mills_slope(x: float) -> float:
    """−R′(x) = 1 − x R(x) = ∫_0^∞ t e^{−xt − t²/2} dt > 0, without cancellation."""
    if x < 3:
        return 1 - x * mills(x)
    k = 1 / (x + _continued_fraction(x))
    return k / (x + k)


def log_tail(x: float) -> float:
    """log Q(x)."""
    if x < -1:
        return log1p(-0.5 * erfc(-x * 0.5**0.5))
    return log(mills(x)) - x * x / 2 - LOG_SQRT_2PI
