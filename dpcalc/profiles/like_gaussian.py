"""About δ and ε of very many steps, whose tilted sum is nearly normal, from its mean and deviation alone: no bounds."""

from __future__ import annotations

from math import inf, log

from dpcalc.numerics.invert import Unreachable, boundary
from dpcalc.numerics.normal import LOG_SQRT_2PI, mills
from dpcalc.profiles import tilt
from dpcalc.profiles.ends import log_infinite
from dpcalc.profiles.tilt import Cumulants, Parts

_SKEW = 0.3  # at most, of a sum that is nearly normal
_AWAY, _ABOUT = 10.0, 1e-3  # deviations from the mean: ε is not farther away; its error, relative


def log_delta_near(parts: Parts, epsilon: float) -> float | None:
    """About log δ at ε of very many steps by their finite losses, whose tilted sum is nearly normal. None where it is not."""
    c = tilt.for_epsilon(parts, epsilon)
    if not _is_normal(parts, c) or (found := _if_normal(c, epsilon)) == -inf:
        return None
    return found


def epsilon_near(parts: Parts, log_delta: float) -> float | None:
    """About ε at δ in the same way. None where infinite losses decide, too."""
    c = tilt.for_delta(parts, log_delta)
    if log_infinite(parts) >= log_delta or not _is_normal(parts, c):
        return None
    far = _AWAY * c.deviation
    try:
        return boundary(lambda epsilon: _if_normal(c, epsilon) - log_delta, c.mean + far, max(c.mean - far, 0.0), _ABOUT)
    except Unreachable:
        return None


def _is_normal(parts: Parts, c: Cumulants) -> bool:
    return c.deviation > 0 and abs(tilt.skewness(parts, c)) < _SKEW


def _if_normal(c: Cumulants, epsilon: float) -> float:
    """log δ at ε, if the tilted sum is normal."""
    off = (epsilon - c.mean) / c.deviation
    ratio = mills(c.tilt * c.deviation + off) - mills((c.tilt + 1) * c.deviation + off)
    return min(0.0, c.log_total - c.tilt * epsilon - off * off / 2 + log(ratio) - LOG_SQRT_2PI) if ratio > 0 else -inf
