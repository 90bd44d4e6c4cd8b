"""A context of mpmath, with some functions replaced by faster ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import mpmath
from mpmath.libmp import (
    fone,
    from_float,
    from_man_exp,
    mpf_add,
    mpf_exp,
    mpf_log,
    mpf_mul,
    mpf_pos,
    mpf_sub,
    to_fixed,
    to_float,
)

from dpcalc.numerics.lambertw import lambert_w_log
from dpcalc.numerics.mp.hockey_stick import theta, theta_rest

_GUARD_BITS = 10  # computed beyond the precision of the context, against rounding errors


def context() -> Any:
    """A new context, whose precision can be set."""
    mp = mpmath.mp.clone()
    own: dict[str, Callable[..., Any]] = {"theta": theta, "theta_rest": theta_rest, "lambertw": lambert_w,
                                          "log1p": log1p, "expm1": expm1}
    for name, function in own.items():
        setattr(mp, name, partial(function, mp))
    return mp


def lambert_w(mp: Any, x: Any) -> Any:
    """W(x) for x > 0, from its double-precision value by the iteration of Fritsch, Shafer and Crowley (1973), which
    converges with order four."""
    x = x._mpf_
    size = max(0, (x[2] + x[3]).bit_length())  # bits of the integer part of log x
    prec = mp.prec + _GUARD_BITS + size
    log_x = mpf_log(x, prec)
    start = to_float(log_x)
    w = from_float(lambert_w_log(start)) if start > -40 else x  # W(x) = x − x² + …
    for p in _precisions(prec):
        w = _step(w, log_x, p, size)
    return mp.make_mpf(mpf_pos(w, mp.prec, "n"))


@lru_cache(maxsize=64)
def _precisions(prec: int) -> tuple[int, ...]:
    """The precisions of all steps, each about four times that of the one before; the start has 50 correct bits."""
    precisions = [prec]
    while precisions[-1] > 4 * 50:
        precisions.append(-(-precisions[-1] // 4) + _GUARD_BITS)
    return tuple(precisions[::-1])


def _step(w: Any, log_x: Any, p: int, size: int) -> Any:
    """One step of the iteration, in fixed-point arithmetic with numbers that are multiples of 2^−bits."""
    bits = p + size
    one = 1 << bits
    v = to_fixed(w, bits)
    z = to_fixed(log_x, bits) - to_fixed(mpf_log(w, p + size), bits) - v
    more = one + v
    q = more * (more + 2 * z // 3) >> bits - 1
    step = (z * (q - z) << bits) // (more * (q - 2 * z))
    return mpf_mul(w, from_man_exp(one + step, -bits), p)


def log1p(mp: Any, x: Any) -> Any:
    """log(1 + x) for real x > −1, with as many additional bits as are lost in 1 + x."""
    x = mp.mpf(x)._mpf_
    size = x[2] + x[3] if x[1] else 0
    if not x[1] or size < -mp.prec:
        return mp.make_mpf(x)
    return mp.make_mpf(mpf_log(mpf_add(fone, x, mp.prec + abs(min(size, 0)) + _GUARD_BITS, "n"), mp.prec))


def expm1(mp: Any, x: Any) -> Any:
    """e^x − 1 for real x, with as many additional bits as cancel."""
    x = mp.mpf(x)._mpf_
    size = x[2] + x[3] if x[1] else 0
    if size < -mp.prec:
        return mp.make_mpf(x)
    return mp.make_mpf(mpf_sub(mpf_exp(x, mp.prec + max(0, -size) + _GUARD_BITS), fone, mp.prec, "n"))
