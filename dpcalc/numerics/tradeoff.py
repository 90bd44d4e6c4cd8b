"""What a privacy profile says about tests: bounds that every ε gives, at the ε that gives nearly the best."""

from collections.abc import Callable, Iterable
from math import exp, log

from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.rounding import up

_Point = tuple[float, float, float]  # e^ε, the bound, and ε
_LEAST = -40.0  # further left the bound is within e^−40 of 1
_NEARLY = 1 - 1e-9  # of δ(0): a little further δ is still as large, and nothing is to be seen near 0
_SECTIONS, _SECTION = 12, 0.382


def true_positive(delta: Callable[[float], float], fpr: float, tolerance: float, start: float = 0.0,
                  points: Iterable[float] = (), other: Callable[[float], float] | None = None,
                  enough: float = 0.0) -> tuple[float, float]:
    """The largest true-positive rate of a test with false-positive rate f, from δ(ε), ε >= 0, of the alternative
    against the hypothesis; and the ε that proves it (negative: the bound of the reversed roles). `other` is δ of the
    other direction, where that is not the same.

    δ(ε) + e^ε f for ε >= 0, and 1 − e^{−ε}(1 − δ(ε) − f), for every ε (Dong, Roth & Su 2022, Proposition 2.5,
    arXiv:1905.02383v3). Of a profile it is a convex function of e^ε, which has one minimum; of a bound on one it may
    have several: the search starts at the least of what `start` and the `points`, ε >= 0, say, or beyond a plateau of
    δ. It ends at a rate that is `enough`. """
    seen: dict[float, float] = {}

    def at(u: float) -> float:
        if u not in seen:
            seen[u] = at_level(delta(u) if u >= 0 else (other or delta)(-u), u, fpr)
            if seen[u] <= enough:
                raise _Enough
        return seen[u]

    high = max(0.0, -log(fpr))
    spread = min(max(delta(0.0), 1e-12), 1.0)  # about that of the loss
    try:
        level = spread < high and delta(spread) >= delta(0.0) * _NEARLY
        points = (*points, _beyond_plateau(at, high)) if level else points
        begin = min((min(max(start, _LEAST), high), 0.0, *(u for e in points for u in (e, -e) if _LEAST <= u <= high)),
                    key=at)
        minimise(at, begin, _LEAST, high, spread, tolerance * spread)
    except _Enough:
        pass  # any ε is a proof
    best = min(seen, key=lambda u: seen[u])
    return min(1.0, seen[best]), best


class _Enough(Exception):
    """A rate that is small enough was found."""


def _beyond_plateau(at: Callable[[float], float], high: float) -> float:
    """About where a bound is least that is level from 0 to a large ε, falls, and rises again up to `high`; where two
    are alike, beyond."""
    low = 0.0
    for _ in range(_SECTIONS):
        near, far = low + _SECTION * (high - low), high - _SECTION * (high - low)
        low, high = (near, high) if at(near) >= at(far) else (low, far)
    return (low + high) / 2


def among(known: Iterable[tuple[float, float]], fpr: float, near: float) -> tuple[float, float] | None:
    """The same by the best one of some known u and δ there; None where another one may give less by more than so much
    of it. (The bound is convex in e^u: between two of them it is above the lines through their neighbours.)"""
    points = sorted({(exp(u), at_level(delta, u, fpr), u) for u, delta in known if u >= _LEAST})
    k = min(range(len(points)), key=lambda i: points[i][1], default=0)
    if not 2 <= k < len(points) - 2:
        return None
    least = min(_meet(*points[k - 2:k], *points[k:k + 2]), _meet(*points[k - 1:k + 1], *points[k + 1:k + 3]))
    _, best, u = points[k]
    return (min(1.0, best), u) if best - least <= near * best else None


def _meet(a: _Point, b: _Point, c: _Point, d: _Point) -> float:
    """The height at which the line through the first two points, on the left, meets that through the last two; of lines
    that do not meet between b and c, the least of them there."""
    left, right = (b[1] - a[1]) / (b[0] - a[0]), (d[1] - c[1]) / (d[0] - c[0])
    if left >= right:
        return min(b[1], c[1])
    x = (c[1] - b[1] + left * b[0] - right * c[0]) / (left - right)
    return min(b[1], c[1]) if not b[0] <= x <= c[0] else b[1] + left * (x - b[0])


def at_level(delta: float, u: float, fpr: float) -> float:
    """The bound on the true-positive rate at one ε = u, from δ(|u|)."""
    if u >= 0:
        return up(delta + exp(u) * fpr, 1e-15)
    return 1 - exp(u) * (1 - delta - fpr) + 1e-15


def best_guess(delta: Callable[[float], float], prior: float) -> float:
    """The largest probability of guessing right which of two neighbouring data sets was used, one having this prior.

    max_S πP(S) + (1−π)Q(Sᶜ) = 1 − π + πδ(log((1−π)/π)) for π <= 1/2: the definition of δ(ε) = max_S P(S) − e^ε Q(S).
    It is the posterior of the likelier data set, averaged over the outputs.
    """
    rare = min(prior, 1 - prior)
    epsilon = max(0.0, (log(1 - rare) - log(rare)) * (1 - 1e-15) - 1e-15)  # rounded down: δ falls
    return min(1.0, up(1 - rare + rare * delta(epsilon), 1e-15))
