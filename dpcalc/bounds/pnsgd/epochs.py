"""E epochs, each freshly shuffled (or in the same fixed order), with the outputs of all epochs released.

Each epoch starts from the released output of the one before: adaptive composition. The whole profile of one epoch is
composed, not one point of it, at samples (samples.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, log
from typing import TYPE_CHECKING, Any

from dpcalc.bound import Bound
from dpcalc.bounds.pnsgd.samples import BEYOND, DEEPEST, LOST, Samples, about, floor_of, followed, ways_of
from dpcalc.errors import DpcalcError
from dpcalc.least_epsilon import least_epsilon, no_epsilon
from dpcalc.numerics.rounding import up
from dpcalc.numerics.work import remembered

if TYPE_CHECKING:
    from dpcalc.profiles.bracket import Bracket
    from dpcalc.profiles.tilt import Parts

_SEEN = 1e-4  # of δ: errors of transforms from which on rounding is looked at closely
_LITTLE = 5.0  # of log δ, above what the end of the samples, counted as lost, makes: e^−5 of δ
_MET = 1.5  # of log δ: a budget that Chernoff's bound meets by as much is far away
_SURE = 1e-9  # δ as near to 1 as that is reported as 1
_NEAR, _COSTLY = 1e-5, 5e-4  # of ε: what --solve leaves of basic composition, and of that of a costly bound

_ERROR = ("δ up to 2 % above it (5 % where δ < 1e-5) and 6 % with the largest blocks, more at ε < .001; log δ up to 2 % of itself "
          "where δ < 1e-20, up to 5 % below 1e-100, far more below 1e-299")


def composed(bound: Bound) -> Bound:
    """The bound for `steps` epochs, by the composition of its profile, or basic composition where that says less."""

    def at_epsilon(epsilon: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """log δ, and what proves it."""
        one = float(bound.value(epsilon, **p))
        if steps == 1:
            return one, {}
        if one > -_SURE or _far_below(float(bound.value(0.0, **p)), epsilon, steps):
            return 0.0, {}  # 1 is a bound
        simple = basic_value(bound, epsilon, steps, p)
        if simple < DEEPEST:  # samples are rounded up to more
            return simple, {"each": each(bound, epsilon, steps, p)}
        found = _at_epsilon(bound, epsilon, steps, p)
        return (simple, {"each": each(bound, epsilon, steps, p)}) if simple <= found.upper else (found.upper, found.witness)

    def at_delta(log_delta: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """ε, and what proves it."""
        if steps == 1:
            return least_epsilon(bound, log_delta, p), {}
        simple = _basic_inverse(bound, log_delta, steps, tuple(p.items()))
        found = _at_delta(bound, log_delta, steps, p) if simple > 0 else None
        if found is None or simple <= found.upper:
            return simple, {"each": each(bound, simple, steps, p)}
        return found.upper, found.witness

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return at_epsilon(epsilon, steps, p)[0]

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return at_delta(log_delta, steps, p)[0]

    def at_budget(epsilon: float, log_delta: float, steps: int, **p: Any) -> float:
        samples = _needed(bound, log_delta, steps, p)[0]
        rough = _chernoff(samples, steps, epsilon)
        return min(rough if rough < log_delta - _MET else _delta(samples, steps, epsilon).upper, basic_value(bound, epsilon, steps, p))

    def near_budget(epsilon: float, log_delta: float, steps: int, **p: Any) -> float:
        return _near(about(bound, log_delta, steps, p, epsilon + LOST), steps, epsilon)

    def trace(steps: int, epsilon: float | None = None, log_delta: float | None = None, **p: Any) -> dict[str, Any]:
        return at_epsilon(epsilon or 0.0, steps, p)[1] if log_delta is None else at_delta(log_delta, steps, p)[1]

    return bound._replace(params=(*bound.params, "steps"), value=value, inverse=inverse, coarse=None, exact=_no_formula, pure=_pure(bound),
                          margin=3e-4, one=bound, trace=trace, at_budget=at_budget, near_budget=near_budget,
                          statement=f"{bound.statement}; E epochs by composition of the whole profile, at samples from above: {_ERROR}",
                          assumptions=(*bound.assumptions, "every epoch is shuffled afresh; the outputs of all epochs are released"))


def _at_epsilon(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> Bracket:
    """log δ at ε, the profile followed to below it: to where a look says that it is, and again where that was not far enough."""
    most = epsilon + LOST
    near = _near(about(bound, DEEPEST, steps, p, most), steps, epsilon)
    while True:
        samples, floor = followed(bound, near, steps, p, most), floor_of(near, steps)
        found = _delta(samples, steps, epsilon)
        if samples[0][-1] >= most or floor == DEEPEST or found.upper > floor + log(steps) + _LITTLE:
            return _told(found, samples, ways_of(bound, near, steps, p, most))
        near = found.upper - BEYOND


def _at_delta(bound: Bound, log_delta: float, steps: int, p: dict[str, Any]) -> Bracket:
    """ε at δ."""
    samples, ways = _needed(bound, log_delta, steps, p)
    found = _epsilon(samples, steps, log_delta)
    if found.upper == inf:
        raise no_epsilon(bound.name, samples[1][-1], bound.rtol, "every epoch leaves")
    return _told(found, samples, ways)


def _needed(bound: Bound, log_delta: float, steps: int, p: dict[str, Any]) -> tuple[Samples, Any]:
    """The samples for a δ, without losses so far above its ε that they may as well be infinite."""
    (epsilons, logs), ways = followed(bound, log_delta, steps, p), ways_of(bound, log_delta, steps, p)
    most = _chernoff_epsilon((epsilons, logs), steps, log_delta) + LOST
    kept = next((k for k, e in enumerate(epsilons, 1) if e >= most), len(epsilons))
    return (epsilons[:kept], logs[:kept]), ways


def _told(found: Bracket, samples: Samples, ways: Any) -> Bracket:
    """With the corners of the hull in its witness: they alone count, and prove it whatever they are."""
    from dpcalc.profiles import pairs

    corners = [e for e, _ in pairs.hull(*samples)]
    told = {"epsilon": corners, **({"ways": [ways[e] for e in corners]} if ways else {})}
    return found._replace(witness={**found.witness, "epoch": told})


def _chernoff_epsilon(samples: Samples, steps: int, log_delta: float) -> float:
    """An ε that the composition has at δ: half of δ for losses above the first sample at which one epoch has half of δ/E, Chernoff's bound
    for the others. inf where none is as low."""
    from dpcalc.profiles import tilt

    epsilons, logs = samples
    half = log_delta - log(2)
    some = next((k for k, x in enumerate(logs, 1) if x <= half - log(steps)), None)
    if some is None:
        return inf
    return max(0.0, tilt.least_epsilon(tilt.for_delta(_parts((epsilons[:some], logs[:some]), steps), half), half))


@remembered(8)
def _chernoff(samples: Samples, steps: int, epsilon: float) -> float:
    """An upper bound on log δ."""
    from dpcalc.profiles import tilt
    from dpcalc.profiles.ends import log_infinite
    from dpcalc.profiles.read import log_add

    parts = _parts(samples, steps)
    infinite = log_infinite(parts)
    return log_add(tilt.chernoff(tilt.for_epsilon(parts, epsilon), epsilon), infinite) if infinite < 0 else 0.0


def _near(samples: Samples, steps: int, epsilon: float) -> float:
    """About log δ: no bound."""
    from dpcalc.profiles import asked, tilt
    from dpcalc.profiles.ends import log_infinite
    from dpcalc.profiles.read import log_add

    parts = _parts(samples, steps)
    infinite = log_infinite(parts)
    if infinite >= 0:
        return 0.0
    question = asked.Asked(epsilon, None, asked.PRECISION)
    return min(0.0, log_add(question.log_delta_near(parts, tilt.for_epsilon(parts, epsilon)), infinite))


@remembered(8)
def _delta(samples: Samples, steps: int, epsilon: float) -> Bracket:
    from dpcalc.profiles import compose

    return compose.log_delta_at(_parts(samples, steps), epsilon, bracket=False, seen=_SEEN)


@remembered(8)
def _epsilon(samples: Samples, steps: int, log_delta: float) -> Bracket:
    from dpcalc.profiles import compose

    return compose.epsilon_at(_parts(samples, steps), log_delta, bracket=False, seen=_SEEN)


@remembered(8)
def _parts(samples: Samples, steps: int) -> Parts:
    from dpcalc.profiles import pairs

    return ((pairs.sampled(*samples), steps),)


def _far_below(at_zero: float, epsilon: float, steps: int) -> bool:
    """Whether ε is far below the mean loss, at least 2E·δ(0)² by Pinsker: then δ is 1 up to its last digits."""
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
        return basic_value(bound._replace(value=bound.coarse or bound.value), epsilon, steps, p)

    margin = max(bound.margin, _COSTLY if bound.coarse else _NEAR)
    return bound._replace(name=f"{bound.name}-basic", params=(*bound.params, "steps"), value=value, inverse=inverse,
                          coarse=coarse if bound.coarse else None, exact=exact, pure=_pure(bound), margin=margin, mu=None, mu_exact=None,
                          statement=f"{bound.statement}; E epochs by basic composition: (ε/E, δ/E) each",
                          source=f"{bound.source}; composition-basic")


def basic_value(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> float:
    """log of Eδ(ε/E)."""
    return min(0.0, up(float(bound.value(_an_epoch(epsilon, steps), **p)) + log(steps), 4e-16))


def each(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> dict[str, Any]:
    """How one epoch is bounded where basic composition is by (ε/E, δ/E) each."""
    return bound.choices(_an_epoch(epsilon, steps), -inf, **p) if bound.choices else {}


def _an_epoch(epsilon: float, steps: int) -> float:
    """ε/E, not more."""
    return epsilon / steps * (1 - 2e-16)


@remembered(8)
def _basic_inverse(bound: Bound, log_delta: float, steps: int, params: tuple[tuple[str, Any], ...]) -> float:
    """E times the ε of one epoch at δ/E."""
    return up(steps * least_epsilon(bound, (log_delta - log(steps)) * (1 + 4e-16), dict(params), steps), 4e-16)


def _no_formula(*_: Any, **__: Any) -> Any:
    raise DpcalcError("unsupported", "a composition of epochs has no printed formula to evaluate", "--digits")


def _pure(bound: Bound) -> Callable[..., float] | None:
    one = bound.pure
    return (lambda steps, **p: up(steps * one(**p))) if one else None
