"""The profile of one epoch at the ε that a composition is made from: where log δ falls by 0.1 to 0.2.

A rough look at powers of 1.5 says where; then the profile is taken at all of them at once. Its convex hull dominates it (profiles.pairs).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import pairwise
from math import ceil, expm1, floor, inf, log, log1p
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.positions import COARSE
from dpcalc.bounds.pnsgd.positions import FINE as CLOSE
from dpcalc.errors import OutOfScope
from dpcalc.least_epsilon import no_epsilon
from dpcalc.numerics.rounding import up
from dpcalc.numerics.work import remembered

_DEPTH = 16.0  # samples go down to a multiple of this, so that the same ones serve many questions
# Of the range, as far as it is known: the first samples.
_FIRST = (0.0, 1 / 256, 1 / 128, 1 / 64, 1 / 32, *(k / 24 for k in range(1, 29)), 1.25, 1.5)
_MANY, _MOST, _WIDE = 180, 240, 0.3  # samples between the first ones, about, and where δ is tiny; a step of ε
_TOP, _FALLEN, _DEEP = 4.0, 0.1, 0.3  # of log δ; as much counts what lies deep
_BELOW, _BEFORE = (0.8, 0.9, 0.95, 0.98, 1.0), [-k / 8 for k in range(13)]  # of an ε asked about; powers of the ratio
_RATIO = 1.5
_SEARCHED, _FARTHEST = (-28, 14), 1500  # its powers where the end of the range is looked for, and as many beyond, down and up to this
_NEAREST = -40  # power, down to which the fall from 0 on is looked at
DEEPEST = -750.0  # what is below e^-690 is rounded up to it (profiles.pairs)
_SURELY, _FAR = 2.0, 4.0  # of that depth: where samples surely are low enough; what lies deeper does not matter
_LOST = 40.0  # of a loss above ε: nearly all of it counts
_FAR_OUT = 1000.0  # an ε: the powers, in large blocks, may have led there where a rare loss decides
_BEYOND = 12.0  # how far below log δ, per epoch, the samples go; what lies beyond counts as lost
# Blocks of sums over positions, less fine where that takes more nodes (10 at 1e12 records): from a tenth of the positions before them δ
# is 4 to 6 % larger, from a sixtieth .5 %. And the fall of log δ between samples: the hull is at most .1 to .8 % above the profile.
_FINE, _NODES = (60, 45, 36, 28, 22, 18, 15, 12, 10), 264
_FALL, _FALLS = 0.1, 0.25
Samples = tuple[tuple[float, ...], tuple[float, ...]]  # ε and log δ


def followed(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], asked: float = 0.0) -> Samples:
    """ε and log δ of one epoch at the samples that are composed, for a δ; or for an `asked` ε, at which one epoch has that δ."""
    return _samples(bound, log_delta, steps, tuple(p.items()), asked)[0]


def blocks_of(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], asked: float = 0.0) -> dict[float, Any]:
    """For every ε of these samples the blocks of the value there (Bound.blocks); nothing where it has none."""
    return _samples(bound, log_delta, steps, tuple(p.items()), asked)[1]


def about(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], closely: bool = False) -> Samples:
    """About ε and log δ of one epoch at few of the samples, by the look that says where they are: no bound; or by the blocks of `followed`.
    Where the range has an end, what is between powers does not tell where δ vanishes."""
    lowest, params = _floor(log_delta, steps), tuple(p.items())
    found = _first(bound, lowest, params, *_around(bound, params, log_delta, steps))
    if closely:
        found = dict.fromkeys(sorted({*found, *((a + b) / 2 for a, b in pairwise(found))}), 0.0)
    if closely or _end(bound, p) < inf:
        found = dict(zip(found, many(bound, list(found), fineness(p) if closely else COARSE, p), strict=True))
    _cut(found, lowest)
    return _as_samples(found)


def powers(bound: Bound, p: dict[str, Any]) -> Samples:
    """ε and log δ of one epoch, roughly and from above, where samples are placed from."""
    return _as_samples(_seen(bound, tuple(p.items())))


def deepest(log_delta: float, steps: int) -> float:
    """About the log of what the losses beyond the last sample make of δ."""
    return _floor(log_delta, steps) + log(steps)


def epsilon_along(samples: Samples, log_delta: float) -> float:
    """The ε at δ along the samples, which are joined by chords in e^ε: a profile is convex in it; inf where the last is above δ."""
    epsilons, logs = samples
    k = next((k for k, x in enumerate(logs) if x <= log_delta), None)
    if not k:
        return inf if k is None else 0.0
    a, b, above, below = epsilons[k - 1], epsilons[k], logs[k - 1], logs[k]
    share = expm1(log_delta - above) / expm1(below - above)
    return up(a + log1p(share * expm1(b - a)), 1e-13) if b - a < 700 else b


def log_delta_along(samples: Samples, epsilon: float) -> float:
    """log δ at ε along the same chords; beyond the last sample, what it is there."""
    epsilons, logs = samples
    k = bisect_left(epsilons, epsilon)
    if k == len(epsilons) or epsilons[k] == epsilon:
        return logs[min(k, len(logs) - 1)]
    a, b, above, below = epsilons[k - 1], epsilons[k], logs[k - 1], logs[k]
    share = expm1(epsilon - a) / expm1(b - a) if b - a < 700 else 0.0
    return above + up(log1p(share * expm1(below - above)), 1e-13)


def composed_epsilon(samples: Samples, log_delta: float, steps: int) -> float:
    """An ε that the composition has at δ: half of δ for losses above the first sample at which one epoch has half of δ/E, Chernoff's bound
    for the others. 0 where that is the first one, inf where none is as low."""
    from dpcalc.profiles import pairs, tilt

    epsilons, logs = samples
    half = log_delta - log(2)
    some = next((k for k, x in enumerate(logs, 1) if x <= half - log(steps)), None)
    if some is None:
        return inf
    c = tilt.for_delta(((pairs.sampled(epsilons[:some], logs[:some]), steps),), half)
    return max(0.0, tilt.least_epsilon(c, half))


def many(bound: Bound, epsilons: list[float], fine: int, p: dict[str, Any], ways: dict[float, Any] | None = None) -> list[float]:
    """Upper bounds on log δ at many ε; `ways` as in Bound.blocks."""
    if not bound.blocks:
        return [float(bound.value(e, **p)) for e in epsilons]
    from numpy import array

    return [float(x) for x in bound.blocks(array(epsilons), fine, ways=ways, **p)] if epsilons else []


def fineness(p: Mapping[str, Any]) -> int:
    """1/this is the part of the positions before it that a block of a sum over positions may be: what as many nodes allow."""
    n = p["n"]
    return next((fine for fine in _FINE if n <= fine or fine * (1 + log(n / fine)) <= _NODES), _FINE[-1])


def at(bound: Bound, epsilon: float, p: dict[str, Any], ways: dict[float, Any] | None = None) -> float:
    """log δ of one epoch: the value of the bound, by arrays where it has such, which are a little above it and much faster."""
    return many(bound, [epsilon], CLOSE, p, ways)[0]


def _floor(log_delta: float, steps: int) -> float:
    """How far down the profile is followed."""
    return _DEPTH * floor((log_delta - log(steps) - _BEYOND) / _DEPTH)


@remembered(16)
def _around(bound: Bound, params: tuple[tuple[str, Any], ...], log_delta: float, steps: int,
            asked: float = 0.0) -> tuple[float, tuple[float, ...]]:
    """The loss of one epoch from which on it may as well be infinite: far above the ε asked about, or above about what the composition has
    at δ, in exchange for e^−_LOST of δ. And close samples, where a rare loss decides: next to the ε asked about, or where one epoch has
    δ/E."""
    seen = _seen(bound, params)
    each = _each(seen, log_delta, steps)
    close = tuple(asked * x for x in _BELOW) if asked else tuple(each * _RATIO**x for x in _BEFORE) if _WIDE < each < inf else ()
    return _lost(seen, log_delta, steps, asked), close


def _as_samples(found: dict[float, float]) -> Samples:
    return tuple(found), tuple(found.values())


def _each(seen: dict[float, float], log_delta: float, steps: int) -> float:
    """The first of some ε at which one epoch has δ/E."""
    return next((e for e, x in seen.items() if x <= log_delta - log(steps)), inf)


def _lost(seen: dict[float, float], log_delta: float, steps: int, asked: float) -> float:
    """The loss of one epoch from which on it may as well be infinite, as far as some ε tell."""
    return (asked or min(steps * _each(seen, log_delta, steps), composed_epsilon(_as_samples(seen), log_delta, steps))) + _LOST


@remembered(16)
def _samples(bound: Bound, log_delta: float, steps: int, params: tuple[tuple[str, Any], ...],
             asked: float) -> tuple[Samples, dict[float, Any]]:
    """ε and log δ of one epoch, followed as far down as is wanted, or up to the loss that may as well be infinite, with some close ones;
    and in what blocks."""
    lowest, p, ways = _floor(max(log_delta, DEEPEST) if asked else log_delta, steps), dict(params), dict[float, Any]()
    first = _first(bound, lowest, params, *_around(bound, params, log_delta, steps, asked))
    found = dict(zip(first, many(bound, list(first), fineness(p), p, ways), strict=True))
    _cut(found, lowest)
    if max(found) > _FAR_OUT and (top := _lost(found, log_delta, steps, asked)) < max(found):
        _end_at(found, min(e for e in found if e >= top))
    fall = found[0.0] - max(lowest, min(found.values()))
    deep = _DEEP if fall < _FALLS * _MOST else 1.0
    count = {e: _count(x, found[0.0], lowest, deep) for e, x in sorted(found.items())}
    allowed = max(_FALL, min(fall / _MANY, _FALLS), fall / _MOST)
    more = [e for a, b in pairwise(count) for e in _between(a, b, (count[b] - count[a]) / allowed)]
    found |= zip(more, many(bound, more, fineness(p), p, ways), strict=True)
    _cut(found, lowest)
    order = sorted(found)
    return (tuple(order), tuple(found[e] for e in order)), ways


def _first(bound: Bound, lowest: float, params: tuple[tuple[str, Any], ...], top: float, close: tuple[float, ...]) -> dict[float, float]:
    """The first samples of the range, and about log δ there; with more near 0, where a profile may fall steeply, and the close ones."""
    (last, seen), end = _extent(bound, lowest, params, top), _end(bound, dict(params))
    last = min(last, end)
    near_zero = (e for e, x in seen.items() if e < _FIRST[1] * last and x < seen[0.0] - _FALLEN)
    near_end = (end,) if end < _FIRST[-1] * last else ()
    epsilons = sorted(e for e in {*(last * x for x in _FIRST), *near_zero, *close, *near_end} if e <= end)
    found = dict(zip(epsilons, _between_powers(seen, epsilons, lowest), strict=True))
    if end == inf:
        _cut(found, _SURELY * lowest)
        reached = next((e for e, x in seen.items() if x <= lowest), inf)
        if max(found) < reached <= top:  # what is between powers may be far above what is thought
            found[reached] = lowest
    return found


def _end(bound: Bound, p: dict[str, Any]) -> float:
    """The ε from which δ is 0, if there is one."""
    try:
        return bound.pure(**p) if bound.pure else inf
    except OutOfScope:
        return inf


def _cut(found: dict[float, float], lowest: float) -> None:
    """Without the samples beyond the first that is low enough."""
    _end_at(found, min((e for e, x in found.items() if x <= lowest), default=inf))


def _end_at(found: dict[float, float], last: float) -> None:
    for e in [e for e in found if e > last]:
        del found[e]


def _count(log_delta: float, first: float, lowest: float, deep: float) -> float:
    """How far log δ has fallen, in parts that are to be seen alike: double near the top, which decides where there are many epochs; what
    lies beyond the δ of one epoch that is wanted counts `deep`."""
    x = max(log_delta, lowest)
    return first - x + min(first - x, _TOP) - (1 - deep) * max(lowest + _BEYOND - x, 0.0)


def _between(a: float, b: float, fall: float) -> list[float]:
    """Points that cut a fall of log δ between a and b, in units of what is allowed. Chords are straight in e^ε: over a wide step they are
    nearly flat but for its end, and half of that is allowed."""
    pieces = max(1, ceil(fall), min(ceil(2 * fall), ceil((b - a) / _WIDE)))
    return [a + (b - a) * k / pieces for k in range(1, pieces)]


@remembered(4)
def _seen(bound: Bound, params: tuple[tuple[str, Any], ...]) -> dict[float, float]:
    """log δ, roughly, at 0 and at powers of 1.5."""
    at = [0.0, *(_RATIO**k for k in range(*_SEARCHED))]
    return dict(zip(at, many(bound, at, COARSE, dict(params)), strict=True))


@remembered(4)
def _extent(bound: Bound, lowest: float, params: tuple[tuple[str, Any], ...], top: float) -> tuple[float, dict[float, float]]:
    """About the ε with log δ = lowest, interpolated between powers of 1.5, at most the top; and log δ at the powers."""
    seen, p, (low, high) = _seen(bound, params), dict(params), _SEARCHED
    more = high - low
    while True:
        at = list(seen)
        if seen[0.0] <= lowest:
            return 0.0, seen
        k = next((k for k, x in enumerate(seen.values()) if x <= lowest), len(at))
        falls_before = low > _NEAREST and seen[at[1]] < seen[0.0] - _FALLEN
        if k == len(at) and at[-1] >= top and not falls_before:
            return top, seen
        if 1 < k < len(at) and not falls_before:
            a, b = at[k - 1], at[k]
            above, below = _size(seen[a], lowest), _size(seen[b], lowest)
            return min(top, float(a * _RATIO ** (log(-lowest / above) / log(below / above)))), seen
        if k == 1 and low < -_FARTHEST:
            return at[1], seen
        if k == len(at) and high > _FARTHEST:
            raise no_epsilon(bound.name, min(seen.values()), bound.rtol, "every epoch leaves")
        if k == 1 or falls_before:
            first = low - more
            near = k > 1 or low == _SEARCHED[0]
            low = first if near else _first_above(bound, lowest, range(first, -_FARTHEST - more, -more), p)
            tried = [_RATIO**k for k in range(low, low + more)]
        else:
            tried = [_RATIO**k for k in range(high, high + more)]
            high += more
        seen = dict(sorted([*seen.items(), *zip(tried, many(bound, tried, COARSE, p), strict=True)]))


def _first_above(bound: Bound, lowest: float, powers: range, p: dict[str, Any]) -> int:
    """The first of falling powers with log δ above the lowest, or the last one."""
    logs = many(bound, [_RATIO**k for k in reversed(powers)], COARSE, p)[::-1]
    return next((k for k, x in zip(powers, logs, strict=True) if x > lowest), powers[-1])


def _size(log_delta: float, lowest: float) -> float:
    """−log δ, where it matters."""
    return min(max(-log_delta, 1e-3 * -lowest), -_FAR * lowest)


def _between_powers(seen: dict[float, float], epsilons: list[float], lowest: float) -> list[float]:
    """About log δ: −log δ is nearly a power of ε between two that were seen; straight from 0 to the first."""
    at, sizes = list(seen), [_size(x, lowest) for x in seen.values()]

    def about(epsilon: float) -> float:
        k = min(max(bisect_left(at, epsilon), 1), len(at) - 1)
        if k == 1:
            return -(sizes[0] + (sizes[1] - sizes[0]) * min(epsilon / at[1], 1.0))
        return -sizes[k - 1] * float((epsilon / at[k - 1]) ** (log(sizes[k] / sizes[k - 1]) / log(_RATIO)))

    return [about(e) for e in epsilons]
