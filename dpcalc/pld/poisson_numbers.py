"""Poisson numbers of records: their means, and few numbers to which they are moved."""

from functools import lru_cache
from math import ceil, log, sqrt

import numpy as np

from dpcalc.numerics.arrays import Array
from dpcalc.pld.positive_sums import spread


def mean_number(level: int) -> float:
    """The mean of a Poisson number of records that is seldom larger than the level."""
    return level - (3.1 * sqrt(level) if level > 80 else 2 * sqrt(level) if level > 20 else level / 2)


@lru_cache(maxsize=1024)
def poisson_nodes(rate: float) -> tuple[Array, Array, float]:
    """Few numbers and their masses that dominate min(B, last number), B Poisson, in convex order, and E(B − last)₊. The
    mean may change by a relative 1e-11, for which an epoch adds its `ROUNDING`."""
    from scipy.special import gammaln

    last = ceil(rate + 7.5 * sqrt(rate) + 12)
    k = np.arange(last + 200.0)
    masses = np.exp(k * log(rate) - rate - gammaln(k + 1))
    middle = rate + sqrt(rate) * np.array([-2.2, -1.1, 0.0, 1.1, 2.2])
    above = middle[-1] + (last - middle[-1]) * np.array([0.15, 0.4, 1.0])
    few = (0.0, 1.0, 2.0) if rate < 4 else (0.0,)
    nodes = np.unique(np.concatenate((few, np.maximum(np.round(middle), 0.0), np.round(above))))
    at = nodes.astype(int)
    above = np.cumsum(masses[::-1])[::-1]
    call = np.cumsum(np.append(above[1:], 0.0)[::-1])[::-1][at]
    put = np.append(0.0, np.cumsum(np.cumsum(masses)))[at]
    return nodes, *spread(nodes, call, put)
