"""About what any_length.py and windows.py would compute, without a composition: to find where to look."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from dpcalc.bounds.noisy_sgd._engine.windows import LEAST_PUSH, MOST_USES, Window, of_hidden, step
from dpcalc.numerics import tails_array
from dpcalc.numerics.arrays import Array

_TILTS = np.concatenate([[-0.5, -0.3, -0.1], np.geomspace(0.01, 1e4, 40)])  # the mean of a tilt of −1/2 is 0
_LOG_TAIL, _CELLS = -100.0, 300  # of a discretized step: the log of the mass that is left out, and the number of cells
_PER_OCTAVE = 16  # of delayed hiding


def windows(q: float, push: float, lengths: list[int], hidden: list[int]) -> list[Window]:
    """Windows of these lengths, and of `hidden` by delayed hiding, nearly."""
    found = [Window(r, False, x) for r, x in zip(lengths, _composed(q, push, lengths), strict=True)]
    if push >= LEAST_PUSH:
        found += [Window(r, True, of_hidden(q, push, r, _PER_OCTAVE)) for r in hidden if q * r <= MOST_USES]
    return found


def _composed(q: float, push: float, lengths: list[int]) -> list[Callable[[Array], Array]]:
    """In the tilted law whose mean is nearest to ε the sum of the losses is taken to be Gaussian, and log δ to be at
    most the bound by moments."""
    from dpcalc.pld.pilot import Pilot, log_peak

    pilot = Pilot(step(q, push), _LOG_TAIL, inf, _CELLS)
    logs = np.outer(_TILTS, pilot.loss) + pilot.log_p
    top = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - top)
    total = weights.sum(axis=1)
    moments = top[:, 0] + np.log(total)
    means = weights @ pilot.loss / total
    variances = np.maximum(weights @ pilot.loss**2 / total - means**2, 1e-300)
    positive = _TILTS > 0
    peaks = np.array([log_peak(tilt) for tilt in _TILTS[positive].tolist()])

    def of_length(r: int) -> Callable[[Array], Array]:
        # Where the losses of R steps are large, their law without a tilt is nearer to a Gaussian at small ε.
        usable = positive if r * moments[0] < -1 else np.full(len(_TILTS), True)

        def log_delta(epsilon: Array) -> Array:
            i = np.abs(np.where(usable, means, -inf) - epsilon[:, None] / r).argmin(axis=1)
            tilt, deviation = _TILTS[i], np.sqrt(r * variances[i])
            ahead = (r * means[i] - epsilon) / deviation
            a = tilt * deviation - ahead
            # E[e^{−λx}(1 − e^{−x})₊] for Gaussian x, by e^{z²/2}Q(z) at z = a and at z = a + deviation
            large, small = (z * z / 2 + tails_array.log_tail(z) for z in (a, a + deviation))
            found = r * moments[i] - tilt * epsilon - ahead * ahead / 2 + large
            found += np.log(-np.expm1(np.minimum(small - large, -1e-300)))
            by_moments = (r * moments[positive] + peaks - np.outer(epsilon, _TILTS[positive])).min(axis=1)
            return np.asarray(np.clip(np.minimum(found, by_moments), -690.0, 0.0))

        return log_delta

    return [of_length(r) for r in lengths]
