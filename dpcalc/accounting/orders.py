"""The search for the Rényi order of a conversion. Any order proves its value; this one is nearly the best.

For a true RDP curve (α−1)ε(α) is convex, so the orders at which (ε, δ) follows by the improved conversion form an
interval: a descent from any start ends at the best one. The search depends on the parameters alone, so that a solved
parameter that is put in again is evaluated at the same orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from heapq import nsmallest
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import LARGEST_WHOLE, Params, RdpBound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise, minimise_over
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.core.bound import Bound, Conversion
    from dpcalc.core.question import Question

_LOW, _HIGH = log(1e-4), log(9e9)  # the range of log(α − 1) that is searched
_SHORT_LIST = 50  # orders of a longer list at which the slower conversion is tried: the best ones by the faster one
_ROUGH, _FINE = 1e-2, 5e-7  # tolerances of log(α − 1); the error of the value is about their square


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
    return lambda alpha: all_steps(one(alpha), params)


@lru_cache(maxsize=2)
def _curve(bound: Bound, own: tuple[tuple[str, Any], ...]) -> Callable[[float], float]:
    """The RDP curve of one use; each order is computed once, as all conversions of a curve try the same ones."""
    known: dict[float, float] = {}
    params = dict(own)

    def curve(alpha: float) -> float:
        if alpha not in known:
            try:
                known[alpha] = bound.value(alpha, **params, **chosen(bound, params, alpha=alpha))
            except (OverflowError, OutOfScope):
                known[alpha] = inf
        return known[alpha]

    return curve


def best_order(bound: RdpBound, conversion: Conversion, params: Params, question: Question,
               convert: Callable[[Conversion, float, float], float], start: float | None = None) -> tuple[float, float,
                                                                                                     float]:
    """(α, ε(α), converted value) at a nearly best order. With a `start`, the order is found only roughly.

    Any order proves its value. Raises OutOfScope where every order gives infinity.
    """
    curve = total_rdp(bound, params)

    def value_at(alpha: float, by: Conversion = conversion, curve: Callable[[float], float] = curve) -> float:
        rdp = curve(alpha)
        return convert(by, alpha, rdp) if rdp < inf else inf

    listed = question.orders or _listed(params)
    if listed:
        near: Iterable[float] = listed
        if conversion.rough is not None and len(listed) > _SHORT_LIST:
            rough = conversion.rough
            near = nsmallest(_SHORT_LIST, listed, key=lambda alpha: value_at(alpha, rough))
        best = min(near, key=value_at)
    elif _whole(bound, params):
        about = total_rdp(replace(bound, value=bound.coarse), params) if bound.coarse else curve
        first = round(min(start or _guess(curve, question), 64))
        best = float(minimise_over(lambda k: value_at(float(k), curve=about), first, 2, LARGEST_WHOLE))
    elif start is not None:
        best = _descend(value_at, start, 0.2, _ROUGH)
    elif conversion.rough is not None:
        rough = conversion.rough
        best = _descend(value_at, _descend(lambda alpha: value_at(alpha, rough), _guess(curve, question), 0.4, _ROUGH),
                        0.03, _FINE)
    else:
        best = _descend(value_at, _guess(curve, question), 0.4, _FINE)
    value = value_at(best)
    if value == inf:
        _raise_of_parameters(bound, params, best)
        raise OutOfScope("no-solution", f"{bound.name} is infinite, or above the largest double, at every order α")
    return float(best), curve(best), value


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


def _descend(value_at: Callable[[float], float], start: float, step: float, tolerance: float) -> float:
    """The order near `start` with the least value, to a tolerance of log(α − 1); `step` is the first one."""
    u = log(start - 1)
    while u > _LOW and value_at(1 + exp(u)) == inf:
        u -= 1.0
    return 1 + exp(minimise(lambda u: value_at(1 + exp(u)), u, _LOW, _HIGH, step, tolerance))


def _guess(curve: Callable[[float], float], question: Question) -> float:
    """The best order of the Gaussian mechanism that has the same RDP at order 2."""
    slope = curve(2.0) / 2
    if not 0 < slope < inf:
        return 2.0
    if question.delta:
        return 1 + min(max(sqrt(-question.log_delta / slope), 1e-3), 1e9)
    return 1 + min(max(((question.epsilon or 0.0) / slope - 1) / 2, 1e-3), 1e9)


def _listed(params: Params) -> tuple[float, ...]:
    """The orders of a curve that was read from JSON, which is known at these alone."""
    curves = [params["base"]] if "base" in params else [c for c, _ in params.get("parts", ())]
    return params.get("alphas") or tuple(sorted({a for c in curves for a in c.orders}))


def _whole(bound: RdpBound, params: Params) -> bool:
    """Whether the curve is stated for whole orders only."""
    return bound.integer_orders or any(c.whole for c, _ in params.get("parts", ()))
