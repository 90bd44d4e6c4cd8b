"""A lower bound on the integral of −log B over very many steps of a Gaussian schedule, by arrays."""

from collections.abc import Callable
from math import log

import numpy as np

from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.online._engine.sums import LARGEST, Progress
from dpcalc.bounds.pnsgd._engine.schedules import log_x, unsure
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick import NODES
from dpcalc.numerics.hockey_stick_array import log_theta


def lambert_w_log(log_x: Array) -> Array:
    """W(e^t) for t = log_x, to a few ulp; where t < 1 it is W(e) = 1, which is larger."""
    log_x = np.maximum(log_x, 1.0)
    w = np.maximum(log_x - np.log(log_x), 0.5)
    for _ in range(6):  # Newton's method doubles the digits
        w = w * (1 + log_x - np.log(w)) / (1 + w)
    result: Array = w
    return result


def losses(epsilon: float, levels: Schedule, t: Array) -> Array:
    """Lower bounds on −log B_t = −log θ(ε, κ), accurate where W >= 1. By the schedule κ = MD/(ησ_t) is
    2√W(t^{2a}/(2πC1²) + C2)."""
    log_j = levels.decay * np.log(t)
    log_scaled = log_x("gaussian", log_j, levels.c1) + unsure("gaussian", log_j, levels.c1)
    ratio = 2 * np.sqrt(lambert_w_log(np.logaddexp(log_scaled, log(levels.c2) if levels.c2 > 0 else -np.inf)))
    result: Array = -log_theta(np.asarray(epsilon), ratio * (1 + 1e-12))  # rounded up by far more than its error
    return result


def integral(g: Callable[[Array], Array], done: Progress, factor: float, negligible: float) -> float:
    """The total of `done` and ∫ g over the remaining interval, in panels [t, t·factor]; it stops as `sums.integral`."""
    nodes, weights = (np.array(x) for x in zip(*NODES, strict=True))
    _, low, high, last, total, offset = done
    while low < high:
        panels = min(64, int(log(high / low) / log(factor)) + 1)
        edges = np.minimum(low * factor ** np.arange(panels + 1), high)
        width = np.diff(edges)
        with np.errstate(over="ignore", invalid="ignore"):  # a product that overflows does not end the sum
            pieces = np.minimum(width * (g(edges[:-1, None] + width[:, None] * nodes) @ weights), LARGEST)
            sums, before = total + np.cumsum(pieces), np.concatenate(([last], pieces[:-1]))
            ended = np.flatnonzero((pieces == 0) | (pieces == LARGEST)
                                   | (pieces * before < negligible * (sums + offset) * (before - pieces)))
        if len(ended):
            return float(sums[ended[0]])
        low, last, total = float(edges[-1]), float(pieces[-1]), float(sums[-1])
    return total
