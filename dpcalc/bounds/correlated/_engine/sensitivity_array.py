"""Sensitivities of a lower-triangular Toeplitz strategy in double precision, rounded up.

In clipping norms: one record changes the clipped sum of a step by a vector of norm at most 1, and C maps the changes
of its steps to a sum of columns of C.
"""

import numpy as np

from dpcalc.bounds.correlated._engine.coefficients_array import Coefficients, padded
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.rounding import UNIT, up

_ROUNDINGS_OF_SUM = 64  # of a pairwise sum of up to 2^40 numbers, as numpy adds them


def column_sums(columns: Coefficients, n: int, separation: int, count: int) -> float:
    """The norm of the sum of `count` columns of |C|, the first ones of those at 0, b, 2b, …, rounded up.

    The sum of `count` shifted copies is taken by sums over 1, 2, 4, … of them: all terms are non-negative, so that
    every addition costs one rounding only. An error of the coefficients enters at most once for each copy.
    """
    copies = np.abs(columns.c) if count == 1 else padded(np.abs(columns.c), n)
    total, before, length = np.zeros(len(copies)), 0, 1
    rest = count
    while rest:
        if rest & 1:
            total = _shifted_sum(total, copies, before * separation)
            before += length
        rest >>= 1
        if rest:
            copies = _shifted_sum(copies, copies, length * separation)
            length *= 2
    roundings = 2 * (4 * count.bit_length() + 1) + _ROUNDINGS_OF_SUM
    return _norm(float((total * total).sum()), roundings, count * columns.error)


def orthogonal_columns(columns: Coefficients, n: int, separation: int, count: int) -> float:
    """√Σ_j ‖column at jb‖² over `count` columns, rounded up: c_t is in those with t < n − jb."""
    rows = np.arange(len(columns.c))
    times = np.minimum(count, -(-(n - rows) // separation))
    return _norm(float((columns.c * columns.c * times).sum()), 4 + _ROUNDINGS_OF_SUM, count * columns.error)


def least_nonincreasing_majorant(columns: Coefficients) -> Coefficients:
    """max_{j≥k} |c_j| in place of c_k.

    Only listed coefficients, which have no error, and those of a buffered strategy may increase. The error of the
    latter is in proportion to Σ_i |scale_i|·decay_i^(k−1), which does not increase: so the error of the maximum over
    j ≥ k is at most that of c_k for k ≥ 1, and that of c_1 for k = 0. This is √2 of the 2-norm in all.
    """
    return Coefficients(np.maximum.accumulate(np.abs(columns.c)[::-1])[::-1], 1.5 * columns.error)


def _shifted_sum(x: Array, y: Array, shift: int) -> Array:
    """x_k + y_{k−shift}."""
    if shift >= len(x):
        return x
    return np.concatenate((x[:shift], x[shift:] + y[: len(y) - shift]))


def _norm(square: float, roundings: int, error: float) -> float:
    """The square root of a sum that is known up to so many roundings, plus an absolute error; rounded up."""
    return up(up(square**0.5, (roundings / 2 + 2) * UNIT) + error * (1 + 1e-9), UNIT)
