"""The least ε at which a privacy profile δ(ε) is at most a given δ."""

from math import exp, log
from typing import Any

from dpcalc.core.bound import ProfileBound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import SMALLEST_NORMAL, human_claimed, human_probability
from dpcalc.numerics.root import Never, Unreachable, smallest_feasible


def least_epsilon(bound: ProfileBound, log_delta: float, own: dict[str, Any], epochs: int = 1,
                  start: float | None = None) -> float:
    """The least ε of a profile at log δ, never below the theorem's; `own` are the parameters of the bound.

    With several `epochs`, log δ is that of one epoch in a basic composition. The inverse of a profile in blocks begins
    at `start`, if one is known. Raises OutOfScope where no ε reaches δ. """
    try:
        if bound.inverse:
            return float(bound.inverse(log_delta, **own, **({} if start is None else {"start": start})))
        return smallest_feasible(lambda epsilon: float(bound.value(epsilon, **own)) - log_delta)
    except Unreachable as e:
        if bound.inverse and not isinstance(e, Never):
            raise  # the inverse could not be computed, which does not say that there is no ε
        name = bound.name if epochs == 1 else f"{bound.name}-basic"
        raise no_epsilon(name, float(bound.value(e.at, **own)) + log(epochs), bound.rtol) from None


def no_epsilon(name: str, best: float, rtol: float, what: str = "the least δ it gives is") -> OutOfScope:
    """The error that a bound reaches the δ at no ε.

    `best` is log of the least δ that it can reach, with an absolute error of rtol·max(1, |best|); `what` introduces it.
    """
    log_delta = min(best, 0.0)
    delta = exp(log_delta)
    # 1e-14: the relative error of the logarithm and the exponential between log δ and δ
    text = (human_claimed(delta, rtol * max(1.0, -log_delta) + 1e-14) if delta > SMALLEST_NORMAL
            else human_probability(delta, log_delta))
    return OutOfScope("no-solution", f"no ε is enough for this δ by {name}; {what} {text}", "--delta")
