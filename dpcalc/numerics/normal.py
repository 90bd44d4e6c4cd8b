"""The normal tail Q(x) through its Mills ratio R(x) = Q(x)/φ(x), to a few ulp, with `math` only."""

from math import erfc, exp, log, log1p, pi, sqrt

LOG_SQRT_2PI = 0.5 * log(2 * pi)
_SQRT_HALF_PI = sqrt(pi / 2)
_SQRT_HALF = sqrt(0.5)


def _continued_fraction(x: float) -> float:
    """2/(x + 3/(x + 4/(x + …))) for x >= 3, from the inside out; the depth reaches double precision."""
    tail = 0.0
    for k in range(int(12 + 600 / (x * x)) if x < 1e3 else 12, 1, -1):
        tail = k / (x + tail)
    return tail


def mills(x: float) -> float:
    """R(x) = Q(x)/φ(x) = ∫_0^∞ e^{−xt − t²/2} dt, for x >= −38 (it overflows below)."""
    if x < 3:
        return _SQRT_HALF_PI * exp(x * x / 2) * erfc(x * _SQRT_HALF)
    return 1 / (x + 1 / (x + _continued_fraction(x)))


def mills_slope(x: float) -> float:
    """−R′(x) = 1 − x R(x) = ∫_0^∞ t e^{−xt − t²/2} dt > 0, without the cancellation."""
    if x < 3:
        return 1 - x * mills(x)
    k = 1 / (x + _continued_fraction(x))
    return k / (x + k)


def mills_spread(x: float, h: float) -> float:
    """R(x − h) − R(x + h) for x >= 3 and 0 < h <= 0.35x, as 2 Σ I_k h^k/k! over odd k, I_k = ∫_0^∞ t^k e^{−xt − t²/2} dt.

    All terms are positive. I_k/I_{k−1} = k/(x + I_{k+1}/I_k) <= k/x is the continued fraction of R itself, taken from the
    inside out; each odd term is below (h/x)² of the one before, so that those left out are below 1e-17 of the sum.
    """
    last = 2 * int(2 - 20.5 / log(h / x)) + 1
    depth = max(int(13 + 370 / (x * x)) if x < 1e3 else 12, last + 2)  # from the limit of the tail, not from 0
    tail, ratios = (sqrt(x * x + 4 * depth) - x) / 2, [0.0] * (depth + 1)
    for k in range(depth, 0, -1):
        tail = ratios[k] = k / (x + tail)
    term = total = h * tail / (x + tail)
    square = h * h
    for k in range(2, last, 2):
        term *= square * ratios[k] * ratios[k + 1] / (k * (k + 1))
        total += term
    return 2 * total


def log_tail(x: float) -> float:
    """log Q(x)."""
    if x < -1:
        return log1p(-0.5 * erfc(-x * _SQRT_HALF))
    return log(mills(x)) - x * x / 2 - LOG_SQRT_2PI
