"""E epochs, each freshly shuffled (or in the same fixed order), with the outputs of all epochs released.

Each epoch starts from the released output of the one before: adaptive composition. The whole profile of one epoch is
composed, not one point of it, at samples (samples.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, log
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.pnsgd._engine.samples import BEYOND, DEEPEST, Samples, about, floor_of, followed
from dpcalc.core.bound import Bound
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.least_epsilon import least_epsilon, no_epsilon
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.bracket import Bracket
    from dpcalc.pld.pilot import Parts

_LITTLE = 5.0  # of log δ, above what the end of the samples, counted as lost, makes: e^−5 of δ
_LOST = 40.0  # of a loss above ε: all of it counts, but for e^−20 of itself
_ROUGHLY = 0.05  # of log δ, the precision of a look
_SURE = 1e-9  # δ as near to 1 as that is reported as 1

_ERROR = ("δ up to 2 % above it (8 % where δ < 1e-5) and 6 % with the largest blocks, more at ε < .001; log δ up to 2 "
          "% of itself "
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
        try:
            found = _at_epsilon(bound, epsilon, steps, p)
        except OutOfScope:  # it does not fit in memory
            return simple, {"each": each(bound, epsilon, steps, p)}
        return (simple, {"each": each(bound, epsilon, steps, p)}) if simple <= found.upper else (found.upper,
                                                                                                 found.witness)

    def at_delta(log_delta: float, steps: int, p: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """ε, and what proves it."""
        if steps == 1:
            return least_epsilon(bound, log_delta, p), {}
        try:
            simple = _basic_inverse(bound, log_delta, steps, tuple(p.items()))
        except OutOfScope:
            simple = inf
        found = _at_delta(bound, log_delta, steps, p) if simple > 0 else None
        if found and found.upper < simple:
            return found.upper, found.witness
        if simple == inf:
            raise no_epsilon(bound.name, followed(bound, log_delta, steps, p)[0][1][-1], bound.rtol,
                             "every epoch leaves")
        return simple, {"each": each(bound, simple, steps, p)}

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return at_epsilon(epsilon, steps, p)[0]

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return at_delta(log_delta, steps, p)[0]

    def trace(steps: int, epsilon: float | None = None, log_delta: float | None = None, **p: Any) -> dict[str, Any]:
        return at_epsilon(epsilon or 0.0, steps, p)[1] if log_delta is None else at_delta(log_delta, steps, p)[1]

    return bound._replace(params=(*bound.params, "steps"), value=value, inverse=inverse, exact=_no_formula,
                          pure=_pure(bound), one=bound, trace=trace,
                          statement=f"{bound.statement}; E epochs by composition of the whole profile, at samples from "
                                    f"above: {_ERROR}",
                          assumptions=(*bound.assumptions,
                                       "every epoch is shuffled afresh; the outputs of all epochs are released"))


def _at_epsilon(bound: Bound, epsilon: float, steps: int, p: dict[str, Any]) -> Bracket:
    """log δ at ε, the profile followed to below it: to where a look says that it is, and again where that was not far
    enough."""
    near = _delta(_up_to(about(bound, p), epsilon + _LOST), steps, epsilon, _ROUGHLY).upper
    while True:
        samples, ways = followed(bound, near, steps, p)
        samples, floor = _up_to(samples, epsilon + _LOST), floor_of(near, steps)
        found = _delta(samples, steps, epsilon)
        if floor == DEEPEST or samples[0][-1] >= epsilon + _LOST or found.upper > floor + log(steps) + _LITTLE:
            return _told(found, samples, ways)
        near = found.upper - BEYOND


def _up_to(samples: Samples, most: float) -> Samples:
    """Without those beyond the first that is as large: its δ counts as lost."""
    kept = next((k for k, e in enumerate(samples[0], 1) if e >= most), len(samples[0]))
    return samples[0][:kept], samples[1][:kept]


def _at_delta(bound: Bound, log_delta: float, steps: int, p: dict[str, Any]) -> Bracket:
    """ε at δ; inf where the losses beyond the last sample, which count as lost, are more than that."""
    from dpcalc.pld.bracket import Bracket, log_infinite

    samples, ways = followed(bound, log_delta, steps, p)
    if log_infinite(_parts(samples, steps)) >= log_delta:
        return Bracket(inf, inf, {})
    return _told(_epsilon(samples, steps, log_delta), samples, ways)


def _told(found: Bracket, samples: Samples, ways: Any) -> Bracket:
    """With the corners of the hull in its witness: they alone count, and prove it whatever they are."""
    from dpcalc.pld.atoms import hull

    corners = [e for e, _ in hull(*samples)]
    told = {"epsilon": corners, **({"ways": [ways[e] for e in corners]} if ways else {})}
    return found._replace(witness={**found.witness, "epoch": told})


@lru_cache(maxsize=8)
def _delta(samples: Samples, steps: int, epsilon: float, precision: float | None = None) -> Bracket:
    from dpcalc.pld.bracket import PRECISION, log_delta_at_epsilon

    return log_delta_at_epsilon(_parts(samples, steps), epsilon, precision or PRECISION, bracket=False)


@lru_cache(maxsize=8)
def _epsilon(samples: Samples, steps: int, log_delta: float) -> Bracket:
    from dpcalc.pld.bracket import epsilon_at_delta

    return epsilon_at_delta(_parts(samples, steps), log_delta, bracket=False)


@lru_cache(maxsize=8)
def _parts(samples: Samples, steps: int) -> Parts:
    from dpcalc.pld.atoms import profile_at_points

    return ((profile_at_points(*samples), steps),)


def _far_below(at_zero: float, epsilon: float, steps: int) -> bool:
    """Whether ε is far below the mean loss, at least 2E·δ(0)² by Pinsker: then δ is 1 up to its last digits."""
    return 2 * steps * exp(2 * at_zero) > 4 * epsilon + 100


@lru_cache(maxsize=16)
def basic(bound: Bound) -> Bound:
    """The bound for `steps` epochs, one point (ε/E, δ/E) of it composed E times; for comparison."""

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound, epsilon, steps, p)

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return _basic_inverse(bound, log_delta, steps, tuple(p.items())) if steps > 1 else least_epsilon(bound,
                                                                                                         log_delta, p)

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return min(steps * bound.exact(mp, mp.mpf(epsilon) / steps, **p), mp.mpf(1))

    return bound._replace(name=f"{bound.name}-basic", params=(*bound.params, "steps"), value=value, inverse=inverse,
                          exact=exact, pure=_pure(bound), mu=None, mu_exact=None,
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


@lru_cache(maxsize=8)
def _basic_inverse(bound: Bound, log_delta: float, steps: int, params: tuple[tuple[str, Any], ...]) -> float:
    """E times the ε of one epoch at δ/E."""
    return up(steps * least_epsilon(bound, (log_delta - log(steps)) * (1 + 4e-16), dict(params), steps), 4e-16)


def _no_formula(*_: Any, **__: Any) -> Any:
    raise DpcalcError("unsupported", "a composition of epochs has no printed formula to evaluate", "--digits")


def _pure(bound: Bound) -> Callable[..., float] | None:
    one = bound.pure
    return (lambda steps, **p: up(steps * one(**p))) if one else None
