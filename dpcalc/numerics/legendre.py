"""Gauss–Legendre rules to the last bit, by Newton's method in decimal arithmetic. (numpy's weights have errors of
1e-13.)"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import cos, pi
from typing import TYPE_CHECKING

from dpcalc.numerics.rounding import ULP

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

ERROR = ULP  # of the weights (relative) and of the nodes (absolute); a test integrates powers


@lru_cache(maxsize=16)
def rule(count: int) -> tuple[Array, Array]:
    """The nodes and weights of the rule with N = `count` (even) on [−1, 1]: the roots of P_N, and w = 2/((1 −
    x²)·P′_N(x)²)."""
    import numpy as np

    half = []
    with localcontext() as context:
        context.prec = 36
        for k in range(count // 2):
            x = Decimal(cos(pi * (k + 0.75) / (count + 0.5)))
            for _ in range(5):  # the error falls from 1e-3 at most to 1e-6, 1e-12, 1e-24, 1e-36
                p, slope = _legendre(count, x)
                x -= p / slope
            _, slope = _legendre(count, x)
            half.append((float(x), float(2 / ((1 - x * x) * slope * slope))))
    return np.array([-x for x, _ in half] + [x for x, _ in half[::-1]]), np.array([w for _, w in half + half[::-1]])


def _legendre(count: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """P_N(x) and P′_N(x)."""
    before, last = Decimal(1), x
    for k in range(2, count + 1):
        before, last = last, ((2 * k - 1) * x * last - (k - 1) * before) / k
    return last, count * (before - x * last) / (1 - x * x)
