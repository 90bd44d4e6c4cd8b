"""What a bound reports, beside what cells of an instance show."""

from math import exp, log

import chains

from dpcalc.bounds import all_bounds
from dpcalc.core.errors import OutOfScope

BOUNDS = all_bounds()


def orders(rng, count=6, most=3.0):
    return [1 + exp(rng.uniform(-4, most)) for _ in range(count)]


def epsilons(rng, scale, count=6):
    return [0.0, *(scale * exp(rng.uniform(-3, 1)) for _ in range(count - 1))]


def reported(name, at, params, times=1, function="value"):
    """One number, or None where the theorem does not apply."""
    bound = BOUNDS[name]
    try:
        x = getattr(bound, function)(at, **{k: params[k] for k in params if k in bound.params or k in ("r", "sigma1")})
    except OutOfScope:
        return None
    return times * x


def profile(name, p, q, at, params):
    for epsilon in at:
        x = reported(name, epsilon, params)
        if x is not None:
            yield name, f"δ({epsilon:.6g})", chains.delta(p, q, epsilon), exp(x)


def inverse(name, p, q, at, params):
    """ε at δ: the δ of the instance there may not exceed what was asked for."""
    for delta in at:
        x = reported(name, log(delta), params, function="inverse")
        if x is not None:
            yield name, f"ε(δ={delta:.6g}) = {x:.6g}", chains.delta(p, q, x), delta


def rdp(name, p, q, at, params, times=1, function="value"):
    for alpha in at:
        x = reported(name, alpha, params, times, function)
        if x is not None:
            yield name, f"D({alpha:.6g})", chains.rdp(p, q, alpha), x


def point(name, key, true, **params):
    yield name, key, true, BOUNDS[name].value(**params)[key]
