"""The profile of one epoch at the ε that a composition is made from: about evenly along its fall.

A look at powers of 2 says about how log δ falls. The profile is then taken at all ε of one array, and again between those where it falls
faster than thought. The points are never below the profile, and what is composed is the lower convex hull of the points and their mirror
images, δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), over all γ = e^ε from 0, where it is 1, on (profiles.pairs.hull): no smaller than the profile, which
is convex in γ and has that symmetry, and itself that of a pair of laws, as its bends are positive also at ε = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import ceil, expm1, inf, log, log1p, sqrt
from typing import Any

import numpy as np

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.positions import COARSE
from dpcalc.errors import OutOfScope
from dpcalc.numerics.rounding import up
from dpcalc.numerics.work import remembered

Samples = tuple[tuple[float, ...], tuple[float, ...]]  # ε and log δ

DEEPEST = -690.0  # log δ: what is smaller is rounded up to it (profiles.pairs)
BEYOND = 10.0  # how far below log(δ/E) samples go: what lies beyond counts as lost, and is e^−10 of δ
LOST = 40.0  # of a loss above ε: all of it counts, but for e^−20 of itself
_POWERS, _MORE, _MOST_POWER = (-24, 12), 24, 1000  # of 2, of the first look; as many are added at an end, up to this one
_APART, _MOST = 0.12, 160  # between samples (_distance); of as many in all, if the fall is long
_DEEP, _AT_LEAST = 0.4, 6.0  # of a distance so far above the floor, and below: it matters less there
_WIDE = 1.0  # of a step of ε: a chord is flat but for its end beyond
_OCTAVE = 8  # parts of an octave, between powers
_ROUNDS, _PIECES = 4, 8  # how often samples are added, and into how many pieces at most a step is cut then
# Blocks of sums over positions, less fine where that takes more nodes (10 at 1e12 records): from a tenth of the positions before them δ
# is 4 to 6 % larger, from a sixtieth .5 %.
_FINE, _NODES = (60, 45, 30, 20, 15, 10), 264


def followed(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], most: float = inf) -> Samples:
    """ε and log δ of one epoch at the samples that are composed for a δ; up to a loss, from which on it may as well be infinite."""
    return _followed(bound, floor_of(log_delta, steps), most, tuple(p.items()))[0]


def ways_of(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], most: float = inf) -> Mapping[float, Any]:
    """For every ε of these samples the way of the value there (Bound.blocks); nothing where it has none."""
    return _followed(bound, floor_of(log_delta, steps), most, tuple(p.items()))[1]


def about(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], most: float = inf) -> Samples:
    """The same by the first look alone, between whose powers −log δ is about a power of ε: no bound."""
    return _between_powers(_look(bound, most, tuple(p.items())), floor_of(log_delta, steps))


def floor_of(log_delta: float, steps: int) -> float:
    """The log δ of one epoch to which its profile is followed."""
    return max(log_delta - log(steps) - BEYOND, DEEPEST)


def fineness(p: Mapping[str, Any]) -> int:
    """1/this is the part of the positions before it that a block of a sum over positions may be: what as many nodes allow."""
    n = p["n"]
    return next((fine for fine in _FINE if n <= fine or fine * (1 + log(n / fine)) <= _NODES), _FINE[-1])


def epsilon_along(samples: Samples, log_delta: float) -> float:
    """The ε at δ along the samples, which are joined by chords in e^ε: a profile is convex in it; inf where the last is above δ."""
    epsilons, logs = samples
    k = next((k for k, x in enumerate(logs) if x <= log_delta), None)
    if not k:
        return inf if k is None else 0.0
    a, b, above, below = epsilons[k - 1], epsilons[k], logs[k - 1], logs[k]
    share = expm1(log_delta - above) / expm1(below - above)
    return up(a + log1p(share * expm1(b - a)), 1e-13) if b - a < 700 else b


@remembered(16)
def _followed(bound: Bound, floor: float, most: float, params: tuple[tuple[str, Any], ...]) -> tuple[Samples, dict[float, Any]]:
    p, ways, found = dict(params), dict[float, Any](), dict[float, float]()
    end = _end(bound, p)
    more = [e for e in _spread(_between_powers(_look(bound, most, params), floor), floor) if e < end]
    more += [end] if end < most else []
    for _ in range(_ROUNDS):
        found = dict(sorted([*found.items(), *zip(more, _many(bound, more, fineness(p), p, ways), strict=True)]))
        last = next((e for e, x in found.items() if x <= floor), inf)
        found = {e: x for e, x in found.items() if e <= last}
        more = _added(found, floor)
        if not more:
            break
    return (tuple(found), tuple(found.values())), ways


def _many(bound: Bound, epsilons: list[float], fine: int, p: dict[str, Any], ways: dict[float, Any] | None = None) -> list[float]:
    """Upper bounds on log δ at many ε."""
    if not bound.blocks:
        return [float(bound.value(e, **p)) for e in epsilons]
    return [float(x) for x in bound.blocks(np.array(epsilons), fine, ways=ways, **p)]


def _end(bound: Bound, p: dict[str, Any]) -> float:
    """The ε from which δ is 0, if there is one."""
    try:
        return bound.pure(**p) if bound.pure else inf
    except OutOfScope:
        return inf


# --- where samples are placed: nothing here is a bound ---------------------------------------------------------------


@remembered(8)
def _look(bound: Bound, most: float, params: tuple[tuple[str, Any], ...]) -> dict[float, float]:
    """log δ, roughly, at 0 and at powers of 2: down to where it falls from 0 on, up to where it is tiny, or ε at its most."""
    p, (low, high) = dict(params), _POWERS
    powers, found = list(range(low, high)), dict[float, float]()
    while powers:
        at = [2.0**k for k in powers] if found else [0.0, *(2.0**k for k in powers)]
        found = dict(sorted([*found.items(), *zip(at, _many(bound, at, COARSE, p), strict=True)]))
        logs = list(found.values())
        powers = []
        if logs[-1] > DEEPEST and 2.0**high < most and high < _MOST_POWER:
            powers += range(high, high + _MORE)
            high += _MORE
        if logs[0] > DEEPEST and logs[1] < logs[0] - _APART and low > -_MOST_POWER:
            powers += range(low - _MORE, low)
            low -= _MORE
    last = next((e for e in found if e >= most), inf)
    return {e: x for e, x in found.items() if e <= last}


def _between_powers(seen: dict[float, float], floor: float) -> Samples:
    """About log δ between the powers: −log δ is a power of ε; straight from 0 to the first."""
    found = {0.0: seen[0.0]}
    for (a, x), (b, y) in pairwise(seen.items()):
        if x <= floor:
            break
        if a and y < x - _APART / _OCTAVE:
            above, below = max(-x, 1e-3), min(-y, -4 * floor)
            found |= {a * (b / a) ** (k / _OCTAVE): -above * (below / above) ** (k / _OCTAVE) for k in range(1, _OCTAVE)}
        found[b] = y
    return tuple(found), tuple(found.values())


def _distance(a: float, b: float, above: float, below: float, floor: float) -> float:
    """Between two samples: √(h(h + w)) for a fall h of log δ over a step w of ε; a chord in e^ε is about an eighth of its square above a
    log δ that falls evenly."""
    asked = floor + _AT_LEAST
    fall = max(above, floor) - max(below, floor) - (1 - _DEEP) * (min(max(above, floor), asked) - min(max(below, floor), asked))
    return sqrt(fall * (fall + min(b - a, _WIDE))) if fall > 0 else 0.0


def _distances(samples: Samples, floor: float) -> list[float]:
    return [_distance(a, b, x, y, floor) for (a, x), (b, y) in pairwise(zip(*samples, strict=True))]


def _spread(samples: Samples, floor: float) -> list[float]:
    """As many ε, about evenly, from 0 on."""
    along = np.cumsum([0.0, *_distances(samples, floor)])
    pieces = min(ceil(along[-1] / _APART), _MOST)
    return [float(e) for e in dict.fromkeys(np.interp(np.linspace(0.0, along[-1], pieces + 1), along, samples[0]).tolist())]


def _added(found: dict[float, float], floor: float) -> list[float]:
    """Points between samples that are more than twice as far apart as they should be."""
    epsilons, apart = tuple(found), _distances((tuple(found), tuple(found.values())), floor)
    allowed = max(_APART, sum(apart) / _MOST)
    cut = [(a, b, min(ceil(x / allowed), _PIECES)) for (a, b), x in zip(pairwise(epsilons), apart, strict=True) if x > 2 * allowed]
    return [e for a, b, pieces in cut for k in range(1, pieces) if a < (e := a + (b - a) * k / pieces) < b]
