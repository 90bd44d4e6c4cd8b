"""The upper tail Q(x) of the standard normal distribution through its Mills ratio R(x) = Q(x)/φ(x), to a few units in
the last place, with `math` only."""

from math import erf, erfc, exp, log, log1p, pi, sqrt

LOG_SQRT_2PI = 0.5 * log(2 * pi)
_SQRT_HALF_PI = sqrt(pi / 2)
_STEPS = 60  # of Newton's method at most; from its start, five to ten reach the last digit


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


def two_sided_quantile(inside: float, outside: float) -> float:
    """z >= 0 with Pr[|X| <= z] = inside and Pr[|X| > z] = outside, two numbers that add up to 1: by Newton's method on
    log Q, or on erf where z is small. It is relative 1e-13 of the root."""
    z = _SQRT_HALF_PI * inside
    if inside >= 0.5:
        target = log(outside / 2)
        for _ in range(_STEPS):
            step = (log_tail(z) - target) * mills(z)
            z += step
            if abs(step) <= 1e-16 * z:
                break
        return z
    for _ in range(_STEPS):
        step = (inside - erf(z / sqrt(2))) * _SQRT_HALF_PI * exp(z * z / 2)
        z += step
        if abs(step) <= 1e-16 * z:
            break
    return z
