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


def difference(log_p: Array, log_q: Array, log_ratio: Array) -> Array:
    """p − q, from log p, log q and log(p/q), by the larger one of both: the other one may underflow. 0 where both are
    0."""
    with np.errstate(invalid="ignore", over="ignore"):
        by_p = np.exp(log_p) * -np.expm1(-log_ratio)
        by_q = np.exp(log_q) * np.expm1(np.minimum(log_ratio, 1.0))
        return np.where(np.maximum(log_p, log_q) > -np.inf, np.where(log_ratio > 1.0, by_p, by_q), 0.0)
