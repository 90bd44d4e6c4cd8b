"""Integrals ∫ e^{f(x)} dx of smooth integrands with Gaussian tails, as logs and with an error estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array


def log_integral(log_f: Callable[[Array], Array], low: float, high: float, step: float,
                 knots: tuple[float, ...] = ()) -> tuple[float, float]:
    """log ∫ e^{log_f} over [low, high] and an estimate of its relative error, by the trapezoidal rule. For such
    integrands its error falls like e^{−2πa/step}, where a is the half-width of the strip of analyticity.

    Long ranges are scanned, and the parts below e^{−50} of the maximum are omitted. `knots` are points around which the
    integrand changes within a few steps (elsewhere its peaks are at least a unit wide). The estimate is the
    difference between the sums over even and over odd nodes, of step 2h; the error with step h is about its square.
    """
    import numpy as np

    is_short = (high - low) / step <= 3000  # a scan would take longer than it saves
    windows = [(low, high)] if is_short else _windows(log_f, low, high, step, knots)
    total = odd = 0.0
    top = None
    for a, b in windows:
        logs = log_f(a + step * np.arange(2 * int((b - a) / (2 * step)) + 2))
        top = float(logs.max()) if top is None else top
        values = np.exp(logs - top)
        total += float(values.sum())
        odd += float(values[1::2].sum())
    return (top or 0.0) + log(total * step), abs(2 * odd - total) / total


def _windows(log_f: Callable[[Array], Array], low: float, high: float, step: float,
             knots: tuple[float, ...]) -> list[tuple[float, float]]:
    """The ranges that contain all values above e^{−50} of the maximum, by a scan with steps of 1/4 and around knots."""
    import numpy as np

    around = [k + step * np.arange(-200, 201, dtype=float) for k in knots]
    points = np.sort(np.concatenate([np.linspace(low, high, int((high - low) / 0.25) + 2), *around]))
    points = points[np.diff(points, prepend=-np.inf) > 0]
    heights = log_f(points)
    runs: list[tuple[int, int]] = []  # first and last index; runs that would touch when widened by one are joined
    for i in (heights > heights.max() - 50.0).nonzero()[0].tolist():
        if runs and i <= runs[-1][1] + 3:
            runs[-1] = (runs[-1][0], i)
        else:
            runs.append((i, i))
    return [(float(points[max(i - 1, 0)]), float(points[min(j + 1, len(points) - 1)])) for i, j in runs]


def whole(mp: Any, f: Any, points: Sequence[float], ends: tuple[float, float], beyond: Any) -> Any:
    """∫ f of a published formula, f >= 0, from the first to the last of the points. In ball arithmetic (dpcalc.verify)
    the range is extended to `ends`, and the integral outside of it, which lies between 0 and beyond(*ends), is added as
    a ball."""
    if not hasattr(mp, "between"):
        return mp.quad(f, points)
    low, high = min(ends[0], points[0]), max(ends[1], points[-1])
    return mp.quad(f, sorted({low, *points, high})) + mp.between(0, beyond(mp.mpf(low), mp.mpf(high)))


def tail(mp: Any, x: Any) -> Any:
    """Q(|x|), the upper tail of the standard normal distribution, at high precision."""
    return mp.erfc(abs(x) / mp.sqrt(2)) / 2
