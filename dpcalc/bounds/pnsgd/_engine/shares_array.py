"""Shares of a shift that remain after many steps, and ratios scaled by them, for arrays of positions."""

from math import expm1, inf

import numpy as np

from dpcalc.bounds.pnsgd._engine.laws import LEAST_EXPONENT, LEAST_RATIO
from dpcalc.numerics.arrays import Array


def log_shares(log_c: float, m: Array) -> Array:
    """shares.log_share of an array of positions."""
    if log_c == 0:
        return -np.log(m + 1.0)
    if log_c == -inf:
        return np.where(m == 0, 0.0, -inf)
    falls: Array = np.log(expm1(-2 * abs(log_c)) / np.expm1(-2 * (m + 1.0) * abs(log_c)))
    return falls + 2 * m * log_c if log_c < 0 else falls


def scaled_many(first: float, log_square: Array) -> Array:
    """shares.scaled of an array: first·√e^{log_square}, rounded up; at least LEAST_RATIO except for an exact 0."""
    half = np.maximum(log_square / 2, 2 * LEAST_EXPONENT)
    root = np.exp(half / 2)
    found: Array = first * root * root * (1 + 4e-15 * (2 + np.abs(half)))
    return np.where(log_square == -inf, 0.0, np.maximum(LEAST_RATIO, found))
