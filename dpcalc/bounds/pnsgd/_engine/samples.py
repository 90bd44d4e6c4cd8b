"""The profile of one epoch at the ε that a composition is made from: about evenly along its fall.

A look at powers of 2 says about how log δ falls. The profile is then taken at all ε of one array, and again between
those where it falls faster than thought. The points are never below the profile, and what is composed is the lower
convex hull of the points and their mirror images, δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), over all γ = e^ε from 0, where it is 1,
on (profiles.pairs.hull): no smaller than the profile, which is convex in γ and has that symmetry, and itself that of a
pair of laws, as its bends are positive also at ε = 0. """

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, inf, log, sqrt
from typing import Any

import numpy as np

from dpcalc.bounds.pnsgd._engine.positions import COARSE
from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope

Samples = tuple[tuple[float, ...], tuple[float, ...]]  # ε and log δ

DEEPEST = -690.0  # log δ: what is smaller is rounded up to it (profiles.pairs)
BEYOND = 8.0  # how far below log(δ/E) samples go: what lies beyond counts as lost, and is e^−8 of δ
_DEPTH = 4.0  # they go down to a multiple of this, so that the same ones serve ε at a δ and δ at that ε
# of 2, of the first look; as many are added at an end, while sums of squares are doubles
_POWERS, _MORE, _MOST_POWER = (-24, 12), 24, 400
_APART, _MOST = 0.12, 200  # between samples (_distances); of as many in all, if the fall is long
_DEEP = 20.0  # of a fall of log δ: so far below the top samples may be twice as far apart, as fewer epochs lose as much
_WIDE = 1.0  # of a step of ε: a chord is flat but for its end beyond
_LEVEL = 1e-4  # of log δ: where it falls by less up to the farthest ε, losses may as well be infinite
_OCTAVE = 8  # parts of an octave, between powers
_ROUNDS, _PIECES = 4, 8  # how often samples are added, and into how many pieces at most a step is cut then
# Blocks of sums over positions, less fine where that takes more nodes (10 at 1e12 records): from a tenth of the
# positions before them δ is 4 to 6 % larger, from a sixtieth .5 %.
_FINE, _NODES = (60, 45, 30, 20, 15, 10), 264


def followed(bound: Bound, log_delta: float, steps: int, p: dict[str, Any]) -> tuple[Samples, dict[float, Any]]:
    """The samples that are composed for a δ, and for every ε the way of the value there (Bound.blocks); nothing where
    it has none."""
    return _followed(bound, floor_of(log_delta, steps), tuple(p.items()))


def about(bound: Bound, p: dict[str, Any]) -> Samples:
    """The same by the first look alone, as far as samples ever go: no bound."""
    return _between_powers(_look(bound, tuple(p.items())), DEEPEST)


def floor_of(log_delta: float, steps: int) -> float:
    """The log δ of one epoch to which its profile is followed."""
    return max(_DEPTH * floor((log_delta - log(steps) - BEYOND) / _DEPTH), DEEPEST)


def fineness(p: Mapping[str, Any]) -> int:
    """1/this is the part of the positions before it that a block of a sum over positions may be: what as many nodes
    allow."""
    n = p["n"]
    return next((fine for fine in _FINE if n <= fine or fine * (1 + log(n / fine)) <= _NODES), _FINE[-1])


@lru_cache(maxsize=16)
def _followed(bound: Bound, lowest: float, params: tuple[tuple[str, Any], ...]) -> tuple[Samples, dict[float, Any]]:
    p, ways, found = dict(params), dict[float, Any](), dict[float, float]()
    more = _spread(_between_powers(_look(bound, params), lowest), lowest)
    for _ in range(_ROUNDS):
        found = dict(sorted([*found.items(), *zip(more, _many(bound, more, fineness(p), p, ways), strict=True)]))
        last = next((e for e, x in found.items() if x <= lowest), inf)
        found = {e: x for e, x in found.items() if e <= last}
        more = _added(found, lowest)
        if not more:
            break
    return (tuple(found), tuple(found.values())), ways


def _many(bound: Bound, epsilons: list[float], fine: int, p: dict[str, Any],
          ways: dict[float, Any] | None = None) -> list[float]:
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


@lru_cache(maxsize=8)
def _look(bound: Bound, params: tuple[tuple[str, Any], ...]) -> dict[float, float]:
    """log δ, roughly, at 0 and at powers of 2: down to where it falls from 0 on, up to where it is tiny, or 0."""
    p, (low, high) = dict(params), _POWERS
    powers, found = list(range(low, high)), dict[float, float]()
    while powers:
        at = [2.0**k for k in powers] if found else [0.0, *(2.0**k for k in powers)]
        found = dict(sorted([*found.items(), *zip(at, _many(bound, at, COARSE, p), strict=True)]))
        logs = list(found.values())
        powers = []
        if logs[-1] > DEEPEST and high < _MOST_POWER:
            powers += range(high, high + _MORE)
            high += _MORE
        if logs[0] > DEEPEST and logs[1] < logs[0] - _APART and low > -_MOST_POWER:
            powers += range(low - _MORE, low)
            low -= _MORE
    if (end := _end(bound, p)) < inf:
        found = {**{e: x for e, x in found.items() if e < end}, end: -inf}
    level = next(e for e, x in found.items() if x <= min(found.values()) + _LEVEL)
    return {e: x for e, x in found.items() if e <= level}


def _between_powers(seen: dict[float, float], lowest: float) -> Samples:
    """About log δ between the powers: −log δ is a power of ε; straight from 0 to the first; and δ is straight to where
    it is 0."""
    found = {0.0: seen[0.0]}
    for (a, x), (b, y) in pairwise(seen.items()):
        if x <= lowest:
            break
        above, below = max(-x, 1e-3), min(-y, -4 * lowest)
        if y == -inf:
            found |= {b - (b - a) / 2**k: x - k * log(2) for k in range(1, ceil((x - lowest) / log(2)))}
        elif a and y < x - _APART / _OCTAVE:
            found |= {a * (b / a) ** (k / _OCTAVE): -above * (below / above) ** (k / _OCTAVE)
                      for k in range(1, _OCTAVE)}
        found[b] = y
    return tuple(found), tuple(found.values())


def _distances(samples: Samples, lowest: float) -> list[float]:
    """Between neighbours: √(h(h + w)) for a fall h of log δ over a step w of ε, as a chord in e^ε is about an eighth of
    its square above a log δ that falls evenly; less of it, the deeper they are."""
    found, logs = [], [max(x, lowest) for x in samples[1]]
    for (a, x), (b, y) in pairwise(zip(samples[0], logs, strict=True)):
        fall, depth = max(x - y, 0.0), logs[0] - x
        found.append(sqrt(fall * (fall + min(b - a, _WIDE))) / (1 + depth / _DEEP))
    return found


def _spread(samples: Samples, lowest: float) -> list[float]:
    """As many ε, about evenly, from 0 on."""
    along = np.cumsum([0.0, *_distances(samples, lowest)])
    pieces = min(ceil(along[-1] / _APART), _MOST)
    return [float(e)
            for e in dict.fromkeys(np.interp(np.linspace(0.0, along[-1], pieces + 1), along, samples[0]).tolist())]


def _added(found: dict[float, float], lowest: float) -> list[float]:
    """Points between samples that are more than twice as far apart as they should be."""
    epsilons, apart = tuple(found), _distances((tuple(found), tuple(found.values())), lowest)
    allowed = max(_APART, sum(apart) / _MOST)
    cut = [(a, b, min(ceil(x / allowed), _PIECES)) for (a, b),
           x in zip(pairwise(epsilons), apart, strict=True) if x > 2 * allowed]
    return [e for a, b, pieces in cut for k in range(1, pieces) if a < (e := a + (b - a) * k / pieces) < b]
