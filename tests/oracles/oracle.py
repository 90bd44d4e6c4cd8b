"""A bound's value against its formula as printed, enclosed in ball arithmetic: what both the laws and the accuracy
table measure."""

from functools import cache
from math import inf, log, nextafter
from typing import NamedTuple

import enclose
import flint
import mpmath

from dpcalc.pld.bracket import PRECISION, log_delta_at_epsilon
from dpcalc.verify.arb.ball import Undecided

# of mpmath where 60 take minutes
DIGITS = {"rdp-optimal": 25, "online-limit": 30, "composition": 20, "burn-in-rdp": 20, "burn-in-rdp-nonconvex": 20,
          "burn-in-as-published": 20}
MANY, FARTHEST = 500, -1e30  # a log δ that Arb cannot hold: mpmath's exponents have no end
# the reference is that part of the claim wide; a value inside so narrow a ball is the formula's
FINE, SAME = 1e-3, 1e-25


@cache
def context(dps):
    """An mpmath context of our own: making one takes longer than most formulas."""
    mp = mpmath.mp.clone()
    mp.dps = dps
    return mp


def exact(bound, p, dps):
    """The printed formula in mpmath, with no error bound: the balls are compared with it."""
    mp = context(dps)
    first = enclose.FIRST.get(bound.kind)
    if first is None:
        return bound.exact(mp, **p)
    return bound.exact(mp, p[first], **{k: v for k, v in p.items() if k != first})


def value(bound, p):
    if bound.kind == "conversion":
        return enclose.conversion(bound, **p)
    if bound.kind == "composition":
        found = log_delta_at_epsilon(bound.value(**{k: v for k, v in p.items() if k != "epsilon"}), p["epsilon"])
        return found.lower if bound.is_from_below else found.upper
    return bound.value(**p)


class Deviation(NamedTuple):
    """How far a value lies above the theorem at most, in the units of the bound's claim. `below`: it is surely less
    than the theorem."""

    error: float
    below: bool


def claimed(bound):
    """The largest error that a bound allows itself: rtol, but an absolute width of log δ for a composition on a
    grid."""
    return max(2 * PRECISION, bound.rtol) if bound.kind == "composition" else bound.rtol


def deviations(bound, p, least=0.0):
    """One for each number at p; an error is refined (by the slope of a profile) only where it is above `least`. Raises
    Undecided where no precision encloses the formula narrowly enough."""
    got = value(bound, p)
    left, found = (dict(got) if bound.kind == "point" else {None: got}), []
    if bound.kind == "profile" and -inf < got < FARTHEST:
        return [_far(bound, p, got)]
    if bound.is_from_below and got == -inf:
        return [Deviation(0.0, False)]  # no claim at all
    for bits in enclose.BITS:
        try:
            want = enclose.numbers(bound, p, bits)
        except Undecided:
            continue
        for key in [*left]:
            deviation = _deviation(bound, p, left[key], want[key], least, bits)
            if deviation is not None:
                found.append(deviation)
                del left[key]
        if not left:
            return found
    raise Undecided(f"{bound.name}: no narrow enclosure at {p}")


def _deviation(bound, p, got, want, least, bits):
    """None where the ball is too wide for it."""
    if bound.kind in ("profile", "composition"):
        # a δ of 0: any is a bound, and it must be a negligible one; a composition does not reach it by rounding
        if enclose.is_zero(want):
            return Deviation(0.0 if got < -600 or bound.kind == "composition" else inf, False)
        if not want > 0:  # nothing tells a δ below 2^{−2000} from 0
            unseen = bits == enclose.BITS[-1] and want.upper() < flint.arb(2) ** -2000
            return Deviation(0.0, False) if unseen and got < -600 else None
        want = want.log()
    if not want.is_finite():
        return None
    if not -inf < got < inf:  # also a value that is no number
        return Deviation(inf, True)
    excess = got - want
    size = abs(want).lower()
    radius = want.rad()
    if bound.is_from_below:  # the other side is the safe one, and how near it is not promised
        if radius > FINE * 1e-9 * _one(size):
            return None
        return Deviation(_float(abs(excess).upper() / _one(size)), bool(excess > 0))
    if bound.kind == "composition":  # 1e-12: masses are given by the logarithms of doubles
        return None if radius > 1e-15 * _one(size) else Deviation(max(0.0, _float(excess.upper())),
                                                                  bool(excess < -1e-12))
    scale = _one(size) if bound.kind == "profile" else size
    if bound.kind == "conversion":
        scale += p["rdp"] - log(p["delta"]) / (p["alpha"] - 1)
    if radius > 1e-300 and (radius > FINE * bound.rtol * scale or (excess.contains(0) and radius > SAME * scale)):
        return None
    over = (excess - flint.arb("1e-300")).upper()  # what doubles cannot tell from nothing
    if not over > 0:
        return Deviation(0.0, bool(excess < 0))
    # a relative error of ε is allowed too: it moves log δ by ε·|dlogδ/dε|
    if bound.kind == "profile" and over > least * scale:
        scale += slope(bound, p, bits)
    return Deviation(_float((over / scale).upper()), bool(excess < 0))


def _far(bound, p, got):
    """By mpmath, to 1e-37."""
    want = exact(bound, p, MANY)
    if want == 0 or mpmath.log(want) < -1e300:  # a logarithm that doubles do not hold: any above it is a bound
        return Deviation(0.0, bool(want and got < mpmath.log(want)))
    want = context(MANY).log(want)
    excess, scale = got - want, abs(want)
    return Deviation(max(0.0, float(excess / scale)), bool(excess < -mpmath.mpf("1e-37") * scale))


def _one(size):
    return size if size > 1 else flint.arb(1)


def _float(x):
    """The double next above."""
    return nextafter(float(x), inf) if x > 0 else 0.0


def slope(bound, p, bits):
    """|ε d log δ/dε| of the printed formula from below, by a difference."""
    e = p["epsilon"]
    if e == 0:
        return 0
    low, high = e * (1 - 1e-9), e * (1 + 1e-9)
    for more in (64, 192, 1024):
        try:
            left, right = (enclose.numbers(bound, {**p, "epsilon": x}, bits + more)[None].log() for x in (low, high))
        except Undecided:
            continue
        if left.is_finite() and right.is_finite():
            return abs((right - left) / (flint.arb(high) / flint.arb(low)).log()).lower()
    return 1
