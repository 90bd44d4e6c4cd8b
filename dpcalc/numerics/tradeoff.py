"""Trade-off functions from a privacy profile: bounds on the true-positive rate of a test. Every ε proves one, and the
search is for an ε that proves nearly the best."""

from collections.abc import Callable, Iterable
from math import exp, inf, log

from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.rounding import up


def true_positive(delta: Callable[[float], float], fpr: float, tolerance: float, start: float = 0.0,
                  points: Iterable[float] = (), other: Callable[[float], float] | None = None,
                  enough: float = 0.0) -> tuple[float, float]:
    """The largest true-positive rate of a test with false-positive rate f, and the ε that proves it (negative: the
    bound of the reversed roles).

    It is at most δ(ε) + e^ε f for ε >= 0, and 1 − e^{−ε}(1 − δ(ε) − f), for every ε (Dong, Roth & Su 2022, Proposition
    2.5, arXiv:1905.02383v3). For a profile that is a convex function of e^ε, which has one minimum. For a bound on a
    profile it may have several.

    `delta` is δ(ε), ε >= 0, of the alternative against the hypothesis, and `other` that of the hypothesis against the
    alternative, where it is not the same.
    `tolerance` is that of the ε found, in standard deviations of the privacy loss.
    The search begins at the best of `start`, 0 and ± the `points`, and of more points if δ is constant near 0.
    It ends where the rate is at most `enough`. """
    seen: dict[float, float] = {}

    def rate(u: float) -> float:
        """The bound by ε = u; after one that is small enough no other is computed."""
        least = min(seen.values(), default=inf)
        if u not in seen and least > enough:
            seen[u] = at_level(delta(u) if u >= 0 else (other or delta)(-u), u, fpr)
        return seen.get(u, least)

    low, high = -40.0, max(0.0, -log(fpr))  # below −40 the bound is within e^−40 of 1
    spread = min(max(delta(0.0), 1e-12), 1.0)  # about the standard deviation of the loss
    if spread < high and delta(spread) >= delta(0.0) * (1 - 1e-9):
        points = (*points, *(high * k / 12 for k in range(1, 12)))
    inside = (u for e in points for u in (e, -e) if low <= u <= high)
    begin = min((min(max(start, low), high), 0.0, *inside), key=rate)
    minimise(rate, begin, low, high, spread, tolerance * spread)
    best = min(seen, key=lambda u: seen[u])
    return min(1.0, seen[best]), best


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
