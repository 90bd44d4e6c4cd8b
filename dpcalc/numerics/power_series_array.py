"""Products and reciprocals of power series by the fast Fourier transform, with a bound on their error.

The computed transform of N numbers f_j differs from the exact one by at most 8·log₂N units of rounding, relative: in
the 2-norm (Higham 2002, Accuracy and Stability of Numerical Algorithms, Theorem 24.2); and each of its numbers by at
most that times ‖f‖₁ = Σ|f_j|, as every f_j gets there by log₂N sums and products with roots of unity.

A product f·g takes three transforms. That of f has an error of at most 8·log₂N·‖f‖₁ in each number, which is multiplied
by the transform of g; that of g has an error in the 2-norm, which is multiplied by numbers of at most ‖f‖₁; and the
result has a 2-norm of at most ‖f‖₁‖g‖₂. So each of the three adds at most 8·log₂N·‖f‖₁‖g‖₂ units of rounding.
"""

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT


def product(f: Array, g: Array, n: int) -> tuple[Array, float]:
    """The first n coefficients of f·g, and a bound on the 2-norm of their error."""
    size = 1 << int(len(f) + len(g) - 2).bit_length()
    found: Array = np.fft.irfft(np.fft.rfft(f, size) * np.fft.rfft(g, size), size)[:n]
    error = 3 * 8 * size.bit_length() * UNIT * float(np.abs(f).sum()) * float(np.linalg.norm(g))
    return found[: len(f) + len(g) - 1], error


def reciprocal(f: Array, n: int, roundings: int = 0) -> tuple[Array, float]:
    """The first n coefficients of 1/f, where f begins with a number that is not 0, and a bound on the 2-norm of their
    error. Coefficients after the returned ones are negligible, and their size is part of the bound.

    Each coefficient of f is known up to so many roundings. The bound is infinite where the coefficients of 1/f grow so
    fast that they are not known.

    Proof. For any g let e = 1 − f·g. Then 1/f − g = e/f, so that ‖1/f − g‖₂ ≤ ‖1/f‖₁‖e‖₂, and 1/f = g + e/f gives
    ‖1/f‖₁ ≤ ‖g‖₁/(1 − ‖e‖₁). An error of f changes e by at most its 1-norm times ‖g‖₂.
    """
    f = f[:n]
    with np.errstate(all="ignore"):
        g = _newton(f, n)
        left, error = product(f, g, n)
        left[0] -= 1
        by_rounding = error + (roundings + 1) * UNIT * float(np.abs(f).sum()) * float(np.linalg.norm(g))
        norm = float(np.linalg.norm(left)) + by_rounding
        total = float(np.abs(left).sum()) + by_rounding * len(left) ** 0.5
    if not total < 0.5:
        return g, float("inf")
    return g, float(np.abs(g).sum()) / (1 - total) * norm * (1 + 1e-9)


def _newton(f: Array, n: int) -> Array:
    """About 1/f: each step doubles the number of right coefficients, up to n of them or until the rest is
    negligible."""
    g = np.array([1 / f[0]])
    while len(g) < n:
        m = len(g)
        # The transforms cannot tell 2^−50 of the largest one from 0; the error that the proof gives includes it.
        if m > 2 * len(f) and np.abs(g[m // 2:]).max() <= 2.0**-50 * np.abs(g).max():
            break
        spectrum = np.fft.rfft(g, 2 * m)
        left = np.fft.irfft(np.fft.rfft(f[: 2 * m], 2 * m) * spectrum, 2 * m)[m:]
        g = np.concatenate((g, -np.fft.irfft(np.fft.rfft(left, 2 * m) * spectrum, 2 * m)[:m]))
    return g[:n]
