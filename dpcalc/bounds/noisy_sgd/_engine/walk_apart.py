"""Two laws carried apart: walks with a < 0 or nearly, and wide walks at rest (walk.py has the proof)."""

from __future__ import annotations

from math import erf, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import (
    FLOOR,
    TINY,
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


def carried(pair: Pair, g: Grid, steps: int) -> Law:
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    each = g.error + entry_error(pair, len(y))
    sides = (True, False)
    masses = [moved_masses(pair, g, np.array([pair.start]), up)[0] for up in sides]
    powers = [flush(moved_masses(pair, g, y, up)) for up in sides]
    left, done = steps - 2, 1
    while left:
        reached = [mass @ power for mass, power in zip(masses, powers, strict=True)]
        if left > 1 and _gap(pair, done + 2) <= 1e-9 * min(float(mass[mass > 0].min()) for mass in reached):
            return _apart(pair, g, y, reached, (done + 2) * each, _gap(pair, done + 2))
        if left & 1:
            masses = reached
        left >>= 1
        if left:
            powers, done = [flush(power @ power) for power in powers], 2 * done
    return _apart(pair, g, y, masses, steps * each, 0.0)


def _gap(pair: Pair, steps: int) -> float:
    """g(t)."""
    width = 2 * pair.half
    nearer = width * abs(pair.pull) ** min(steps, 2**50)
    block = max(1, round(0.9 * width * width))
    # 1e-9: an `a` that has been rounded to 1.
    meet = erf((1 + 1e-9) * width / sqrt(2 * block)) ** (steps // block) if pair.pull == 1 else 1.0
    return min(1.0, nearer, meet) * (1 + 1e-6)


def resting(pair: Pair, g: Grid, steps: int) -> Law:
    """A wide walk, mirrored, after so many steps that it rests."""
    import numpy as np

    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    matrix = moved_masses(pair, g, y, up=False)
    system = matrix.T - np.eye(len(y))
    system[-1] = 1.0
    mass = np.maximum(np.linalg.solve(system, np.eye(len(y))[-1]), TINY)
    for _ in range(3):
        mass = np.maximum(mass @ matrix, TINY)
    after = mass @ matrix
    each = g.error + entry_error(pair, len(y)) + float(np.abs(after / mass - 1).max()) * (1 + 1e-9)
    mass /= mass.sum()
    once = int(4 * pair.half**2)
    t = min((k * once for k in range(1, 61) if k * once < steps), key=lambda t: _gap(pair, t) + t * each)
    return _apart(pair, g, y, [mass[::-1], mass], (t + 1) * each, _gap(pair, t))


def _apart(pair: Pair, g: Grid, y: Array, masses: list[Array], error: float, left_open: float) -> Law:
    """One more step of two laws, each true within exp(±error) and, in total variation, `left_open`."""
    import numpy as np

    cuts = places(pair)
    error += cell_error(pair, cuts)
    if not error < 1:
        return unknown(cuts)
    p, q = (cells(pair, Origin(y, m, g.x, g.x), cuts, up) for m, up in zip(masses, (True, False), strict=True))
    off = np.expm1(error)
    gain, (above_p, above_q) = p - q, (np.cumsum(x[::-1])[::-1][1:] for x in (p, q))
    gain = np.sign(gain) * np.maximum(np.abs(gain) - off * (p + q) - 2 * left_open - FLOOR, 0.0)
    lead = np.maximum(above_p - above_q - off * (above_p + above_q) - 2 * left_open - FLOOR, 0.0)
    return Law(q * (1 + off) + left_open + FLOOR, gain, above_q * (1 + off) + left_open + FLOOR, lead)
