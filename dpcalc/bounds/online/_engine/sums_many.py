"""−log B of very many steps of a Gaussian schedule at once, from below: what online_contraction and online_limit add
up, far away."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.online._engine.sums import MOST, SoFar
from dpcalc.bounds.pnsgd._engine.schedules import log_x, unsure
from dpcalc.numerics.hockey_stick import NODES
from dpcalc.numerics.hockey_stick_array import log_theta

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_ERROR = 1e-12  # relative, of the ratio
_AT_ONCE = 64  # panels
_NEWTON = 6


def lambert_w_log(log_x: Array) -> Array:
    """W(e^t), to a few ulp; where t < 1, W(e), which is larger."""
    log_x = np.maximum(log_x, 1.0)
    w = np.maximum(log_x - np.log(log_x), 0.5)
    for _ in range(_NEWTON):
        w = w * (1 + log_x - np.log(w)) / (1 + w)
    found: Array = w
    return found


def losses(epsilon: float, levels: Schedule, t: Array) -> Array:
    """−log θ(ε, κ), not above it: by the schedule κ = MD/(ησ_t) is 2√W(t^{2a}/(2πC1²) + C2); near it where W >= 1."""
    log_j = levels.decay * np.log(t)
    log_scaled = log_x("gaussian", log_j, levels.c1) + unsure("gaussian", log_j, levels.c1)
    ratio = 2 * np.sqrt(lambert_w_log(np.logaddexp(log_scaled, log(levels.c2) if levels.c2 > 0 else -np.inf)))
    found: Array = -log_theta(np.asarray(epsilon), ratio * (1 + _ERROR))
    return found


def integral(g: Callable[[Array], Array], so_far: SoFar, grow: float, left: float) -> float:
    """The total with ∫ g over panels that grow by a factor each; stops as sums.integral does."""
    nodes, weights = (np.array(x) for x in zip(*NODES, strict=True))
    _, low, high, last, total, beside = so_far
    while low < high:
        edges = np.minimum(low * grow ** np.arange(min(_AT_ONCE, int(log(high / low) / log(grow)) + 1) + 1), high)
        width = np.diff(edges)
        # of a panel beyond 1e154: that it falls does not end the sum
        with np.errstate(over="ignore", invalid="ignore"):
            pieces = np.minimum(width * (g(edges[:-1, None] + width[:, None] * nodes) @ weights), MOST)
            sums, before = total + np.cumsum(pieces), np.concatenate(([last], pieces[:-1]))
            done = np.flatnonzero((pieces == 0) | (pieces == MOST)
                                  | (pieces * before < left * (sums + beside) * (before - pieces)))
        if len(done):
            return float(sums[done[0]])
        low, last, total = float(edges[-1]), float(pieces[-1]), float(sums[-1])
    return total
