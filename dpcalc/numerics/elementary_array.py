"""Elementary functions of arrays that stay accurate where the textbook formula cancels or overflows."""

from math import log

import numpy as np

from dpcalc.numerics.arrays import Array


def log1mexp(x: Array) -> Array:
    """log(1 − e^x) for x <= 0."""
    with np.errstate(divide="ignore"):
        return np.where(x > -log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_expm1(x: Array) -> Array:
    """log(e^x − 1) for x >= 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


def log_sums(logs: Array) -> Array:
    """log Σ e^x along axis 1."""
    top = logs.max(axis=1, keepdims=True, initial=-1e300)
    parts = logs - top
    np.exp(parts, out=parts)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(parts.sum(axis=1)) + top[:, 0])
