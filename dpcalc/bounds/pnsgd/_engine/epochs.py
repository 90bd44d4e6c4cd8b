"""E epochs, each freshly shuffled (or in the same fixed order), with the outputs of all epochs released.

Each epoch starts from the released output of the one before: adaptive composition. What is composed is the whole
profile of one epoch, on a grid of ε (profile_grid.py), not one point of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.pnsgd._engine.laws import gaussian_inverse, log_gaussian
from dpcalc.bounds.pnsgd._engine.profile_grid import (
    TAIL_DEPTH,
    Grid,
    Params,
    lowest_log_delta,
    near_epsilon,
    profile_grid,
    rough_grid,
)
from dpcalc.core.bound import GaussianDp, ProfileBound, Theorem
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.least_epsilon import least_epsilon, no_epsilon
from dpcalc.numerics.rounding import up
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA, hull, profile_at_points

if TYPE_CHECKING:
    from dpcalc.pld.bracket import Bracket
    from dpcalc.pld.pilot import Parts

# A loss ℓ above ε counts with the part 1 − e^{ε − ℓ} of its probability. Beyond ε + 40 that is 1, so the grid may end.
_ALL_COUNTS = 40.0

_ERROR = ("δ up to 2 % above it (8 % where δ < 1e-5), more at ε < .001; log δ up to 2 % of itself where δ < 1e-20, "
          "up to 5 % below 1e-100, far more below 1e-299")


def composed(bound: ProfileBound) -> ProfileBound:
    """The bound for `steps` epochs: the composition of its profile, or basic composition where that is smaller."""

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return _log_delta_at(bound, epsilon, steps, tuple(p.items()))[0]

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return _epsilon_at(bound, log_delta, steps, tuple(p.items()))[0]

    def trace(steps: int, epsilon: float | None = None, log_delta: float | None = None, **p: Any) -> dict[str, Any]:
        params = tuple(p.items())
        return (_log_delta_at(bound, epsilon or 0.0, steps, params) if log_delta is None
                else _epsilon_at(bound, log_delta, steps, params))[1]

    once = bound.theorem
    statement = f"{once.statement}; E epochs by composition of the whole profile, at samples from above: {_ERROR}"
    assumptions = (*once.assumptions, "every epoch is shuffled afresh; the outputs of all epochs are released")
    return replace(bound, theorem=once._replace(statement=statement, in_words=_in_words(once), assumptions=assumptions),
                   params=(*bound.params, "steps"), value=value, inverse=inverse, exact=_no_formula,
                   pure=_pure(bound), one=bound, choices=bound.choices._replace(trace=trace))


@lru_cache(maxsize=8)  # the value and its witness are two calls
def _log_delta_at(bound: ProfileBound, epsilon: float, steps: int, params: Params) -> tuple[float, dict[str, Any]]:
    """The smaller log δ at ε of composition and basic composition, and the witness that proves it."""
    p = dict(params)
    one = float(bound.value(epsilon, **p))
    if steps == 1:
        return one, {}
    # δ is nearly 1 where ε is much smaller than the mean loss, which is at least 2E·δ(0)² by Pinsker's inequality.
    if one > -1e-9 or 2 * steps * exp(2 * float(bound.value(0.0, **p))) > 4 * epsilon + 100:
        return 0.0, {}
    simple = basic_value(bound, epsilon, steps, p)
    if simple >= SMALLEST_LOG_DELTA:  # smaller values of a grid are rounded up to that
        try:
            found = _log_delta_by_composition(bound, epsilon, steps, p)
            if found.upper < simple:
                return found.upper, found.witness
        except OutOfScope:  # the composition does not fit into memory
            pass
    return simple, {"each": each(bound, epsilon, steps, p)}


@lru_cache(maxsize=8)
def _epsilon_at(bound: ProfileBound, log_delta: float, steps: int, params: Params) -> tuple[float, dict[str, Any]]:
    """The smaller ε at δ of composition and basic composition, and the witness that proves it."""
    p = dict(params)
    if steps == 1:
        return least_epsilon(bound, log_delta, p), {}
    found = None
    if basic_value(bound, 0.0, steps, p) > log_delta:
        found = _epsilon_by_composition(bound, log_delta, steps, p)
        if found.upper < inf and basic_value(bound, found.upper, steps, p) > log_delta:
            return found.upper, found.witness
    try:
        simple = _basic_inverse(bound, log_delta, steps, params)
    except OutOfScope:
        least = profile_grid(bound, log_delta, steps, p)[0][1][-1]
        raise no_epsilon(bound.name, least, bound.rtol, "every epoch leaves δ =") from None
    if found and found.upper < simple:
        return found.upper, found.witness
    return simple, {"each": each(bound, simple, steps, p)}


def _log_delta_by_composition(bound: ProfileBound, epsilon: float, steps: int, p: dict[str, Any]) -> Bracket:
    """log δ at ε by composition: the grid goes down to the δ of a rough composition, and lower if δ is below that."""
    from dpcalc.pld.bracket import PRECISION, log_delta_at_epsilon

    rough = _parts(_up_to(rough_grid(bound, p), epsilon + _ALL_COUNTS), steps)
    expected = log_delta_at_epsilon(rough, epsilon, 0.05, bracket=False).upper
    while True:
        grid, ways = profile_grid(bound, expected, steps, p)
        grid, lowest = _up_to(grid, epsilon + _ALL_COUNTS), lowest_log_delta(expected, steps)
        found = log_delta_at_epsilon(_parts(grid, steps), epsilon, PRECISION, bracket=False)
        # What lies beyond the grid and counts as infinite losses, E·e^lowest, is at most e^−5 of δ.
        is_low_enough = found.upper > lowest + log(steps) + 5
        if is_low_enough or lowest == SMALLEST_LOG_DELTA or grid[0][-1] >= epsilon + _ALL_COUNTS:
            return _with_epoch(found, grid, ways)
        expected = found.upper - TAIL_DEPTH


def _up_to(grid: Grid, largest: float) -> Grid:
    """The grid up to its first ε that is at least `largest`: the δ there counts as infinite losses."""
    count = next((k for k, e in enumerate(grid[0], 1) if e >= largest), len(grid[0]))
    return grid[0][:count], grid[1][:count]


def _epsilon_by_composition(bound: ProfileBound, log_delta: float, steps: int, p: dict[str, Any]) -> Bracket:
    """ε at δ by composition; infinite where the losses beyond the grid, which count as infinite, are more than δ."""
    from dpcalc.pld.bracket import Bracket, epsilon_at_delta, log_infinite

    grid, ways = profile_grid(bound, log_delta, steps, p)
    parts = _parts(grid, steps)
    if log_infinite(parts) >= log_delta:
        return Bracket(inf, inf, {})
    return _with_epoch(epsilon_at_delta(parts, log_delta, bracket=False), grid, ways)


def _with_epoch(found: Bracket, grid: Grid, ways: dict[float, Any]) -> Bracket:
    """The bracket with the corners of the grid's hull added to its witness; only these matter, and any are a proof."""
    corners = [e for e, _ in hull(*grid)]
    epoch = {"epsilon": corners, **({"ways": [ways[e] for e in corners]} if ways else {})}
    return found._replace(witness={**found.witness, "epoch": epoch})


@lru_cache(maxsize=8)
def _parts(grid: Grid, steps: int) -> Parts:
    """The pair of distributions with the profile of the grid, and how often it is composed."""
    return ((profile_at_points(*grid), steps),)


@lru_cache(maxsize=16)
def basic(bound: ProfileBound) -> ProfileBound:
    """The bound for `steps` epochs by basic composition of one point (ε/E, δ/E) of the profile, for comparison."""

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return basic_value(bound, epsilon, steps, p)

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        if steps == 1:
            return least_epsilon(bound, log_delta, p)
        return _basic_inverse(bound, log_delta, steps, tuple(p.items()))

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return min(steps * bound.exact(mp, mp.mpf(epsilon) / steps, **p), mp.mpf(1))

    once = bound.theorem
    theorem = once._replace(name=f"{once.name}-basic", source=f"{once.source}; composition-basic",
                            statement=f"{once.statement}; E epochs by basic composition: (ε/E, δ/E) each",
                            in_words=_in_words(once))
    return replace(bound, theorem=theorem, params=(*bound.params, "steps"), value=value, inverse=inverse, exact=exact,
                   pure=_pure(bound), mu=None)


def basic_value(bound: ProfileBound, epsilon: float, steps: int, p: dict[str, Any]) -> float:
    """log of Eδ(ε/E), rounded up."""
    return min(0.0, up(float(bound.value(_epsilon_of_one(epsilon, steps), **p)) + log(steps), 4e-16))


def each(bound: ProfileBound, epsilon: float, steps: int, p: dict[str, Any]) -> dict[str, Any]:
    """The free choices of the bound of one epoch at ε/E, the point that basic composition uses."""
    witness = bound.choices.witness
    return witness(_epsilon_of_one(epsilon, steps), -inf, **p) if witness else {}


def _epsilon_of_one(epsilon: float, steps: int) -> float:
    """ε/E, rounded down."""
    return epsilon / steps * (1 - 2e-16)


@lru_cache(maxsize=8)
def _basic_inverse(bound: ProfileBound, log_delta: float, steps: int, params: Params) -> float:
    """E times the ε of one epoch at δ/E, rounded up."""
    each_log_delta = (log_delta - log(steps)) * (1 + 4e-16)
    start = near_epsilon(bound, each_log_delta, params) if bound.inverse else None
    return up(steps * least_epsilon(bound, each_log_delta, dict(params), steps, start), 4e-16)


@lru_cache(maxsize=16)
def composed_gaussian(bound: ProfileBound) -> ProfileBound:
    """The bound for `steps` epochs in closed form, from one for an epoch that is exactly μ-GDP."""
    assert bound.mu is not None and bound.mu.exact is not None
    one, one_exact = bound.mu.mu, bound.mu.exact

    def mu(steps: int, **p: Any) -> float:
        return up(one(**p) * sqrt(steps), 5e-16) if steps > 1 else one(**p)

    def value(epsilon: float, steps: int, **p: Any) -> float:
        return log_gaussian(epsilon, mu(steps, **p)) if steps > 1 else float(bound.value(epsilon, **p))

    def inverse(log_delta: float, steps: int, **p: Any) -> float:
        return gaussian_inverse(log_delta, mu(steps, **p)) if steps > 1 else least_epsilon(bound, log_delta, p)

    def mu_exact(mp: Any, steps: int, **p: Any) -> Any:
        return one_exact(mp, **p) * mp.sqrt(steps)

    def exact(mp: Any, epsilon: float, steps: int, **p: Any) -> Any:
        return theta(mp, epsilon, mu_exact(mp, steps, **p))

    once = bound.theorem
    theorem = once._replace(statement=f"{once.statement}; E epochs are √E·μ-GDP",
                            in_words=_in_words(once),
                            source=f"{once.source}; epochs: Dong, Roth & Su 2022, Corollary 3.3, arXiv:1905.02383v3",
                            assumptions=(*once.assumptions, "the outputs of all epochs are released"))
    return replace(bound, theorem=theorem, params=(*bound.params, "steps"), value=value, inverse=inverse, exact=exact,
                   mu=GaussianDp(mu, mu_exact))


def _in_words(once: Theorem) -> str:
    return f"{once.in_words} The epochs are composed, so that the model after each of them may be released."


def _no_formula(*_: Any, **__: Any) -> Any:
    raise DpcalcError("unsupported", "a composition of epochs has no printed formula to evaluate", "--digits")


def _pure(bound: ProfileBound) -> Callable[..., float] | None:
    """The function that gives the least ε with δ = 0 over all epochs; None where the bound has none."""
    one = bound.pure
    return (lambda steps, **p: up(steps * one(**p))) if one else None
