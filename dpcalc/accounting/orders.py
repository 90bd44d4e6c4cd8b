"""The search for the Rényi order of a conversion. Any order proves its value; this one is nearly the best: a better one
gains about 1e-10 of the value at most, unless the curve has several minima.

For a true RDP curve (α−1)ε(α) is convex, so the orders at which (ε, δ) follows by the improved conversion form an
interval: a descent from any start ends at the best one. The search depends on the parameters alone, so that a solved
parameter that is put in again is evaluated at the same orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import exp, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import LARGEST_WHOLE, Conversion, Params, PointBound, RdpBound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise_hyperbolic, minimise_over
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.core.bound import Bound
    from dpcalc.core.results import Question

_LOW, _HIGH = log(1e-4), log(9e9)  # the range of log(α − 1) that is searched
_LEAST_GUESS, _LARGEST_GUESS = 1e-3, 1e9  # the range of α − 1 at the start of a search, within the range above


def own_params(bound: Bound, params: Params) -> dict[str, Any]:
    """The parameters that the functions of a bound take."""
    return {name: params[name] for name in bound.params}


def chosen(bound: Bound, params: Params, **at: float) -> dict[str, Any]:
    """The free choices of a theorem at an α, an ε or a log δ; most theorems have none."""
    search = bound.choices.search
    return search(**at, **own_params(bound, params)) if search else {}


def all_steps(one: float, params: Params) -> float:
    """The RDP of all steps from that of one: RDP adds up."""
    steps = params.get("steps", 1)
    return one if steps == 1 else up(steps * one)


def total_rdp(bound: Bound, params: Params) -> Callable[[float], float]:
    """The function from α to the RDP of all steps; inf where the theorem does not cover α, or a double overflows."""
    one = _curve(bound, tuple(own_params(bound, params).items()))
    return one if params.get("steps", 1) == 1 else lambda alpha: all_steps(one(alpha), params)


@lru_cache(maxsize=2)
def _curve(bound: Bound, own: tuple[tuple[str, Any], ...]) -> Callable[[float], float]:
    """The RDP curve of one use; each order is computed once, as all conversions of a curve try the same ones."""
    known: dict[float, float] = {}
    params, search, value = dict(own), bound.choices.search, bound.value

    def curve(alpha: float) -> float:
        if alpha not in known:
            try:
                known[alpha] = value(alpha, **params, **(search(alpha=alpha, **params) if search else {}))
            except (OverflowError, OutOfScope):
                known[alpha] = inf
        return known[alpha]

    return curve


def best_order(bound: RdpBound, conversion: Conversion | PointBound, params: Params, question: Question,
               convert: Callable[[Any, float, float], float], start: float | None = None) -> tuple[float, float, float]:
    """(α, ε(α), converted value) at a nearly best order, by a search from `start` if an order near it is known.

    The search may use estimates, as any order proves its value. Raises OutOfScope where every order gives infinity.
    """
    curve = total_rdp(bound, params)
    by = (conversion.estimate if isinstance(conversion, Conversion) else None) or conversion

    def value_at(alpha: float, curve: Callable[[float], float] = curve) -> float:
        rdp = curve(alpha)
        return convert(by, alpha, rdp) if rdp < inf else inf

    # A curve that was read from JSON is known at its orders alone, and some theorems are stated for whole orders.
    curves = [params["base"]] if "base" in params else [c for c, _ in params.get("parts", ())]
    listed = question.orders or params.get("alphas") or tuple(sorted({a for c in curves for a in c.orders}))
    if listed:
        best = min(listed, key=value_at)
    elif bound.integer_orders or any(c.whole for c, _ in params.get("parts", ())):
        about = total_rdp(replace(bound, value=bound.coarse), params) if bound.coarse else curve
        first = round(min(start or _guess(curve, question), 64))
        best = float(minimise_over(lambda k: value_at(float(k), curve=about), first, 2, LARGEST_WHOLE))
    else:
        u = log((start or _guess(curve, question)) - 1)
        while u > _LOW and curve(1 + exp(u)) == inf:
            u -= 1.0
        best = 1 + exp(minimise_hyperbolic(lambda u: value_at(1 + exp(u)), u, _LOW, _HIGH, 0.2))
    rdp = curve(best)
    value = convert(conversion, best, rdp) if rdp < inf else inf
    if value == inf:
        _raise_of_parameters(bound, params, best)
        raise OutOfScope("no-solution", f"{bound.name} is infinite, or above the largest double, at every order α")
    return float(best), rdp, value


def _raise_of_parameters(bound: Bound, params: Params, alpha: float) -> None:
    """Raises the OutOfScope of the theorem where the reason is a parameter other than the order."""
    own = own_params(bound, params)
    try:
        bound.value(alpha, **own, **chosen(bound, own, alpha=alpha))
    except OverflowError:
        return
    except OutOfScope as reason:
        if reason.option in (None, "--alpha"):
            return
        raise


def _guess(curve: Callable[[float], float], question: Question) -> float:
    """About the best order, by the improved conversion, of the Gaussian mechanism that has the same RDP at order 2."""
    slope = curve(2.0) / 2
    if not 0 < slope < inf:
        return 2.0
    if question.delta:  # (α−1)²·slope = log(1/δ) − log α
        t = sqrt(-question.log_delta / slope)
        for _ in range(2):
            t = sqrt(max(-question.log_delta - log1p(t), 0.0) / slope)
    else:  # 2(α−1)·slope = ε − slope + log(α/(α−1)), where the last term is first taken as 1/(α−1)
        rest = (question.epsilon or 0.0) - slope
        root = sqrt(rest * rest + 8 * slope)
        t = min(max((rest + root) / (4 * slope) if rest > 0 else 2 / (root - rest), _LEAST_GUESS),
                _LARGEST_GUESS)
        for _ in range(2):  # Newton's method, by steps that leave α − 1 positive
            step = (2 * t * slope - rest - log1p(1 / t)) / (2 * slope + 1 / (t * (t + 1)))
            t = min(max(t - step, t / 4), _LARGEST_GUESS)
    return 1 + min(max(t, _LEAST_GUESS), _LARGEST_GUESS)
