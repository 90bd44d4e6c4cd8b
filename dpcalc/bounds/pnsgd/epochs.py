"""E epochs, each freshly shuffled (or in the same fixed order), with the outputs of all epochs released.

Each epoch starts from the released output of the one before: adaptive composition. The whole profile of one epoch is
composed, not one point of it, at samples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import exp, expm1, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.positions import from_zero, invert_near
from dpcalc.bounds.pnsgd.samples import (
    DEEPEST,
    Samples,
    about,
    at,
    composed_epsilon,
    deepest,
    epsilon_along,
    fineness,
    followed,
    log_delta_along,
    powers,
)
from dpcalc.errors import DpcalcError
from dpcalc.least_epsilon import least_epsilon, no_epsilon
from dpcalc.numerics.invert import Unreachable, log_share
from dpcalc.numerics.rounding import up
from dpcalc.numerics.work import remembered

if TYPE_CHECKING:
    from dpcalc.profiles.bracket import Bracket
    from dpcalc.profiles.tilt import Parts

# log δ that a profile is followed to at first, at least; or as many times what a rough look says, where that is small or tiny.
_AT_FIRST, _DEEPER, _FAR_DEEPER = -4.0, 1.2, 1.5
_DEEP = 70.0  # of log δ: twice as deep, the hull of the samples is four times as far above the profile, and composed as roughly
_DEEP_BUDGET = 30.0  # the same, where ε is to meet a budget: it is as near then
_NOT_LOST = 8.0  # of log δ above what the end of the samples, counted as lost, may make
_SEEN = 1e-4  # errors of δ that are looked at
# Of log δ, above which basic composition is not to be sharper by the smaller blocks of one value; of an ε, where δ falls steeply.
_BASIC, _FARTHER = 0.1, 1.15
_CLEARLY = 1.0  # of log δ: by as much it is not that of ε = 0
_AS_DELTA = 10.0  # times what rounding may change log δ by where that is asked for: so near to it is δ at an ε
MANY = 30_000  # epochs, whose composition takes long: searches go by a δ that is as close as ε is told
_AS_EPSILON = 1 / 6  # of what grids may change log δ by where ε is asked for: of fewer epochs
_APART = 1.01  # two ε for a slope
_MET = 1.5  # of log δ: a budget that is met by as much is far away
# Of ε: what --solve leaves of basic composition, and of that of a costly bound; what its ε is found to then.
_NEAR, _COSTLY, _FOUND = 1e-5, 5e-4, 1e-4
_FLAT, _COARSE = 6e-3, 12  # the last where δ hardly depends on ε, and blocks of a composition are that large
_FAR_ABOVE = 0.1  # of the budget's 1 − δ: nothing is to be seen where as little is left
_LARGE = 30_000  # points of one epoch's grid: another one would take long
_SURE = 1e-9  # δ as near to 1 as that is reported as 1


_ERROR = ("δ up to 2 % above it (5 % where δ < 1e-5) and 6 % with the largest blocks, more at ε < .001; log δ up to 2 % of itself "
          "where δ < 1e-20, up to 5 % below 1e-100, far more below 1e-299")


class Closeness(NamedTuple):
    """How closely δ is composed: times the usual precision, errors of δ that are looked at, and times what grids may do within that
    precision."""

    precision: float = 1.0
    seen: float = _SEEN
    grids: float = 1.0


_ROUGHLY = Closeness(50.0, inf)  # for searches


def composed(bound: Bound) -> Bound:
    """The bound for `steps` epochs, by the composition of its profile."""

    def at_epsilon(epsilon: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """log δ, and the grid that it is composed on; none where that is basic composition."""
        one = float(bound.value(epsilon, **p))
        if steps == 1:
            return one, {}
        if surely_one(bound, one, epsilon, steps, p):
            return 0.0, {}
        simple = basic_value(bound, epsilon, steps, p)
        if simple < DEEPEST:  # samples are rounded up to more
            return simple, {}
        found = _as_at_delta(bound, _deep_enough(bound, one, epsilon, steps, p), epsilon, steps, p)
        return (simple, {}) if simple <= found.upper else (found.upper, found.witness)

    def at_delta(log_delta: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """ε, and the grid, in the same way."""
        if steps == 1:
            return least_epsilon(bound, log_delta, p), {}
        samples, each = followed(bound, log_delta, steps, p), (log_delta - log(steps)) * (1 + 4e-16)
        basic = steps * epsilon_along(samples, each)
        if basic == 0:
            return 0.0, {}
        found = _epsilon(samples, steps, log_delta)
        if steps * epsilon_along(samples, each + _BASIC) < _FARTHER * found.upper:
            basic = min(basic, _basic_inverse(bound, log_delta, steps, tuple(p.items())))
        return (basic, {}) if basic < found.upper else (found.upper, found.witness)

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return at_epsilon(epsilon, steps, p)[0]

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return at_delta(log_delta, steps, p)[0]

    def at_budget(epsilon: float, log_delta: float, steps: int, **p: Any) -> float:
        samples = followed(bound, log_delta, steps, p)
        if _is_all_lost(samples):
            return 0.0
        found = _at_budget(samples, epsilon, log_delta, steps, _as_closely(samples, log_delta, steps))
        near = _basic_along(samples, _FARTHER * epsilon, steps) - found < _BASIC
        return min(found, basic_value(bound, epsilon, steps, p)) if near and found > log_delta else found

    def near_budget(epsilon: float, log_delta: float, steps: int, closely: bool = False, **p: Any) -> float:
        many = closely and steps > MANY
        samples = followed(bound, log_delta, steps, p) if many else about(bound, log_delta, steps, p, closely)
        if _is_all_lost(samples):
            return 0.0
        found = _like_gaussian(samples, steps, epsilon) if steps > MANY else None
        if found is not None:
            return found
        return _at_budget(samples, epsilon, log_delta, steps, _as_closely(samples, log_delta, steps) if many else _ROUGHLY)

    def near_inverse(log_delta: float, steps: int, **p: Any) -> float:
        samples = about(bound, log_delta, steps, p)
        basic = steps * epsilon_along(samples, log_delta - log(steps))
        if basic == 0 or _is_all_lost(samples):
            return basic
        found = _epsilon_like_gaussian(samples, steps, log_delta) if steps > MANY else None
        return min(composed_epsilon(samples, log_delta, steps) if found is None else found, basic)

    def trace(steps: int, epsilon: float | None = None, log_delta: float | None = None, **p: Any) -> dict[str, Any]:
        if steps == 1:
            return {}
        return at_epsilon(epsilon or 0.0, steps, p)[1] if log_delta is None else at_delta(log_delta, steps, p)[1]

    return bound._replace(params=(*bound.params, "steps"), value=value, inverse=inverse, coarse=None, exact=_no_formula, pure=_pure(bound),
                          margin=3e-4, one=bound, trace=trace, at_budget=at_budget, near_budget=near_budget, near_inverse=near_inverse,
                          statement=f"{bound.statement}; E epochs by composition of the whole profile, at samples from above: {_ERROR}",
                          assumptions=(*bound.assumptions, "every epoch is shuffled afresh; the outputs of all epochs are released"))


def _deep_enough(bound: Bound, one: float, epsilon: float, steps: int, p: dict[str, Any]) -> Bracket:
    """log δ at ε, the profile followed to below it, and no further: the δ of one epoch may be far smaller, or 0."""
    last = max(one, DEEPEST)
    rough = _chernoff(powers(bound, p), steps, epsilon)
    about = max(last, min(_AT_FIRST, (_DEEPER if rough > -_DEEP else _FAR_DEEPER) * rough))
    while True:
        samples, enough = followed(bound, about, steps, p, epsilon), deepest(about, steps) + _NOT_LOST
        if about <= last or _chernoff(samples, steps, epsilon) >= enough:
            found = _delta(samples, steps, epsilon, Closeness(max(1.0, (about / _DEEP) ** 2)))
            if about <= last or found.upper >= enough:
                return found._replace(witness={**found.witness, "followed": about})
        about = max(last, 4 * about)


def _as_at_delta(bound: Bound, found: Bracket, epsilon: float, steps: int, p: dict[str, Any]) -> Bracket:
    """The same log δ, or what it is by the samples of a question for ε at that δ, if that is less: one answer leads to the other."""
    about, points = found.upper, sum(points for _, _, points, *_ in found.witness.get("grids", ()))
    if not DEEPEST < about < -_SURE or points > _LARGE:
        return found
    other = _delta(followed(bound, about, steps, p), steps, epsilon, Closeness(max(1.0, (about / _DEEP) ** 2)))
    return other._replace(witness={**other.witness, "followed": about, "by_delta": 1}) if other.upper < about else found


def _at_budget(samples: Samples, epsilon: float, log_delta: float, steps: int, closeness: Closeness) -> float:
    """log δ at the budget's ε, by the composition of samples that go as deep as its δ needs; or basic, where that is less. Where Chernoff's
    bound is far below its δ, that: grids for so small a δ are large."""
    if _is_far_above(samples, epsilon, log_delta, steps):
        return 0.0  # which is always a bound
    basic = _basic_along(samples, epsilon, steps)
    rough = _chernoff(samples, steps, epsilon)
    return min(basic, rough if rough < log_delta - _MET else _delta(samples, steps, epsilon, closeness).upper)


def _is_all_lost(samples: Samples) -> bool:
    """Whether one epoch is not seen to keep anything: there is no finite loss to compose."""
    return samples[1][-1] >= 0


def _is_far_above(samples: Samples, epsilon: float, log_delta: float, steps: int) -> bool:
    """Whether δ at ε is seen to be far above a budget: 1 − δ = E min(1, e^{ε−L}) is at most e^{ε/2}E[e^{−L/2}]."""
    from dpcalc.profiles import tilt

    return tilt.cumulants(_parts(samples, steps), -0.5).log_total + epsilon / 2 < log(_FAR_ABOVE * -expm1(log_delta))


def _as_closely(samples: Samples, log_delta: float, steps: int) -> Closeness:
    """How closely log δ is told where ε is to meet a budget: as closely as ε is, or a part of that where it is known better."""
    from dpcalc.profiles import asked, compose

    if steps <= MANY and log_delta < -_DEEP_BUDGET:
        return Closeness((log_delta / _DEEP_BUDGET) ** 2)
    as_epsilon = compose.allowed(_parts(samples, steps), log_delta, asked.PRECISION, _most(steps))
    return Closeness(grids=max(1.0, as_epsilon / asked.PRECISION * (1.0 if steps > MANY else _AS_EPSILON)))


def _most(steps: int) -> float:
    """What rounding may change log δ by where ε is asked for."""
    from dpcalc.profiles import asked

    return _AS_DELTA * asked.PRECISION if steps > MANY else inf


def _basic_along(samples: Samples, epsilon: float, steps: int) -> float:
    """log of Eδ(ε/E) along the samples."""
    return log(steps) + log_delta_along(samples, epsilon / steps)


@remembered(8)
def _chernoff(samples: Samples, steps: int, epsilon: float) -> float:
    """An upper bound on log δ."""
    from dpcalc.profiles import tilt
    from dpcalc.profiles.ends import log_infinite
    from dpcalc.profiles.read import log_add

    parts = _parts(samples, steps)
    infinite = log_infinite(parts)
    return log_add(tilt.chernoff(tilt.for_epsilon(parts, epsilon), epsilon), infinite) if infinite < 0 else 0.0


def _like_gaussian(samples: Samples, steps: int, epsilon: float) -> float | None:
    from dpcalc.profiles import like_gaussian

    return like_gaussian.log_delta_near(_parts(samples, steps), epsilon)


def _epsilon_like_gaussian(samples: Samples, steps: int, log_delta: float) -> float | None:
    from dpcalc.profiles import like_gaussian

    return like_gaussian.epsilon_near(_parts(samples, steps), log_delta)


@remembered(8)
def _delta(samples: Samples, steps: int, epsilon: float, closeness: Closeness) -> Bracket:
    from dpcalc.profiles import asked, compose

    precision = closeness.precision * asked.PRECISION
    return compose.log_delta_at(_parts(samples, steps), epsilon, precision, bracket=False, seen=closeness.seen, rougher=closeness.grids)


@remembered(8)
def _epsilon(samples: Samples, steps: int, log_delta: float) -> Bracket:
    from dpcalc.profiles import compose

    return compose.epsilon_at(_parts(samples, steps), log_delta, bracket=False, seen=_SEEN, most=_most(steps))


@remembered(4)
def _parts(samples: Samples, steps: int) -> Parts:
    from dpcalc.profiles import pairs

    return ((pairs.sampled(*samples), steps),)


def surely_one(bound: Bound, one: float, epsilon: float, steps: int, p: dict[str, Any]) -> bool:
    """Whether δ is 1 up to its last digits, and 1 is a bound: it is for one epoch, and more lose no less; or the mean loss, at least
    2E·δ(0)² by Pinsker, is far above ε."""
    return one > -_SURE or _far_below(float(bound.value(0.0, **p)), epsilon, steps)


def _far_below(at_zero: float, epsilon: float, steps: int) -> bool:
    """Whether ε is far below the mean loss, by log δ(0)."""
    return 2 * steps * exp(2 * at_zero) > 4 * epsilon + 100


@lru_cache(maxsize=16)
def basic(bound: Bound) -> Bound:
    """The bound for `steps` epochs, one point (ε/E, δ/E) of it composed E times; for comparison."""

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound, epsilon, steps, p)

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return _basic_inverse(bound, log_delta, steps, tuple(p.items())) if steps > 1 else least_epsilon(bound, log_delta, p)

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return min(steps * bound.exact(mp, mp.mpf(epsilon) / steps, **p), mp.mpf(1))

    def coarse(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound._replace(value=bound.coarse or bound.value, blocks=None), epsilon, steps, p)

    margin = max(bound.margin, _COSTLY if bound.coarse else _NEAR)
    return bound._replace(name=f"{bound.name}-basic", params=(*bound.params, "steps"), value=value, inverse=inverse,
                          coarse=coarse if bound.coarse else None, exact=exact, pure=_pure(bound), margin=margin, mu=None, mu_exact=None,
                          statement=f"{bound.statement}; E epochs by basic composition: (ε/E, δ/E) each",
                          source=f"{bound.source}; composition-basic")


def basic_value(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> float:
    """log of Eδ(ε/E)."""
    return min(0.0, up(at(bound, an_epoch(epsilon, steps), p) + log(steps), 4e-16))


def an_epoch(epsilon: float, steps: int) -> float:
    """ε/E, not more."""
    return epsilon / steps * (1 - 2e-16)


@remembered(8)
def _basic_inverse(bound: Bound, log_delta: float, steps: int, params: tuple[tuple[str, Any], ...]) -> float:
    """E times the ε of one epoch at δ/E; looked for where the samples that are composed say, if a value takes milliseconds."""
    p, each = dict(params), (log_delta - log(steps)) * (1 + 4e-16)
    if not bound.coarse:
        return up(steps * least_epsilon(bound, each, p, steps), 4e-16)
    samples = about(bound, log_delta, steps, p)
    if samples[1][0] < each + _CLEARLY:  # next to 0 more is to be known
        samples = followed(bound, log_delta, steps, p)
    near = epsilon_along(samples, each)
    if not 0 < near < inf:
        return up(steps * least_epsilon(bound, each, p, steps), 4e-16)
    value, met = cache(lambda epsilon: at(bound, an_epoch(epsilon, steps), p)), _FOUND  # as its row tells δ
    if samples[1][0] >= each + _BASIC:  # the samples are about as far above it as there
        first, near = steps * near, steps * epsilon_along(samples, each + log_delta_along(samples, near) - value(steps * near))
        near = near * (1 + met / 2) if 0 < near < inf else first * _APART
        fall = (value(first) - value(near)) / log(near / first) / -each
    elif value(0.0) <= each:
        return 0.0
    else:  # or as at 0
        near = min(near, epsilon_along(samples, each + samples[1][0] - value(0.0)))
        met = _FLAT if fineness(p) <= _COARSE else met
        near, fall = from_zero(value, steps * near, each, met / 4)
    try:
        return invert_near(lambda epsilon: log_share(value(epsilon), each), near, fall, max(_FOUND, met), met)
    except Unreachable as e:
        raise no_epsilon(f"{bound.name}-basic", value(e.at) + log(steps), bound.rtol) from None


def _no_formula(*_: Any, **__: Any) -> Any:
    raise DpcalcError("unsupported", "a composition of epochs has no printed formula to evaluate", "--digits")


def _pure(bound: Bound) -> Callable[..., float] | None:
    one = bound.pure
    return (lambda steps, **p: up(steps * one(**p))) if one else None
