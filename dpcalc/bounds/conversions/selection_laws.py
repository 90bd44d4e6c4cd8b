"""Laws of the number of runs of which the best is published, and what the choice of the best adds to the privacy loss
of one run (see selection.py)."""

from functools import lru_cache
from math import exp, expm1, inf, log, log1p
from typing import Any, NamedTuple, Protocol

from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import SMALLEST_NORMAL
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log_expm1
from dpcalc.numerics.root import Unreachable, boundary, bracket
from dpcalc.numerics.rounding import up

RTOL = 1e-14  # relative: the rounding errors of a logarithm, an exponential and a few products
GEOMETRIC, LOGARITHMIC = 1.0, 0.0  # shapes h of the truncated negative binomial law


class Law(NamedTuple):
    """A law of the number K of runs: truncated negative binomial with a shape h and a parameter g, or Poisson, which
    has none of both. `mean` is E K, rounded up."""

    mean: float
    shape: float | None = None
    gamma: float | None = None

    def exact_mean(self, mp: Any) -> Any:
        """E K of the law that its parameters name."""
        if self.shape is None or self.gamma is None or self.gamma == 1:
            return mp.mpf(self.mean)
        h, g = mp.mpf(self.shape), mp.mpf(self.gamma)
        return (1 / g - 1) / -mp.log(g) if h == 0 else h * (1 - g) / (g * -mp.expm1(h * mp.log(g)))


def poisson(mean: float) -> Law:
    """The Poisson law."""
    return Law(mean)


def truncated(shape: float, gamma: float) -> Law:
    """The truncated negative binomial law with these parameters. Raises OutOfScope for a shape that doubles cannot tell
    from 0."""
    if 0 < abs(shape) < SMALLEST_NORMAL:
        raise OutOfScope("out-of-range", f"{shape:g} is too near to 0; give 0, or --tries-law logarithmic",
                         "--tries-shape")
    return Law(up(_mean(shape, -log(gamma)), RTOL * (1 + abs(shape) * -log(gamma))), shape, gamma)


def truncated_with_mean(mean: float, shape: float) -> Law:
    """The truncated negative binomial law with this shape whose mean is about `mean` >= 1; its own mean is that of its
    parameter g, a double. Raises OutOfScope where that is too small for one."""
    if shape == GEOMETRIC or mean == 1:
        return truncated(shape, 1 / mean)
    far, near = bracket(lambda x: _mean(shape, x) / mean - 1, log(mean), -1, 1e-300, LARGEST_EXPONENT)
    if far == near:
        most = _mean(shape, LARGEST_EXPONENT)
        raise OutOfScope("out-of-range", f"{mean:g} is too many for the shape {shape:g}, whose law has at most "
                         f"{most:.6g} runs on average; give a larger --tries-shape", "--tries")
    return truncated(shape, exp(-boundary(lambda x: _mean(shape, x) / mean - 1, far, near, 1e-16)))


def _mean(shape: float, x: float) -> float:
    """E K by x = log(1/g)."""
    if x == 0:
        return 1.0
    return expm1(x) / x if shape == 0 else shape * expm1(x) / -expm1(-shape * x)


class Candidate(Protocol):
    """The guarantee of one run, from above. It holds for both orders of the neighbours."""

    @property
    def is_numerical(self) -> bool:
        """Whether it is composed numerically, so that it is known to its `precision` only."""

    @property
    def precision(self) -> float: ...
    def __hash__(self) -> int: ...
    def log_delta(self, epsilon: float) -> float: ...
    def rough_log_delta(self, epsilon: float) -> float:
        """An upper bound of log δ that is cheap at many ε."""

    def epsilon(self, log_delta: float) -> float: ...
    def pure(self) -> float: ...
    def rdp(self, alpha: float) -> float: ...
    def tv(self) -> float: ...
    def exact_delta(self, mp: Any, epsilon: Any) -> Any: ...
    def exact_rdp(self, mp: Any, alpha: float) -> Any: ...


# --- what selection adds to the loss ---------------------------------------------------------------------------------


@lru_cache(maxsize=64)  # of candidates that a search tries
def log_r(candidate: Candidate, law: Law) -> float:
    """log r of a truncated negative binomial law: nearly the least one, and one that meets the condition."""
    assert law.gamma is not None
    if law.gamma == 1 or candidate.rough_log_delta(0.0) == -inf:
        return 0.0
    ratio = log1p(-law.gamma) - log(law.gamma)

    def residual(x: float) -> float:
        left, right = ratio + candidate.rough_log_delta(x), log_expm1(x)
        return -inf if left == -inf else left - right + RTOL * (1 + abs(left) + abs(right))

    most = -log(law.gamma) * (1 + RTOL)  # where the condition holds whatever the candidate is, as δ <= 1
    try:
        around = bracket(residual, 0.1, +1, 1e-300, most)
    except Unreachable:
        return most
    return boundary(residual, *around, candidate.precision / 10 if candidate.is_numerical else RTOL)


def added_loss(law: Law, log_r: float = 0.0, total_variation: float = 0.0) -> float:
    """c, rounded up: from log r, or for a Poisson law from the candidate's total variation."""
    if law.shape is None:
        return up(law.mean * total_variation)
    return up((1 + law.shape) * log_r, 2e-16)


def exact_added_loss(mp: Any, law: Law, log_r: float = 0.0, total_variation: float = 0.0) -> Any:
    """The same number at high precision."""
    if law.shape is None:
        return law.exact_mean(mp) * mp.mpf(total_variation)
    return (1 + mp.mpf(law.shape)) * mp.mpf(log_r)
