"""The profile of one epoch on a grid of ε, from which E epochs are composed.

A rough profile at powers of 16 shows over which ε log δ falls. The profile is then evaluated there, and repeatedly
between neighbours where chords would be too inaccurate. Any grid is sound. Its values are never below the profile, and
what is composed is the lower convex hull, in γ = e^ε, of the points and their mirror images, δ(−ε) = 1 − e^{−ε}(1 −
δ(ε)), and of 1 at γ = 0 (pld.atoms.hull). It is no smaller than the profile, which is convex in γ and has that
symmetry, and is itself the profile of a pair of distributions, as its slope also rises at ε = 0. """

from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, inf, log, log2, sqrt
from typing import Any

from numpy import array

from dpcalc.bounds.pnsgd._engine.positions import COARSE
from dpcalc.core.bound import ProfileBound
from dpcalc.core.errors import OutOfScope
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA

Grid = tuple[tuple[float, ...], tuple[float, ...]]  # ε, rising from 0, and log δ there
Params = tuple[tuple[str, Any], ...]

# A grid goes down to log(δ/E) minus this. Losses beyond it count as infinite; their probability is e^−8 of δ.
TAIL_DEPTH = 8.0
# The largest distance of neighbours (_distances): chords are .001 above log δ; half of it costs twice the time.
_SPACING = 0.1


def profile_grid(bound: ProfileBound, log_delta: float, steps: int, p: dict[str, Any]) -> tuple[Grid, dict[float, Any]]:
    """The grid for a δ of `steps` epochs, and for every ε the choices of the bound there (see Bound.blocks), if any."""
    # Blocks of sums over positions hold at most 1/60 of the positions before them: δ is .5 % larger by them. With a
    # tenth, a fifth of the time, δ would be up to 6 % larger.
    return _grid(bound, lowest_log_delta(log_delta, steps), tuple(p.items()), _SPACING, 60)


def rough_grid(bound: ProfileBound, p: dict[str, Any]) -> Grid:
    """A grid for any δ with larger spacing and coarse blocks, as an estimate of the profile."""
    return _grid(bound, SMALLEST_LOG_DELTA, tuple(p.items()), 1.0, COARSE)[0]


def lowest_log_delta(log_delta: float, steps: int) -> float:
    """The log δ of one epoch down to which a grid goes, a multiple of 4, so that similar values of δ share a grid."""
    return max(4.0 * floor((log_delta - log(steps) - TAIL_DEPTH) / 4), SMALLEST_LOG_DELTA)


@lru_cache(maxsize=16)
def _grid(bound: ProfileBound, lowest: float, params: Params, spacing: float, fine: int) -> tuple[Grid,
                                                                                                  dict[float, Any]]:
    p, ways, found = dict(params), dict[float, Any](), dict[float, float]()
    new = _powers_of_two(bound, params, lowest)
    for _ in range(8):  # each divides a distance by up to 8
        found = dict(sorted([*found.items(), *zip(new, _log_deltas(bound, new, fine, p, ways), strict=True)]))
        last = next((e for e, x in found.items() if x <= lowest), inf)
        found = {e: x for e, x in found.items() if e <= last}
        new = _between(found, lowest, spacing)
        if not new:
            break
    return (tuple(found), tuple(found.values())), ways


def _log_deltas(bound: ProfileBound, epsilons: list[float], fine: int, p: dict[str, Any],
                ways: dict[float, Any] | None = None) -> list[float]:
    """Upper bounds on log δ at every ε."""
    if bound.blocks is None or bound.blocks.profile is None:
        return [float(bound.value(e, **p)) for e in epsilons]
    found = [float(x) for x in bound.blocks.profile(array(epsilons), fine, ways=ways, **p)]
    _evaluated(bound, tuple(p.items())).update(zip(epsilons, found, strict=True))
    return found


@lru_cache(maxsize=8)
def _evaluated(bound: ProfileBound, params: Params) -> dict[float, float]:
    """log δ at all ε at which a profile was taken in blocks so far."""
    return {}


def near_epsilon(bound: ProfileBound, log_delta: float, params: Params) -> float | None:
    """An ε > 0 near the one at log δ, by the grid that is already there; None where there is none."""
    found = sorted(_evaluated(bound, params).items())
    for (a, x), (b, y) in pairwise(found):
        if a > 0 and y <= log_delta < x:
            return float(a * (b / a) ** ((x - log_delta) / (x - y)))
    return None


# --- where the profile is taken: any choice is sound -----------------------------------------------------------------


def _powers_of_two(bound: ProfileBound, params: Params, lowest: float) -> list[float]:
    """0 and powers of 2, from where log δ begins to fall to where it is `lowest`, or falls no more, or δ is 0."""
    found = _fall(bound, params)
    at_zero, least = found[0.0], min(found.values())
    first = max((e for e, x in found.items() if x >= at_zero - _SPACING / 10), default=0.0)
    last = next(e for e, x in found.items() if x <= max(lowest, least + 1e-4))  # beyond, losses may as well be infinite
    if last == 0:
        return [0.0]
    low = min(first, last) or min(e for e in found if e)
    return [0.0, *(2.0**k for k in range(round(log2(low)), ceil(log2(last)))), last]


@lru_cache(maxsize=8)
def _fall(bound: ProfileBound, params: Params) -> dict[float, float]:
    """log δ, roughly, at 0 and at powers of 16: from before it falls to where it is least, or δ is 0."""
    p, low, high = dict(params), -24, 12
    found: dict[float, float] = {}

    def add(*epsilons: float) -> None:
        more = zip(epsilons, _log_deltas(bound, list(epsilons), COARSE, p), strict=True)
        found.update(sorted([*found.items(), *more]))

    add(0.0, *(2.0**k for k in range(low, high + 1, 4)))
    while found[2.0**high] > SMALLEST_LOG_DELTA and high < 400:  # squares of larger losses overflow
        add(*(2.0**k for k in range(high + 4, high + 25, 4)))
        high += 24
    while found[0.0] > SMALLEST_LOG_DELTA and found[2.0**low] < found[0.0] - _SPACING and low > -400:
        add(*(2.0**k for k in range(low - 24, low, 4)))
        low -= 24
    with suppress(OutOfScope):  # no ε has δ = 0
        if bound.pure:
            end = bound.pure(**p)
            found = {**{e: x for e, x in found.items() if e < end}, end: -inf}
    return dict(sorted(found.items()))


def _between(found: dict[float, float], lowest: float, spacing: float) -> list[float]:
    """Up to seven new points between any two neighbours whose distance is more than twice the spacing."""
    epsilons, distances = tuple(found), _distances(found, lowest)
    allowed = max(spacing, sum(distances) / 300)  # where the fall is long
    if len(epsilons) > 2 and epsilons[-1] > 1.2 * epsilons[-2]:
        distances[-1] = inf  # a rare loss far beyond the others would decide by which tilt they are composed
    wide = [(a, b, ceil(min(x / allowed, 8))) for (a, b), x in zip(pairwise(epsilons), distances, strict=True)
            if x > 2 * allowed]
    return [e for a, b, pieces in wide for k in range(1, pieces) if a < (e := a + (b - a) * k / pieces) < b]


def _distances(found: dict[float, float], lowest: float) -> list[float]:
    """The distances of neighbours, √(h(h + w))/(1 + depth/20) for a fall h of log δ over a step w <= 1 of ε.

    The chord in e^ε is about h(h + w)/8 above a log δ that falls evenly. The depth is how much log δ is below that at
    ε = 0: errors there matter less, as fewer epochs have so large losses.
    """
    logs, distances = [max(x, lowest) for x in found.values()], []
    for (a, b), (x, y) in zip(pairwise(found), pairwise(logs), strict=True):
        fall, depth = max(x - y, 0.0), logs[0] - x
        distances.append(sqrt(fall * (fall + min(b - a, 1.0))) / (1 + depth / 20))
    return distances
