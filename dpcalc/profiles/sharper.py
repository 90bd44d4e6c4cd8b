"""An upper value of a composition read anew, where the errors of its transform are seen in it: from sums of its large losses alone."""

from __future__ import annotations

from math import inf

from dpcalc.profiles import far
from dpcalc.profiles.read import Reader
from dpcalc.profiles.rounding import Rounded
from dpcalc.profiles.tilt import Parts

NEAR = 0.95  # of an ε, which errors make larger
_TRIES, _FARTHEST = 3, -745.0  # where doubles hold δ
_SMALLER = 0.1  # of log δ: another look leaves out less


def closer(parts: Parts) -> bool:
    """Whether sums of such steps can be looked at more closely."""
    return len(parts) == 1 and 1 < parts[0][1] <= far.MOST_STEPS


def sharper(parts: Parts, both: Rounded, upper: Reader, seen: float, epsilon: float, log_delta: float | None = None) -> Reader | None:
    """What is to be read at ε, where `upper` shows errors of more than `seen` of δ there; or, with a δ that `upper` reaches at ε, between
    NEAR of it and ε. None where nothing better is found: several parts, or blocks composed first."""
    steps = sum(count for _, count in parts)
    if not (closer(parts) and both.at_once and both.step < epsilon < inf) or (loose := upper.loose(epsilon)) < seen:
        return None
    above = epsilon * (1.0 if log_delta is None else NEAR) - (both.step if both.coarser else 0.0)
    about, best = upper.log_delta(epsilon), None
    if above <= 0 or about < _FARTHEST:
        return None
    for _ in range(_TRIES):  # how small δ is says what may be left out
        found = far.sums(parts[0][0], both.single[0][0], steps, upper.tilt, above, about, loose)
        if found is None:
            break
        law, own = found
        law = far.rounded(law, own, both.upper[0][0]) if both.coarser else law
        other = Reader(law, own, upper.log_infinite, upper.slack + far.slack(steps), +1)
        smaller = other.log_delta(epsilon) < about - _SMALLER
        if smaller or other.loose(epsilon) < loose:
            best, loose = other, other.loose(epsilon)
        if not smaller or loose < seen:
            break
        about = other.log_delta(epsilon)
    return None if best and log_delta is not None and best.log_delta(epsilon) > log_delta else best
