"""The quadrature for a step of the random walks of lower-bound: Gauss–Legendre rules on panels, with a proven error.

The relative error of the rule is bounded in dpcalc.bounds.noisy_sgd._engine.walk_grid, which has the proof.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.noisy_sgd._engine import walk_grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import Pair
from dpcalc.verify.unchecked import Unchecked

if TYPE_CHECKING:
    from dpcalc.verify.arb.context import Context

_MAX_ERROR = 1e-22  # relative error of the rule in one step: that of a million steps is then 1e-16
# Standard deviations beyond the mean of a step up to which integrals are accurate, and the relative error of what is
# beyond: of a tail only e^{−98} = 3e-43 is left there.
_TAIL_DEVIATIONS, _TAIL_ERROR = 14.0, 1e-40
# The rules that are tried: (nodes of a panel, largest half-width of a panel, half-width at the walls). The rule that
# needs the fewest nodes in all is taken.
_PANELS = ((24, 6.0, 30.0), (48, 8.0, 60.0), (64, 8.0, 120.0), (96, 12.0, 120.0))


def quadrature(c: Context, pair: Pair) -> tuple[list[Any], list[Any], float]:
    """Return nodes and weights, and the relative error of a step. Raises Unchecked where no rule is accurate
    enough."""
    count, edges, error = min((_panels(pair, *panels) for panels in _PANELS), key=lambda x: x[0] * len(x[1]))
    rule = [c.arb.legendre_p_root(count, k, weight=True) for k in reversed(range(count))]
    nodes, weights = [], []
    for a, b in pairwise(edges):
        centre, half = (c.arb(a) + c.arb(b)) / 2, (c.arb(b) - c.arb(a)) / 2
        nodes += [centre + half * x for x, _ in rule]
        weights += [half * w for _, w in rule]
    return nodes, weights, error * 1.001 + _TAIL_ERROR


def _panels(pair: Pair, nodes: int, widest: float, near_wall: float) -> tuple[int, list[float], float]:
    """Shrink the panels until the rule with this number of nodes in each is accurate enough. Return the number, the
    edges of the panels, and the relative error."""
    import numpy as np

    # walk_grid.py derives d = beyond, the distance outside of the interval of the centres of Gaussians, and 1.62.
    beyond, kappa, shrink = _TAIL_DEVIATIONS / 2 + 1.62 * pair.reach, 1 + pair.pull * pair.pull, 1.0
    while shrink > 0.05:
        edges = _edges(pair.half, shrink * widest, shrink * near_wall / (1 + beyond))
        centres = np.array([(a + b) / 2 for a, b in pairwise(edges)])
        halves = np.array([(b - a) / 2 for a, b in pairwise(edges)])
        error = walk_grid.relative_error(centres, halves, pair.half, beyond, kappa, nodes)
        if error < _MAX_ERROR:
            return nodes, edges, error
        shrink *= 0.85
    raise Unchecked("no quadrature is near enough")


def _edges(half: float, widest: float, narrowest: float) -> list[float]:
    """Return the edges of panels that are narrow at the walls and double in width from there, symmetric about 0."""
    left, width = [-half], min(2 * widest, 2 * narrowest)
    while left[-1] + 1.5 * width < 0 and width < 2 * widest:
        left.append(left[-1] + width)
        width = min(2 * width, 2 * widest)
    count = max(1, int(-left[-1] / width + 0.999))
    inner = [left[-1] * (count - k) / count for k in range(1, count)]
    left += [x for x in inner if left[-1] < x < 0]
    return [*left, 0.0, *(-x for x in reversed(left))]
