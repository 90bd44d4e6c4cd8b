"""The two laws of a pair of walks computed separately, for a < 0 or nearly (walk.py has the proof)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import (
    FLOOR,
    Law,
    Origin,
    Pair,
    cell_error,
    cells,
    entry_error,
    flush,
    moved_masses,
    places,
    unknown,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def law(pair: Pair, g: Grid, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps, by powers of the two transition matrices."""
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    step_error = g.error + entry_error(pair, len(y))
    sides = (True, False)
    masses = [moved_masses(pair, g, np.array([pair.start]), up)[0] for up in sides]
    powers = [flush(moved_masses(pair, g, y, up)) for up in sides]
    left, done = steps - 2, 1
    while left:
        after = [mass @ power for mass, power in zip(masses, powers, strict=True)]
        distance = _distance_of_starts(pair, done + 2)
        if left > 1 and distance <= 1e-9 * min(float(mass[mass > 0].min()) for mass in after):
            return _last_step(pair, g, y, after, (done + 2) * step_error, distance)
        if left & 1:
            masses = after
        left >>= 1
        if left:
            powers, done = [flush(power @ power) for power in powers], 2 * done
    return _last_step(pair, g, y, masses, steps * step_error, 0.0)


def _distance_of_starts(pair: Pair, steps: int) -> float:
    """g(t), rounded up: a bound on the total variation distance of the laws from any two starts after t steps."""
    return min(1.0, 2 * pair.half * abs(pair.pull) ** min(steps, 2**50)) * (1 + 1e-6)


def _last_step(pair: Pair, g: Grid, y: Array, masses: list[Array], error: float, distance: float) -> Law:
    """Bounds after one more step from two laws that are true within a factor exp(±error) and, in total variation,
    within `distance`."""
    import numpy as np

    edges = places(pair)
    error += cell_error(pair, edges)
    if not error < 1:
        return unknown(edges)
    p, q = (cells(pair, Origin(y, m, g.x, g.x), edges, up) for m, up in zip(masses, (True, False), strict=True))
    relative = np.expm1(error)
    gain, (above_p, above_q) = p - q, (np.cumsum(x[::-1])[::-1][1:] for x in (p, q))
    gain = np.sign(gain) * np.maximum(np.abs(gain) - relative * (p + q) - 2 * distance - FLOOR, 0.0)
    lead = np.maximum(above_p - above_q - relative * (above_p + above_q) - 2 * distance - FLOOR, 0.0)
    return Law(q * (1 + relative) + distance + FLOOR, gain, above_q * (1 + relative) + distance + FLOOR, lead)
