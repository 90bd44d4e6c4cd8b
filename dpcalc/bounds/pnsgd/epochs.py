"""E epochs, each freshly shuffled (or in the same fixed order), with the outputs of all epochs released.

Each epoch starts from the released output of the one before: adaptive composition. The whole profile of one epoch is
composed, not one point of it: sampled where log δ falls by about 0.2, its convex hull dominates the profile (dpcalc.profiles).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import ceil, exp, expm1, floor, inf, log, log1p
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.positions import COARSE
from dpcalc.errors import DpcalcError, OutOfScope
from dpcalc.numerics.invert import Unreachable, boundary_log, bracket
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.profiles.compose import Bracket

_DEPTH = 16.0  # samples go down to a multiple of this, so that the same ones serve many questions
# Of the range, as far as it is known: the first samples.
_FIRST = (0.0, 1 / 256, 1 / 128, 1 / 64, 1 / 32, *(k / 24 for k in range(1, 29)), 1.25, 1.5)
_MOST, _WIDE = 240, 0.3  # samples between the first ones, about; a step of ε
_TOP = 4.0  # of log δ
_BELOW = (0.8, 0.9, 0.95, 0.98, 1.0)  # of an ε asked about
_RATIO = 1.5
_SEARCHED = tuple(_RATIO**k for k in range(-40, 28))  # where the end of the range is looked for, and beyond
_SURE = 1e-9  # δ as near to 1 as that is reported as 1
_DEEPEST = -750.0  # what is below e^-690 is rounded up to it (profiles.pairs)
_BEYOND = 12.0  # how far below log δ, per epoch, the samples go; what lies beyond counts as lost


class _Sampling(NamedTuple):
    """How closely a profile is followed."""

    fine: int  # blocks of its sums
    fall: float  # of log δ between samples; 0: what it is between the first ones


_CLOSE = _Sampling(10, 0.2)  # the hull is at most about .5 % above the profile; finer sums would gain 1e-4 of ε
_LOOSE = _Sampling(COARSE, 0.0)  # to see where a solution lies


Samples = tuple[tuple[float, ...], tuple[float, ...]]  # ε and log δ


def composed(bound: Bound) -> Bound:
    """The bound for `steps` epochs, by the composition of its profile; `rough` is the same, faster and a little larger."""
    return _composed(bound, _CLOSE)._replace(rough=_composed(bound, _LOOSE))


def _composed(bound: Bound, sampling: _Sampling) -> Bound:
    quick = bound._replace(value=bound.coarse) if bound.coarse and sampling is _LOOSE else bound

    def at_epsilon(epsilon: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """log δ, and the grid that it is composed on."""
        one = float(quick.value(epsilon, **p))
        if steps == 1 or one == -inf:
            return one if steps == 1 else basic_value(bound, epsilon, steps, p), {}
        if surely_one(quick, one, epsilon, steps, p):
            return 0.0, {}
        found = _delta(followed(bound, one, steps, p, epsilon, sampling), steps, epsilon)
        return found.upper, found.witness

    def at_delta(log_delta: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """ε, and the grid."""
        if steps == 1:
            return _one_epoch(bound, log_delta, p), {}
        samples = followed(bound, log_delta, steps, p, 0.0, sampling)
        basic = steps * _along(*samples, (log_delta - log(steps)) * (1 + 4e-16))
        if basic == 0:
            return 0.0, {}
        found = _epsilon(samples, steps, log_delta)
        return min(basic, found.upper), found.witness

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return at_epsilon(epsilon, steps, p)[0]

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return at_delta(log_delta, steps, p)[0]

    def trace(steps: int, epsilon: float | None = None, log_delta: float | None = None, **p: Any) -> dict[str, Any]:
        return at_epsilon(epsilon or 0.0, steps, p)[1] if log_delta is None else at_delta(log_delta, steps, p)[1]

    return bound._replace(params=(*bound.params, "steps"), value=value, inverse=inverse, coarse=None, exact=_no_formula, pure=_pure(bound),
                          margin=3e-4, one=bound, trace=trace,
                          statement=f"{bound.statement}; E epochs by composition of the whole profile",
                          assumptions=(*bound.assumptions, "every epoch is shuffled afresh; the outputs of all epochs are released"))


@lru_cache(maxsize=8)
def _delta(samples: Samples, steps: int, epsilon: float) -> Bracket:
    from dpcalc.profiles import compose, pairs

    return compose.log_delta_at(((pairs.sampled(*samples), steps),), epsilon, bracket=False)


@lru_cache(maxsize=8)
def _epsilon(samples: Samples, steps: int, log_delta: float) -> Bracket:
    from dpcalc.profiles import compose, pairs

    return compose.epsilon_at(((pairs.sampled(*samples), steps),), log_delta, bracket=False)


def surely_one(bound: Bound, one: float, epsilon: float, steps: int, p: dict[str, Any]) -> bool:
    """Whether δ is 1 up to its last digits, and 1 is a bound: it is for one epoch, and more lose no less; or the mean loss, at least
    2E·δ(0)² by Pinsker, is far above ε."""
    return one > -_SURE or 2 * steps * exp(2 * float(bound.value(0.0, **p))) > 4 * epsilon + 100


def basic(bound: Bound) -> Bound:
    """The bound for `steps` epochs, one point (ε/E, δ/E) of it composed E times; for comparison."""

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound, epsilon, steps, p)

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return up(steps * _one_epoch(bound, log_delta - log(steps) * (1 + 4e-16), p), 4e-16)

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return steps * bound.exact(mp, mp.mpf(epsilon) / steps, **p)

    def coarse(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound._replace(value=bound.coarse or bound.value), epsilon, steps, p)

    return bound._replace(name=f"{bound.name}-basic", params=(*bound.params, "steps"), value=value, inverse=inverse,
                          coarse=coarse if bound.coarse else None, exact=exact, pure=_pure(bound),
                          statement=f"{bound.statement}; E epochs by basic composition: (ε/E, δ/E) each",
                          source=f"{bound.source}; composition-basic")


def basic_value(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> float:
    """log of Eδ(ε/E)."""
    return min(0.0, up(float(bound.value(epsilon / steps * (1 - 2e-16), **p)) + log(steps), 4e-16))


def _no_formula(*_: Any, **__: Any) -> Any:
    raise DpcalcError("unsupported", "a composition of epochs has no printed formula to evaluate", "--digits")


def _pure(bound: Bound) -> Callable[..., float] | None:
    one = bound.pure
    return (lambda steps, **p: up(steps * one(**p))) if one else None


def _one_epoch(bound: Bound, log_delta: float, p: dict[str, Any]) -> float:
    """The least ε of one epoch, safe."""
    if bound.inverse:
        return float(bound.inverse(log_delta, **p))
    return _reach(bound, log_delta, p, 1e-13)


def _reach(bound: Bound, log_delta: float, p: dict[str, Any], rtol: float) -> float:
    def gap(epsilon: float) -> float:
        return float(bound.value(epsilon, **p)) - log_delta

    if gap(0.0) <= 0:
        return 0.0
    try:
        meets, fails = bracket(gap, 1.0, +1, 1e-300, 1e300)
    except Unreachable:
        raise OutOfScope("no-solution", f"{bound.name} reaches that δ at no ε", "--delta") from None
    return boundary_log(gap, meets, fails, rtol)


def followed(bound: Bound, log_delta: float, steps: int, p: dict[str, Any], asked: float = 0.0,
             sampling: _Sampling = _CLOSE) -> Samples:
    """ε and log δ of one epoch at the samples that are composed, for a δ; or for an `asked` ε, at which one epoch has that δ."""
    return _samples(bound, sampling, _floor(max(log_delta, _DEEPEST) if asked else log_delta, steps), tuple(p.items()), asked)


def _floor(log_delta: float, steps: int) -> float:
    """How far down the profile is followed."""
    return _DEPTH * floor((log_delta - log(steps) - _BEYOND) / _DEPTH)


@lru_cache(maxsize=8)
def _samples(bound: Bound, sampling: _Sampling, lowest: float, params: tuple[tuple[str, Any], ...],
             asked: float = 0.0) -> Samples:
    """ε and log δ of one epoch, followed down to log δ = lowest; the first ones near 0, where a profile may fall steeply, and next
    to the ε asked about: where losses are rare, one of them decides."""
    p = dict(params)
    last = min(_extent(bound, lowest, p), _end(bound, p))
    epsilons = sorted({*(last * x for x in _FIRST), *(asked * x for x in _BELOW)})
    found = dict(zip(epsilons, _many(bound, epsilons, sampling.fine, p), strict=True))
    _cut(found, lowest)
    if sampling.fall:
        most = max(1.0, -lowest / _MOST / sampling.fall)
        allowed, steps = sampling.fall * most, pairwise(sorted(found))
        between = [e for a, b in steps for e in _between(a, b, _fall(found[a], found[b], found[0.0], lowest) / allowed)]
        found |= zip(between, _many(bound, between, sampling.fine, p), strict=True)
        _cut(found, lowest)
    order = sorted(found)
    return tuple(order), tuple(found[e] for e in order)


def _end(bound: Bound, p: dict[str, Any]) -> float:
    """The ε from which δ is 0, if there is one."""
    try:
        return bound.pure(**p) if bound.pure else inf
    except OutOfScope:
        return inf


def _cut(found: dict[float, float], lowest: float) -> None:
    """Without the samples beyond the first that is low enough."""
    enough = min((e for e, x in found.items() if x <= lowest), default=inf)
    for e in [e for e in found if e > enough]:
        del found[e]


def _fall(above: float, below: float, first: float, lowest: float) -> float:
    """Of log δ over a step; near the top, which decides where there are many epochs, counted double."""
    return (above - max(below, lowest)) * (2 if above > first - _TOP else 1)


def _between(a: float, b: float, fall: float) -> list[float]:
    """Points that cut a fall of log δ between a and b, in units of what is allowed. Chords are straight in e^ε: over a wide step they are
    nearly flat but for its end, and half of that is allowed."""
    pieces = max(1, ceil(fall), min(ceil(2 * fall), ceil((b - a) / _WIDE)))
    return [a + (b - a) * k / pieces for k in range(1, pieces)]


def _along(epsilons: tuple[float, ...], logs: tuple[float, ...], log_delta: float) -> float:
    """The ε at δ along the samples, which are joined by chords in e^ε: a profile is convex in it. The last sample reaches δ."""
    if logs[0] <= log_delta:
        return 0.0
    k = next(k for k, x in enumerate(logs) if x <= log_delta)
    a, b, above, below = epsilons[k - 1], epsilons[k], logs[k - 1], logs[k]
    share = expm1(log_delta - above) / expm1(below - above)
    return up(a + log1p(share * expm1(b - a)), 1e-13) if b - a < 700 else b


def _many(bound: Bound, epsilons: list[float], fine: int, p: dict[str, Any]) -> list[float]:
    """Upper bounds on log δ at many ε."""
    if not bound.blocks:
        return [float(bound.value(e, **p)) for e in epsilons]
    from numpy import array

    return [float(x) for x in bound.blocks(array(epsilons), fine, **p)] if epsilons else []


def _extent(bound: Bound, lowest: float, p: dict[str, Any]) -> float:
    """About the ε with log δ = lowest, interpolated between powers of 1.5: −log δ is nearly a power of ε."""
    scale, way = 1.0, 0
    while 1e-280 < scale < 1e280:
        tried = [scale * x for x in _SEARCHED]
        at_zero, *logs = _many(bound, [0.0, *tried], COARSE, p)
        if at_zero <= lowest:
            return 0.0
        k = next((k for k, x in enumerate(logs) if x <= lowest), len(tried))
        if 0 < k < len(tried):
            above, below = max(-logs[k - 1], 1e-3 * -lowest), min(-logs[k], 1e300)
            return tried[k - 1] * float(_RATIO ** (log(-lowest / above) / log(below / above)))
        if k == 0 and way > 0:
            return tried[0]
        way = +1 if k else -1
        scale *= _RATIO ** (way * (len(tried) - 1))
    if way < 0:
        return tried[0]
    raise OutOfScope("no-solution", f"{bound.name} reaches that δ at no ε", "--delta")
