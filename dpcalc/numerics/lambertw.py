"""Lambert's W on x >= 0, the solution of W e^W = x, for arguments up to 1e300 and, through their log, beyond."""

from math import exp, log, log1p


def lambert_w(x: float) -> float:
    """W(x), to a few units in the last place."""
    if x == 0:
        return 0.0
    if x > 1:
        return lambert_w_log(log(x))
    w = x / (1 + x) if x < 0.5 else log1p(x) * 0.8
    for _ in range(4):  # Halley's iteration converges cubically, from within 10 % here
        e = exp(w)
        f = w * e - x
        w -= f / (e * (w + 1) - (w + 2) * f / (2 * w + 2))
    return w


def lambert_w_log(log_x: float) -> float:
    """W(e^t) for t >= −700, by Newton's method for w + log w = t."""
    if log_x < 0:
        return lambert_w(exp(log_x))
    w = log_x - log(log_x) if log_x > 2 else 0.5671432904097838 + 0.36 * log_x
    for _ in range(6):  # it converges quadratically, from within 30 % here
        w = w * (1 + log_x - log(w)) / (1 + w)
    return w
