"""The search for the Rényi order of a conversion. Any order proves its value; this one is nearly the best.

For a true RDP curve (α−1)ε(α) is convex, so the orders at which (ε, δ) follows by the improved conversion form an
interval: a descent from any start ends at the best one. The search depends on the parameters alone, so that a solved
parameter that is fed back is judged at the same orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from heapq import nsmallest
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import LARGEST_WHOLE, Params
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise, minimise_over
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.core.bound import Bound
    from dpcalc.core.question import Question

_LOW, _HIGH = log(1e-4), log(9e9)  # of log(α − 1)
_FEW = 50  # listed orders that the slower conversion is tried at: the best ones of the faster one
_ROUGH, _FINE = 1e-2, 5e-7  # tolerances of log(α − 1); the value's error is about their square


def own_params(bound: Bound, params: Params) -> dict[str, Any]:
    """The parameters that a bound reads."""
    return {name: params[name] for name in bound.params}


def chosen(bound: Bound, params: Params, **at: float) -> dict[str, Any]:
    """The free choices of a theorem at an α, an ε or a log δ; none for most."""
    return bound.search(**at, **own_params(bound, params)) if bound.search else {}


def all_steps(one: float, params: Params) -> float:
    """RDP adds up over steps."""
    steps = params.get("steps", 1)
    return one if steps == 1 else up(steps * one)


def total_rdp(bound: Bound, params: Params) -> Callable[[float], float]:
    """α → RDP of all steps; inf where the theorem does not reach or doubles do not."""
    one = _curve(bound, tuple(own_params(bound, params).items()))
    return lambda alpha: all_steps(one(alpha), params)


@lru_cache(maxsize=2)
def _curve(bound: Bound, own: tuple[tuple[str, Any], ...]) -> Callable[[float], float]:
    """One use, each order computed once: the conversions of a curve look at the same ones."""
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


def best_order(bound: Bound, conversion: Bound, params: Params, question: Question,
               convert: Callable[[Bound, float, float], float], start: float | None = None) -> tuple[float, float,
                                                                                                     float]:
    """(α, ε(α), value) at a nearly best order; from `start`, where one is given, only roughly.

    Raises OutOfScope where every order gives infinity.
    """
    curve = total_rdp(bound, params)

    def at(alpha: float, by: Bound = conversion, along: Callable[[float], float] = curve) -> float:
        rdp = along(alpha)
        return convert(by, alpha, rdp) if rdp < inf else inf

    listed = question.orders or _listed(params)
    if listed:
        near: Iterable[float] = listed
        if conversion.rough is not None and len(listed) > _FEW:
            rough = conversion.rough
            near = nsmallest(_FEW, listed, key=lambda alpha: at(alpha, rough))
        best = min(near, key=at)
    elif _whole(bound, params):
        about = total_rdp(bound._replace(value=bound.coarse), params) if bound.coarse else curve
        first = round(min(start or _guess(curve, question), 64))
        best = float(minimise_over(lambda k: at(float(k), along=about), first, 2, LARGEST_WHOLE))
    elif start is not None:
        best = _descend(at, start, 0.2, _ROUGH)
    elif conversion.rough is not None:
        rough = conversion.rough
        best = _descend(at, _descend(lambda alpha: at(alpha, rough), _guess(curve, question), 0.4, _ROUGH), 0.03, _FINE)
    else:
        best = _descend(at, _guess(curve, question), 0.4, _FINE)
    value = at(best)
    if value == inf:
        _raise_of_parameters(bound, params, best)
        raise OutOfScope("no-solution", f"{bound.name} is infinite at every order (or above the largest double)")
    return float(best), curve(best), value


def _raise_of_parameters(bound: Bound, params: Params, alpha: float) -> None:
    """What the theorem says against these parameters, at whatever order."""
    own = own_params(bound, params)
    try:
        bound.value(alpha, **own, **chosen(bound, own, alpha=alpha))
    except OverflowError:
        return
    except OutOfScope as reason:
        if reason.option in (None, "--alpha"):
            return
        raise


def _descend(at: Callable[[float], float], start: float, step: float, tolerance: float) -> float:
    u = log(start - 1)
    while u > _LOW and at(1 + exp(u)) == inf:
        u -= 1.0
    return 1 + exp(minimise(lambda u: at(1 + exp(u)), u, _LOW, _HIGH, step, tolerance))


def _guess(curve: Callable[[float], float], question: Question) -> float:
    """The best order of a Gaussian with the same RDP at 2."""
    slope = curve(2.0) / 2
    if not 0 < slope < inf:
        return 2.0
    if question.delta:
        return 1 + min(max(sqrt(-question.log_delta / slope), 1e-3), 1e9)
    return 1 + min(max(((question.epsilon or 0.0) / slope - 1) / 2, 1e-3), 1e9)


def _listed(params: Params) -> tuple[float, ...]:
    """The orders that a curve from JSON lists."""
    curves = [params["base"]] if "base" in params else [c for c, _ in params.get("parts", ())]
    return params.get("alphas") or tuple(sorted({a for c in curves for a in c.orders}))


def _whole(bound: Bound, params: Params) -> bool:
    return bound.integer_orders or any(c.whole for c, _ in params.get("parts", ()))
