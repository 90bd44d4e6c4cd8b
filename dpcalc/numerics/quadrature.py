"""∫ e^{f(x)} dx for positive, smooth integrands with Gaussian tails, in logs and with an error estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_SHORT = 3000  # nodes; up to here looking for empty stretches costs more than it saves


def log_integral(log_f: Callable[[Array], Array], low: float, high: float, step: float,
                 knots: tuple[float, ...] = ()) -> tuple[float, float]:
    """(log ∫, relative error estimate) by the trapezoidal rule, whose error for such integrands falls like
    e^{−2πa/step} with a the half-width of the strip of analyticity.

    On long ranges the stretches below e^{−50} of the maximum are found first and skipped; `knots` are the points
    around which the integrand bends within a few steps (elsewhere its bumps are at least a unit wide). The estimate
    is the difference of the sums over even and odd nodes (step 2h); the error at step h is about its square.
    """
    import numpy as np

    if (high - low) / step <= _SHORT:
        windows = [(low, high)]
    else:
        around = [k + step * np.arange(-200, 201, dtype=float) for k in knots]
        points = np.sort(np.concatenate([np.linspace(low, high, int((high - low) / 0.25) + 2), *around]))
        coarse = points[np.diff(points, prepend=-np.inf) > 0]
        heights = log_f(coarse)
        runs = _runs(heights > heights.max() - 50.0)
        windows = [(float(coarse[max(i - 1, 0)]), float(coarse[min(j + 1, len(coarse) - 1)])) for i, j in runs]
    total = odd = 0.0
    top = None
    for a, b in windows:
        logs = log_f(a + step * np.arange(2 * int((b - a) / (2 * step)) + 2))
        top = float(logs.max()) if top is None else top
        values = np.exp(logs - top)
        total += float(values.sum())
        odd += float(values[1::2].sum())
    return (top or 0.0) + log(total * step), abs(2 * odd - total) / total


def _runs(keep: Array) -> list[tuple[int, int]]:
    """(first, last) of each stretch of true entries; stretches that touch after widening by one are joined."""
    runs: list[tuple[int, int]] = []
    for i in keep.nonzero()[0].tolist():
        if runs and i <= runs[-1][1] + 3:
            runs[-1] = (runs[-1][0], i)
        else:
            runs.append((i, i))
    return runs


def whole(mp: Any, f: Any, points: Sequence[float], ends: tuple[float, float], beyond: Any) -> Any:
    """∫ f of a published formula, f >= 0, over the points. In ball arithmetic (dpcalc.verify) over the wider ends too,
    and with the rest, which lies between 0 and beyond(*ends), added."""
    if not hasattr(mp, "between"):
        return mp.quad(f, points)
    low, high = min(ends[0], points[0]), max(ends[1], points[-1])
    return mp.quad(f, sorted({low, *points, high})) + mp.between(0, beyond(mp.mpf(low), mp.mpf(high)))


def tail(mp: Any, x: Any) -> Any:
    """Q(|x|), the normal tail."""
    return mp.erfc(abs(x) / mp.sqrt(2)) / 2
