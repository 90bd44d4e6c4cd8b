"""A bound on the distance between two runs on neighbouring data sets that need not stay in a bounded set.

The two runs differ in one record and share batches and noise. The last-iterate theorems use the diameter of the
constraint set only as a bound on their distance, so the bound computed here may replace it (Altschuler & Talwar 2022,
Remark 5.2, for strongly convex losses).

Proof. A step takes a distance z to at most cz, plus 2ηL/b where the record is used. Steps that do not expand (c <= 1)
therefore end within the sum over the uses, and within (2ηL/b)(1−c^T)/(1−c). Where steps expand (c > 1), every gradient
is still at most L, so that a step adds at most 2ηL. ∎ """

from __future__ import annotations

from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.iteration_schedule import Schedule
from dpcalc.numerics.rounding import ratio_up, up


def reached(batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, learning_rate: float,
            steps: int, uses: int) -> float:
    """The largest distance of the two runs after `steps` steps, of which at most `uses` use the record; rounded up."""
    push = _push(learning_rate, lipschitz, batch_size)
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    most = up(uses * push) if g >= 0 else up(steps * _push(learning_rate, lipschitz, 1))
    return min(most, contraction.reached(g, steps, push))


def reached_along(schedule: Schedule, batch_size: int, lipschitz: float, smoothness: float,
                  strong_convexity: float) -> float:
    """The largest distance of the two runs after any step of a schedule; rounded up."""
    z = largest = 0.0
    for eta, _, used in schedule:
        g = contraction.gap(eta, smoothness, strong_convexity)
        after = up((1 - g) * z + (_push(eta, lipschitz, batch_size) if used else 0.0), 1e-15)
        z = after if g >= 0 else min(after, up(z + _push(eta, lipschitz, 1)))
        largest = max(largest, z)
    return largest


def _push(learning_rate: float, lipschitz: float, batch_size: int) -> float:
    """2ηL/b, rounded up: the largest distance that one use of the record adds between the two runs."""
    return ratio_up((2.0, learning_rate, lipschitz), (batch_size,))
