"""How far apart two runs can be that differ in one record and share batches and noise, where no constraint set holds
them together.

The last-iterate theorems use the diameter of a set as a bound on this distance and for nothing else, so this takes its
place (Altschuler & Talwar 2022, Remark 5.2, of strongly convex losses). A step takes a distance z to cz, and by 2ηL/b
further where the record is used. Steps that do not expand thus end at the sum over the uses at most, and at
(2ηL/b)(1−c^T)/(1−c). Where steps expand, a gradient is still at most L, whatever the iterate is, so a step adds 2ηL at
most. """

from __future__ import annotations

from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.iteration_schedule import Schedule
from dpcalc.numerics.rounding import ratio_up, up


def reached(batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, learning_rate: float,
            steps: int,
            uses: int) -> float:
    """The distance after T steps, of which `uses` may use the record; rounded up."""
    push = _move(learning_rate, lipschitz, batch_size)
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    most = up(uses * push) if g >= 0 else up(steps * _move(learning_rate, lipschitz, 1))
    return min(most, contraction.reached(g, steps, push))


def reached_along(schedule: Schedule, batch_size: int, lipschitz: float, smoothness: float,
                  strong_convexity: float) -> float:
    """The largest distance along a schedule; rounded up."""
    z = most = 0.0
    for eta, _, used in schedule:
        g = contraction.gap(eta, smoothness, strong_convexity)
        further = up((1 - g) * z + (_move(eta, lipschitz, batch_size) if used else 0.0), 1e-15)
        z = further if g >= 0 else min(further, up(z + _move(eta, lipschitz, 1)))
        most = max(most, z)
    return most


def _move(learning_rate: float, lipschitz: float, batch_size: int) -> float:
    """2ηL/b."""
    return ratio_up((2.0, learning_rate, lipschitz), (float(batch_size),))
