"""A bound's value against its formula as printed, at high precision: what both the laws and the accuracy table measure."""

from functools import cache
from math import inf, log, nextafter
from typing import NamedTuple

import mpmath

from dpcalc.profiles import compose

# Digits of the oracle where 60 take minutes: a root of a minimum, or an integral.
DIGITS = {"rdp-optimal": 25, "online-limit": 30, "composition": 20, "burn-in-rdp": 20, "burn-in-as-published": 20}

MANY = 500  # where 60 leave a doubt


@cache
def context(dps):
    """An mpmath context of our own: making one takes longer than most formulas."""
    mp = mpmath.mp.clone()
    mp.dps = dps
    return mp


def exact(bound, p, dps):
    """The printed formula; the work digits cover the cancellation in the formula itself."""
    mp = context(dps)
    first = {"rdp": "alpha", "profile": "epsilon", "composition": "epsilon"}.get(bound.kind)
    if first is None:
        return bound.exact(mp, **p)
    return bound.exact(mp, p[first], **{k: v for k, v in p.items() if k != first})


def value(bound, p):
    if bound.kind == "conversion":
        return bound.value(p["alpha"], p["rdp"], nextafter(log(p["delta"]), -inf))
    if bound.kind == "composition":
        return compose.log_delta_at(bound.value(**{k: v for k, v in p.items() if k != "epsilon"}), p["epsilon"]).upper
    return bound.value(**p)


def pairs(bound, p, dps=60):
    """(value, exact) of every number a bound gives at p."""
    got, want = value(bound, p), exact(bound, p, dps)
    if bound.kind == "point":
        return [(got[k], want[k]) for k in want]
    if bound.kind in ("profile", "composition"):
        return [(got, context(dps).log(want))] if want > 0 else [(0.0 if got == -inf else got, 0.0)]
    return [(got, want)]


def slope(bound, p):
    """ε d log δ/dε of the printed formula, by a difference."""
    e = mpmath.mpf(p["epsilon"])
    if e == 0:
        return 0
    low, high = (exact(bound, {**p, "epsilon": e * (1 + mpmath.mpf(h))}, 80) for h in ("-1e-9", "1e-9"))
    return (mpmath.log(high) - mpmath.log(low)) / mpmath.mpf("2e-9") if low > 0 and high > 0 else mpmath.mpf(1)


class Deviation(NamedTuple):
    """How far a value lies above the theorem, in the units of the bound's claim. `below`: it is less than the theorem says."""

    error: float
    below: bool


def claimed(bound):
    """The largest error that a bound allows itself: rtol, but an absolute width of log δ for a composition on a grid."""
    return 2 * compose.PRECISION if bound.kind == "composition" else bound.rtol


def deviations(bound, p, least=0.0):
    """One for each number at p; an error is refined (by the slope of a profile) only where it is above `least`."""
    dps = DIGITS.get(bound.name, 60)
    found = [_deviation(bound, p, got, want, least, dps) for got, want in pairs(bound, p, dps)]
    if bound.name not in DIGITS and any(d.below or d.error > claimed(bound) for d in found):
        # The printed form itself may have lost its digits: 1 − (1 − 1e-300)^T.
        return [_deviation(bound, p, got, want, least, MANY) for got, want in pairs(bound, p, MANY)]
    return found


def _deviation(bound, p, got, want, least, dps):
    if got == -inf and dps == MANY and want < -2.3 * (MANY - 15):
        return Deviation(0.0, False)  # a δ of 0, and the rounding of the oracle
    if not -inf < got < inf:  # also a value that is no number
        return Deviation(inf, True)
    if want == 0 and bound.kind == "profile" and dps == MANY:  # a δ of 0: any is a bound, and it must be a negligible one
        return Deviation(0.0 if got < -600 or got == 0 else inf, False)
    if want < -1e300:  # a logarithm that doubles do not hold: any above it is a bound
        return Deviation(0.0, bool(got < want))
    if bound.status == "lower":  # the other side is the safe one, and how near it is not promised
        return Deviation(abs(float(want - got)) / max(1.0, abs(float(want))), bool(got > want))
    if bound.kind == "composition":  # a δ of 0 is not reached by rounding
        return Deviation(float(got - want) if want else 0.0, bool(want and got < want - mpmath.mpf("1e-12")))
    if got == 0 and abs(want) < mpmath.mpf(10) ** (25 - dps):
        return Deviation(0.0, False)  # nothing but the rounding of the oracle
    scale = abs(want) if bound.kind != "profile" else max(abs(want), 1)
    if bound.kind == "conversion":
        scale += p["rdp"] - log(p["delta"]) / (p["alpha"] - 1)
    excess = max(0, got - want - mpmath.mpf("1e-300"))
    if bound.kind == "profile" and excess > least * scale:  # a relative error of ε is allowed too: it moves log δ by ε·|dlogδ/dε|
        scale += abs(slope(bound, p))
    below = got < want - mpmath.mpf("1e-17" if bound.name in DIGITS else "1e-37") * scale  # what the oracle itself may be off
    return Deviation(float(excess / scale) if excess else 0.0, bool(below))
