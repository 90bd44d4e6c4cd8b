"""A privacy profile that holds after any number of steps, at high precision: δ at one ε by recorded points.

The points are those of any_length.py; burn_in_contraction.py has the proof. """

from bisect import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.noisy_sgd._engine import contraction, meeting
from dpcalc.bounds.noisy_sgd._engine.any_length import (
    COMPARED,
    COMPARED_HIDDEN,
    POOLED,
    Run,
    hull,
    refuse_expanding,
)

WindowDelta = Callable[[Any, int, bool, Any], Any]  # (mp, R, by delayed hiding, ε) → δ of a window


def exact(mp: Any, epsilon: Any, run: Run, numbers: list[float], window: WindowDelta) -> Any:
    """δ at ε at high precision, by the points of a `way`; `run` has exact numbers. Raises ValueError, ArithmeticError
    or IndexError where it is malformed."""
    refuse_expanding(run)
    epsilons, deltas = list[Any](), list[Any]()
    rows = [numbers[k : k + 4] for k in range(0, len(numbers), 4)]
    for j, (at, steps, index, rule) in enumerate(rows):
        is_last = j == len(rows) - 1
        if not (steps == int(steps) >= 1 and index == int(index) and 0 <= index <= max(0, j - 1)
                and rule in (COMPARED, COMPARED_HIDDEN, POOLED) and (j == 0 or is_last or at > epsilons[-1])):
            raise ValueError(f"{str(rows[j])[:60]} is no point of a profile")
        e = mp.mpf(epsilon) if is_last else mp.mpf(at)
        if (j == 0 and e != 0) or (j and not e > epsilons[-1]):
            raise ValueError("the points of a profile do not rise from 0 on")
        if j == 0:
            of_window = window(mp, int(steps), rule == COMPARED_HIDDEN, e)
            kept = meeting.exact_kept(mp, e, run.width, run.g, int(steps))
            near = of_window + _exact_near(mp, e, run, int(steps))
            delta = min(of_window / (1 - kept), near, key=float) if float(kept) < 1 else near
        elif rule == POOLED:
            delta = _exact_pooled(mp, e, run, epsilons, deltas, int(steps), int(index), window)
        else:
            i = int(index)
            inner = mp.log1p(mp.expm1(epsilons[i]) / deltas[i])
            kept = min(deltas[i] * meeting.exact_kept(mp, inner, run.width, run.g, int(steps)),
                       _exact_near(mp, epsilons[i], run, int(steps)), key=float)
            u = e - epsilons[i]
            delta = window(mp, int(steps), rule == COMPARED_HIDDEN, u) + mp.exp(u) * kept
        epsilons.append(e)
        deltas.append(min(mp.mpf(1), delta, key=float))  # 1 also where δ, below 1, is 1 as a double
    return deltas[-1]


def _exact_near(mp: Any, epsilon: Any, run: Run, steps: int) -> Any:
    """The δ that is left of the largest distance of the two runs after so many steps."""
    return theta(mp, epsilon, run.apart * mp.sqrt(contraction.exact_weight(mp, run.g, steps)))


def _exact_pooled(mp: Any, e: Any, run: Run, epsilons: list[Any], deltas: list[Any], steps: int, index: int,
                  window: WindowDelta) -> Any:
    """δ by Theorem B, from the lower hull of all earlier points; γ₂ is e^ε of the point with this index."""
    corners = hull(np.array([float(x) for x in epsilons]), np.array([float(x) for x in deltas]))
    at, d = [epsilons[k] for k in corners], [deltas[k] for k in corners]
    if index not in corners:  # rounding may decide whether it is one; it may be added, with a mass of 0
        j, x = bisect(corners, index), epsilons[index]
        chord = (d[j] - d[j - 1]) * mp.expm1(x - at[j - 1]) / mp.expm1(at[j] - at[j - 1]) if j < len(at) else 0
        for inserted, new in ((corners, index), (at, x), (d, d[j - 1] + chord)):
            inserted.insert(j, new)
    # Points may be raised: here to the line from the first one that is as steep at γ = 1 as convexity allows.
    d = [d[0], *(max(x, d[0] - (1 - d[0]) / 2 * mp.expm1(y), key=float) for x, y in zip(d[1:], at[1:], strict=True))]
    beyond = [(a - b) / mp.expm1(y - x) for a, b, x, y in zip(d, d[1:], at, at[1:], strict=False)] + [mp.mpf(0)]
    before = [(b - a) / mp.expm1(x - y) for a, b, x, y in zip(d, d[1:], at, at[1:], strict=False)]
    k = corners.index(index)
    at_corner = (1 - d[0] - beyond[0], *(x - y for x, y in zip(before, beyond[1:], strict=False)))
    inside = mp.fsum(p * window(mp, steps, False, e - x) for p, x in zip(at_corner[: k + 1], at, strict=False))
    apart = run.width * mp.sqrt(contraction.exact_weight(mp, run.g, steps)) + run.push * mp.sqrt(mp.mpf(steps))
    return (inside + beyond[k] * window(mp, steps, False, e - at[k]) + d[k] * theta(mp, e + mp.log(d[0] / d[k]), apart))
