"""High precision in a shorter time: a context of mpmath with functions of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
from mpmath.libmp import fone, from_float, from_int, mpf_add, mpf_div, mpf_exp, mpf_log, mpf_mul, mpf_pos, mpf_shift, mpf_sub, to_float

from dpcalc.numerics.lambert import lambert_w_log
from dpcalc.numerics.mptheta import theta, theta_rest

_DOUBLE = 50  # bits of a double that are right
_ORDER = 4
_GUARD = 10  # bits
_TINY = -40  # of log x
_THREE = from_int(3)


def context() -> Any:
    mp = mpmath.mp.clone()
    own: dict[str, Callable[..., Any]] = {"theta": theta, "theta_rest": theta_rest, "lambertw": lambert_w, "log1p": log1p, "expm1": expm1}
    for name, function in own.items():
        setattr(mp, name, partial(function, mp))
    return mp


def lambert_w(mp: Any, x: Any) -> Any:
    """W(x) of x > 0, from that in doubles: Fritsch, Shafer and Crowley's iteration (1973), which makes four times as many digits right."""
    x, bits = x._mpf_, _DOUBLE
    log_x = mpf_log(x, mp.prec + _GUARD)
    prec = mp.prec + _GUARD + max(0, log_x[2] + log_x[3])
    log_x = mpf_log(x, prec)
    start = to_float(log_x)
    w = from_float(lambert_w_log(start)) if start > _TINY else x  # W(x) = x − x² + …
    while bits < prec:
        bits *= _ORDER
        p = min(bits + _GUARD, prec)
        z, more = mpf_sub(mpf_sub(log_x, mpf_log(w, p), p), w, p), mpf_add(fone, w, p)
        twice = mpf_shift(z, 1)
        q = mpf_mul(mpf_shift(more, 1), mpf_add(more, mpf_div(twice, _THREE, p), p), p)
        step = mpf_div(mpf_mul(z, mpf_sub(q, z, p), p), mpf_mul(more, mpf_sub(q, twice, p), p), p)
        w = mpf_add(w, mpf_mul(w, step, p), p)
    return mp.make_mpf(mpf_pos(w, mp.prec, "n"))


def log1p(mp: Any, x: Any) -> Any:
    """log(1 + x) of real x > −1, with as many bits more as 1 + x hides."""
    x = mp.mpf(x)._mpf_
    if not x[1] or x[2] + x[3] < -mp.prec:
        return mp.make_mpf(x)
    return mp.make_mpf(mpf_log(mpf_add(fone, x), mp.prec))


def expm1(mp: Any, x: Any) -> Any:
    """e^x − 1 of real x, with as many bits more as cancel."""
    x = mp.mpf(x)._mpf_
    size = x[2] + x[3] if x[1] else 0
    if size < -mp.prec:
        return mp.make_mpf(x)
    return mp.make_mpf(mpf_sub(mpf_exp(x, mp.prec + max(0, -size) + _GUARD), fone, mp.prec, "n"))
