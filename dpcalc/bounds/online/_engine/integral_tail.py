"""The remainder of the integral of −log B over a stream, after its first panels: by arrays, or in closed form."""

from __future__ import annotations

from functools import partial
from math import exp, expm1, log

from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.online._engine.sums import NEGLIGIBLE, Progress, Tail, panel_factor

_TINY = 1e-13  # largest 1 − B and C2/x for the closed form, whose relative error is about as large


def tail_of_losses(epsilon: float, levels: Schedule, power: float) -> Tail:
    """The argument `tail` of `sums.integral` for the integrand −log B, where −d log(−log B)/d log t is at most about
    `power`."""
    return partial(_gaussian_tail if levels.noise == "gaussian" else _laplace_tail, epsilon, levels, power)


def _gaussian_tail(epsilon: float, levels: Schedule, power: float, done: Progress) -> float | None:
    """The total of the integral, with the remaining panels computed by arrays; None before 100 panels are done."""
    if done.panels < 100:  # they take 10 ms, and the import of numpy 100 ms
        return None
    from dpcalc.bounds.online._engine import sums_array

    return sums_array.integral(partial(sums_array.losses, epsilon, levels), done, panel_factor(power), NEGLIGIBLE)


def _laplace_tail(epsilon: float, levels: Schedule, power: float, done: Progress) -> float | None:
    """The total with a lower bound on the remainder, the integral of q = 1 − B = e^{ε/2}/(x + C2) <= −log B in closed
    form; None where q or C2/x is not tiny."""
    log_q = epsilon / 2 - levels.log_x(done.low)
    if log_q > log(_TINY) or levels.share(done.low) < 1 - _TINY:
        return None
    error = 10 * _TINY + 1e-15 * (epsilon / 2 + abs(log(levels.c1)) + levels.decay * log(done.low))
    excess = levels.decay - 1
    rest = exp(log_q) * done.low / excess * -expm1(excess * log(done.low / done.high))
    return done.total + rest * (1 - error)
