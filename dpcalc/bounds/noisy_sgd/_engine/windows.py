"""Where burn-in-profile looks for its window R and the noise σ1 for the start: downhill from what is best for RDP.
Nothing here is a bound.

Where the window seldom sees the record, RDP makes more of that than the profile does: shorter windows, with more of the
noise for the start, may be better. Both are told by logarithms: of R, and of the odds of σ1² in σ². """

from __future__ import annotations

from collections.abc import Callable
from math import exp, hypot, inf, log, sqrt
from typing import NamedTuple

import numpy as np

Choice = tuple[int, float]  # R and σ1
_WAYS = ((-1, 1.4), (0, 1.4), (-1, 0), (0, -1.4), (1, -1.4), (1, 0))
_STEP, _LEAST_STEP, _LOOKS, _GAIN = 0.7, 0.08, 8, 1e-3  # a first step and the last one, looks, and what is a gain
_CURVED, _NEAREST = 6, 8  # looks by a parabola, and the looks that it is drawn through
_FEWEST = 6  # of these: as many as it has terms
_CLOSE = 0.1  # squared: nearer looks do not count more
_SAME = 0.02  # of the odds: another look says nothing new


class _Place(NamedTuple):
    """Logarithms of R and of the odds."""

    window: float
    odds: float

    def moved(self, window: float, odds: float) -> _Place:
        return _Place(self.window + window, self.odds + odds)


def nearby(loss_at: Callable[[int, float], float], first: Choice, most: int, sigma: float, unit: float) -> Choice:
    """The best of a few choices near the first one, with R up to `most`; `unit` is what losses are compared by, 0 for
    themselves."""
    seen: dict[Choice, float] = {first: loss_at(*first)}

    def look(place: _Place) -> Choice:
        choice = _choice(place, most, sigma)
        if choice not in seen:
            seen[choice] = loss_at(*choice)
        return choice

    _by_pattern(look, seen, first, sigma, unit)
    for _ in range(_CURVED):
        place = _lowest(seen, sigma)
        if place is None:
            break
        look(place)
    return min(seen, key=lambda choice: seen[choice])


def _place(choice: Choice, sigma: float) -> _Place:
    r, sigma1 = choice
    share = (sigma1 / sigma) ** 2
    return _Place(log(r), log(share / (1 - share)))


def _choice(place: _Place, most: int, sigma: float) -> Choice:
    odds = exp(place.odds)
    return max(1, min(most, round(exp(min(place.window, 700.0))))), sigma * sqrt(odds / (1 + odds))


def _by_pattern(look: Callable[[_Place], Choice], seen: dict[Choice, float], best: Choice, sigma: float,
                unit: float) -> None:
    """A few steps downhill, ever shorter ones."""
    ways, step = list(_WAYS), _STEP
    while step > _LEAST_STEP and seen[best] < inf:
        for k, (longer, more) in enumerate(ways):
            if len(seen) > _LOOKS:
                return
            choice = look(_place(best, sigma).moved(longer * step, more * step))
            if seen[choice] < seen[best] - _GAIN * (unit or seen[best]):
                best = choice
                ways.insert(0, ways.pop(k))
                break
        else:
            step /= 2


def _lowest(seen: dict[Choice, float], sigma: float) -> _Place | None:
    """Where the parabola through the looks nearest to the best one is least, or as far in that direction as a first
    step; the whole R next to that, and the odds that are best with it. None where there are too few looks, or it is
    where one was."""
    best = min(seen, key=lambda choice: seen[choice])
    at = _place(best, sigma)
    around = sorted((x.window - at.window, x.odds - at.odds, loss) for choice, loss in seen.items() if loss < inf
                    for x in (_place(choice, sigma),))
    nearest = sorted(around, key=lambda p: hypot(p[0], p[1]))[:_NEAREST]
    if len(nearest) < _FEWEST:
        return None
    (x, y, losses), ones = np.array(nearest).T, np.ones(len(nearest))
    trust = 1 / (_CLOSE + x**2 + y**2)
    terms = np.stack([ones, x, y, x * x, x * y, y * y], axis=1) * trust[:, None]
    _, by_x, by_y, xx, xy, yy = np.linalg.lstsq(terms, losses * trust, rcond=None)[0]
    curved = np.array([[2 * xx, xy], [xy, 2 * yy]])
    low, high = np.linalg.eigvalsh(curved)
    if low <= 0:  # no parabola: as if it were one
        curved += np.eye(2) * (0.1 * abs(high) - low + 1e-9)
    step = -np.linalg.solve(curved, [by_x, by_y])
    step *= min(1.0, _STEP / max(float(np.hypot(*step)), 1e-9))
    window = log(max(1, round(exp(at.window + float(step[0]))))) - at.window
    odds = min(max(-float(by_y + curved[0, 1] * window) / float(curved[1, 1]), -_STEP), _STEP)
    return None if abs(window) < 1e-9 and abs(odds) < _SAME else at.moved(window, odds)
