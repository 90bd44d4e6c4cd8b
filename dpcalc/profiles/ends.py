"""The largest losses of a composition: the finite one, and the probability of an infinite one."""

from __future__ import annotations

from math import expm1, inf, log

import numpy as np

from dpcalc.numerics.elementary import log1mexp
from dpcalc.profiles.tilt import Parts

ROUNDING = 1e-12  # more than what losses are off


def largest_loss(parts: Parts) -> float:
    """No finite loss of the composition is above it; inf where a pair has losses of any size."""
    total = 0.0
    for pair, count in parts:
        ends = [float(x) * (1 + ROUNDING) for piece in pair.pieces for x in piece.loss(np.array(piece.reach(0.0, inf)))]
        least = 0.0 if pair.pieces else 1.0  # of atoms alone they are logarithms of masses, which are at most 745
        lumps = [loss + ROUNDING * max(least, loss) for loss, _ in pair.atoms]
        total += count * max([*ends, *lumps, *([] if pair.rest is None else [pair.rest])], default=0.0)
    return total


def log_infinite(parts: Parts) -> float:
    """log(1 − Π(1 − P_i(∞)))."""
    finite = 0.0
    for pair, count in parts:
        if pair.log_infinite == 0:
            return 0.0
        if pair.log_infinite > -inf:
            finite += count * log1mexp(pair.log_infinite)
    if finite > -1e-300:  # too small for 1 − P: the sum of the parts is an upper bound
        logs = [log(count) + pair.log_infinite for pair, count in parts if pair.log_infinite > -inf]
        return max(logs) + log(len(logs)) if logs else -inf
    return log(-expm1(finite))
