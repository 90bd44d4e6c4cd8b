"""Sensitivities of a lower-triangular Toeplitz strategy in double precision, rounded up.

In clipping norms: one record changes the clipped sum of a step by a vector of norm at most 1, and C maps the changes
of its steps to a sum of columns of C.
"""

import numpy as np

from dpcalc.bounds.correlated._engine.coefficients_array import Coefficients, padded
from dpcalc.numerics.arrays import Array, blocks, weighted_squares
from dpcalc.numerics.rounding import UNIT, up

_ROUNDINGS_OF_SUM = 64  # of a pairwise sum of up to 2^40 numbers, as numpy adds them


def column_sums(columns: Coefficients, n: int, separation: int, count: int) -> float:
    """The norm of the sum of `count` columns of |C|, the first ones of those at 0, b, 2b, …, rounded up.

    The sum of `count` shifted copies grows along the binary digits of `count`, by doubling it or by adding one copy:
    all terms are non-negative, so that every addition costs one rounding only. An error of the coefficients enters at
    most once for each copy.
    """
    total, copies = padded(np.abs(columns.c), n), 1
    for digit in bin(count)[3:]:
        _add_shifted(total, copies * separation)
        copies *= 2
        if digit == "1":
            total[separation:], total[:separation] = total[:-separation], 0.0
            for part in blocks(len(columns.c)):
                total[part] += np.abs(columns.c[part])
            copies += 1
    roundings = 2 * (4 * count.bit_length() + 1) + _ROUNDINGS_OF_SUM
    return _norm(weighted_squares(total), roundings, count * columns.error)


def orthogonal_columns(columns: Coefficients, n: int, separation: int, count: int) -> float:
    """√Σ_j ‖column at jb‖² over `count` columns, rounded up: c_t is in those with t < n − jb."""
    square = weighted_squares(columns.c, lambda t: np.minimum(count, -(-(n - t) // separation)))
    return _norm(square, 4 + _ROUNDINGS_OF_SUM, count * columns.error)


def least_nonincreasing_majorant(columns: Coefficients) -> Coefficients:
    """max_{j≥k} |c_j| in place of c_k.

    Only listed coefficients, which have no error, and those of a buffered strategy may increase. The error of the
    latter is in proportion to Σ_i |scale_i|·decay_i^(k−1), which does not increase: so the error of the maximum over
    j ≥ k is at most that of c_k for k ≥ 1, and that of c_1 for k = 0. This is √2 of the 2-norm in all.
    """
    return Coefficients(np.maximum.accumulate(np.abs(columns.c)[::-1])[::-1], 1.5 * columns.error)


def _add_shifted(x: Array, shift: int) -> None:
    """Adds x_{k−shift} to each x_k, the last ones first."""
    for part in reversed(blocks(len(x) - shift)):
        x[part.start + shift : part.stop + shift] += x[part]


def _norm(square: float, roundings: int, error: float) -> float:
    """The square root of a sum that is known up to so many roundings, plus an absolute error; rounded up."""
    return up(up(square**0.5, (roundings / 2 + 2) * UNIT) + error * (1 + 1e-9), UNIT)
