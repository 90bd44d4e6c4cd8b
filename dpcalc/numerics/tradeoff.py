"""Trade-off functions from a privacy profile: bounds on the true-positive rate of a test. Every ε proves one, and the
search is for an ε that proves nearly the best."""

from collections.abc import Callable, Iterable
from math import exp, log

from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.rounding import up

_SMALLEST = -40.0  # the least ε of the search: below it, the bound on the rate is within e^−40 of 1


def true_positive(delta: Callable[[float], float], fpr: float, tolerance: float, start: float = 0.0,
                  points: Iterable[float] = (), other: Callable[[float], float] | None = None,
                  enough: float = 0.0) -> tuple[float, float]:
    """The largest true-positive rate of a test with false-positive rate f, from δ(ε), ε >= 0, of the alternative
    against the hypothesis; and the ε that proves it (negative: the bound of the reversed roles). `other` is δ of the
    other direction, if that is not the same.

    δ(ε) + e^ε f for ε >= 0, and 1 − e^{−ε}(1 − δ(ε) − f), for every ε (Dong, Roth & Su 2022, Proposition 2.5,
    arXiv:1905.02383v3). For a profile it is a convex function of e^ε, which has one minimum. For a bound on a profile
    it may have several; the search begins at the best of `start` and of the `points`, all >= 0, and of points spread
    over the range if δ is constant near 0. It ends early at a rate of at most `enough`. """
    seen: dict[float, float] = {}

    def rate(u: float) -> float:
        if u not in seen:
            seen[u] = at_level(delta(u) if u >= 0 else (other or delta)(-u), u, fpr)
            if seen[u] <= enough:
                raise _Enough
        return seen[u]

    high = max(0.0, -log(fpr))
    spread = min(max(delta(0.0), 1e-12), 1.0)  # about the standard deviation of the loss
    try:
        if spread < high and delta(spread) >= delta(0.0) * (1 - 1e-9):
            points = (*points, *(high * k / 12 for k in range(1, 12)))
        inside = (u for e in points for u in (e, -e) if _SMALLEST <= u <= high)
        begin = min((min(max(start, _SMALLEST), high), 0.0, *inside), key=rate)
        minimise(rate, begin, _SMALLEST, high, spread, tolerance * spread)
    except _Enough:
        pass  # any ε is a proof
    best = min(seen, key=lambda u: seen[u])
    return min(1.0, seen[best]), best


class _Enough(Exception):
    """A rate that is small enough was found."""


def at_level(delta: float, u: float, fpr: float) -> float:
    """The bound on the true-positive rate that ε = u proves, from δ(|u|)."""
    if u >= 0:
        return up(delta + exp(u) * fpr, 1e-15)
    return 1 - exp(u) * (1 - delta - fpr) + 1e-15


def best_guess(delta: Callable[[float], float], prior: float) -> float:
    """The largest probability of guessing correctly which of two neighbouring data sets was used, if one of them has
    this prior probability.

    max_S πP(S) + (1−π)Q(Sᶜ) = 1 − π + πδ(log((1−π)/π)) for π <= 1/2: by the definition δ(ε) = max_S P(S) − e^ε Q(S). It
    is the posterior probability of the more likely data set, averaged over the outputs. """
    rare = min(prior, 1 - prior)
    epsilon = max(0.0, (log(1 - rare) - log(rare)) * (1 - 1e-15) - 1e-15)  # rounded down, as δ decreases
    return min(1.0, up(1 - rare + rare * delta(epsilon), 1e-15))
