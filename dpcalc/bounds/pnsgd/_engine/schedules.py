"""Noise levels as functions of the number of records or steps (Sordello, Bu & Dong 2021, Theorems 3, 4, 6 and 7).

Laplace noise is v = MD/(2η log(x/C1 + C2)), Gaussian noise σ = MD/(2η√W(x²/(2πC1²) + C2)), with x = n or, at step j of
a stream, x = j^a; W is Lambert's function.
"""

from math import exp, inf, log, log1p, pi, sqrt
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT
from dpcalc.bounds.pnsgd._engine.step import check_step_size, squared_contraction
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import lambert_w_log, log_add

_ROUNDING = 4e-16  # relative; of a few operations on doubles


def half_reach(diameter: float, learning_rate: float, smoothness: float, strong_convexity: float) -> float:
    """MD/(2η), which a schedule is proportional to.

    Raises OutOfScope where M = 0, as there is no noise then, and where a step need not be a contraction.
    """
    check_step_size(learning_rate, smoothness, strong_convexity)
    half = sqrt(squared_contraction(learning_rate, smoothness, strong_convexity)) * (diameter / learning_rate) / 2
    if half == 0:
        raise OutOfScope("out-of-range",
                         f"{learning_rate:g} gives M = 0, so that the schedule has no noise; give another learning "
                         "rate",
                         "--learning-rate")
    return half


def log_x(noise: str, log_j: Any, c1: float) -> Any:
    """log(x/C1) for Laplace noise and log(x²/(2πC1²)) for Gaussian noise, from log x; also of arrays."""
    times, less = _SHAPES[noise]
    return times * (log_j - log(c1)) - less


def unsure(noise: str, log_j: Any, c1: float) -> Any:
    """A bound on the rounding of `log_x` with log x = a·log j: it may be a small difference of two large logarithms."""
    return _ROUNDING * rate(noise) * (abs(log_j) + abs(log(c1)) + 2)


def rate(noise: str) -> int:
    """The derivative of `log_x` by log x."""
    return _SHAPES[noise][0]


def laplace_share(log_j: float, c1: float, c2: float) -> float:
    """log(x/C1 + C2), rounded up: v is MD/(2η) over this. Raises OutOfScope where it is not surely positive."""
    log_scaled, error = log_x("laplace", log_j, c1), unsure("laplace", log_j, c1)
    large = log_add(log_scaled + error, log(c2)) if c2 > 0 else log_scaled + error
    if c2 < 2 and large < 1:  # the argument is near 1 and its logarithm cancels
        x, rest = exp(log_scaled), c2 - 1
        off = x * error + _ROUNDING * (x + abs(rest))
        large = log1p(x + rest + off) if x + rest > off else -inf
    if large <= 0:
        raise OutOfScope("out-of-range",
                         f"{c2:g} is too small: the noise MD/(2η log(x + C2)) needs x + C2 > 1 (Theorems 3 and 6, "
                         "Sordello et al. 2021); x is n/C1, or j^a/C1 for step j of a stream", "--c2")
    return large


def gaussian_share(log_j: float, c1: float, c2: float) -> float:
    """√W(x²/(2πC1²) + C2), rounded up: σ is MD/(2η) over this. Raises OutOfScope where it is 0."""
    log_scaled = log_x("gaussian", log_j, c1) + unsure("gaussian", log_j, c1)
    w = lambert_w_log(log_add(log_scaled, log(c2) if c2 > 0 else -inf))
    if w <= 0:
        raise OutOfScope("out-of-range", f"{c1:g} gives noise MD/(2η√W(n²/(2πC1²) + C2)) above the largest double; "
                                         "give a smaller C1",
                         "--c1")
    return sqrt(w)


# Noise: (power of x, what is subtracted from its log).
_SHAPES = {"gaussian": (2, log(2 * pi)), "laplace": (1, 0.0)}
SHARES = {"gaussian": gaussian_share, "laplace": laplace_share}


def most_scale(noise: str, log_j: float, c2: float) -> float:
    """About the largest C1 with noise at x: the pole of Laplace noise at C2 < 1, less 1e-9 of it; else infinite."""
    log_most = log_j - log(1 - c2) if noise == "laplace" and c2 < 1 else inf
    return exp(log_most) * (1 - 1e-9) if log_most < -LEAST_EXPONENT else inf


def level(noise: str, n: float, diameter: float, learning_rate: float, smoothness: float, strong_convexity: float,
          c1: float, c2: float, decay: float = 1.0) -> float:
    """The noise level at x = n^decay, rounded down: less noise is never more private."""
    half = half_reach(diameter, learning_rate, smoothness, strong_convexity)
    return half / SHARES[noise](decay * log(n), c1, c2) * (1 - 4e-15)


def level_exact(mp: Any, noise: str, x: Any, half: Any, c1: float, c2: float) -> Any:
    """The level as printed, from x and `half_reach`."""
    if noise == "laplace":
        return half / mp.log(x / mp.mpf(c1) + mp.mpf(c2))
    return half / mp.sqrt(mp.lambertw(x**2 / (2 * mp.pi * mp.mpf(c1) ** 2) + mp.mpf(c2)).real)
