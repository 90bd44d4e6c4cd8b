"""The exact law of a clamped random walk on an interval, by quadrature: two data sets, told apart after T steps.

w ← clamp(a·w + m + N(0,1), ±half), where m is m0, or with probability q the kick of the data set. The law is an atom at each wall and
a density between them. After one step the density is analytic at the scale 1 of the noise, so Gauss-Legendre panels four wide
represent it to 1e-12, and a step is a stochastic matrix over atoms and nodes. T steps are repeated squarings, or, long after the walk
has mixed, its stationary law. Entries are sums of positive terms: relative accuracy holds in the tails too.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, erfc, log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_PANEL = 4.0
_SQRT_HALF = sqrt(0.5)
_SQUARED = 31.0  # half-widths up to here are squared; their tails keep relative accuracy
_BLUR = 1e-11  # of the largest density: error of a stationary law
_PART_ERROR = 1e-12  # of a panel's mass, in the mass of a part of it
MIXED = 12.0  # T > 12·width²: the slowest mode, e^{−π²T/(2·width²)}, is below 1e-25


class Walk(NamedTuple):
    """One walk in units of its noise per step."""

    half: float
    pull: float  # a
    drift: float  # m0
    kick: float  # mean where the differing record is used
    rate: float  # q
    start: float

    @property
    def mirror(self) -> Walk:
        """The same walk seen in a mirror; for drift = start = 0 the neighbour's."""
        return self._replace(drift=-self.drift, kick=-self.kick, start=-self.start)


class Law(NamedTuple):
    """Masses after T steps of the left atom, the nodes, the right atom, as logs, and of the events w >= t and w <= t by rising t
    from wall to wall, with the error `slack` of each."""

    log_density: Array  # of nodes; of atoms their mass
    log_weight: Array  # quadrature weight of nodes; 0 for atoms
    above: Array
    below: Array
    slack: Array
    blur: float  # error of a density

    @property
    def mirror(self) -> Law:
        return Law(self.log_density[::-1], self.log_weight[::-1], self.below[::-1], self.above[::-1], self.slack[::-1], self.blur)


class _Grid(NamedTuple):
    x: Array
    w: Array
    panels: int
    parts: Array  # per node and part of a panel: its share in the integral over that part


@lru_cache(maxsize=16)
def _grid(half: float, nodes: int) -> _Grid:
    import numpy as np

    panels = max(2, ceil(2 * half / _PANEL))
    x, w = np.polynomial.legendre.leggauss(nodes)
    edges = np.linspace(-half, half, panels + 1)
    scale = half / panels
    return _Grid((edges[:-1, None] + scale * (x + 1)).ravel(), np.tile(w * scale, panels), panels, _parts(x, w) * scale)


def _parts(x: Array, w: Array, count: int = 16) -> Array:
    """∫ over each of `count` equal parts of [−1, 1] of the Lagrange polynomials of the nodes, by their Legendre series."""
    import numpy as np

    order = len(x)
    values = np.polynomial.legendre.legvander(x, order - 1)
    series = values * w[:, None] * (np.arange(order) + 0.5)
    cuts = np.linspace(-1, 1, count + 1)
    integrals = np.polynomial.legendre.legvander(cuts, order) @ np.polynomial.legendre.legint(np.eye(order), axis=0)
    return np.asarray(series @ np.diff(integrals, axis=0).T)


def law(walk: Walk, steps: int, nodes: int) -> Law:
    """The law after T steps."""
    import numpy as np

    grid = _grid(walk.half, nodes)
    log_weight = np.concatenate([[0.0], np.log(grid.w), [0.0]])
    if steps == 1:
        logs = _first(walk, grid)
        return _summed(np.exp(logs + log_weight), logs, grid, log_weight, 0.0)
    matrix, mixed = _matrix(walk, grid), steps > MIXED * (2 * walk.half) ** 2 and walk.half > _SQUARED
    masses = _stationary(matrix) if mixed else _powered(walk, grid, matrix, steps - 1)
    with np.errstate(divide="ignore"):
        logs = np.log(masses) - log_weight
    return _summed(masses, logs, grid, log_weight, _BLUR * float(np.exp(logs).max()) if mixed else 0.0)


def _summed(masses: Array, logs: Array, grid: _Grid, log_weight: Array, blur: float) -> Law:
    """The law with its events: thresholds at the edges of the parts of the panels."""
    import numpy as np

    inside = masses[1:-1].reshape(grid.panels, -1)
    parts = np.maximum((inside / grid.w.reshape(grid.panels, -1)) @ grid.parts, 0.0).ravel()
    above = np.cumsum(np.concatenate([[masses[-1]], parts[::-1]]))[::-1]
    below = np.cumsum(np.concatenate([[masses[0]], parts]))
    slack = np.repeat(inside.sum(axis=1) * _PART_ERROR, grid.parts.shape[1])
    slack = np.concatenate([slack, [0.0]]) + blur * len(masses)
    return Law(logs, log_weight, above, below, slack, blur)


def _first(walk: Walk, grid: _Grid) -> Array:
    """log density of nodes and log mass of atoms after one step from the start."""
    import numpy as np

    from dpcalc.numerics.normal import log_tail

    means = [walk.pull * walk.start + m for m in (walk.drift, walk.kick)]
    shares = [log(s) if s > 0 else -np.inf for s in (1 - walk.rate, walk.rate)]
    logs = np.full(len(grid.x) + 2, -np.inf)
    for mean, share in zip(means, shares, strict=True):
        inside = share - (grid.x - mean) ** 2 / 2 - 0.5 * np.log(2 * np.pi)
        logs = np.logaddexp(logs, np.concatenate([[share + log_tail(walk.half + mean)], inside, [share + log_tail(walk.half - mean)]]))
    return logs


def _matrix(walk: Walk, grid: _Grid) -> Array:
    """Row: from left atom, nodes, right atom; column: mass to each. Rows are scaled to add up to 1."""
    import numpy as np

    origin = np.concatenate([[-walk.half], grid.x, [walk.half]])
    total = np.zeros((len(origin), len(origin)))
    for m, share in ((walk.drift, 1 - walk.rate), (walk.kick, walk.rate)):
        mean = walk.pull * origin + m
        z = grid.x[None, :] - mean[:, None]
        total[:, 1:-1] += share / sqrt(2 * np.pi) * np.exp(-0.5 * z * z) * grid.w
        total[:, 0] += share * _tails(walk.half + mean)
        total[:, -1] += share * _tails(walk.half - mean)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _tails(x: Array) -> Array:
    import numpy as np

    return np.array([0.5 * erfc(y * _SQRT_HALF) for y in x.tolist()])


def _powered(walk: Walk, grid: _Grid, matrix: Array, steps: int) -> Array:
    """The law after the first step, then `steps` more by binary powers; stops early where the power no longer changes."""
    import numpy as np

    masses = np.exp(_first(walk, grid))
    masses[1:-1] *= grid.w
    masses /= masses.sum()
    power = matrix
    while steps:
        if steps & 1:
            masses = masses @ power
        steps >>= 1
        if not steps:
            break
        square = power @ power
        square /= square.sum(axis=1, keepdims=True)
        if float(np.abs(square - power).max()) < 1e-17 * float(square.max()):
            return np.asarray(masses @ square)
        power = square
    return np.asarray(masses / masses.sum())


def _stationary(matrix: Array) -> Array:
    """π with π = π·M, Σπ = 1."""
    import numpy as np

    system = matrix.T - np.eye(len(matrix))
    system[-1] = 1.0
    side = np.zeros(len(matrix))
    side[-1] = 1.0
    masses = np.maximum(np.linalg.solve(system, side), 0.0)
    return np.asarray(masses / masses.sum())
