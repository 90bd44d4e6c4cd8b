"""How a search goes on as long as the budget is on one side of all it has seen."""

from math import inf, log

LONGEST, ASIDE = 3.0, 0.03  # of a step in log x; of a first one where the solution is near
NEAR = 0.3  # of log x: as far a slope is believed
_FIRST = 0.05  # of a step, at least
_BEYOND = 1.1  # times as far as a secant meets the budget, to get beyond it
_FLAT, _LOST = 1e-3, 3  # of a gap: no change; so many steps that lead nowhere are enough
_LEVEL = 0.01  # of a gap, twice: no change
_ABOVE, _FAR = 0.05, 2 * LONGEST  # a gap so near above the budget, and of log x, as far as the last two values lead: nowhere


class Away:
    """How far to go in log x, towards less loss, as long as the budget is on one side: to where the secant meets it, or ever further; to
    the end of the range where that leads nowhere."""

    def __init__(self, safer: int, near: bool) -> None:
        self.safer, self.lost = safer, 0
        self.unseen = ASIDE if near else LONGEST / 2  # a first step where the gap does not tell

    def step(self, x: float, gap: float, last: tuple[float, float] | None = None) -> float:
        way, least = 1.0 if gap > 0 else -1.0, min(_FIRST, self.unseen)
        if last is None or x == last[0]:
            return way * max(least, abs(gap) if abs(gap) < LONGEST else self.unseen)
        far = log(x / last[0])
        fall = self.safer * (last[1] - gap) / far if abs(gap) < inf and abs(last[1]) < inf else 0.0
        steep = fall * abs(far) > _FLAT * abs(gap)
        self.lost = 0 if steep else _LOST if gap == last[1] and abs(gap) < inf else self.lost + 1
        if self.lost >= _LOST:
            return way * inf
        return way * min(LONGEST, _BEYOND * abs(gap) / fall if steep else max(2 * abs(far), least))


def is_lost(seen: list[tuple[float, float]]) -> bool:
    """Whether the last steps led nowhere, or lead nowhere near: on a plateau above the budget it may be met at the end of the range, if
    anywhere."""
    if len(seen) < 2:
        return False
    (y, g), (z, h) = seen[-2:]
    apart = abs(log(z / y))
    if apart > NEAR / 2 and h < _ABOVE and apart * h > _FAR * (g - h) > 0:
        return True
    if len(seen) < 3:
        return False
    x, f = seen[-3]
    return min(abs(log(y / x)), apart) > NEAR / 2 and max(abs(f - g), abs(g - h)) < _LEVEL * h
