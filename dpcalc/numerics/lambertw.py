"""Lambert's W on x >= 0: W e^W = x, for arguments to 1e300 and, through the log, beyond."""

from math import exp, log, log1p

_SETTLED = 1e-9


def lambert_w(x: float) -> float:
    """W(x), to a few ulp."""
    if x == 0:
        return 0.0
    if x > 1:
        return lambert_w_log(log(x))
    w = x / (1 + x) if x < 0.5 else log1p(x) * 0.8
    for _ in range(8):  # Halley's iteration: cubic, 4 rounds suffice from here
        e = exp(w)
        f = w * e - x
        w -= f / (e * (w + 1) - (w + 2) * f / (2 * w + 2))
    return w


def lambert_w_log(log_x: float) -> float:
    """W(e^t), by Newton on w + log w = t; for t >= −700."""
    if log_x < 0:
        return lambert_w(exp(log_x))
    w = log_x - log(log_x) if log_x > 2 else 0.5671432904097838 + 0.36 * log_x
    for _ in range(8):
        last, w = w, w * (1 + log_x - log(w)) / (1 + w)
        if abs(w - last) <= _SETTLED * w:  # the next one is off by the square of this
            break
    return w
